package kafka

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

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
