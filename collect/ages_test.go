package collect

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// liveLog is a partition that is written to, compacted and deleted from while
// it is watched.
type liveLog struct {
	now     time.Time
	stamps  []int64 // by offset, milliseconds
	written []int64 // likewise
	gone    []bool  // compacted away
	start   int64
}

func (l *liveLog) end() int64 { return int64(len(l.stamps)) }

func (l *liveLog) append(stamp time.Time) {
	l.stamps, l.written, l.gone = append(l.stamps, stamp.UnixMilli()), append(l.written, l.now.UnixMilli()), append(l.gone, false)
}

// first is the first record at or after an offset; ok is false beyond the last.
func (l *liveLog) first(offset int64) (int64, bool) {
	for i := max(offset, l.start); i < l.end(); i++ {
		if !l.gone[i] {
			return i, true
		}
	}
	return 0, false
}

func (l *liveLog) OffsetsAt(_ context.Context, qs []TimeQuery) []TimeAnswer {
	out := make([]TimeAnswer, len(qs))
	for k, q := range qs {
		a := TimeAnswer{Offset: -1, Timestamp: -1}
		for i := l.start; i < l.end(); i++ {
			switch {
			case l.gone[i] || q.Timestamp != TimestampNewest && l.stamps[i] < q.Timestamp:
				continue
			case q.Timestamp != TimestampNewest:
				a = TimeAnswer{Offset: i, Timestamp: l.stamps[i]}
			case l.stamps[i] > a.Timestamp:
				a = TimeAnswer{Offset: i, Timestamp: l.stamps[i]}
				continue
			default:
				continue
			}
			break
		}
		out[k] = a
	}
	return out
}

func (l *liveLog) Poll(context.Context, Ask) *Snapshot { return nil }
func (l *liveLog) Close()                              {}

// shape is how a log of the property test lives, and how it is read.
type shape struct {
	why string
	// slack is by how much a record may be stamped out of order: no request
	// that DESCRIBE allows shows a record behind a younger one.
	slack time.Duration
	old   func(rnd *rand.Rand, l *liveLog)                     // before the first poll
	write func(rnd *rand.Rand, l *liveLog, at time.Time)       // at a moment
	each  func(rnd *rand.Rand, l *liveLog)                     // between two polls
	read  func(rnd *rand.Rand, l *liveLog, commit int64) int64 // the next commit
	// skew: the stamps are of no use, and said to be so; ages go by when records
	// were written.
	skew bool
}

func steadyWrite(n int) func(*rand.Rand, *liveLog, time.Time) {
	return func(rnd *rand.Rand, l *liveLog, at time.Time) {
		for range rnd.IntN(n) {
			l.append(at)
		}
	}
}

func backlog(n int, gap time.Duration) func(*rand.Rand, *liveLog) {
	return func(rnd *rand.Rand, l *liveLog) {
		at := l.now.Add(-time.Duration(n) * gap)
		for range n {
			l.append(at)
			at = at.Add(time.Duration(rnd.Int64N(int64(2*gap) - 1)))
			if at.After(l.now) {
				at = l.now
			}
		}
	}
}

func slowRead(rnd *rand.Rand, l *liveLog, commit int64) int64 {
	return min(l.end(), commit+rnd.Int64N(40))
}

var shapes = []shape{
	{why: "bursts", write: func(rnd *rand.Rand, l *liveLog, at time.Time) {
		if rnd.IntN(20) == 0 {
			for range rnd.IntN(500) {
				l.append(at)
			}
		}
	}, read: slowRead},
	{why: "an idle topic with a backlog", old: backlog(300, time.Minute), read: func(_ *rand.Rand, _ *liveLog, c int64) int64 { return max(c, 100) }},
	{why: "hours old on a fresh start", old: backlog(2000, 15*time.Second), write: steadyWrite(4), read: slowRead},
	{why: "reprocessing from the beginning", old: backlog(2000, 15*time.Second), write: steadyWrite(4), read: func(rnd *rand.Rand, l *liveLog, c int64) int64 {
		if rnd.IntN(15) == 0 {
			return 0
		}
		return min(l.end(), c+rnd.Int64N(300))
	}},
	{why: "LogAppendTime: a batch has one stamp", write: func(rnd *rand.Rand, l *liveLog, at time.Time) {
		if rnd.IntN(4) == 0 {
			for range 100 {
				l.append(at)
			}
		}
	}, read: slowRead},
	{why: "compacted", old: backlog(1000, 10*time.Second), write: steadyWrite(5), each: func(rnd *rand.Rand, l *liveLog) {
		for i := range l.gone {
			if i < len(l.gone)-50 && rnd.IntN(30) == 0 {
				l.gone[i] = true
			}
		}
	}, read: slowRead},
	{why: "retention overtakes the group", old: backlog(500, 10*time.Second), write: steadyWrite(20), each: func(rnd *rand.Rand, l *liveLog) {
		if rnd.IntN(5) == 0 {
			l.start = min(l.end(), l.start+rnd.Int64N(400))
		}
	}, read: func(_ *rand.Rand, _ *liveLog, c int64) int64 { return c }},
	{why: "stamped out of order", slack: 4 * time.Second, write: func(rnd *rand.Rand, l *liveLog, at time.Time) {
		for range rnd.IntN(4) {
			l.append(at.Add(-time.Duration(rnd.Int64N(4e9))))
		}
	}, read: slowRead},
	{why: "mirrored: stamped an hour before it is written", write: func(rnd *rand.Rand, l *liveLog, at time.Time) {
		for range rnd.IntN(4) {
			l.append(at.Add(-time.Hour))
		}
	}, read: slowRead},
	{why: "future timestamps", skew: true, write: func(rnd *rand.Rand, l *liveLog, at time.Time) {
		for range rnd.IntN(4) {
			l.append(at.Add(2 * time.Hour))
		}
	}, read: slowRead},
}

// live is one shape under a collector's eyes.
type live struct {
	shape
	rnd    *rand.Rand
	w      *world
	log    *liveLog
	c      *Collector
	commit int64
}

func newLive(s shape, seed uint64) *live {
	w := newWorld()
	w.cluster = &Cluster{ID: "id", SeesAllGroups: Yes, SeesAllTopics: Yes}
	w.solo("g")
	l := &live{shape: s, rnd: rand.New(rand.NewPCG(seed, 7)), w: w, log: &liveLog{now: w.now}}
	l.c = New(l.log, Options{Interval: 5 * time.Second, Now: func() time.Time { return l.log.now }})
	if s.old != nil {
		s.old(l.rnd, l.log)
	}
	return l
}

// pass lets the log live for a while.
func (l *live) pass(d time.Duration) {
	for until := l.log.now.Add(d); l.log.now.Before(until); {
		step := min(time.Duration(1+l.rnd.Int64N(3e8)), until.Sub(l.log.now))
		l.log.now = l.log.now.Add(step)
		if l.write != nil {
			l.write(l.rnd, l.log, l.log.now)
		}
	}
}

// poll reads the log by questions whose answers are slow at times, and gives
// the row with the age it should have had.
func (l *live) poll(t *testing.T) (*Group, float64) {
	l.commit = l.read(l.rnd, l.log, l.commit)
	l.w.groups["g"].commit("a", 0, l.commit)
	l.w.topic("a", part{0, 0})
	l.w.now = l.log.now
	b := l.w.builder()
	start := l.log.start
	b.EndsAsked(l.log.now)
	l.pass(time.Duration(l.rnd.Int64N(1 + l.rnd.Int64N(3e9))))
	end := l.log.end()
	l.pass(time.Duration(l.rnd.Int64N(1 + l.rnd.Int64N(3e9))))
	for _, n := range b.Needs() {
		b.SetStart(n.Topic, 0, start, l.log.now)
		b.SetEnd(n.Topic, 0, end, 0, l.log.now)
	}
	s := b.Finish(l.log.now, time.Second)
	l.w.prev = s
	l.c.lookAtStamps(t.Context(), s, true)
	l.c.finish(s)
	truth := 0.0
	if o, ok := l.log.first(max(l.commit, start)); ok && o < end {
		truth = float64(l.log.now.UnixMilli()-l.log.stamps[o]) / 1000
		if l.skew {
			truth = float64(l.log.now.UnixMilli()-l.log.written[o]) / 1000
		}
	}
	l.c.lookAtStamps(t.Context(), s, false)
	l.c.searchTimes(t.Context(), s)
	return mustGroup(t, s, "g"), max(0, truth)
}

// TestAgesAreRightWithinTheirError holds every age of a watched log against the
// truth, poll after poll: an age is right within the error that it states.
func TestAgesAreRightWithinTheirError(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.why, func(t *testing.T) {
			methods := map[Method]int{}
			vague := 0
			for seed := range uint64(12) {
				l := newLive(s, seed)
				var row Row
				for poll := range 50 {
					l.pass(5 * time.Second)
					g, truth := l.poll(t)
					row = g.Topics[0].Row(0)
					if row.Lag == 0 {
						continue
					}
					if poll == 0 && s.skew && row.Age.Reason == "" {
						t.Errorf("seed %d: %v at the first look at a log stamped in the future", seed, row.Age)
					}
					a, slack := row.Age, 0.002+s.slack.Seconds()
					off := math.Abs(a.Seconds - truth)
					methods[a.Method]++
					if compactAge(a).vague() {
						vague++
					}
					wrong := a.Method == MethodExact && off > slack || a.Method == MethodInterpolated && off > a.Error+slack || a.Method == MethodAtLeast && a.Seconds > truth+slack
					if wrong {
						t.Errorf("seed %d, poll %d: %s %g ± %g s, in truth %g", seed, poll, a.Method, a.Seconds, a.Error, truth)
					}
					if a.Known() && g.Lag.Age != a {
						t.Errorf("seed %d, poll %d: the group's age is %v, its only row's %v", seed, poll, g.Lag.Age, a)
					}
				}
			}
			t.Logf("%v, of them %d vague", methods, vague)
		})
	}
}
