package kafkatest

import (
	"cmp"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// ConsumerOptions say what a consumer in a group does. It begins at the start of a log without commit.
type ConsumerOptions struct {
	Group      string
	Topics     []string
	ClientID   string            // "" is "consumer"
	InstanceID string            // of a static member; KafkaJS has none
	Assignor   string            // as the client names it; "" is its default. KIP-848 (Java): the broker's assignor
	Protocol   string            // group.protocol: "" is classic, "consumer" is KIP-848; KafkaJS has none
	Commit     time.Duration     // how often it commits what it has read; 0 is never
	Max        int               // records after which it commits and reads no further, a member still; 0 is no end
	Properties map[string]string // over the client's own configuration; not for KafkaJS
}

// JavaConsumer runs Kafka's Java consumer.
func (c *Cluster) JavaConsumer(t testing.TB, o ConsumerOptions) *Client {
	t.Helper()
	args := []string{
		"bootstrap.servers=" + c.Bootstrap(), "group.id=" + o.Group, "client.id=" + cmp.Or(o.ClientID, "consumer"),
		"topics=" + strings.Join(o.Topics, ","), "commit.ms=" + strconv.FormatInt(o.Commit.Milliseconds(), 10), "max.records=" + strconv.Itoa(o.Max),
	}
	add := func(key, value string) {
		if value != "" {
			args = append(args, key+"="+value)
		}
	}
	add("group.instance.id", o.InstanceID)
	add("group.protocol", o.Protocol)
	if o.Protocol == "consumer" {
		add("group.remote.assignor", o.Assignor)
	} else {
		add("heartbeat.interval.ms", "500") // a rebalance reaches the others with their next heartbeat
		add("partition.assignment.strategy", o.Assignor)
	}
	for key, value := range o.Properties {
		add(key, value)
	}
	return c.javaClient(t, "the Java consumer "+cmp.Or(o.ClientID, "consumer"), "Consumer.java", args...)
}

func (c *Cluster) javaClient(t testing.TB, name, source string, args ...string) *Client {
	t.Helper()
	jvm, err := c.jvm("256m")
	settle(t, err)
	return startClient(t, name, exec.Command("java", append(append(jvm, filepath.Join(c.dir, source)), args...)...))
}
