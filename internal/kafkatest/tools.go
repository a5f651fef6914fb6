package kafkatest

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// toolTimeout bounds one run of a tool: two or three seconds of JVM on idle cores.
const toolTimeout = 2 * time.Minute

// Tool runs a class of Kafka's own, as the scripts in Kafka's bin directory do, and returns its standard
// output. It fails the test where the class exits with an error, which kafka-consumer-groups never does.
// What the tool says on standard error goes to the test's log.
func (c *Cluster) Tool(t testing.TB, class string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), toolTimeout)
	defer cancel()
	out, err := c.java(ctx, class, args...)
	settle(t, err)
	if said := withoutLoggers(out.stderr); said != "" {
		t.Logf("%s: %s", class, said)
	}
	return out.stdout
}

// ConsumerGroups runs kafka-consumer-groups against the cluster. ParseDescribe, ParseMembers and ParseState read it.
func (c *Cluster) ConsumerGroups(t testing.TB, args ...string) string {
	t.Helper()
	return c.bootstrapped(t, "consumer/group/ConsumerGroupCommand", args)
}

// Topics runs kafka-topics against the cluster.
func (c *Cluster) Topics(t testing.TB, args ...string) string {
	t.Helper()
	return c.bootstrapped(t, "TopicCommand", args)
}

// Configs runs kafka-configs against the cluster.
func (c *Cluster) Configs(t testing.TB, args ...string) string {
	t.Helper()
	return c.bootstrapped(t, "ConfigCommand", args)
}

// ACLs runs kafka-acls against the cluster, as a super user.
func (c *Cluster) ACLs(t testing.TB, args ...string) string {
	t.Helper()
	return c.bootstrapped(t, "AclCommand", args)
}

// DeleteRecords runs kafka-delete-records: the log of each partition then starts at the offset given for it.
func (c *Cluster) DeleteRecords(t testing.TB, topic string, before map[int32]int64) {
	t.Helper()
	type partition struct {
		Topic     string `json:"topic"`
		Partition int32  `json:"partition"`
		Offset    int64  `json:"offset"`
	}
	request := struct {
		Version    int         `json:"version"`
		Partitions []partition `json:"partitions"`
	}{Version: 1}
	for p, offset := range before {
		request.Partitions = append(request.Partitions, partition{topic, p, offset})
	}
	text, err := json.Marshal(request)
	settle(t, err)
	file := filepath.Join(t.TempDir(), "delete.json")
	settle(t, os.WriteFile(file, text, 0o644))
	c.bootstrapped(t, "DeleteRecordsCommand", []string{"--offset-json-file", file})
}

func (c *Cluster) bootstrapped(t testing.TB, command string, args []string) string {
	t.Helper()
	class, err := c.commandClass(command)
	settle(t, err)
	return c.Tool(t, class, append([]string{"--bootstrap-server", c.Bootstrap()}, args...)...)
}

// commandClass finds a command where it lives in this version: one after the other they have moved from
// kafka.admin to org.apache.kafka.tools, between Kafka 3.5 and 4.4.
func (c *Cluster) commandClass(command string) (string, error) {
	classpath, err := c.classpath()
	if err != nil {
		return "", err
	}
	jar, err := zip.OpenReader(filepath.Join(filepath.Dir(classpath), "kafka-tools-"+c.version+".jar"))
	if err != nil {
		return "", fmt.Errorf("look for %s: %w", command, err)
	}
	defer jar.Close()
	name := "org/apache/kafka/tools/" + command
	if slices.ContainsFunc(jar.File, func(f *zip.File) bool { return f.Name == name+".class" }) {
		return strings.ReplaceAll(name, "/", "."), nil
	}
	return "kafka.admin." + path.Base(command), nil
}

type output struct{ stdout, stderr string }

// java runs a class, or a source file, of the cluster's class path to its end.
func (c *Cluster) java(ctx context.Context, class string, args ...string) (output, error) {
	jvm, err := c.jvm("256m")
	if err != nil {
		return output{}, err
	}
	cmd := exec.CommandContext(ctx, "java", append(append(jvm, class), args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return output{}, fmt.Errorf("run %s: %w: %s", class, err, lastLines(append(stdout.Bytes(), stderr.Bytes()...), 20))
	}
	return output{stdout.String(), stderr.String()}, nil
}

// jvm returns the options every JVM here gets: small, quick to start, silent below warnings.
func (c *Cluster) jvm(heap string) ([]string, error) {
	classpath, err := c.classpath()
	if err != nil {
		return nil, err
	}
	return []string{
		"-Xmx" + heap, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
		"-Dlog4j2.configurationFile=" + filepath.Join(c.dir, "log4j2.properties"),
		"-Dlog4j.configuration=file:" + filepath.Join(c.dir, "log4j.properties"),
		"-cp", c.dir + string(filepath.ListSeparator) + classpath,
	}, nil
}

// withoutLoggers drops what the logging libraries say about themselves.
func withoutLoggers(stderr string) string {
	var kept []string
	for line := range strings.Lines(stderr) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "SLF4J") && !strings.HasPrefix(line, "log4j:WARN") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}
