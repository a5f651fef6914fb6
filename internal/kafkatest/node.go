package kafkatest

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// node is one combined broker and controller.
type node struct {
	id      int
	dir     string // holds server.properties, log and data
	address string // of its plaintext listener
	process *process
	paused  bool
}

// configure reserves ports, and writes the properties of o.Nodes nodes.
func (c *Cluster) configure(o Options) error {
	names := []string{"PLAINTEXT"}
	if o.Secure {
		names = append(names, secureListeners...)
	}
	ports, guards, err := reservePorts(o.Nodes * (len(names) + 1))
	if err != nil {
		return err
	}
	c.guards = guards
	addresses := make([]string, len(ports))
	for i, port := range ports {
		addresses[i] = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	}
	if o.Secure {
		if c.security, err = newSecurity(c.dir); err != nil {
			return err
		}
	}
	var voters []string
	for id := 1; id <= o.Nodes; id++ {
		voters = append(voters, fmt.Sprintf("%d@%s", id, addresses[id-1]))
	}
	for id := 1; id <= o.Nodes; id++ {
		own := addresses[o.Nodes+(id-1)*len(names):][:len(names)]
		n := &node{id: id, dir: filepath.Join(c.dir, fmt.Sprintf("node%d", id)), address: own[0]}
		c.nodes = append(c.nodes, n)
		c.brokers = append(c.brokers, n.address)
		p := brokerProperties(o, n, strings.Join(voters, ","))
		listeners := make([]string, len(names))
		for i, name := range names {
			listeners[i] = name + "://" + own[i]
			if o.Secure {
				c.security.addresses[name] = append(c.security.addresses[name], own[i])
			}
		}
		p["advertised.listeners"] = strings.Join(listeners, ",")
		p["listeners"] = p["advertised.listeners"] + ",CONTROLLER://" + addresses[id-1]
		if o.Secure {
			maps.Copy(p, c.security.properties())
		}
		maps.Copy(p, o.Properties)
		if err := writeProperties(n, p); err != nil {
			return err
		}
	}
	return nil
}

// brokerProperties keeps a node small and quick: few threads and internal partitions, no wait before the
// first rebalance, sessions as short as a test likes.
func brokerProperties(o Options, n *node, voters string) map[string]string {
	replicas := strconv.Itoa(min(o.Nodes, 3))
	return map[string]string{
		"process.roles":                                    "broker,controller",
		"node.id":                                          strconv.Itoa(n.id),
		"controller.quorum.voters":                         voters,
		"controller.listener.names":                        "CONTROLLER",
		"log.dirs":                                         filepath.Join(n.dir, "data"),
		"offsets.topic.replication.factor":                 replicas,
		"offsets.topic.num.partitions":                     "10",
		"transaction.state.log.replication.factor":         replicas,
		"transaction.state.log.min.isr":                    "1",
		"transaction.state.log.num.partitions":             "5",
		"share.coordinator.state.topic.replication.factor": replicas,
		"share.coordinator.state.topic.min.isr":            "1",
		"group.initial.rebalance.delay.ms":                 "0",
		"group.min.session.timeout.ms":                     "1000",
		// KIP-848: its defaults, 5 s and 45 s, make a test wait for a heartbeat at each step of a rebalance.
		"group.consumer.heartbeat.interval.ms":     "1000",
		"group.consumer.min.heartbeat.interval.ms": "1000",
		"group.consumer.session.timeout.ms":        sessionTimeout,
		"group.consumer.min.session.timeout.ms":    sessionTimeout,
		"auto.create.topics.enable":                "false",
		"num.network.threads":                      "2",
		"num.io.threads":                           "2",
	}
}

func writeProperties(n *node, p map[string]string) error {
	if err := os.MkdirAll(n.dir, 0o755); err != nil {
		return err
	}
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(p)) {
		fmt.Fprintf(&b, "%s=%s\n", key, p[key])
	}
	return os.WriteFile(filepath.Join(n.dir, "server.properties"), []byte(b.String()), 0o644)
}

// formatNodes writes each node's empty storage. Kafka's own tool formats the first, which takes a JVM a
// second or more; the others get a copy that differs only in who they are.
func (c *Cluster) formatNodes() error {
	first := c.nodes[0]
	_, err := c.java(context.Background(), "kafka.tools.StorageTool", "format", "-t", uuid(), "-c", filepath.Join(first.dir, "server.properties"))
	if err != nil {
		return fmt.Errorf("format node %d: %w", first.id, err)
	}
	for _, n := range c.nodes[1:] {
		if err := copyStorage(first, n); err != nil {
			return fmt.Errorf("format node %d: %w", n.id, err)
		}
	}
	return nil
}

func copyStorage(from, to *node) error {
	data := filepath.Join(to.dir, "data")
	if err := os.CopyFS(data, os.DirFS(filepath.Join(from.dir, "data"))); err != nil {
		return err
	}
	identity := filepath.Join(data, "meta.properties")
	text, err := os.ReadFile(identity)
	if err != nil {
		return err
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		switch key, _, _ := strings.Cut(line, "="); key {
		case "node.id":
			line = fmt.Sprintf("node.id=%d\n", to.id)
		case "directory.id":
			line = "directory.id=" + uuid() + "\n"
		}
		b.WriteString(line)
	}
	return os.WriteFile(identity, []byte(b.String()), 0o644)
}

// uuid returns an identifier in Kafka's own spelling.
func uuid() string {
	var raw [16]byte
	_, _ = rand.Read(raw[:])
	raw[0] &= 0x7f // Kafka's parser of arguments takes an id that begins with - for a flag
	return base64.RawURLEncoding.EncodeToString(raw[:])
}

// launch starts a node's process; it answers some seconds later.
func (c *Cluster) launch(n *node) error {
	log, err := os.OpenFile(filepath.Join(n.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close() // the child has its own
	jvm, err := c.jvm("512m")
	if err != nil {
		return err
	}
	cmd := exec.Command("java", append(jvm, "kafka.Kafka", filepath.Join(n.dir, "server.properties"))...)
	cmd.Stdout, cmd.Stderr = log, log
	n.process, err = startProcess(cmd)
	return err
}

// node returns node number id, and skips the test for brokers that are not ours to stop.
func (c *Cluster) node(t testing.TB, id int) *node {
	t.Helper()
	if len(c.nodes) == 0 {
		settle(t, unavailable{"the test stops brokers, and those of KLAGTOP_TEST_BROKERS are not ours"})
	}
	if id < 1 || id > len(c.nodes) {
		t.Fatalf("real Kafka: no node %d among %d", id, len(c.nodes))
	}
	return c.nodes[id-1]
}

// Kill ends a node the hard way (kill -9) and returns when its process is gone.
func (c *Cluster) Kill(t testing.TB, id int) {
	t.Helper()
	n := c.node(t, id)
	c.mu.Lock()
	defer c.mu.Unlock()
	n.process.kill()
	n.paused = false
}

// Stop ends a node cleanly (SIGTERM): it hands over its leaders and groups, which takes some seconds.
func (c *Cluster) Stop(t testing.TB, id int) {
	t.Helper()
	n := c.node(t, id)
	c.mu.Lock()
	defer c.mu.Unlock()
	n.process.signal(stopSignal)
	select {
	case <-n.process.done:
	case <-time.After(time.Minute):
		t.Fatalf("real Kafka: node %d did not stop within a minute", id)
	}
}

// Pause freezes a node (SIGSTOP): its connections stay open, and nothing answers.
func (c *Cluster) Pause(t testing.TB, id int) {
	t.Helper()
	n := c.node(t, id)
	c.mu.Lock()
	defer c.mu.Unlock()
	n.process.signal(pauseSignal)
	n.paused = true
}

// Resume lets a paused node go on, at first as if no time had passed.
func (c *Cluster) Resume(t testing.TB, id int) {
	t.Helper()
	n := c.node(t, id)
	c.mu.Lock()
	defer c.mu.Unlock()
	n.process.signal(resumeSignal)
	n.paused = false
}

// Restart starts a node that Kill or Stop ended, with its data and ports. It does not wait: see Ready.
func (c *Cluster) Restart(t testing.TB, id int) {
	t.Helper()
	n := c.node(t, id)
	c.mu.Lock()
	defer c.mu.Unlock()
	if n.process.running() {
		t.Fatalf("real Kafka: node %d still runs", id)
	}
	settle(t, c.launch(n))
}
