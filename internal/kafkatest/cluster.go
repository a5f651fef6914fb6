package kafkatest

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// DefaultVersion is the Kafka that tests get when neither they nor the environment name one.
const DefaultVersion = "4.3.1"

// startTimeout bounds a start: one node answers in about 6 s, three in about 11 s on two idle cores.
const startTimeout = 3 * time.Minute

// Options says what Kafka a test wants.
type Options struct {
	Version    string            // of Kafka; "" means KLAGTOP_TEST_KAFKA_VERSION, or else DefaultVersion
	Nodes      int               // 1 (the default) or 3
	Properties map[string]string // broker properties, over those that every node gets
	Secure     bool              // SASL and TLS listeners, an authorizer and its users as well: see Secure
}

// Cluster is a Kafka that answers. Its nodes are numbered from 1.
type Cluster struct {
	dir       string
	version   string
	brokers   []string
	classpath func() (string, error)
	security  *Security // nil for a plain cluster
	guards    []net.Listener

	compiling sync.Mutex // of the Java clients

	mu    sync.Mutex
	nodes []*node // none for brokers that we did not start
}

// Start gives the test a Kafka and ends it with the test. The test is skipped, with the reason, where this
// machine lacks Java, Maven or the network to fetch Kafka, and fails then under KLAGTOP_TEST_KAFKA=required.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	c, err := start(o)
	settle(t, err)
	t.Cleanup(func() {
		if kept := c.close(t.Failed()); kept != "" {
			t.Logf("Kafka's logs are kept in %s", kept)
		}
	})
	return c
}

// start returns an error of type unavailable for what this machine cannot do.
func start(o Options) (*Cluster, error) {
	o.Version = cmp.Or(o.Version, os.Getenv("KLAGTOP_TEST_KAFKA_VERSION"), DefaultVersion)
	o.Nodes = max(o.Nodes, 1)
	dir, err := os.MkdirTemp("", "klagtop-kafka-")
	if err != nil {
		return nil, fmt.Errorf("make directory: %w", err)
	}
	c := &Cluster{dir: dir, version: o.Version}
	c.classpath = sync.OnceValues(func() (string, error) {
		if err := needJava(); err != nil {
			return "", err
		}
		return classpath(o.Version)
	})
	run := c.startNodes
	if brokers := os.Getenv("KLAGTOP_TEST_BROKERS"); brokers != "" {
		c.brokers = strings.Split(brokers, ",")
		run = c.useExisting
	}
	if err := unpack(dir); err != nil {
		return nil, err
	}
	if err := run(o); err != nil {
		if kept := c.close(len(c.nodes) > 0); kept != "" {
			err = fmt.Errorf("%w; its logs are kept in %s", err, kept)
		}
		return nil, err
	}
	return c, nil
}

//go:embed testdata/kafka testdata/clients
var files embed.FS

// unpack writes the logging configuration and the clients' sources to where Java, Node and Python can read them.
func unpack(dir string) error {
	for _, from := range []string{"testdata/kafka", "testdata/clients"} {
		entries, err := files.ReadDir(from)
		if err != nil {
			return err
		}
		for _, e := range entries {
			text, err := files.ReadFile(from + "/" + e.Name())
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, e.Name()), text, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// useExisting takes the brokers that the environment names, for a test that needs nothing special of them.
func (c *Cluster) useExisting(o Options) error {
	if o.Secure || len(o.Properties) > 0 {
		return unavailable{"the test needs brokers of its own, and KLAGTOP_TEST_BROKERS names others"}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	ids, err := awaitBrokers(ctx, c.brokers, func(ids []int32) bool { return len(ids) > 0 })
	if err != nil {
		return err
	}
	if len(ids) < o.Nodes {
		return unavailable{fmt.Sprintf("the test needs %d brokers, and KLAGTOP_TEST_BROKERS has %d", o.Nodes, len(ids))}
	}
	return nil
}

func (c *Cluster) startNodes(o Options) error {
	if _, err := c.classpath(); err != nil {
		return err
	}
	if err := c.configure(o); err != nil {
		return err
	}
	if err := c.formatNodes(); err != nil {
		return err
	}
	for i := range c.nodes {
		if err := c.launch(c.nodes[i]); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if err := c.Ready(ctx); err != nil {
		return err
	}
	if c.security != nil {
		return c.security.createUsers(ctx, c)
	}
	return nil
}

// close ends every node at once, without the farewells that take Kafka seconds, and returns the directory
// with their logs if they are to be kept.
func (c *Cluster) close(keep bool) (kept string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.nodes {
		if n.process != nil {
			n.process.kill()
		}
	}
	closeAll(c.guards)
	if !keep || len(c.nodes) == 0 {
		_ = os.RemoveAll(c.dir)
		return ""
	}
	for _, n := range c.nodes {
		_ = os.RemoveAll(filepath.Join(n.dir, "data"))
	}
	return c.dir
}

// Brokers returns host:port of every node's plaintext listener.
func (c *Cluster) Brokers() []string { return slices.Clone(c.brokers) }

// Bootstrap returns Brokers the way Kafka's tools want them, joined by commas.
func (c *Cluster) Bootstrap() string { return strings.Join(c.brokers, ",") }

// Version is the version of the tools and of the brokers, if we started them.
func (c *Cluster) Version() string { return c.version }

// AtLeast says whether Version is major.minor or newer.
func (c *Cluster) AtLeast(major, minor int) bool { return versionAtLeast(c.version, major, minor) }

func versionAtLeast(version string, major, minor int) bool {
	var have, haveMinor int
	if _, err := fmt.Sscanf(version, "%d.%d", &have, &haveMinor); err != nil {
		return false
	}
	return have > major || have == major && haveMinor >= minor
}
