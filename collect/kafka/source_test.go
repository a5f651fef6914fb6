package kafka

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// A bed is a cluster in this process and a source that reads it.
type bed struct {
	*testing.T
	c    *kfake.Cluster
	cl   *kgo.Client // administrator's
	src  *Source
	prev *collect.Snapshot

	filter  collect.Filter
	timeout time.Duration
}

func newBed(t *testing.T, opts ...kfake.Opt) *bed {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(3)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{T: t, c: c, timeout: 10 * time.Second}
	b.cl = b.client(kgo.RecordPartitioner(kgo.ManualPartitioner()))
	t.Cleanup(c.Close)
	t.Cleanup(b.cl.Close)
	return b
}

func (b *bed) client(opts ...kgo.Opt) *kgo.Client {
	b.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(b.c.ListenAddrs()...), kgo.MetadataMinAge(10 * time.Millisecond), kgo.DisableClientMetrics()}, opts...)...)
	b.must(err)
	return cl
}

func (b *bed) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bed) topic(name string, partitions int32) {
	b.Helper()
	b.must(b.c.CreateTopic(name, partitions, nil))
}

func (b *bed) produce(topic string, p int32, n int) {
	b.Helper()
	for range n {
		b.must(b.cl.ProduceSync(b.Context(), &kgo.Record{Topic: topic, Partition: p, Value: []byte("tick")}).FirstErr())
	}
}

// commit writes offsets as an administrator does, without a member.
func (b *bed) commit(group, topic string, offsets map[int32]int64) {
	b.Helper()
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = group, -1
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic, t.TopicID = topic, b.c.TopicInfo(topic).TopicID
	for p, o := range offsets {
		q := kmsg.NewOffsetCommitRequestTopicPartition()
		q.Partition, q.Offset = p, o
		t.Partitions = append(t.Partitions, q)
	}
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(b.Context(), b.cl)
	b.must(err)
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if p.ErrorCode != 0 {
				b.Fatalf("commit %s %s/%d: code %d", group, topic, p.Partition, p.ErrorCode)
			}
		}
	}
}

func (b *bed) source(opts ...kgo.Opt) *Source {
	b.Helper()
	if b.src == nil {
		src, err := New(Config{Brokers: b.c.ListenAddrs()}, Options{Filter: b.filter, Extra: opts})
		b.must(err)
		b.src = src
		b.Cleanup(src.Close)
	}
	return b.src
}

// poll makes one poll, everything due.
func (b *bed) poll() *collect.Snapshot {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), b.timeout)
	defer cancel()
	b.prev = b.source().Poll(ctx, collect.Ask{
		Prev: b.prev, Lists: true, Build: collect.BuildOptions{ClusterName: "test", Filter: b.filter, StaleAfter: 5 * time.Minute},
	})
	return b.prev
}

// group is one group of a snapshot in words: type, state, reason, members, lag.
func groupText(s *collect.Snapshot, name string) string {
	g, ok := s.Group(name)
	if !ok {
		return "absent"
	}
	members := "?"
	if g.MembersKnown {
		members = fmt.Sprint(len(g.Members))
	}
	return fmt.Sprintf("%s %s %s members=%s lag=%d/%d unknown=%d stale=%d", g.Type, g.State, g.Reason, members, g.Lag.Records, g.Lag.Known, g.Lag.Unknown, g.Lag.Stale)
}

func problemText(s *collect.Snapshot) string {
	var out []string
	for _, p := range s.Problems {
		out = append(out, fmt.Sprintf("%s broker=%d group=%s topic=%s/%d %s: %s", p.Stage, p.Broker, p.Group, p.Topic, p.Partition, p.Reason, p.Error))
	}
	return strings.Join(out, "\n")
}

func TestSmoke(t *testing.T) {
	b := newBed(t)
	b.topic("market-updates", 6)
	b.produce("market-updates", 0, 10)
	b.produce("market-updates", 5, 10)
	b.commit("ticker", "market-updates", map[int32]int64{0: 4, 5: 10})
	for range 2 {
		s := b.poll()
		t.Log(groupText(s, "ticker"), s.Complete, s.Took, "\n", problemText(s), s.Cluster)
	}
}
