package kafka

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/internal/kafkatest"
)

// The way of a share group from its first member to its end, as a real broker
// and Kafka's own client make it.
func TestRealShareGroup(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes half a dozen JVMs")
	}
	k := kafkatest.Start(t, kafkatest.Options{Properties: map[string]string{
		"group.share.heartbeat.interval.ms": "1000", "group.share.min.heartbeat.interval.ms": "1000",
		"group.share.session.timeout.ms": "10000", "group.share.min.session.timeout.ms": "10000",
		"transaction.state.log.num.partitions": "1", "group.share.assignment.interval.ms": "0",
	}})
	if !k.AtLeast(4, 2) {
		t.Skipf("Kafka %s has no share groups", k.Version())
	}
	b := &bed{T: t, timeout: 10 * time.Second}
	src, err := New(Config{Brokers: k.Brokers()}, Options{})
	b.must(err)
	t.Cleanup(src.Close)
	b.src = src
	await := func(what, group, want string) *collect.Snapshot {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
			s := b.poll()
			got := shareText(s, group)
			if got == want {
				if p := problemText(s); p != "" {
					t.Errorf("%s: problems %s", what, p)
				}
				return s
			}
			if time.Now().After(end) {
				t.Fatalf("%s: group %s:\n     %s\nwant %s\nproblems: %s", what, group, got, want, problemText(s))
			}
		}
	}
	k.CreateTopic(t, "x", 2)
	k.CreateTopic(t, "y", 1)
	k.Produce(t, "x", 50, 0, 1)
	a := k.JavaShareConsumer(t, kafkatest.ConsumerOptions{Group: "queue", Topics: []string{"x"}, ClientID: "a"})
	for end := time.Now().Add(30 * time.Second); !strings.Contains(ownersText(b.poll(), "queue"), "x/1=a") && time.Now().Before(end); {
		a.Poll(t, time.Second)
	}
	a.Poll(t, 4*time.Second) // it hears of its partitions with a heartbeat, and only then fetches from the end
	await("joined at the latest", "queue", "Stable [a] x/0 ?:? x/1 ?:?")
	k.Produce(t, "x", 30, 1)
	if n := a.Poll(t, 20*time.Second); n != 30 {
		t.Fatalf("the consumer holds %d records", n)
	}
	await("30 acquired", "queue", "Stable [a] x/0 ?:? x/1 ?:?")
	a.Accept(t, 4)
	await("4 accepted", "queue", "Stable [a] x/0 ?:? x/1 50:26")
	a.Release(t, 5)
	a.Reject(t, 3)
	await("5 released, 3 rejected", "queue", "Stable [a] x/0 ?:? x/1 54:23")
	a.Accept(t, 8)
	await("8 more accepted", "queue", "Stable [a] x/0 ?:? x/1 54:15")
	a.Accept(t, 10)
	s := await("only the released are left", "queue", "Stable [a] x/0 ?:? x/1 54:5")
	if g, _ := s.Group("queue"); g.Lag.Records != 5 || g.Lag.Unknown != 1 || g.Lag.Complete || !s.Complete {
		t.Errorf("%+v, complete %v", g.Lag, s.Complete)
	}
	for n := a.Poll(t, 20*time.Second); n > 0; n = a.Poll(t, time.Second) {
		a.Accept(t, n)
	}
	s = await("all accepted, the start trails", "queue", "Stable [a] x/0 ?:? x/1 54:0")
	if text := problemText(s); text != "" {
		t.Error(text)
	}

	// the log goes, read and unread
	k.Produce(t, "x", 20, 1)
	if n := a.Poll(t, 20*time.Second); n != 20 {
		t.Fatalf("the consumer holds %d records", n)
	}
	a.Accept(t, 1)
	await("one of 20 accepted, the log whole", "queue", "Stable [a] x/0 ?:? x/1 80:19")
	k.DeleteRecords(t, "x", map[int32]int64{1: 90})
	await("ten of them deleted", "queue", "Stable [a] x/0 ?:? x/1 80:10 lost 10")
	a.Accept(t, 19)
	await("the others were held, and accepted", "queue", "Stable [a] x/0 ?:? x/1 81:0")

	// more members than partitions, and a topic that nobody subscribes to any more
	more := k.JavaShareConsumer(t, kafkatest.ConsumerOptions{Group: "queue", Topics: []string{"x"}, ClientID: "b"})
	more.Poll(t, 3*time.Second)
	third := k.JavaShareConsumer(t, kafkatest.ConsumerOptions{Group: "queue", Topics: []string{"x"}, ClientID: "c"})
	third.Poll(t, 3*time.Second)
	s = await("three members, two partitions", "queue", "Stable [a b c] x/0 ?:? x/1 81:0")
	for end := time.Now().Add(20 * time.Second); ; s = b.poll() {
		g, _ := s.Group("queue")
		owners := 0
		for _, gt := range g.Topics {
			for i := range gt.Committed {
				owners += max(len(gt.Row(i).Owners), 1)
			}
		}
		if g.Assignment.Conflicts != 0 {
			t.Fatalf("several owners are no conflict: %+v", g.Assignment)
		}
		if owners >= 3 && g.Assignment.Idle == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d owners of two partitions: %+v", owners, g.Assignment)
		}
		time.Sleep(100 * time.Millisecond)
	}
	more.Close(t)
	third.Close(t)
	a.Subscribe(t, "y")
	a.Poll(t, 3*time.Second)
	s = await("only y is subscribed to", "queue", "Stable [a] x/0 ?:? x/1 81:0 y/0 ?:?")
	if g, _ := s.Group("queue"); g.Assignment.Orphaned != 2 || g.Assignment.Unassigned != 0 {
		t.Errorf("%+v", g.Assignment)
	}
	a.Close(t)
	k.Produce(t, "x", 7, 1)
	await("empty", "queue", "Empty [] x/0 ?:? x/1 81:7 y/0 ?:?")

	// an open transaction, for readers of committed records
	k.Configs(t, "--alter", "--entity-type", "groups", "--entity-name", "pay", "--add-config", "share.auto.offset.reset=earliest,share.isolation.level=read_committed")
	k.CreateTopic(t, "z", 1)
	tx := k.JavaProducer(t, "pay", nil)
	tx.Begin(t)
	tx.Send(t, "z", 0, 10)
	tx.Commit(t)
	r := k.JavaShareConsumer(t, kafkatest.ConsumerOptions{Group: "pay", Topics: []string{"z"}, ClientID: "r"})
	for n := 0; n < 10; {
		got := r.Poll(t, 20*time.Second)
		if got == 0 {
			t.Fatal("the committed records did not come")
		}
		n += got
		r.Accept(t, got)
	}
	lag := func(what string, want int64) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); ; {
			s := b.poll()
			if g, _ := s.Group("pay"); g.Lag.Records == want {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s: %s, want lag %d", what, shareText(s, "pay"), want)
			}
			r.Poll(t, 500*time.Millisecond)
		}
	}
	lag("behind a commit marker", 0)
	tx.Begin(t)
	tx.Send(t, "z", 0, 5)
	lag("before an open transaction", 5)
	tx.Abort(t)
	lag("behind an aborted one", 0)
	tx.Begin(t)
	tx.Send(t, "z", 0, 1)
	tx.Commit(t)
	r.Accept(t, r.Poll(t, 20*time.Second))
	lag("the next record read", 0)

	r.Close(t)
	k.ShareGroups(t, "--delete", "--group", "pay")
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if _, ok := b.poll().Group("pay"); !ok {
			break
		}
		if time.Now().After(end) {
			t.Fatal("a deleted group stays")
		}
	}
}

// shareText is a share group's state, members and rows: "topic/partition start:lag".
func shareText(s *collect.Snapshot, name string) string {
	g, ok := s.Group(name)
	if !ok {
		return "absent"
	}
	var members []string
	for i := range g.Members {
		members = append(members, g.Members[i].ClientID)
	}
	out := fmt.Sprintf("%s %v", g.State, members)
	n := func(n int64) string {
		if n < 0 {
			return "?"
		}
		return fmt.Sprint(n)
	}
	for _, gt := range g.Topics {
		for i := range gt.Committed {
			r := gt.Row(i)
			out += fmt.Sprintf(" %s/%d %s:%s", r.Topic, r.Partition, n(r.Committed), n(r.Lag))
			if r.Lost > 0 {
				out += fmt.Sprintf(" lost %d", r.Lost)
			}
			if r.Stale {
				out += " stale"
			}
		}
	}
	return strings.TrimSpace(out)
}
