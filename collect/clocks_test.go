package collect

import (
	"testing"
	"time"
)

// What our own clock, or another producer's, says of a record's timestamp may
// be off by as much as clocks are: it proves nothing within that.
func TestEarliestAllowsForOtherClocks(t *testing.T) {
	h := partitionTimes{tried: Unknown}
	h.note(10, epoch.UnixNano(), epoch.UnixNano())
	h.note(20, epoch.Add(10*time.Second).UnixNano(), epoch.Add(10*time.Second).UnixNano())
	if got, want := h.earliest(10, epoch.Add(time.Hour)), epoch.Add(-futureAllowance).UnixNano(); got != want {
		t.Errorf("by the log ends: %v, want %v", time.Unix(0, got), time.Unix(0, want))
	}
	h.pin(10, epoch.Add(5*time.Second).UnixNano())
	if got, want := h.earliest(10, epoch.Add(time.Hour)), epoch.Add(5*time.Second).UnixNano(); got != want {
		t.Errorf("by the record's own timestamp: %v, want %v", time.Unix(0, got), time.Unix(0, want))
	}
}

// A log with timestamps in the future is said to be one at the first look.
func TestFutureTimestampsAreNamedAtOnce(t *testing.T) {
	w := newWorld()
	w.cluster = &Cluster{ID: "id", SeesAllGroups: Yes, SeesAllTopics: Yes}
	w.topic("a", part{0, 3})
	w.group("g", member("m", on("a", 0))).commit("a", 0, 1)
	l := &ledger{world: w, records: []time.Time{epoch, epoch, epoch.Add(24 * time.Hour)}}
	c := New(l, Options{Build: w.opts, Interval: time.Second, Timeout: 1e5 * time.Hour, Now: func() time.Time { return w.now }})
	g := mustGroup(t, c.Once(t.Context()).Snapshot, "g")
	if a := g.Topics[0].Row(0).Age; a.Known() || a.Reason != SecondsClockSkew {
		t.Errorf("got %v, want none for clock_skew", a)
	}
}

// A group that commits once a minute stays at one offset for many polls: the
// search is then for that offset, not for one far ahead of it.
func TestSlowCommitterIsDatedBetweenItsCommits(t *testing.T) {
	const polls = 12 // between two commits
	w := newWorld()
	w.cluster = &Cluster{ID: "id", SeesAllGroups: Yes, SeesAllTopics: Yes}
	w.topic("a", part{0, 4000})
	g := w.group("g", member("m", on("a", 0))).commit("a", 0, 100)
	l := &ledger{world: w}
	for i := range 4000 {
		n := 4000 - i
		l.records = append(l.records, epoch.Add(-time.Duration(n*(n+1)/2)*time.Millisecond))
	}
	c := New(l, Options{Build: w.opts, Interval: 5 * time.Second, Timeout: 1e5 * time.Hour, Now: func() time.Time { return w.now }})
	for poll := range 8 * polls {
		if poll%polls == 0 && poll > 0 {
			g.commit("a", 0, g.commits["a"][0]+200)
		}
		c.poll(t.Context(), w.now)
		s := c.Hub().Latest().Snapshot
		a := mustGroup(t, s, "g").Topics[0].Row(0).Age
		if poll > 3*polls && poll%polls > 3 && (!a.Known() || a.Method == MethodAtLeast || a.Error > a.Seconds/10) {
			t.Errorf("poll %d, %d after a commit: %v", poll, poll%polls, a)
		}
		c.searchTimes(t.Context(), s)
		w.after(5 * time.Second)
	}
}
