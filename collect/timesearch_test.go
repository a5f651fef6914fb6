package collect

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"testing"
	"time"
)

// leader answers ListOffsets by timestamp as a Kafka broker does: the first
// record at or after the log start whose timestamp is not older, with the
// record's own timestamp.
type leader struct {
	offsets    []int64 // of the records that are there, ascending
	times      []int64 // their timestamps, milliseconds
	start, end int64
	// dead is the number of records at the head that DeleteRecords took, but
	// whose segment is there still: the leader answers nothing for timestamps
	// up to their newest.
	dead   int
	asked  int
	silent int // answers of a broken leader from this question on; 0 never
}

func (l *leader) answer(ts int64) TimeAnswer {
	l.asked++
	if l.silent > 0 && l.asked >= l.silent {
		return TimeAnswer{Offset: -1, Timestamp: -1, Reason: ReasonTimeout}
	}
	if ts == TimestampNewest {
		a := TimeAnswer{Offset: -1, Timestamp: -1}
		for i, t := range l.times { // the dead segment's too
			if t > a.Timestamp {
				a = TimeAnswer{Offset: l.offsets[i], Timestamp: t}
			}
		}
		return a
	}
	trap := int64(math.MinInt64)
	for _, t := range l.times[:l.dead] {
		trap = max(trap, t)
	}
	if l.dead > 0 && ts <= trap {
		return TimeAnswer{Offset: -1, Timestamp: -1}
	}
	for i := l.dead; i < len(l.times); i++ {
		if l.times[i] >= ts {
			return TimeAnswer{Offset: l.offsets[i], Timestamp: l.times[i]}
		}
	}
	return TimeAnswer{Offset: -1, Timestamp: -1}
}

// unread is the true timestamp of the first record at or after an offset.
func (l *leader) unread(offset int64) int64 {
	i := sort.Search(len(l.offsets), func(i int) bool { return l.offsets[i] >= offset })
	return l.times[max(i, l.dead)]
}

// searched runs a collector's search for one group that stands at an offset.
func (l *leader) searched(t *testing.T, commit int64, now time.Time) (Row, int) {
	t.Helper()
	return l.searchedWith(t, commit, 0, now)
}

// searchedWith does so with a time beside the commit, in milliseconds.
func (l *leader) searchedWith(t *testing.T, commit, clue int64, now time.Time) (Row, int) {
	t.Helper()
	w := newWorld()
	w.now = now
	w.topic("a", part{l.start, l.end})
	w.solo("g").commit("a", 0, commit).clue = clue
	s := w.poll()
	c := New(leaderSource{l}, Options{Now: func() time.Time { return now }})
	c.tracker.advance(s)
	c.searchTimes(t.Context(), s)
	rounds := l.asked
	s = w.poll()
	c.tracker.advance(s)
	return mustGroup(t, s, "g").Topics[0].Row(0), rounds
}

type leaderSource struct{ l *leader }

func (s leaderSource) OffsetsAt(_ context.Context, qs []TimeQuery) []TimeAnswer {
	out := make([]TimeAnswer, len(qs))
	for i, q := range qs {
		out[i] = s.l.answer(q.Timestamp)
	}
	return out
}
func (leaderSource) Poll(context.Context, Ask) *Snapshot { return nil }
func (leaderSource) Close()                              {}

// logOf writes n records, the time between two of them by gap.
func logOf(n int, first time.Time, gap func(i int) int64) *leader {
	l := &leader{end: int64(n)}
	at := first.UnixMilli()
	for i := range n {
		l.offsets, l.times = append(l.offsets, int64(i)), append(l.times, at)
		at += gap(i)
	}
	return l
}

func TestTimeSearch(t *testing.T) {
	now := epoch
	minutes := func(int) int64 { return 60_000 }
	steady := func() *leader { return logOf(360, now.Add(-6*time.Hour), minutes) }
	for _, c := range []struct {
		why    string
		log    func() *leader
		commit int64
		method Method
		want   float64 // seconds; with at_least the most it may say
		reason SecondsReason
	}{
		{"hours old, one record a minute", steady, 60, MethodExact, 5 * 3600, ""},
		{"from the beginning", steady, 0, MethodExact, 6 * 3600, ""},
		{"the newest record is the first unread", steady, 359, MethodExact, 60, ""},
		{"a record nobody else shares the timestamp with", func() *leader {
			return logOf(1000, now.Add(-time.Hour), func(i int) int64 { return int64(i%2) * 2 })
		}, 501, MethodInterpolated, 3600 - 0.5, ""},
		{"a single record", func() *leader { return logOf(1, now.Add(-time.Hour), minutes) }, 0, MethodExact, 3600, ""},
		{"an idle night between two bursts", func() *leader {
			return logOf(2000, now.Add(-11*time.Hour), func(i int) int64 {
				if i == 999 {
					return 10 * 3600_000
				}
				return 1
			})
		}, 1000, MethodExact, 3600 - 0.999, ""},
		{"DeleteRecords left a dead head: the leader says nothing of old timestamps", func() *leader {
			l := steady()
			l.dead, l.start = 100, 100
			return l
		}, 200, MethodExact, 6*3600 - 200*60, ""},
		{"and the commit is in it: from the log start", func() *leader {
			l := steady()
			l.dead, l.start = 100, 100
			return l
		}, 50, MethodExact, 6*3600 - 100*60, ""},
		{"a compacted log: the first survivor counts", func() *leader {
			l := steady()
			for i := 70; i < 300; i++ {
				l.offsets[i-10], l.times[i-10] = l.offsets[i], l.times[i]
			}
			l.offsets, l.times = append(l.offsets[:290:290], l.offsets[300:]...), append(l.times[:290:290], l.times[300:]...)
			return l
		}, 65, MethodInterpolated, 6*3600 - 70*60, ""},
		{"one timestamp in the future spoils the search, and that is said", func() *leader {
			l := steady()
			l.times[3] = now.Add(24 * time.Hour).UnixMilli()
			return l
		}, 60, MethodUnknown, 0, SecondsClockSkew},
		{"a record stamped a little ahead of our clock is new, not negative", func() *leader {
			return logOf(2, now.Add(30*time.Second), func(int) int64 { return 1 })
		}, 0, MethodExact, 0, ""},
		{"the largest timestamp lies before the commit", func() *leader {
			l := steady()
			l.times[3] = now.UnixMilli()
			return l
		}, 60, MethodUnknown, 0, SecondsBudget},
		{"nothing is answered", func() *leader {
			l := steady()
			l.silent = 1
			return l
		}, 60, MethodUnknown, 0, SecondsBudget},
		{"answers stop after the newest: not more than a lower limit", func() *leader {
			l := steady()
			l.silent = 2
			return l
		}, 60, MethodAtLeast, 5 * 3600, ""},
		{"answers stop in the middle: what is known bounds it", func() *leader {
			l := logOf(1000, now.Add(-10*time.Hour), func(i int) int64 { return int64(1+i%7) * 9000 })
			l.silent = 4
			return l
		}, 333, MethodInterpolated, -1, ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			l := c.log()
			r, _ := l.searched(t, c.commit, now)
			if r.Age.Method != c.method || r.Age.Reason != c.reason {
				t.Fatalf("age %+v, want method %s, reason %q", r.Age, c.method, c.reason)
			}
			if c.want < 0 {
				c.want = float64(now.UnixMilli()-l.unread(c.commit)) / 1000
			}
			switch c.method {
			case MethodExact:
				if !same(r.Age.Seconds, c.want) || r.Age.Error != 0 {
					t.Errorf("%g ± %g s, want exactly %g", r.Age.Seconds, r.Age.Error, c.want)
				}
			case MethodInterpolated:
				if math.Abs(r.Age.Seconds-c.want) > r.Age.Error+1e-6 {
					t.Errorf("%g ± %g s, in truth %g", r.Age.Seconds, r.Age.Error, c.want)
				}
			case MethodAtLeast:
				if r.Age.Seconds <= 0 || r.Age.Seconds > c.want+1e-6 {
					t.Errorf("at least %g s, in truth %g", r.Age.Seconds, c.want)
				}
			case MethodUnknown:
				if !math.IsNaN(r.Age.Seconds) {
					t.Errorf("%g s, and not known", r.Age.Seconds)
				}
			}
		})
	}
}

// TestTimeSearchOnRandomLogs holds ages against the truth: whatever the log,
// an age is right within the error that it states itself.
func TestTimeSearchOnRandomLogs(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, shape := range []struct {
		name string
		gap  func() func(i int) int64
		// disorder is by how many milliseconds a record may be stamped later
		// than a later one. ListOffsets shows the first record that is not
		// older, never what hides behind it: the search cannot see disorder,
		// and is wrong by as much at most.
		disorder int64
		spoil    func(l *leader)
		rounds   float64 // on average, at most
	}{
		{"steady", func() func(int) int64 { g := 1 + rnd.Int64N(60_000); return func(int) int64 { return g } }, 0, nil, 5},
		{"uneven", func() func(int) int64 { return func(int) int64 { return rnd.Int64N(20_000) } }, 0, nil, 8},
		{"many ties", func() func(int) int64 { return func(i int) int64 { return max(0, rnd.Int64N(37)-35) * 1000 } }, 0, nil, 10},
		{"bursts between idle hours", func() func(int) int64 {
			return func(int) int64 {
				if rnd.IntN(200) == 0 {
					return 3600_000
				}
				return rnd.Int64N(3)
			}
		}, 0, nil, 12},
		{"growing traffic", func() func(int) int64 { return func(i int) int64 { return 1 + 3_000_000/int64(i+1) } }, 0, nil, 10},
		{"compacted", func() func(int) int64 { return func(int) int64 { return rnd.Int64N(5000) } }, 0, func(l *leader) {
			keep := 0
			for i := range l.offsets {
				if rnd.IntN(3) > 0 || i == len(l.offsets)-1 {
					l.offsets[keep], l.times[keep] = l.offsets[i], l.times[i]
					keep++
				}
			}
			l.offsets, l.times = l.offsets[:keep], l.times[:keep]
		}, 10},
		{"deleted head", func() func(int) int64 { return func(int) int64 { return rnd.Int64N(5000) } }, 0, func(l *leader) {
			l.dead = rnd.IntN(len(l.offsets) / 2)
			l.start = int64(l.dead)
		}, 12},
		{"out of order", func() func(int) int64 { return func(int) int64 { return rnd.Int64N(2000) } }, 120_000, func(l *leader) {
			for i := range l.times {
				l.times[i] += rnd.Int64N(120_000) - 60_000
			}
		}, 11},
	} {
		t.Run(shape.name, func(t *testing.T) {
			now, total, worst, exact := epoch, 0, 0, 0
			const logs = 150
			for range logs {
				l := logOf(2+rnd.IntN(3000), now.Add(-30*24*time.Hour), shape.gap())
				shift := now.Add(-time.Duration(1+rnd.IntN(100))*time.Minute).UnixMilli() - l.times[len(l.times)-1]
				for i := range l.times { // the last record was written a little ago
					l.times[i] += shift
				}
				if shape.spoil != nil {
					shape.spoil(l)
				}
				if now.UnixMilli()-l.times[0] > unsureReach.Milliseconds() {
					continue
				}
				commit := l.start + rnd.Int64N(l.end-l.start)
				r, rounds := l.searched(t, commit, now)
				total, worst = total+rounds, max(worst, rounds)
				truth := float64(now.UnixMilli()-l.unread(commit)) / 1000
				slack := 1e-3 + float64(shape.disorder)/1000
				switch r.Age.Method {
				case MethodExact:
					exact++
					if math.Abs(r.Age.Seconds-truth) > 1e-3 {
						t.Fatalf("offset %d of %d: exactly %g s, in truth %g", commit, l.end, r.Age.Seconds, truth)
					}
				case MethodInterpolated:
					if off := math.Abs(r.Age.Seconds - truth); off > r.Age.Error+slack {
						t.Fatalf("offset %d of %d: %g ± %g s, in truth %g", commit, l.end, r.Age.Seconds, r.Age.Error, truth)
					}
				case MethodAtLeast:
					if r.Age.Seconds > truth+slack {
						t.Fatalf("offset %d of %d: at least %g s, in truth %g", commit, l.end, r.Age.Seconds, truth)
					}
				}
				if r.Age.Seconds < 0 || r.Age.Error < 0 || math.IsInf(r.Age.Seconds, 0) {
					t.Fatalf("offset %d of %d: %+v", commit, l.end, r.Age)
				}
			}
			mean := float64(total) / logs
			t.Logf("%.1f rounds on average, %d at most, %d of %d exact", mean, worst, exact, logs)
			if mean > shape.rounds || worst > searchRounds {
				t.Errorf("%.1f rounds on average, %d at most; want %g, %d", mean, worst, shape.rounds, searchRounds)
			}
		})
	}
}

func TestSearchesAreWorthIt(t *testing.T) {
	w := newWorld()
	w.topic("a", even(300, 0, 1000)...)
	near, far := w.solo("near"), w.solo("far")
	for p := range int32(300) {
		near.commit("a", p, 900)
		far.commit("a", p, int64(p))
	}
	tr := newTracker("default", "boot")
	s := w.poll()
	tr.advance(s)
	got := tr.wanted(s)
	if len(got) != searchPartitions {
		t.Fatalf("%d searches, want %d at once", len(got), searchPartitions)
	}
	seen := map[int32]bool{}
	for i, x := range got {
		if seen[x.partition] {
			t.Fatalf("partition %d is asked for twice in one call, which brokers refuse", x.partition)
		}
		seen[x.partition] = true
		if x.partition != int32(i) || x.target != int64(i) {
			t.Fatalf("search %d is for %d at %d, want the furthest behind first", i, x.partition, x.target)
		}
	}
	for _, x := range got {
		x.done, x.stage, x.hi, x.hiRecord, x.exact = true, askBetween, x.target, epoch.Add(-time.Hour).UnixMilli(), true
		tr.learn(x)
	}
	w.after(time.Second)
	s = w.poll()
	tr.advance(s)
	next := tr.wanted(s)
	if len(next) != searchPartitions || next[0].partition != 100 && next[0].target != 900 {
		t.Errorf("then %d searches, first for %d at %d", len(next), next[0].partition, next[0].target)
	}
	for _, x := range next {
		if seen[x.partition] && x.target == int64(x.partition) {
			t.Fatalf("partition %d was found and is searched again", x.partition)
		}
	}
}

func TestNothingIsSearchedForTwice(t *testing.T) {
	l := logOf(360, epoch.Add(-6*time.Hour), func(int) int64 { return 60_000 })
	l.times[3] = epoch.UnixMilli() // the largest timestamp before the commit: no search can help
	w := newWorld()
	w.topic("a", part{0, l.end})
	w.solo("g").commit("a", 0, 60)
	c := New(leaderSource{l}, Options{Now: func() time.Time { return w.now }})
	for range 5 {
		s := w.poll()
		c.tracker.advance(s)
		c.searchTimes(t.Context(), s)
		w.after(time.Second)
	}
	if l.asked != 1 {
		t.Errorf("asked %d times for what no search can find", l.asked)
	}
	w.groups["g"].commit("a", 0, 61)
	s := w.poll()
	c.tracker.advance(s)
	c.searchTimes(t.Context(), s)
	if l.asked != 2 {
		t.Error("another commit is another question")
	}
}

func TestClockSkewIsForgottenWhenTheLogGrows(t *testing.T) {
	l := logOf(360, epoch.Add(-6*time.Hour), func(int) int64 { return 60_000 })
	l.times[3] = epoch.Add(24 * time.Hour).UnixMilli()
	w := newWorld()
	w.topic("a", part{0, l.end})
	w.solo("g").commit("a", 0, 60)
	c := New(leaderSource{l}, Options{Now: func() time.Time { return w.now }})
	poll := func() Age {
		s := w.poll()
		c.tracker.advance(s)
		a := mustGroup(t, s, "g").Topics[0].Row(0).Age
		c.searchTimes(t.Context(), s)
		w.after(10 * time.Second)
		return a
	}
	poll()
	asked := l.asked
	if a := poll(); a.Method == MethodExact || a.Method == MethodInterpolated || a.Seconds > 11 {
		t.Errorf("%+v out of a log with a timestamp of tomorrow", a)
	}
	w.topic("a", part{0, l.end + 1})
	poll()
	if l.asked != asked {
		t.Error("asked again so soon")
	}
	l.times[3] = epoch.Add(-6 * time.Hour).UnixMilli()
	w.after(time.Minute).topic("a", part{0, l.end + 2})
	poll()
	if a := poll(); a.Method != MethodExact || !same(a.Seconds, w.now.Add(-10*time.Second).Sub(epoch.Add(-5*time.Hour)).Seconds()) {
		t.Errorf("%+v once the log is in order", a)
	}
}

func TestStaleRowsOfADeletedTopicDoNotWipeItsSuccessorsTimes(t *testing.T) {
	w := newWorld()
	w.topic("a", part{0, 100})
	w.solo("g").commit("a", 0, 10)
	w.solo("h").commit("a", 0, 10)
	tr := newTracker("default", "boot")
	tr.advance(w.poll())
	w.after(time.Second).topic("a", part{0, 50}).id = 2
	tr.advance(w.poll())
	for range 3 {
		w.after(time.Second).groups["g"].commitsUnread = ReasonLoading
		s := w.poll()
		tr.advance(s)
		tr.wanted(s)
	}
	if h := tr.topics["a"]; h.id[0] != 2 || len(h.parts[0].ends) != 1 || h.parts[0].ends[0].first == h.parts[0].ends[0].last {
		t.Errorf("history %+v", h)
	}
}

func ExampleMethod() {
	fmt.Println(MethodExact, MethodInterpolated, MethodAtLeast, MethodUnknown)
	// Output: exact interpolated at_least unknown
}
