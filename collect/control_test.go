package collect

import (
	"context"
	"math"
	"testing"
	"time"
)

// ledger is a source over a pretended cluster whose partition a/0 has records
// with timestamps, and whose transactions ended last at some time.
type ledger struct {
	*world
	records []time.Time // of a/0, by offset
	ended   map[int32]time.Time
	refuse  Reason
	asked   int // questions about the transaction topic
}

func (l *ledger) Poll(context.Context, Ask) *Snapshot { return l.poll() }

func (l *ledger) Close() {}

func (l *ledger) OffsetsAt(_ context.Context, qs []TimeQuery) []TimeAnswer {
	out := make([]TimeAnswer, len(qs))
	for i, q := range qs {
		out[i] = TimeAnswer{Offset: -1, Timestamp: -1}
		if q.Topic == TransactionTopic {
			l.asked++
			if at, ok := l.ended[q.Partition]; ok {
				out[i] = TimeAnswer{Offset: 7, Timestamp: at.UnixMilli()}
			}
			out[i].Reason = l.refuse
			continue
		}
		for o, at := range l.records {
			newest := o == len(l.records)-1
			if q.Timestamp == TimestampNewest && newest || q.Timestamp >= 0 && at.UnixMilli() >= q.Timestamp {
				out[i] = TimeAnswer{Offset: int64(o), Timestamp: at.UnixMilli()}
				break
			}
		}
	}
	return out
}

// A tail of transaction markers is unread for ever and must not age for ever;
// data that is proved to be data must.
func TestTailThatMayBeMarkersOnly(t *testing.T) {
	ago := func(d time.Duration) time.Time { return epoch.Add(-d) }
	minute := func(n int) (out []time.Time) { // n records, the newest a minute old
		for i := range n {
			out = append(out, ago(time.Minute+time.Duration(n-1-i)*time.Second))
		}
		return out
	}
	tests := []struct {
		name       string
		state      bool // the cluster has, or may have, a transaction topic
		partitions int32
		ended      map[int32]time.Time
		refuse     Reason
		unread     int
		seconds    float64 // of the row; below 0: none, for control_records
	}{
		{"no transaction topic", false, 0, nil, ReasonNone, 1, 60},
		{"no transaction ever ended", true, 2, nil, ReasonNone, 1, 60},
		{"one ended before the record was written", true, 2, map[int32]time.Time{1: ago(time.Hour)}, ReasonNone, 1, 60},
		{"one ended when the record was written", true, 2, map[int32]time.Time{1: ago(time.Minute)}, ReasonNone, 1, -1},
		{"one ended since", true, 2, map[int32]time.Time{0: ago(time.Hour), 1: ago(time.Second)}, ReasonNone, 1, -1},
		{"the broker that knows does not answer", true, 2, nil, ReasonTimeout, 1, -1},
		{"the topic cannot be seen", true, 0, nil, ReasonNone, 1, -1},
		{"a tail too long to be markers only", true, 2, map[int32]time.Time{1: ago(time.Second)}, ReasonNone, 40, 60 + 39},
		{"nothing unread", true, 2, map[int32]time.Time{1: ago(time.Second)}, ReasonNone, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			w.cluster = &Cluster{ID: "id", SeesAllGroups: Yes, SeesAllTopics: Yes, TransactionState: tt.state, TransactionPartitions: tt.partitions}
			n := int64(50)
			w.topic("a", part{0, n})
			w.group("g", member("m", on("a", 0))).commit("a", 0, n-int64(tt.unread))
			l := &ledger{world: w, records: minute(int(n)), ended: tt.ended, refuse: tt.refuse}
			c := New(l, Options{Build: w.opts, Interval: time.Second, Timeout: 1e5 * time.Hour, Now: func() time.Time { return w.now }})
			u := c.Once(t.Context())
			g := mustGroup(t, u.Snapshot, "g")
			a := g.Topics[0].Row(0).Age
			if tt.seconds < 0 {
				if a.Known() || a.Reason != SecondsControlRecords {
					t.Errorf("row: %v", a)
				}
				if g.Lag.Age.Seconds != 0 || !g.Lag.Complete {
					t.Errorf("group: %v, complete %v", g.Lag.Age, g.Lag.Complete)
				}
				return
			}
			if !a.Known() || a.Seconds < tt.seconds-a.Error-0.01 || a.Seconds > tt.seconds+a.Error+0.01 {
				t.Errorf("row: %v, want %v s", a, tt.seconds)
			}
			if tt.unread > shortTail && l.asked > 0 {
				t.Error("the transaction topic was asked about for nothing")
			}
		})
	}
}

// What other rows say counts; a row that may have markers only unread is set
// aside.
func TestGroupAgeSetsMarkersAside(t *testing.T) {
	w := worstAge{}
	w.take(unknownAge(SecondsControlRecords))
	w.take(Age{Seconds: 30, Method: MethodExact})
	if a := w.age(&Group{Topics: []*GroupTopic{{}}}, 2); a.Method != MethodExact || a.Seconds != 30 {
		t.Errorf("got %v", a)
	}
}

// Where all records have one timestamp, the record that a search is for cannot
// be told from the others: but none is younger than that timestamp.
func TestBurstOfOneTimestampIsAtLeastThatOld(t *testing.T) {
	w := newWorld()
	w.cluster = &Cluster{ID: "id", SeesAllGroups: Yes, SeesAllTopics: Yes}
	w.topic("a", part{0, 40})
	w.group("g", member("m", on("a", 0))).commit("a", 0, 20)
	l := &burst{ledger{world: w}, epoch.Add(-2 * time.Hour)}
	c := New(l, Options{Build: w.opts, Interval: time.Second, Timeout: 1e5 * time.Hour, Now: func() time.Time { return w.now }})
	g := mustGroup(t, c.Once(t.Context()).Snapshot, "g")
	if a := g.Topics[0].Row(0).Age; a.Method != MethodAtLeast || a.Seconds != 7200 {
		t.Errorf("got %v, want at least 7200 s", a)
	}
}

// burst is a partition whose records all have one timestamp: the first of them
// is the answer to every question.
type burst struct {
	ledger
	at time.Time
}

func (b *burst) OffsetsAt(_ context.Context, qs []TimeQuery) []TimeAnswer {
	return []TimeAnswer{{Offset: 0, Timestamp: b.at.UnixMilli()}}[:len(qs)]
}

// One look finds the age of several groups that read the same partition, and
// not only of the one furthest behind.
func TestOneLookDatesGroupsThatShareAPartition(t *testing.T) {
	w := newWorld()
	w.cluster = &Cluster{ID: "id", SeesAllGroups: Yes, SeesAllTopics: Yes}
	w.topic("a", part{0, 100})
	l := &ledger{world: w}
	for i := range 100 { // uneven: nothing is right by interpolation
		l.records = append(l.records, epoch.Add(-time.Duration((100-i)*(100-i))*time.Second))
	}
	commits := map[string]int64{"near": 90, "middle": 50, "far": 10}
	for name, at := range commits {
		w.group(name, member("m", on("a", 0))).commit("a", 0, at)
	}
	c := New(l, Options{Build: w.opts, Interval: time.Second, Timeout: 1e5 * time.Hour, Now: func() time.Time { return w.now }})
	s := c.Once(t.Context()).Snapshot
	for name, at := range commits {
		a, want := mustGroup(t, s, name).Topics[0].Row(0).Age, epoch.Sub(l.records[at]).Seconds()
		if a.Method != MethodExact || a.Seconds != want {
			t.Errorf("%s: %v, want exactly %v s", name, a, want)
		}
	}
}

// A consumer that moves through an old backlog lies between two known records
// at each poll: its time lag does not widen to the whole backlog in between.
func TestMovingConsumerStaysBetweenKnownRecords(t *testing.T) {
	const records, step = 2000, 20
	w := newWorld()
	w.cluster = &Cluster{ID: "id", SeesAllGroups: Yes, SeesAllTopics: Yes}
	w.topic("a", part{0, records})
	g := w.group("g", member("m", on("a", 0))).commit("a", 0, 100)
	l := &ledger{world: w}
	for i := range records { // slower and slower: 1 s, 2 s, … between two records
		n := records - i
		l.records = append(l.records, epoch.Add(-time.Duration(n*(n+1)/2)*time.Second))
	}
	c := New(l, Options{Build: w.opts, Interval: time.Second, Timeout: 1e5 * time.Hour, Now: func() time.Time { return w.now }})
	for poll := range 20 {
		c.poll(t.Context(), w.now)
		s := c.Hub().Latest().Snapshot
		row := mustGroup(t, s, "g").Topics[0].Row(0)
		truth := w.now.Sub(l.records[row.Committed]).Seconds()
		if a := row.Age; a.Known() && math.Abs(a.Seconds-truth) > a.Error+0.01 {
			t.Errorf("poll %d: %v, but it is %v s", poll, a, truth)
		}
		if a := row.Age; poll > 6 && (a.Method < MethodExact || a.Method > MethodInterpolated || a.Error > a.Seconds/10) {
			t.Errorf("poll %d: %v of %v s", poll, a, truth)
		}
		c.searchTimes(t.Context(), s)
		w.after(time.Second)
		g.commit("a", 0, row.Committed+step)
	}
}
