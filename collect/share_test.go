package collect

import (
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"
)

// told is what a broker says of one share partition.
type told struct {
	start, lag int64
	why        Reason
}

// shareGroup adds a Stable share group.
func (w *world) shareGroup(name string, members ...Member) *fakeGroup {
	g := w.group(name, members...)
	g.facts.Type, g.facts.ProtocolType, g.facts.Assignor = TypeShare, "share", "simple"
	g.facts.Generation = Generation{Value: 3, Exact: true, Source: SourceEpoch}
	g.shares = map[string]map[int32]told{}
	return g
}

// says sets what the broker answers about one partition.
func (g *fakeGroup) says(topic string, p int32, start, lag int64) *fakeGroup {
	if g.shares[topic] == nil {
		g.shares[topic] = map[int32]told{}
	}
	g.shares[topic][p] = told{start: start, lag: lag}
	return g
}

func (g *fakeGroup) shareCommits() (cs []TopicCommits) {
	for topic, ps := range g.shares {
		c := TopicCommits{Topic: topic, Lags: []int64{}}
		for p, s := range ps {
			c.Partitions, c.Offsets, c.Epochs = append(c.Partitions, p), append(c.Offsets, s.start), append(c.Epochs, 0)
			c.Lags, c.Reasons = append(c.Lags, s.lag), append(c.Reasons, s.why)
		}
		cs = append(cs, c)
	}
	return cs
}

// What brokers of Kafka 4.3 and 4.4 were seen to answer, and what it means.
// Every case is one partition; S, E and LSO are its log.
func TestShareLag(t *testing.T) {
	const none = -1
	tests := []struct {
		why                   string
		s, e, lso, start, lag int64
		want                  string
		stable                int64 // of the lag, below the last stable offset
		first, last           int64 // the oldest unread record lies between
	}{
		{"joined at the latest of 50 records, none new", 0, 50, 50, none, none, "0..50 at ? lag ? unknown not_reported", none, 0, 0},
		{"30 acquired, none acknowledged", 0, 80, 80, none, none, "0..80 at ? lag ? unknown not_reported", none, 0, 0},
		{"4 accepted", 0, 80, 80, 50, 26, "0..80 at 50 lag 26 ok", 26, 50, 54},
		{"5 released count, 3 rejected are done", 0, 80, 80, 54, 23, "0..80 at 54 lag 23 ok", 23, 54, 57},
		{"8 accepted, 10 still acquired", 0, 80, 80, 54, 15, "0..80 at 54 lag 15 ok", 15, 54, 65},
		{"10 accepted, only the released are left", 0, 80, 80, 54, 5, "0..80 at 54 lag 5 ok", 5, 54, 75},
		{"all 30 accepted: the start trails", 0, 80, 80, 50, 0, "0..80 at 50 lag 0 ok", 0, 50, none},
		{"earliest, first 20 acquired", 0, 60, 60, none, none, "0..60 at ? lag ? unknown not_reported", none, 0, 0},
		{"earliest, 5 accepted", 0, 60, 60, 0, 55, "0..60 at 0 lag 55 ok", 55, 0, 5},
		{"earliest, 15 released", 0, 60, 60, 5, 55, "0..60 at 5 lag 55 ok", 55, 5, 5},
		{"DeleteRecords to 30", 30, 60, 60, 5, 55, "30..60 at 5 lag 30 lost lost 25", 30, 30, 30},
		{"and the next acknowledgement", 30, 60, 60, 30, 30, "30..60 at 30 lag 30 ok", 30, 30, 30},
		{"empty, 10 more, DeleteRecords to 50", 50, 70, 70, 30, 40, "50..70 at 30 lag 20 lost lost 20", 20, 50, 50},
		{"DeleteRecords where more is gone than was left", 50, 70, 70, 30, 15, "50..70 at 30 lag 15 lost lost 20", 15, 50, none},
		{"DeleteRecords of what was read to the end: nothing is lost", 80, 80, 80, 50, 0, "80..80 at 50 lag 0 ok", 0, 80, none},
		{"archived after two deliveries: done", 0, 1, 1, 0, 0, "0..1 at 0 lag 0 ok", 0, 0, none},
		{"read_committed before an open transaction", 0, 34, 29, 20, 5, "0..34 at 20 lag 5 ok", none, 20, 29},
		{"an open transaction, and nothing done above the start", 0, 34, 29, 20, 14, "0..34 at 20 lag 14 ok", 9, 20, 20},
		{"an open transaction from the start on", 0, 34, 20, 20, 14, "0..34 at 20 lag 14 ok", 0, 20, 20},
		{"the transaction aborted, the next record acknowledged", 0, 36, 36, 29, 0, "0..36 at 29 lag 0 ok", 0, 29, none},
		{"locks expired without acknowledgement", 0, 40, 40, 0, 40, "0..40 at 0 lag 40 ok", 40, 0, 0},
		{"the topic made anew under the group", 0, 10, 10, 50, 0, "0..10 at 50 lag 0 ahead ahead 40", 0, 50, none},
		{"a broker of version 0 of the request: a start, no lag", 0, 60, 60, 5, none, "0..60 at 5 lag ? unknown not_reported", none, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			w := newWorld()
			w.topic("x", part{tt.s, tt.e}).stable[0] = tt.lso
			w.cluster = &Cluster{ID: "id", Controller: 1, TransactionState: true}
			w.shareGroup("q", member("a", on("x", 0))).says("x", 0, tt.start, tt.lag)
			g := mustGroup(t, w.poll(), "q")
			wantLines(t, rowsOf(g), "x/0 "+tt.want)
			gt := g.Topics[0]
			if r := gt.Row(0); r.LagStable != tt.stable || g.Lag.Stable != tt.stable {
				t.Errorf("stable lag %d, the group's %d, want %d", r.LagStable, g.Lag.Stable, tt.stable)
			}
			if tt.lag < 0 {
				return
			}
			if first, last := gt.oldestUnread(0, 0); first != tt.first || last != tt.last {
				t.Errorf("the oldest unread record lies from %d to %d, want %d to %d", first, last, tt.first, tt.last)
			}
		})
	}
}

// Rows are what is assigned and what is initialised, also where nobody
// subscribes any more; several owners are no conflict.
func TestShareRows(t *testing.T) {
	w := newWorld()
	w.topic("x", even(3, 0, 10)...)
	w.topic("old", even(1, 0, 5)...)
	w.shareGroup("q", member("a", on("x", 0, 1)), member("b", on("x", 0, 2))).
		says("x", 0, 0, 10).says("x", 1, 4, 6).says("old", 0, 2, 3)
	g := mustGroup(t, w.poll(), "q")
	wantLines(t, rowsOf(g),
		"old/0 0..5 at 2 lag 3 ok",
		"x/0 0..10 at 0 lag 10 ok",
		"x/1 0..10 at 4 lag 6 ok",
		"x/2 0..10 at ? lag ? unknown not_reported",
	)
	a, l := g.Assignment, g.Lag
	if got, want := fmt.Sprint(a.Conflicts, a.Orphaned, a.Unassigned, a.Assigned, a.Idle), "0 1 0 3 0"; got != want {
		t.Errorf("conflicts, orphaned, unassigned, assigned, idle: %s, want %s", got, want)
	}
	if l.Records != 19 || l.OrphanedRecords != 3 || l.AssignedRecords != 16 || l.Unknown != 1 || l.Complete {
		t.Errorf("%+v", l)
	}
	if r := g.Topics[1].Row(0); len(r.Owners) != 2 || r.Owner != 0 {
		t.Errorf("owners %v, first %d", r.Owners, r.Owner)
	}
	w.groups["q"].facts.State, w.groups["q"].facts.Members = StateEmpty, nil
	if g = mustGroup(t, w.poll(), "q"); g.Assignment.Orphaned != 0 || g.Assignment.Unassigned != 3 || g.Lag.Records != 19 {
		t.Errorf("without members: %+v %+v", g.Assignment, g.Lag)
	}
}

// What cannot be read is what it was, with its age; what a broker does not give
// is unknown.
func TestShareUnread(t *testing.T) {
	w := newWorld()
	w.topic("x", even(2, 0, 10)...)
	q := w.shareGroup("q", member("a", on("x", 0, 1))).says("x", 0, 4, 6).says("x", 1, 0, 10)
	w.poll()
	w.after(time.Minute).topic("x", even(2, 0, 90)...)
	q.commitsUnread = ReasonTimeout
	s := w.poll()
	wantLines(t, rowsOf(mustGroup(t, s, "q")), "x/0 0..10 at 4 lag 6 ok stale timeout", "x/1 0..10 at 0 lag 10 ok stale timeout")
	if s.Complete {
		t.Error("complete with stale rows")
	}
	q.commitsUnread = ReasonNone
	q.shares["x"][0] = told{-1, -1, ReasonNoLeader}
	q.says("x", 1, 2, 88)
	w.after(time.Second)
	wantLines(t, rowsOf(mustGroup(t, w.poll(), "q")), "x/0 0..10 at 4 lag 6 ok stale no_leader", "x/1 0..90 at 2 lag 88 ok")
	w.after(5 * time.Minute)
	wantLines(t, rowsOf(mustGroup(t, w.poll(), "q")), "x/0 ?..? at 4 lag ? unknown no_leader", "x/1 0..90 at 2 lag 88 ok")
	q.commitsUnread = ReasonUnsupported
	g := mustGroup(t, w.poll(), "q")
	wantLines(t, rowsOf(g), "x/0 0..90 at ? lag ? unknown unsupported", "x/1 0..90 at ? lag ? unknown unsupported")
	if g.Lag.Records != Unknown || !w.prev.Complete {
		t.Errorf("switched off is an answer: %+v, complete %v", g.Lag, w.prev.Complete)
	}
}

// An answer about a share partition counts at once, also while its log end cannot
// be read.
func TestShareAnswersBesideAKeptEnd(t *testing.T) {
	for _, why := range []Reason{ReasonDenied, ReasonNotReported, ReasonTopicMissing} {
		w := newWorld()
		x := w.topic("x", even(2, 0, 10)...)
		q := w.shareGroup("q", member("a", on("x", 0, 1))).says("x", 0, 4, 6).says("x", 1, 0, 10)
		w.poll()
		x.endUnread[0] = ReasonBrokerDown
		q.shares["x"][0] = told{-1, -1, why}
		w.after(time.Second)
		wantLines(t, rowsOf(mustGroup(t, w.poll(), "q")), "x/0 0..10 at ? lag ? unknown "+why.String(), "x/1 0..10 at 0 lag 10 ok")
	}
}

// A group that has no rows yet is not at lag 0, and one of whose topics some may
// be hidden has not only the rows that are seen.
func TestShareHides(t *testing.T) {
	w := newWorld()
	w.topic("x", even(1, 0, 10)...)
	q := w.shareGroup("q", member("a").to("x"))
	if g := mustGroup(t, w.poll(), "q"); g.Lag.Records != Unknown || g.CommitsReason != ReasonNotReported || !w.prev.Complete {
		t.Errorf("a member and no share partition yet: %+v %s complete %v", g.Lag, g.CommitsReason, w.prev.Complete)
	}
	q.facts.Described, q.facts.MembersKnown, q.facts.Members, q.facts.Reason = false, false, nil, ReasonDenied
	q.says("x", 0, 4, 6)
	g := mustGroup(t, w.poll(), "q")
	wantLines(t, rowsOf(g), "x/0 0..10 at 4 lag 6 ok")
	if g.State != StateStable || g.Lag.Records != 6 || g.Lag.Complete || w.prev.Complete || g.CommitsReason != ReasonDenied {
		t.Errorf("%s %+v %s complete %v", g.State, g.Lag, g.CommitsReason, w.prev.Complete)
	}
}

// A group id that changes hands between a share group and another kind keeps no
// number, in either direction.
func TestShareFlip(t *testing.T) {
	w := newWorld()
	w.topic("x", even(1, 0, 10)...)
	share := w.shareGroup("q", member("a", on("x", 0))).says("x", 0, 4, 1)
	w.poll()
	classic := w.group("q", member("a", on("x", 0))).commit("x", 0, 9)
	classic.commitsUnread = ReasonLoading
	g := mustGroup(t, w.poll(), "q")
	wantLines(t, rowsOf(g), "x/0 0..10 at ? lag ? unknown loading")
	classic.commitsUnread = ReasonNone
	wantLines(t, rowsOf(mustGroup(t, w.poll(), "q")), "x/0 0..10 at 9 lag 1 ok")
	w.groups["q"] = share
	share.commitsUnread = ReasonLoading
	wantLines(t, rowsOf(mustGroup(t, w.poll(), "q")), "x/0 0..10 at ? lag ? unknown loading")
	share.commitsUnread = ReasonNone
	share.shares["x"][0] = told{-1, -1, ReasonNoLeader}
	wantLines(t, rowsOf(mustGroup(t, w.poll(), "q")), "x/0 0..10 at ? lag ? unknown no_leader")
}

// The age of the first unread record where it is known which one that is, a
// lower limit where it is not, and close bounds where only the log grew between
// two questions.
func TestShareAge(t *testing.T) {
	h := partitionTimes{tried: Unknown}
	at := func(sec int) int64 { return epoch.Add(time.Duration(sec) * time.Second).UnixNano() }
	h.note(0, at(0), at(0))
	for offset, sec := range map[int64]int{0: 10, 10: 20, 50: 60, 51: 60, 90: 110} {
		h.pin(offset, at(sec))
	}
	h.note(100, at(120), at(120))
	now := epoch.Add(130 * time.Second)
	tests := []struct {
		why         string
		first, last int64
		want        Age
	}{
		{"known", 10, 10, Age{Seconds: 110, Method: MethodExact}},
		{"somewhere from 10 to 90", 10, 90, Age{Seconds: 20, Method: MethodAtLeast}},
		{"one of two records of one second", 50, 51, Age{Seconds: 70, Method: MethodInterpolated}},
		{"nothing says where", 10, Unknown, unknownAge(SecondsNotReported)},
	}
	for _, tt := range tests {
		if got := h.ageBetween(tt.first, tt.last, now); !same(got.Seconds, tt.want.Seconds) || !same(got.Error, tt.want.Error) || got.Method != tt.want.Method || got.Reason != tt.want.Reason {
			t.Errorf("%s: %+v, want %+v", tt.why, got, tt.want)
		}
	}
	// a record between two log ends lies anywhere between them: the limit is the later one
	h = partitionTimes{tried: Unknown}
	for k := range 5 {
		h.note(int64(100*k), at(10*k), at(10*k))
	}
	if got := h.ageBetween(110, 320, now); got.Method != MethodAtLeast || !same(got.Seconds, 90) {
		t.Errorf("a limit of %+v: the record at 320 was written within 40 s of the beginning", got)
	}
}

// shareRun polls every five seconds and gives row 0 of group q with each
// snapshot, tracked.
func shareRun(t *testing.T, polls int, end, start, lag func(k int) int64) (g *Group) {
	t.Helper()
	w, tr := newWorld(), newTracker("default", "boot")
	q := w.shareGroup("q", member("a", on("x", 0)))
	for k := range polls {
		w.topic("x", part{0, end(k)})
		q.says("x", 0, start(k), lag(k))
		s := w.poll()
		tr.advance(s)
		g = mustGroup(t, s, "q")
		w.after(5 * time.Second)
	}
	return g
}

// What is done per second is what was produced less what the lag grew by. The
// start offset says nothing: it trails.
func TestShareRates(t *testing.T) {
	steady := func(k int) int64 { return 9000 + 500*int64(k) }
	fixed := func(n int64) func(int) int64 { return func(int) int64 { return n } }
	jitter := func(n int64) func(int) int64 { return func(k int) int64 { return n - int64(k*37%11) } }
	tests := []struct {
		why             string
		end, start, lag func(int) int64
		consumed        float64
		progress        bool
		drain           float64
	}{
		{"keeps up, the start trails", steady, fixed(50), fixed(20), 100, true, math.NaN()},
		{"catches up", steady, fixed(50), func(k int) int64 { return 5000 - 100*int64(k) }, 120, true, (5000 - 900) / 20.},
		{"stands still while records come", steady, fixed(50), func(k int) int64 { return 500 + 500*int64(k) }, 0, false, math.NaN()},
		{"stands still, and the log end is read some records later each time", steady, fixed(50), func(k int) int64 { return jitter(500)(k) + 500*int64(k) }, 0, false, math.NaN()},
		{"nothing to do", fixed(1000), fixed(50), fixed(0), 0, false, math.NaN()},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			g := shareRun(t, 10, tt.end, tt.start, tt.lag)
			if math.Abs(g.Consumed-tt.consumed) > 0.5 {
				t.Errorf("consumed %v, want %v", g.Consumed, tt.consumed)
			}
			if got := !g.ProgressAt.IsZero(); got != tt.progress {
				t.Errorf("progress at %v, want some %v", g.ProgressAt, tt.progress)
			}
			if !same(g.Drain, tt.drain) {
				t.Errorf("drained in %v s, want %v", g.Drain, tt.drain)
			}
		})
	}
}

// Progress is proved, and so dated, to within a poll.
func TestShareProgressAt(t *testing.T) {
	end := func(k int) int64 { return 1000 + 500*int64(k) }
	lag := func(k int) int64 { // from the sixth poll on nothing is done any more
		return 20 + 500*int64(max(0, k-5))
	}
	g := shareRun(t, 12, end, func(int) int64 { return 50 }, lag)
	if got := g.ProgressAt.Sub(epoch); got < 20*time.Second || got > 25*time.Second {
		t.Errorf("progress ended after %v, was seen at %v", 25*time.Second, got)
	}
}

// A start offset that was set back is a jump, not progress, and retention is no
// progress that anybody made either: it is counted apart.
func TestShareJumps(t *testing.T) {
	fixed := func(n int64) func(int) int64 { return func(int) int64 { return n } }
	g := shareRun(t, 8, fixed(1000), func(k int) int64 { return []int64{900, 0}[k/4] }, func(k int) int64 { return []int64{100, 1000}[k/4] })
	if c := g.Counters; c.JumpsBack != 1 || c.Consumed != 0 || !g.ProgressAt.IsZero() {
		t.Errorf("set back: %+v, progress at %v", c, g.ProgressAt)
	}
	w, tr := newWorld(), newTracker("default", "boot")
	w.topic("x", part{0, 60})
	w.shareGroup("q", member("a", on("x", 0))).says("x", 0, 5, 55)
	tr.advance(w.poll())
	w.after(5*time.Second).topic("x", part{30, 60})
	s := w.poll()
	tr.advance(s)
	w.after(5 * time.Second)
	s = w.poll()
	tr.advance(s)
	if c := mustGroup(t, s, "q").Counters; c.Overtaken != 25 || c.JumpsBack+c.JumpsForward != 0 {
		t.Errorf("retention took 25: %+v", c)
	}
}

// A group that was seen to have read all is known to have done so, whatever its
// start offset says: what comes then is unread from there on, and retention that
// passes the start takes nothing from it.
func TestShareFloor(t *testing.T) {
	w := newWorld()
	q := w.shareGroup("q", member("a", on("x", 0)))
	row := func(s, e, start, lag int64, want string, first, last int64) {
		t.Helper()
		w.after(5*time.Second).topic("x", part{s, e})
		q.says("x", 0, start, lag)
		gt := mustGroup(t, w.poll(), "q").Topics[0]
		if got := rowText(gt.Row(0)); got != "x/0 "+want {
			t.Errorf("%s, want %s", got, want)
		}
		if f, l := gt.oldestUnread(0, 0); f != first || l != last {
			t.Errorf("%s: the oldest unread record lies from %d to %d, want %d to %d", want, f, l, first, last)
		}
	}
	row(0, 80, 54, 0, "0..80 at 54 lag 0 ok", 54, Unknown) // to which log end is not known
	row(0, 80, 54, 0, "0..80 at 54 lag 0 ok", 80, Unknown)
	row(0, 87, 54, 7, "0..87 at 54 lag 7 ok", 80, 80)
	row(60, 87, 54, 7, "60..87 at 54 lag 7 ok", 80, 80)
	row(83, 87, 54, 7, "83..87 at 54 lag 4 lost lost 3", 83, 83)
	row(83, 90, 54, 6, "83..90 at 54 lag 6 lost lost 3", 83, 87)
	row(0, 90, 54, 36, "0..90 at 54 lag 36 ok", 54, 54) // set back
	row(0, 90, 54, 0, "0..90 at 54 lag 0 ok", 90, Unknown)
	row(0, 90, 10, 0, "0..90 at 10 lag 0 ok", 10, Unknown)
	q.commitsUnread = ReasonTimeout
	w.after(5 * time.Second).poll()
	q.commitsUnread = ReasonNone
	row(0, 99, 10, 9, "0..99 at 10 lag 9 ok", 10, 90)
	row(0, 99, 10, 0, "0..99 at 10 lag 0 ok", 99, Unknown)
	q.commitsUnread = ReasonTimeout
	w.after(5 * time.Second).poll()
	q.commitsUnread = ReasonNone
	row(0, 109, 10, 10, "0..109 at 10 lag 10 ok", 99, 99)
}

// At the first look no log end of before is known, but the log start is: a group
// that had read all before klagtop came, and whose start retention has passed,
// loses nothing when the next record comes.
func TestShareReadToTheEndBeforeTheFirstLook(t *testing.T) {
	w, tr := newWorld(), newTracker("default", "boot")
	q := w.shareGroup("q", member("a", on("x", 0))).says("x", 0, 50, 0)
	w.topic("x", part{80, 80})
	tr.advance(w.poll())
	w.after(5*time.Second).topic("x", part{80, 85})
	q.says("x", 0, 50, 5)
	s := w.poll()
	tr.advance(s)
	g := mustGroup(t, s, "q")
	wantLines(t, rowsOf(g), "x/0 80..85 at 50 lag 5 ok")
	if g.Counters.Overtaken != 0 {
		t.Errorf("%d records were overtaken, want 0", g.Counters.Overtaken)
	}
	if first, last := g.Topics[0].oldestUnread(0, 0); first != 80 || last != 80 {
		t.Errorf("the oldest unread record lies from %d to %d, want 80", first, last)
	}
}

// What a counter once holds it never gives back: of records that may be lost
// only so many are counted as the broker said were left.
func TestShareOvertakenIsAtMostTheLag(t *testing.T) {
	w, tr := newWorld(), newTracker("default", "boot")
	w.shareGroup("q", member("a", on("x", 0))).says("x", 0, 30, 15)
	w.topic("x", part{0, 70})
	tr.advance(w.poll())
	w.after(5*time.Second).topic("x", part{50, 70})
	s := w.poll()
	tr.advance(s)
	if c := mustGroup(t, s, "q").Counters; c.Overtaken != 15 {
		t.Errorf("%d records were overtaken, want 15", c.Overtaken)
	}
}

// The offsets of a share group that are gone began at its start offset, whatever
// was done above it.
func TestShareOffsetsDeleted(t *testing.T) {
	w, tr := newWorld(), newTracker("default", "boot")
	q := w.shareGroup("q").says("x", 0, 50, 0).says("x", 1, 10, 70)
	w.topic("x", even(2, 0, 80)...)
	var events []Event
	for k := range 4 {
		if k == 2 {
			delete(q.shares["x"], 0)
		}
		events = append(events, tr.advance(w.poll())...)
		w.after(5 * time.Second)
	}
	var changes []OffsetChange
	for _, e := range events {
		if e.Kind == EventOffsets {
			changes = append(changes, e.Offsets...)
		}
	}
	if want := []OffsetChange{{Topic: "x", Partition: 0, From: 50, To: NoCommit}}; !reflect.DeepEqual(changes, want) {
		t.Errorf("got %+v, want %+v", changes, want)
	}
}

// What retention took long ago grows no more by records that come after it,
// though the bound by what is left does; what it takes then counts.
func TestShareOvertakenDoesNotGrowByNewRecords(t *testing.T) {
	tr, w := newTracker("default", "boot"), newWorld()
	w.topic("t", part{0, 60})
	w.shareGroup("q", member("a", on("t", 0))).says("t", 0, 0, 10)
	look := func(start, end, lag, want int64) {
		t.Helper()
		w.topic("t", part{start, end})
		w.groups["q"].says("t", 0, 0, lag)
		s := w.poll()
		tr.advance(s)
		w.after(10 * time.Second)
		if c := mustGroup(t, s, "q").Counters; c.Overtaken != want {
			t.Errorf("log %d..%d, %d left: %d records were overtaken, want %d", start, end, lag, c.Overtaken, want)
		}
	}
	look(0, 60, 10, 0)
	look(50, 60, 10, 10) // at most all that was left
	look(50, 80, 30, 10) // 20 arrive
	look(50, 80, 25, 10) // 5 of them are done
	look(60, 80, 25, 20) // 10 more are deleted
}
