package kafkatest

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

//go:embed testdata/kafka/pom.xml
var pom []byte

// fetchTimeout bounds one download: about 126 MB of jars, or one npm or pip package.
const fetchTimeout = 5 * time.Minute

// cached returns the directory name in klagtop's part of the user's cache, filled by fill if it never was.
// Packages are tested in processes side by side, so whoever comes second waits for the first's lock.
func cached(name string, fill func(ctx context.Context, dir string) error) (string, error) {
	root, err := os.UserCacheDir()
	if err != nil {
		return "", unavailable{fmt.Sprintf("no cache directory for downloads: %v", err)}
	}
	dir := filepath.Join(root, "klagtop", name)
	complete := filepath.Join(dir, ".complete")
	if _, err := os.Stat(complete); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make cache directory: %w", err)
	}
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", fmt.Errorf("open lock of %s: %w", dir, err)
	}
	defer lock.Close()
	if err := lockFile(lock); err != nil {
		return "", fmt.Errorf("lock %s: %w", dir, err)
	}
	if _, err := os.Stat(complete); err == nil {
		return dir, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	if err := fill(ctx, dir); err != nil {
		return "", err
	}
	return dir, os.WriteFile(complete, nil, 0o644)
}

// classpath returns the Java class path of a Kafka version, fetched by Maven where it is not yet there.
func classpath(version string) (string, error) {
	dir, err := cached("kafka-"+version, func(ctx context.Context, dir string) error {
		if err := need("mvn"); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "pom.xml"), pom, 0o644); err != nil {
			return err
		}
		return fetch(ctx, dir, "mvn", "-q", "-B", "-Dstyle.color=never", "-Dkafka.version="+version, "dependency:copy-dependencies",
			"-DoutputDirectory="+filepath.Join(dir, "jars"), "-DincludeScope=runtime")
	})
	return filepath.Join(dir, "jars", "*"), err
}

// fetch runs a downloading program. Its failure is taken for a missing network, which is not the test's fault.
func fetch(ctx context.Context, dir, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return unavailable{fmt.Sprintf("%s could not fetch what they need (%v): %s", program, err, lastLines(out, 5))}
	}
	return nil
}

func need(program string) error {
	if _, err := exec.LookPath(program); err != nil {
		return unavailable{program + " not found"}
	}
	return nil
}

// needJava asks for Java 17, the oldest that today's brokers run on; an older one would fail with a class
// version error after a download of 126 MB.
func needJava() error {
	if err := need("java"); err != nil {
		return err
	}
	out, err := exec.Command("java", "-XshowSettings:properties", "-version").CombinedOutput()
	if err != nil {
		return unavailable{fmt.Sprintf("java does not run: %v", err)}
	}
	for line := range strings.Lines(string(out)) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "java.specification.version = "); ok {
			var major int
			if _, err := fmt.Sscanf(v, "%d", &major); err == nil && major < 17 {
				return unavailable{"java 17 or newer is needed, found " + v}
			}
		}
	}
	return nil
}
