package kafkatest

import (
	"cmp"
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// The clients that are fetched from npm and PyPI, with the versions that the facts about them were seen on.
const (
	kafkaJSVersion   = "2.2.4"
	confluentVersion = "2.16.1" // librdkafka 2.16.0
)

// KafkaJSConsumer runs a KafkaJS consumer on Node. Its Assignor is "RoundRobinAssigner" (the default) or
// "CoPartitionAssigner", a hand-written one that gives partition p of every topic to one member.
// The test is skipped where npm or Node is missing.
func (c *Cluster) KafkaJSConsumer(t testing.TB, o ConsumerOptions) *Client {
	t.Helper()
	settle(t, need("node"))
	dir, err := cached("kafkajs-"+kafkaJSVersion, func(ctx context.Context, dir string) error {
		if err := need("npm"); err != nil {
			return err
		}
		return fetch(ctx, dir, "npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", dir, "kafkajs@"+kafkaJSVersion)
	})
	settle(t, err)
	id := cmp.Or(o.ClientID, "consumer")
	options, err := json.Marshal(map[string]any{
		"brokers": c.brokers, "group": o.Group, "topics": o.Topics, "clientID": id, "assignor": o.Assignor, "commitMs": o.Commit.Milliseconds(), "session": sessionTimeout, "max": o.Max,
		"join": append([]string{}, o.Join...),
	})
	settle(t, err)
	cmd := exec.Command("node", filepath.Join(c.dir, "consumer.js"), string(options))
	cmd.Env = append(cmd.Environ(), "NODE_PATH="+filepath.Join(dir, "node_modules"), "KAFKAJS_NO_PARTITIONER_WARNING=1")
	return startClient(t, "the KafkaJS consumer "+id, cmd)
}

// LibrdkafkaConsumer runs librdkafka's consumer, by confluent-kafka for Python. The test is skipped where Python or
// its pip is missing.
func (c *Cluster) LibrdkafkaConsumer(t testing.TB, o ConsumerOptions) *Client {
	t.Helper()
	dir, err := cached("confluent-kafka-"+confluentVersion, func(ctx context.Context, dir string) error {
		if err := need("python3"); err != nil {
			return err
		}
		if err := fetch(ctx, dir, "python3", "-m", "venv", dir); err != nil {
			return err
		}
		return fetch(ctx, dir, venvPython(dir), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "confluent-kafka=="+confluentVersion)
	})
	settle(t, err)
	id := cmp.Or(o.ClientID, "consumer")
	config := map[string]string{"bootstrap.servers": c.Bootstrap(), "group.id": o.Group, "client.id": id}
	add := func(key, value string) {
		if value != "" {
			config[key] = value
		}
	}
	add("group.instance.id", o.InstanceID)
	add("group.protocol", o.Protocol)
	if o.Protocol == "consumer" {
		add("group.remote.assignor", o.Assignor)
	} else {
		add("heartbeat.interval.ms", "500")
		add("session.timeout.ms", sessionTimeout)
		add("partition.assignment.strategy", o.Assignor)
	}
	for key, value := range o.Properties {
		add(key, value)
	}
	options, err := json.Marshal(map[string]any{"config": config, "topics": o.Topics, "commit_ms": o.Commit.Milliseconds(), "max": o.Max})
	settle(t, err)
	return startClient(t, "the librdkafka consumer "+id, exec.Command(venvPython(dir), filepath.Join(c.dir, "consumer.py"), string(options)))
}

func venvPython(dir string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(dir, "Scripts", "python.exe")
	}
	return filepath.Join(dir, "bin", "python")
}
