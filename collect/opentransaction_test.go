package collect

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// bank is a source that knows whose transactions are open and what tails hold.
type bank struct {
	*ledger
	answer TransactionAnswer
	asked  []TransactionQuery
	tails  map[int64]TailKind // by the offset they begin at
	read   []TailQuery
}

func (b *bank) Transactions(_ context.Context, qs []TransactionQuery) []TransactionAnswer {
	b.asked = append(b.asked, qs...)
	out := make([]TransactionAnswer, len(qs))
	for i := range out {
		out[i] = b.answer
	}
	return out
}

func (b *bank) Tails(_ context.Context, qs []TailQuery) []TailKind {
	b.read = append(b.read, qs...)
	out := make([]TailKind, len(qs))
	for i, q := range qs {
		out[i] = b.tails[q.From]
	}
	return out
}

func newBank() (*bank, *Collector) {
	w := newWorld()
	w.cluster = &Cluster{ID: "id", SeesAllGroups: Yes, SeesAllTopics: Yes, TransactionState: true, TransactionPartitions: 1}
	b := &bank{ledger: &ledger{world: w, ended: map[int32]time.Time{}}, answer: Nobody(ReasonNotReported), tails: map[int64]TailKind{}}
	return b, New(b, Options{Build: w.opts, Interval: 5 * time.Second, Timeout: 1e5 * time.Hour, ProbeRecords: true, Now: func() time.Time { return w.now }})
}

func TestOpenTransaction(t *testing.T) {
	b, c := newBank()
	w := b.world
	w.group("g", member("m", on("a", 0))).commit("a", 0, 200)
	end := int64(200)
	look := func(stable int64) (row Row, asked int) {
		t.Helper()
		b.asked = nil
		w.after(5 * time.Second)
		end += 10
		w.topic("a", part{0, end}).stable[0] = stable
		return mustGroup(t, c.Once(t.Context()).Snapshot, "g").Topics[0].Row(0), len(b.asked)
	}
	for i := range 10 { // transactions come and go
		if r, n := look(end); n > 0 || r.Open != nil {
			t.Fatalf("poll %d: asked %d times, %v", i, n, r.Open)
		}
	}
	stuck := end
	for i := range 15 { // 70 s
		r, n := look(stuck)
		if i < 14 && (n > 0 || r.Open != nil) {
			t.Fatalf("after %d s: asked %d times, %v", 5*i, n, r.Open)
		}
		if i == 14 && (n != 1 || r.Open == nil || r.Open.ProducerID != Unknown || r.Open.Age.Seconds < 70 || r.Open.Age.Seconds > 80) {
			t.Fatalf("after 70 s: asked %d times, %+v", n, r.Open)
		}
	}
	for range 30 {
		if r, n := look(stuck); n > 0 || r.Open == nil {
			t.Fatalf("asked %d times though nobody told, %v", n, r.Open)
		}
	}
	stuck += 3 // that one is over, another one begins
	b.answer = TransactionAnswer{ProducerID: 7, ProducerEpoch: 1, TransactionalID: "orders", State: "Ongoing", Timeout: 15 * time.Minute, StartedAt: w.now}
	var r Row
	n := 0
	for range 20 {
		k := 0
		r, k = look(stuck)
		n += k
	}
	if n != 1 || r.Open == nil || r.Open.TransactionalID != "orders" || r.Open.Start != stuck || r.Open.Age.Method != MethodExact || r.Open.Age.Seconds != 100 {
		t.Errorf("asked %d times, %+v", n, r.Open)
	}
	if r, _ := look(end); r.Open != nil {
		t.Errorf("it is over, and still %+v", r.Open)
	}
	for range 3 {
		look(end + 10) // nothing is open
	}
	if len(c.tracker.open) != 0 {
		t.Errorf("%d topics are remembered", len(c.tracker.open))
	}
}

// A broker that did not answer is asked again, but not at each poll; one that
// did, after a while.
func TestOpenTransactionIsAskedForAgain(t *testing.T) {
	for _, tt := range []struct {
		answer  TransactionAnswer
		minutes int
		want    int
	}{
		{Nobody(ReasonTimeout), 5, 10},
		{TransactionAnswer{ProducerID: 7}, 11, 3},
		{Nobody(ReasonUnsupported), 60, 1},
	} {
		t.Run(fmt.Sprint(tt.answer.Reason), func(t *testing.T) {
			b, c := newBank()
			w := b.world
			b.answer = tt.answer
			w.topic("a", part{0, 30}).stable[0] = 20
			w.group("g", member("m", on("a", 0))).commit("a", 0, 20)
			for b.asked == nil {
				w.after(5 * time.Second)
				c.Once(t.Context())
			}
			b.asked = b.asked[:0:0]
			n := 1
			for range tt.minutes*12 - 1 {
				w.after(5 * time.Second)
				c.Once(t.Context())
			}
			if n += len(b.asked); n != tt.want {
				t.Errorf("asked %d times in %d minutes, want %d", n, tt.minutes, tt.want)
			}
		})
	}
}

// A short tail that begins where an open transaction does is data, though
// nobody may read it yet: DESCRIBE proves it.
func TestOpenTransactionIsNoMarker(t *testing.T) {
	b, c := newBank()
	w := b.world
	w.topic("a", part{0, 52}).stable[0] = 50
	w.group("g", member("m", on("a", 0))).commit("a", 0, 50)
	w.group("h", member("n", on("a", 0))).commit("a", 0, 51) // within it: who knows
	for range 52 {
		b.records = append(b.records, epoch.Add(-time.Minute))
	}
	b.ended[0] = epoch.Add(time.Hour)
	c.Once(t.Context())
	s := c.Once(t.Context()).Snapshot
	if a := mustGroup(t, s, "g").Topics[0].Row(0).Age; !a.Known() || a.Seconds < 59 {
		t.Errorf("its first record: %v", a)
	}
	if a := mustGroup(t, s, "h").Topics[0].Row(0).Age; a.Reason != SecondsControlRecords {
		t.Errorf("a later one: %v", a)
	}
}

// What was one transaction, and may have been aborted, does not age: of a tail
// of any length.
func TestTailThatWasOneTransaction(t *testing.T) {
	b, c := newBank()
	w := b.world
	w.group("g", member("m", on("a", 0))).commit("a", 0, 100)
	look := func(end, stable int64) Age {
		t.Helper()
		w.after(5 * time.Second)
		w.topic("a", part{0, end}).stable[0] = stable
		return mustGroup(t, c.Once(t.Context()).Snapshot, "g").Topics[0].Row(0).Age
	}
	look(100, 100)
	look(400, 100)
	if a := look(600, 100); !a.Known() {
		t.Errorf("an open transaction's records are waited for: %v", a)
	}
	b.ended[0] = w.now
	for range 3 {
		if a := look(601, 601); a.Reason != SecondsControlRecords {
			t.Errorf("what may have been aborted ages: %v", a)
		}
	}
	b.tails[100] = TailData
	if a := look(601, 601); !a.Known() || a.Seconds < 5 {
		t.Errorf("a read proved it data: %v", a)
	}
	if a := look(700, 700); !a.Known() {
		t.Errorf("records came after it: %v", a)
	}
}

// A read that proves that only markers are left makes the time lag 0; one that
// finds aborted records proves nothing about readers of uncommitted ones.
func TestProbedTail(t *testing.T) {
	for _, tt := range []struct {
		kind    TailKind
		seconds float64 // below 0: none, for control_records
		reads   int     // in three polls
	}{
		{TailControl, 0, 1}, {TailAborted, -1, 1}, {TailData, 60, 1}, {TailUnknown, -1, 3},
	} {
		t.Run(fmt.Sprint(tt.kind), func(t *testing.T) {
			b, c := newBank()
			w := b.world
			w.topic("a", part{0, 50}).stable[0] = 50
			w.group("g", member("m", on("a", 0))).commit("a", 0, 49)
			w.group("h", member("n", on("a", 0))).commit("a", 0, 49)
			for range 50 {
				b.records = append(b.records, epoch.Add(-time.Minute))
			}
			b.ended[0], b.tails[49] = epoch.Add(time.Hour), tt.kind
			for i := range 3 {
				a := mustGroup(t, c.Once(t.Context()).Snapshot, "g").Topics[0].Row(0).Age
				switch {
				case tt.seconds < 0 && a.Reason != SecondsControlRecords:
					t.Errorf("poll %d: %v", i, a)
				case tt.seconds == 0 && (a.Method != MethodExact || a.Seconds != 0), tt.seconds > 0 && !a.Known() && i > 0:
					t.Errorf("poll %d: %v", i, a)
				}
			}
			if len(b.read) != tt.reads {
				t.Errorf("read %v", b.read)
			}
		})
	}
}
