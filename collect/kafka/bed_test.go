package kafka

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"

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
	dial    []kgo.Opt // how to reach the cluster
}

// inVirtualTime runs a test on a network and a clock of its own: what takes
// seconds there takes none.
func inVirtualTime(t *testing.T, test func(b *bed)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var net kfake.VirtualNetwork
		b := newBedOn(t, []kgo.Opt{kgo.Dialer(net.DialContext)}, kfake.ListenFn(net.Listen), kfake.Ports(9092, 9093, 9094))
		test(b)
	})
}

func newBed(t *testing.T, opts ...kfake.Opt) *bed {
	t.Helper()
	return newBedOn(t, nil, opts...)
}

func newBedOn(t *testing.T, dial []kgo.Opt, opts ...kfake.Opt) *bed {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(3)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{T: t, c: c, timeout: 10 * time.Second, dial: dial}
	b.cl = b.client(kgo.RecordPartitioner(kgo.ManualPartitioner()))
	t.Cleanup(c.Close)
	t.Cleanup(b.cl.Close)
	return b
}

func (b *bed) client(opts ...kgo.Opt) *kgo.Client {
	b.Helper()
	opts = append(slices.Clone(b.dial), opts...)
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
		src, err := New(Config{Brokers: b.c.ListenAddrs()}, Options{Filter: b.filter, Extra: append(slices.Clone(b.dial), opts...)})
		b.must(err)
		b.src = src
		b.Cleanup(src.Close)
	}
	return b.src
}

// poll makes one poll, everything due.
func (b *bed) poll() *collect.Snapshot {
	b.Helper()
	return b.pollWith(collect.Ask{Lists: true})
}

// pollWith makes one poll with what ask says is due.
func (b *bed) pollWith(ask collect.Ask) *collect.Snapshot {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), b.timeout)
	defer cancel()
	ask.Prev, ask.Build = b.prev, collect.BuildOptions{ClusterName: "test", Filter: b.filter, StaleAfter: 5 * time.Minute}
	b.prev = b.source().Poll(ctx, ask)
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

// member runs a consumer of a group until the test ends, and waits until the
// group has as many members and is stable.
func (b *bed) member(group, clientID string, members int, opts ...kgo.Opt) *kgo.Client {
	b.Helper()
	cl := b.client(append([]kgo.Opt{
		kgo.ConsumerGroup(group), kgo.ClientID(clientID), kgo.DisableAutoCommit(),
		kgo.HeartbeatInterval(100 * time.Millisecond),
	}, opts...)...)
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			cl.PollFetches(ctx)
		}
	}()
	b.Cleanup(func() { cancel(); <-done; cl.Close() })
	wait, stop := context.WithTimeout(b.Context(), 20*time.Second)
	defer stop()
	if _, err := b.c.WaitGroupStable(wait, group, members); err != nil {
		b.Fatalf("group %s with %d members: %v", group, members, err)
	}
	return cl
}

// owners is who owns what of a group: "topic/partition=client ...".
func ownersText(s *collect.Snapshot, name string) string {
	g, ok := s.Group(name)
	if !ok {
		return "absent"
	}
	var out []string
	for _, gt := range g.Topics {
		for i := range gt.Committed {
			who := "none"
			if o := gt.Owner[i]; o >= 0 {
				who = g.Members[o].ClientID
			}
			out = append(out, fmt.Sprintf("%s/%d=%s", gt.Topic.Name, gt.Partition(i), who))
		}
	}
	return strings.Join(out, " ")
}

func (b *bed) wantGroup(s *collect.Snapshot, name, want string) {
	b.Helper()
	if got := groupText(s, name); got != want {
		b.Errorf("group %s: %s, want %s\nproblems: %s", name, got, want, problemText(s))
	}
}

func (b *bed) wantProblems(s *collect.Snapshot, want string) {
	b.Helper()
	if got := problemText(s); got != want {
		b.Errorf("problems:\n%s\nwant:\n%s", got, want)
	}
}

func plainAuth(user string) sasl.Mechanism {
	return plain.Auth{User: user, Pass: user}.AsMechanism()
}

// offsetFault makes every ListOffsets of one partition fail.
func offsetFault(err *kerr.Error, topic string, p int32) kfake.Fault {
	return kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Topic: topic, Partitions: []int32{p}, Err: err, Count: -1}
}
