package kafka

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// commitAll writes one offset for all partitions of some topics.
func (b *bed) commitAll(group string, topics []string, partitions int32, offset int64) {
	b.Helper()
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = group, -1
	for _, name := range topics {
		t := kmsg.NewOffsetCommitRequestTopic()
		t.Topic, t.TopicID = name, b.c.TopicInfo(name).TopicID
		for p := range partitions {
			q := kmsg.NewOffsetCommitRequestTopicPartition()
			q.Partition, q.Offset = p, offset
			t.Partitions = append(t.Partitions, q)
		}
		req.Topics = append(req.Topics, t)
	}
	_, err := req.RequestWith(b.Context(), b.cl)
	b.must(err)
}

// A million rows: every number right, and what it costs the brokers. It takes
// a minute and a gigabyte, so it runs where it is asked for.
func TestLargeCluster(t *testing.T) {
	if os.Getenv("KLAGTOP_TEST_LARGE") == "" {
		t.Skip("the large cluster is not built: KLAGTOP_TEST_LARGE is not set")
	}
	const topics, partitions, groups, read = 1000, 50, 2000, 10
	b := newBed(t)
	names := make([]string, topics)
	for i := range names {
		names[i] = fmt.Sprintf("team-%02d.events-%04d", i%20, i)
		b.topic(names[i], partitions)
		for p := range int32(partitions) {
			b.cl.Produce(b.Context(), &kgo.Record{Topic: names[i], Partition: p, Value: []byte("x")}, nil)
		}
	}
	b.must(b.cl.Flush(b.Context()))
	for g := range groups {
		var ts []string
		for j := range read {
			ts = append(ts, names[(g*read+j)%topics])
		}
		b.commitAll(fmt.Sprintf("group-%05d", g), ts, partitions, 0)
	}
	c := collect.New(b.source(), collect.Options{
		Build: collect.BuildOptions{ClusterName: "large", StaleAfter: time.Minute}, Interval: time.Second, Timeout: time.Minute,
	})
	ctx, cancel := context.WithCancel(t.Context())
	stream, done := c.Hub().Stream(16), make(chan struct{})
	go func() { defer close(done); c.Run(ctx) }()
	defer func() { cancel(); <-done }()
	<-stream.C() // the first reads everything
	m := b.meter(nil)
	const polls = 6
	total := 0
	for range polls {
		u := <-stream.C()
		rows := 0
		for _, g := range u.Snapshot.Groups {
			rows += g.Rows()
			if g.Lag.Records != read*partitions || !g.Lag.Complete {
				t.Fatalf("poll %d: %s has lag %d, complete %v", u.Seq, g.Name, g.Lag.Records, g.Lag.Complete)
			}
		}
		if rows != groups*read*partitions || !u.Snapshot.Complete {
			t.Fatalf("poll %d: %d rows, complete %v: %s", u.Seq, rows, u.Snapshot.Complete, problemText(u.Snapshot))
		}
		t.Logf("poll %d took %v", u.Seq, u.Snapshot.Took)
	}
	for k, n := range m.take() {
		t.Logf("%s: %d", k.Name(), n)
		total += n
	}
	if perPoll := total / polls; perPoll > 80 {
		t.Errorf("%d requests a poll", perPoll)
	}
}

// traffic counts what goes over the wire.
type traffic struct{ requests, bytes atomic.Int64 }

func (t *traffic) OnBrokerWrite(_ kgo.BrokerMetadata, _ int16, n int, _, _ time.Duration, _ error) {
	t.requests.Add(1)
	t.bytes.Add(int64(n))
}

func (t *traffic) OnBrokerRead(_ kgo.BrokerMetadata, _ int16, n int, _, _ time.Duration, _ error) {
	t.bytes.Add(int64(n))
}

// 50 brokers, 10,000 groups, 100,000 partitions: each number right, and how many
// requests and bytes a poll takes.
func TestLargeClusterOfManyBrokers(t *testing.T) {
	if os.Getenv("KLAGTOP_TEST_LARGE") == "" {
		t.Skip("the large cluster is not built: KLAGTOP_TEST_LARGE is not set")
	}
	const brokers, topics, partitions, groups, read = 50, 2000, 50, 10_000, 10
	b := newBed(t, kfake.NumBrokers(brokers))
	names := make([]string, topics)
	for i := range names {
		names[i] = fmt.Sprintf("topic-%04d", i)
		b.topic(names[i], partitions)
	}
	for g := range groups {
		b.commitSome(fmt.Sprintf("group-%05d", g), names[g%topics], int32(g/topics*read), read)
	}
	var wire traffic
	c := collect.New(b.source(kgo.WithHooks(&wire)), collect.Options{
		Build: collect.BuildOptions{ClusterName: "large", StaleAfter: time.Minute}, Interval: 5 * time.Second, Timeout: time.Minute,
	})
	ctx, cancel := context.WithCancel(t.Context())
	stream, done := c.Hub().Stream(16), make(chan struct{})
	go func() { defer close(done); c.Run(ctx) }()
	defer func() { cancel(); <-done }()
	next := func() (int64, int64) {
		requests, bytes := wire.requests.Load(), wire.bytes.Load()
		u := <-stream.C()
		rows := 0
		for _, g := range u.Snapshot.Groups {
			rows += g.Rows()
			if g.Lag.Records != 0 || !g.Lag.Complete || u.Snapshot.TakenAt.Sub(g.DescribedAt) > 31*time.Second {
				t.Fatalf("poll %d: %s has lag %+v, described %v ago", u.Seq, g.Name, g.Lag, u.Snapshot.TakenAt.Sub(g.DescribedAt))
			}
		}
		if rows != groups*read || len(u.Snapshot.Groups) != groups || !u.Snapshot.Complete {
			t.Fatalf("poll %d: %d rows of %d groups, complete %v: %.300s", u.Seq, rows, len(u.Snapshot.Groups), u.Snapshot.Complete, problemText(u.Snapshot))
		}
		return wire.requests.Load() - requests, wire.bytes.Load() - bytes
	}
	next() // reads everything, and agrees on versions
	next()
	const polls = 12
	var perPoll []int64
	var requests, bytes int64
	for range polls {
		r, n := next()
		requests, bytes, perPoll = requests+r, bytes+n, append(perPoll, r)
	}
	slices.Sort(perPoll)
	t.Logf("requests a poll: median %d, mean %d, most %d; %.1f MB a poll", perPoll[polls/2], requests/polls, perPoll[polls-1], float64(bytes)/polls/1e6)
	if perPoll[polls/2] > 130 || requests/polls > 150 {
		t.Errorf("requests by poll: %v", perPoll)
	}
}

// commitSome writes one offset for some partitions of a topic, from first on.
func (b *bed) commitSome(group, topic string, first, n int32) {
	b.Helper()
	offsets := make(map[int32]int64, n)
	for p := first; p < first+n; p++ {
		offsets[p] = 0
	}
	b.commit(group, topic, offsets)
}
