package kafkatest

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Name returns a name that no other test uses, also not an earlier run's on brokers that we did not start.
func Name(prefix string) string { return prefix + "-" + strings.ToLower(rand.Text()[:8]) }

// Client returns a franz-go client on the plaintext listeners, closed with the test.
func (c *Cluster) Client(t testing.TB, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(c.brokers...)}, opts...)...)
	settle(t, err)
	t.Cleanup(cl.Close)
	return cl
}

// CreateTopic creates a topic with one replica a partition, or as many as the config's pair
// "replicas=3" says; config holds pairs like "cleanup.policy=compact". It returns when the broker that answered knows it.
func (c *Cluster) CreateTopic(t testing.TB, topic string, partitions int32, config ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	replicas := int16(1)
	configs := make(map[string]*string)
	for _, pair := range config {
		key, value, _ := strings.Cut(pair, "=")
		if key == "replicas" {
			_, err := fmt.Sscan(value, &replicas)
			settle(t, err)
			continue
		}
		configs[key] = &value
	}
	_, err := kadm.NewClient(c.Client(t)).CreateTopic(ctx, partitions, replicas, configs, topic)
	settle(t, err)
}

// DeleteTopic deletes a topic.
func (c *Cluster) DeleteTopic(t testing.TB, topic string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := kadm.NewClient(c.Client(t)).DeleteTopic(ctx, topic)
	settle(t, err)
}

// Produce writes n records to each partition named, without compression: KafkaJS reads no Snappy.
func (c *Cluster) Produce(t testing.TB, topic string, n int, partitions ...int32) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cl := c.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchCompression(kgo.NoCompression()))
	var records []*kgo.Record
	for i := range n {
		for _, p := range partitions {
			records = append(records, &kgo.Record{Topic: topic, Partition: p, Value: fmt.Appendf(nil, "record %d", i)})
		}
	}
	settle(t, cl.ProduceSync(ctx, records...).FirstErr())
}

// Commit commits offsets for a group without members, as a standalone committer does.
func (c *Cluster) Commit(t testing.TB, group, topic string, offsets map[int32]int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var os kadm.Offsets
	for p, at := range offsets {
		os.Add(kadm.Offset{Topic: topic, Partition: p, At: at, LeaderEpoch: -1})
	}
	settle(t, kadm.NewClient(c.Client(t)).CommitAllOffsets(ctx, group, os))
}
