package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/klagtop/klagtop/internal/document"
	"github.com/klagtop/klagtop/internal/kafkatest"
)

// With --offsets-topic a classic group's generation is the one that its members
// are told by the coordinator, also where nobody's subscription tells it.
func TestTheOffsetsTopicHasTheGenerationOfTheMembers(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a real Kafka")
	}
	t.Parallel()
	c := realKafka.Cluster(t)
	topic, name := kafkatest.Name("market-updates"), kafkatest.Name("ticker")
	c.CreateTopic(t, topic, 4)
	join := func(id string) *kgo.Client {
		cl, err := kgo.NewClient(kgo.SeedBrokers(c.Bootstrap()), kgo.ConsumerGroup(name), kgo.ConsumeTopics(topic), kgo.ClientID(id),
			kgo.Balancers(kgo.RangeBalancer()), kgo.HeartbeatInterval(200*time.Millisecond), kgo.SessionTimeout(10*time.Second), kgo.DisableAutoCommit())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cl.Close)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			for ctx.Err() == nil {
				cl.PollFetches(ctx)
			}
		}()
		t.Cleanup(func() { cancel(); <-done })
		return cl
	}
	w := watch(t, "--brokers", c.Bootstrap(), "--group", name, "--interval", "100ms", "--offsets-topic")
	agrees := func(members ...*kgo.Client) {
		t.Helper()
		w.until(t, "the generation that the members know", func(d *document.Document) bool {
			g := group(d, name)
			if g == nil || g.State != "Stable" || len(g.Members) != len(members) || g.Generation == nil || !g.Generation.Exact {
				return false
			}
			for _, m := range members {
				if _, n := m.GroupMetadata(); int64(n) != g.Generation.Value || g.Generation.Source != "offsets_topic" {
					return false
				}
			}
			return g.Leader != ""
		})
	}
	first := join("pod-1")
	agrees(first) // nobody's subscription tells a first generation
	second := join("pod-2")
	agrees(first, second)
	second.LeaveGroup()
	agrees(first)

	// Commits have the time at which the coordinator took them.
	before := time.Now().Add(-time.Second)
	if err := first.CommitRecords(t.Context(), &kgo.Record{Topic: topic, Partition: 2, Offset: 6, LeaderEpoch: -1}); err != nil {
		t.Fatal(err)
	}
	w.until(t, "the time of the commit, and of no other", func(d *document.Document) bool {
		dates := 0
		g := group(d, name)
		if g == nil {
			return false
		}
		for _, p := range g.Partitions {
			if p.CommittedAt == nil {
				continue
			}
			at, err := time.Parse(time.RFC3339Nano, *p.CommittedAt)
			if err != nil || p.Partition != 2 || *p.Committed != 7 || at.Before(before) || at.After(time.Now().Add(time.Second)) {
				t.Errorf("partition %d, committed %d at %s", p.Partition, *p.Committed, *p.CommittedAt)
			}
			dates++
		}
		return dates == 1
	})

	// A one-shot command reads far enough back to know it, too.
	o := klagtop(t, "describe", "-o", "json", "--brokers", c.Bootstrap(), "--group", name, "--offsets-topic", "--timeout", "1m")
	if o.code != 0 {
		t.Fatal(o.stderr)
	}
	d, err := document.Decode(strings.NewReader(o.stdout))
	if err != nil {
		t.Fatal(err)
	}
	_, n := first.GroupMetadata()
	if g := group(d, name); g.Generation == nil || !g.Generation.Exact || g.Generation.Value != int64(n) {
		t.Errorf("describe has generation %+v, the member %d", g.Generation, n)
	}
}
