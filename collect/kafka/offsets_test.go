package kafka

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/klagtop/klagtop/collect"
)

// rowText is one row in words: start/end/commit, lag, status, reason.
func rowText(s *collect.Snapshot, group, topic string, p int32) string {
	g, ok := s.Group(group)
	if !ok {
		return "no group"
	}
	gt, ok := g.Topic(topic)
	if !ok || gt.RowOf(p) < 0 {
		return "no row"
	}
	r := gt.Row(gt.RowOf(p))
	return fmt.Sprintf("%d/%d/%d lag=%d %s %s stale=%v", r.LogStart, r.LogEnd, r.Committed, r.Lag, r.Status, r.Reason, r.Stale)
}

func (b *bed) wantRow(s *collect.Snapshot, group string, p int32, want string) {
	b.Helper()
	if got := rowText(s, group, "market-updates", p); got != want {
		b.Errorf("row %s market-updates/%d: %s, want %s\nproblems: %s", group, p, got, want, problemText(s))
	}
}

// A leader that moved since Metadata was read is found within the same poll.
func TestLeaderMoves(t *testing.T) {
	b := newBed(t)
	group := b.spread()[0]
	b.poll()
	moved := false
	b.beforeCommitsOf(group, func() { // after Metadata, before the log ends
		b.must(b.c.MoveTopicPartition("market-updates", 1, 2))
		moved = true
	})
	s := b.poll()
	if !moved {
		t.Fatal("the leader did not move")
	}
	b.wantProblems(s, "")
	b.wantRow(s, group, 1, "0/10/4 lag=6 ok  stale=false")
}

// A partition whose named leader does not lead it costs that partition only.
func TestLeaderUnknown(t *testing.T) {
	b := newBed(t)
	group := b.spread()[0]
	b.poll()
	b.c.Fault(offsetFault(kerr.NotLeaderForPartition, "market-updates", 1))
	s := b.poll()
	b.wantRow(s, group, 0, "0/10/4 lag=6 ok  stale=false")
	b.wantRow(s, group, 1, "0/10/4 lag=6 ok no_leader stale=true")
	b.wantProblems(s, "log_start broker=-1 group= topic=market-updates/1 no_leader: the broker that Metadata names does not lead the partition\n"+
		"log_end broker=-1 group= topic=market-updates/1 no_leader: the broker that Metadata names does not lead the partition")
}

func TestOffsetsDenied(t *testing.T) {
	b := newBed(t)
	group := b.spread()[0]
	b.poll()
	for _, p := range []int32{0, 1, 2} {
		b.c.Fault(offsetFault(kerr.TopicAuthorizationFailed, "market-updates", p))
	}
	s := b.poll()
	b.wantRow(s, group, 0, "-1/-1/4 lag=-1 unknown denied stale=false")
	b.wantRow(s, group, 2, "-1/-1/4 lag=-1 unknown denied stale=false")
	text := "topic=market-updates/-1 denied: 3 partitions: TOPIC_AUTHORIZATION_FAILED: Not authorized to access topics: [Topic authorization failed.]"
	b.wantProblems(s, "log_start broker=-1 group= "+text+"\nlog_end broker=-1 group= "+text)
}

// A topic made anew under the same name is another topic, and nothing of the
// old one is kept.
func TestTopicMadeAnew(t *testing.T) {
	b := newBed(t)
	group := b.spread()[0]
	b.wantRow(b.poll(), group, 0, "0/10/4 lag=6 ok  stale=false")
	b.must(b.c.DeleteTopic("market-updates"))
	s := b.poll()
	if got := rowText(s, group, "market-updates", 0); got != "no row" {
		t.Errorf("after the deletion: %s", got)
	}
	b.topic("market-updates", 1)
	b.cl.PurgeTopicsFromClient("market-updates")
	b.produce("market-updates", 0, 3)
	b.commit(group, "market-updates", map[int32]int64{0: 2})
	s = b.poll()
	b.wantRow(s, group, 0, "0/3/2 lag=1 ok  stale=false")
	b.wantProblems(s, "")
}

// Newer brokers name a commit's topic by an id only; one that is younger than
// our list of topics makes us read the list again within the poll.
func TestAnotherClusterBehindTheSameAddress(t *testing.T) {
	inVirtualTime(t, func(b *bed) {
		b.topic("a", 1)
		b.produce("a", 0, 10)
		b.commit("g", "a", map[int32]int64{0: 4})
		s := b.poll()
		s.Cluster.ID, s.Topics[0].Epoch[0] = "the one before", 99 // and brokers before 2.8 give topics no id
		s.Groups[0].FirstSeenAt = s.TakenAt.Add(-time.Hour)
		time.Sleep(time.Second)
		s = b.poll()
		b.wantGroup(s, "g", "classic Empty  members=0 lag=6/1 unknown=0 stale=0")
		if g := s.Groups[0]; !g.FirstSeenAt.Equal(s.TakenAt) {
			b.Errorf("first seen %v: that was another cluster's group", g.FirstSeenAt)
		}
	})
}

func TestTopicYoungerThanMetadata(t *testing.T) {
	b := newBed(t)
	group := b.spread()[0]
	b.poll()
	b.beforeCommitsOf(group, func() {
		b.topic("young", 1)
		b.produce("young", 0, 3)
		b.commit(group, "young", map[int32]int64{0: 1})
	})
	s := b.poll()
	b.wantProblems(s, "")
	if got, want := rowText(s, group, "young", 0), "0/3/1 lag=2 ok  stale=false"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestPartitionsAdded(t *testing.T) {
	b := newBed(t)
	b.topic("market-updates", 1)
	b.produce("market-updates", 0, 5)
	b.member("ticker", "pod-1", 1, kgo.ConsumeTopics("market-updates"))
	b.wantRow(b.poll(), "ticker", 0, "0/5/-2 lag=5 no_commit  stale=false")
	req := kmsg.NewPtrCreatePartitionsRequest()
	req.TimeoutMillis = 5000
	rt := kmsg.NewCreatePartitionsRequestTopic()
	rt.Topic, rt.Count = "market-updates", 3
	req.Topics = append(req.Topics, rt)
	_, err := req.RequestWith(t.Context(), b.cl)
	b.must(err)
	s := b.poll()
	b.wantRow(s, "ticker", 2, "0/0/-2 lag=0 no_commit  stale=false")
}

// The order of reading: log starts known before, commits, log ends.
func TestConsumerMovesWithinThePoll(t *testing.T) {
	t.Run("between log starts and commits", func(t *testing.T) {
		b := newBed(t)
		group := b.spread()[0]
		b.poll()
		b.beforeCommitsOf(group, func() {
			b.produce("market-updates", 0, 50)
			b.commit(group, "market-updates", map[int32]int64{0: 60})
		})
		b.wantRow(b.poll(), group, 0, "0/60/60 lag=0 ok  stale=false")
	})
	t.Run("a purge behind a commit that is newer than ours", func(t *testing.T) {
		b := newBed(t)
		group := b.spread()[0]
		var held atomic.Bool
		b.c.ControlKey(int16(kmsg.ListOffsets), func(r kmsg.Request) (kmsg.Response, error, bool) {
			if r.(*kmsg.ListOffsetsRequest).Topics[0].Partitions[0].Timestamp == timestampStart && !held.Swap(true) {
				b.c.SleepControl(func() { // the first poll reads log starts after the commits
					b.commit(group, "market-updates", map[int32]int64{0: 9, 1: 9, 2: 9})
					for p := range int32(3) {
						b.must(b.c.DeleteRecords("market-updates", p, 8))
					}
				})
			}
			return nil, nil, false
		})
		s := b.poll()
		for p := range int32(3) {
			if got := rowText(s, group, "market-updates", p); !strings.HasSuffix(got, "/10/9 lag=1 ok  stale=false") {
				t.Errorf("partition %d: %s", p, got)
			}
		}
	})
}

// A topic that only the commits read a second time tell of is looked up before
// it is called missing.
func TestTopicThatOnlyRereadCommitsTellOf(t *testing.T) {
	for name, opts := range map[string][]kfake.Opt{
		"brokers that name topics by an id": nil,
		"brokers that name topics":          {kfake.MaxVersions(kversion.FromString("v4.0"))},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, opts...)
			group := b.spread()[0]
			var held atomic.Bool
			b.c.ControlKey(int16(kmsg.ListOffsets), func(r kmsg.Request) (kmsg.Response, error, bool) {
				b.c.KeepControl()
				if r.(*kmsg.ListOffsetsRequest).Topics[0].Partitions[0].Timestamp == timestampStart && !held.Swap(true) {
					b.c.SleepControl(func() { // a purge makes the commits doubtful, and the newer ones have one more topic
						b.topic("young", 1)
						b.produce("young", 0, 3)
						b.commit(group, "young", map[int32]int64{0: 1})
						b.commit(group, "market-updates", map[int32]int64{0: 9, 1: 9, 2: 9})
						for p := range int32(3) {
							b.must(b.c.DeleteRecords("market-updates", p, 8))
						}
					})
				}
				return nil, nil, false
			})
			s := b.poll()
			b.wantProblems(s, "")
			if got, want := rowText(s, group, "young", 0), "0/3/1 lag=2 ok  stale=false"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// beforeCommitsOf runs a step while the first question for a group's commits is
// held back.
func (b *bed) beforeCommitsOf(group string, step func()) {
	var done atomic.Bool
	b.c.ControlKey(int16(kmsg.OffsetFetch), func(r kmsg.Request) (kmsg.Response, error, bool) {
		b.c.KeepControl()
		for _, g := range r.(*kmsg.OffsetFetchRequest).Groups {
			if g.Group == group && !done.Swap(true) {
				b.c.SleepControl(step)
			}
		}
		return nil, nil, false
	})
}

// A reader of committed records cannot pass an open transaction; asked for only
// where there are transactions, and for rows with lag.
func TestOpenTransaction(t *testing.T) {
	b := newBed(t)
	group := b.spread()[0]
	b.topic("__transaction_state", 1)
	tx := b.client(kgo.TransactionalID("tx"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	b.must(tx.BeginTransaction())
	b.must(tx.ProduceSync(t.Context(), &kgo.Record{Topic: "market-updates", Partition: 0, Value: []byte("tick")}).FirstErr())
	defer func() { b.must(tx.EndTransaction(t.Context(), kgo.TryAbort)); tx.Close() }()
	b.commit(group, "market-updates", map[int32]int64{0: 10, 1: 10, 2: 7})
	s := b.poll()
	topic, _ := s.Topic("market-updates")
	if !s.Cluster.TransactionState || topic.LogEnd[0] != 11 || topic.LastStable[0] != 10 || topic.LastStable[2] != 10 {
		t.Errorf("transactions %v, ends %v, last stable %v", s.Cluster.TransactionState, topic.LogEnd, topic.LastStable)
	}
}

func TestOffsetsAt(t *testing.T) {
	b := newBed(t)
	b.topic("market-updates", 2)
	began := time.UnixMilli(1_700_000_000_000)
	for p := range int32(2) {
		for i := range 10 {
			b.must(b.cl.ProduceSync(t.Context(), &kgo.Record{Topic: "market-updates", Partition: p, Timestamp: began.Add(time.Duration(i) * time.Second)}).FirstErr())
		}
	}
	b.commit("ticker", "market-updates", map[int32]int64{0: 0, 1: 0})
	b.poll()
	at := func(s int) int64 { return began.Add(time.Duration(s) * time.Second).UnixMilli() }
	got := b.source().OffsetsAt(t.Context(), []collect.TimeQuery{
		{Topic: "market-updates", Partition: 1, Timestamp: at(4)},
		{Topic: "nowhere", Partition: 0, Timestamp: at(0)},
		{Topic: "market-updates", Partition: 0, Timestamp: collect.TimestampNewest},
		{Topic: "market-updates", Partition: 7, Timestamp: at(0)},
	})
	want := []collect.TimeAnswer{
		{Offset: 4, Timestamp: at(4)},
		{Offset: -1, Timestamp: -1, Reason: collect.ReasonNoLeader},
		{Offset: 9, Timestamp: at(9)},
		{Offset: -1, Timestamp: -1, Reason: collect.ReasonNoLeader},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := b.source().OffsetsAt(t.Context(), []collect.TimeQuery{{Topic: "market-updates", Partition: 0, Timestamp: at(100)}}); got[0].Offset != -1 || got[0].Reason != collect.ReasonNone {
		t.Errorf("beyond the newest record: %v", got)
	}
}

// What a broker answers without being asked indexes nothing.
func TestAnswersNobodyAskedFor(t *testing.T) {
	var got []string
	q := offsetQuery{
		set: func(w *want, p int32, a offsetAnswer) {
			got = append(got, fmt.Sprintf("%s/%d=%d", w.topic, p, a.offset))
		},
		unread: func(w *want, p int32, why collect.Reason) {
			got = append(got, fmt.Sprintf("%s/%d %s", w.topic, p, why))
		},
	}
	answer := func(topic string, code int16, ps ...int32) kmsg.ListOffsetsResponseTopic {
		rt := kmsg.ListOffsetsResponseTopic{Topic: topic}
		for _, p := range ps {
			rp := kmsg.NewListOffsetsResponseTopicPartition()
			rp.Partition, rp.Offset, rp.ErrorCode = p, int64(p)+100, code
			rt.Partitions = append(rt.Partitions, rp)
		}
		return rt
	}
	ch := &chunk{
		wants: []want{{topic: "x", partitions: []int32{0, 3, 1}, timestamps: []int64{10, 30, 20}}, {topic: "y", partitions: []int32{5}}},
		resp: &kmsg.ListOffsetsResponse{Topics: []kmsg.ListOffsetsResponseTopic{
			answer("x", 0, -1, 3, 99), answer("strange", 0, 0), answer("x", kerr.NotLeaderForPartition.Code, 1, 7), answer("y", kerr.UnknownServerError.Code, 5),
		}},
	}
	stale := (&poll{}).takeOffsets(q, 1, ch)
	if want := "[x/3=103 y/5 error]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if len(stale) != 1 || fmt.Sprint(stale[0].partitions, stale[0].timestamps) != "[1] [20]" {
		t.Errorf("to be asked of another leader: %+v", stale)
	}
}
