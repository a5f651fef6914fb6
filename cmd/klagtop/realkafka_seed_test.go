package main

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/klagtop/klagtop/internal/document"
	"github.com/klagtop/klagtop/internal/kafkatest"
)

// The story that klagtop was made for: 200,000 ticks wait, two pods begin to
// drain them and a third joins, and `watch` tells it, a line per sample.
func TestTheTicker(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes three JVMs and half a minute")
	}
	t.Parallel()
	const ticks, partitions = 200_000, 6
	c := realKafka.Cluster(t)
	topic, name := kafkatest.Name("market-updates"), kafkatest.Name("ticker")
	c.CreateTopic(t, topic, partitions)
	produceTicks(t, c, topic, ticks, partitions)

	w := watch(t, "--brokers", c.Bootstrap(), "--group", name, "--interval", "100ms")
	pod := func(id string) *kafkatest.Client {
		return c.JavaConsumer(t, kafkatest.ConsumerOptions{Group: name, Topics: []string{topic}, ClientID: id, Commit: 400 * time.Millisecond, Properties: map[string]string{
			// A pod takes some 2,000 ticks of each of its partitions a second, and its
			// first only after a second, or it would be over before it could be watched.
			"fetch.min.bytes": "50000000", "fetch.max.wait.ms": "1000", "max.partition.fetch.bytes": "30000",
		}})
	}
	pods := []*kafkatest.Client{pod("pod-1"), pod("pod-2")}
	w.until(t, "a lag of all ticks, counted from the log start while there is no commit", func(d *document.Document) bool {
		g := group(d, name)
		return g != nil && d.Complete && g.Lag.Complete && *g.Lag.Records == ticks && g.Lag.NoCommit == partitions && *g.Lag.NoCommitRecords == ticks
	})
	shared := func(each int) {
		t.Helper()
		var claims []string
		for i, p := range pods {
			claims = append(claims, fmt.Sprintf("pod-%d has %v", i+1, p.WaitAssigned(t, each)))
		}
		d := w.until(t, fmt.Sprint("what the pods say that they own: ", claims), func(d *document.Document) bool {
			g := group(d, name)
			return g != nil && g.State == "Stable" && slices.Equal(claimed(g), claims)
		})
		if g := group(d, name); *g.Assignment.Assigned != partitions || *g.Assignment.Unassigned != 0 || *g.Assignment.Skew.Partitions != 1 || *g.Lag.AssignedRecords != *g.Lag.Records {
			t.Errorf("shared alike, but the assignment is %+v, and of the lag %d is assigned %d", g.Assignment, *g.Lag.Records, *g.Lag.AssignedRecords)
		}
		t.Logf("%d pods at a lag of %d", len(pods), *group(d, name).Lag.Records)
	}
	shared(3)
	pods = append(pods, pod("pod-3"))
	shared(2)
	w.until(t, "no lag", func(d *document.Document) bool {
		g := group(d, name)
		return g != nil && g.Lag.Complete && *g.Lag.Records == 0 && g.Lag.NoCommit == 0
	})
	// Nobody produces any more: the lag can only fall, and every sample knows it.
	last := int64(ticks)
	for _, d := range w.seen() {
		g := group(d, name)
		if g == nil || len(g.Partitions) == 0 && g.State != "Stable" {
			continue // before the pods, and while brokers hide what the first to come subscribe to
		}
		if g.Lag.Records == nil || g.Lag.Unknown > 0 || *g.Lag.Records > last {
			t.Fatalf("at %s, after %d, the lag is %+v", d.TakenAt, last, g.Lag)
		}
		last = *g.Lag.Records
	}
	t.Logf("%d samples", len(w.seen()))
}

// claimed is who owns what, as `shared` spells it.
func claimed(g *document.Group) (claims []string) {
	for _, m := range g.Members {
		var owned []string
		for topic, partitions := range m.Assigned {
			for _, p := range partitions {
				owned = append(owned, fmt.Sprintf("%s-%d", topic, p))
			}
		}
		claims = append(claims, fmt.Sprintf("%s has %v", m.ClientID, owned))
	}
	return claims
}

// produceTicks writes in batches of a size that a throttled pod takes one or two of at a time.
func produceTicks(t *testing.T, c *kafkatest.Cluster, topic string, ticks, partitions int) {
	t.Helper()
	cl := c.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.ProducerBatchMaxBytes(20_000), kgo.MaxBufferedRecords(ticks))
	for i := range ticks {
		cl.Produce(t.Context(), &kgo.Record{Topic: topic, Partition: int32(i % partitions), Value: []byte("BBCA")}, func(_ *kgo.Record, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	if err := cl.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}
