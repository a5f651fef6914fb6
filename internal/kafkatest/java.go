package kafkatest

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// sessionTimeout, in milliseconds, is how long a killed consumer stays in its group, classic or KIP-848. The broker's 45 s
// default would make tests wait; much less, and a busy machine throws members out that are alive.
const sessionTimeout = "10000"

// ConsumerOptions say what a consumer in a group does. It begins at the start of a log without commit.
type ConsumerOptions struct {
	Group      string
	Topics     []string
	ClientID   string            // "" is "consumer"
	InstanceID string            // of a static member; KafkaJS has none
	Assignor   string            // as the client names it; "" is its default. KIP-848 (Java): the broker's assignor
	Protocol   string            // group.protocol: "" is classic, "consumer" is KIP-848; KafkaJS has none
	Commit     time.Duration     // how often it commits what it has read; 0 is never
	Join       []string          // two topics that a KafkaJS pod joins by key, see Joined; other clients join nothing
	Max        int               // records after which it commits and reads no further, a member still; 0 is no end
	Properties map[string]string // over the client's own configuration; not for KafkaJS
}

// JavaConsumer runs Kafka's Java consumer.
func (c *Cluster) JavaConsumer(t testing.TB, o ConsumerOptions) *Client {
	t.Helper()
	args := append([]string{
		"bootstrap.servers=" + c.Bootstrap(), "commit.ms=" + strconv.FormatInt(o.Commit.Milliseconds(), 10), "max.records=" + strconv.Itoa(o.Max),
	}, o.java()...)
	return c.javaClient(t, "the Java consumer "+cmp.Or(o.ClientID, "consumer"), "Consumer.java", args...)
}

// java are the options as Java's properties, and topics.
func (o ConsumerOptions) java() []string {
	pairs := []string{"group.id=" + o.Group, "client.id=" + cmp.Or(o.ClientID, "consumer"), "topics=" + strings.Join(o.Topics, ",")}
	add := func(key, value string) {
		if value != "" {
			pairs = append(pairs, key+"="+value)
		}
	}
	add("group.instance.id", o.InstanceID)
	add("group.protocol", o.Protocol)
	if o.Protocol == "consumer" {
		add("group.remote.assignor", o.Assignor)
	} else {
		add("heartbeat.interval.ms", "500") // a rebalance reaches the others with their next heartbeat
		add("session.timeout.ms", sessionTimeout)
		add("partition.assignment.strategy", o.Assignor)
	}
	for key, value := range o.Properties {
		add(key, value)
	}
	return pairs
}

func (c *Cluster) javaClient(t testing.TB, name, source string, args ...string) *Client {
	t.Helper()
	class, err := c.compiled(source)
	settle(t, err)
	jvm, err := c.jvm("256m")
	settle(t, err)
	return startClient(t, name, exec.Command("java", append(append(jvm, class), args...)...))
}

// compiled compiles a client once for all that run it, which takes a JVM as long as its start, and returns its class.
func (c *Cluster) compiled(source string) (class string, err error) {
	class = strings.TrimSuffix(source, ".java")
	c.compiling.Lock()
	defer c.compiling.Unlock()
	if _, err := os.Stat(filepath.Join(c.dir, class+".class")); err == nil {
		return class, nil
	}
	classpath, err := c.classpath()
	if err != nil {
		return "", err
	}
	jars, err := filepath.Glob(classpath + ".jar") // the compiler has no wildcard
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), toolTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, "java", "-XX:TieredStopAtLevel=1", "-m", "jdk.compiler/com.sun.tools.javac.Main",
		"-proc:none", "-cp", strings.Join(jars, string(filepath.ListSeparator)), "-d", c.dir, filepath.Join(c.dir, source)).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("compile %s: %w: %s", source, err, lastLines(out, 20))
	}
	return class, nil
}

// Producer is a Java producer that does what it is told, one step at a time.
type Producer struct {
	*Client
	told int
}

// JavaProducer runs Kafka's Java producer; transactional if transactionalID is not empty.
func (c *Cluster) JavaProducer(t testing.TB, transactionalID string, properties map[string]string) *Producer {
	t.Helper()
	args := []string{"bootstrap.servers=" + c.Bootstrap()}
	if transactionalID != "" {
		args = append(args, "transactional.id="+transactionalID)
	}
	for key, value := range properties {
		args = append(args, key+"="+value)
	}
	p := &Producer{Client: c.javaClient(t, "the Java producer "+transactionalID, "Producer.java", args...)}
	p.wait(t, "was ready", func(lines []string) bool { return slices.Contains(lines, "ready") })
	return p
}

// Send writes n records to a partition and waits until the broker has them.
func (p *Producer) Send(t testing.TB, topic string, partition int32, n int) {
	t.Helper()
	p.do(t, fmt.Sprintf("send %s %d %d", topic, partition, n))
}

// Begin opens a transaction. It stays open until Commit, Abort or Close, and after Kill until its timeout (transaction.timeout.ms).
func (p *Producer) Begin(t testing.TB) { t.Helper(); p.do(t, "begin") }

// Commit commits the open transaction. The coordinator answers before its markers are in the log: wait for the log end.
func (p *Producer) Commit(t testing.TB) { t.Helper(); p.do(t, "commit") }

// Abort aborts the open transaction; its markers follow as those of Commit do.
func (p *Producer) Abort(t testing.TB) { t.Helper(); p.do(t, "abort") }

// do sends one line and waits for its answer, which is the next one that the producer gives.
func (p *Producer) do(t testing.TB, line string) {
	t.Helper()
	if _, err := fmt.Fprintln(p.stdin, line); err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	p.told++
	var answer string
	p.wait(t, "answered "+line, func(lines []string) bool {
		if len(lines) <= p.told {
			return false
		}
		answer = lines[p.told] // after "ready"
		return true
	})
	if answer != "done "+line {
		t.Fatalf("%s: %s", p.name, answer)
	}
}
