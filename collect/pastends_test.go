package collect

import (
	"context"
	"math"
	"testing"
	"time"
)

func TestTheFirstLookKnowsWhatIsProduced(t *testing.T) {
	for _, c := range []struct {
		why   string
		write func(l *liveLog)
		rate  float64
		age   float64 // of the record that was written a hundred seconds ago; NaN if not known
	}{
		{"one record a second", func(l *liveLog) {
			for s := range 1000 {
				l.append(epoch.Add(time.Duration(s-1000) * time.Second))
			}
		}, 1, 100},
		{"nothing within the last minute", func(l *liveLog) {
			for s := range 1000 {
				l.append(epoch.Add(time.Duration(s-1100) * time.Second))
			}
		}, 0, 200},
		{"no record ever", func(*liveLog) {}, 0, 0},
		{"one stamped in the future: nothing is said", func(l *liveLog) {
			for s := range 1000 {
				l.append(epoch.Add(time.Duration(s-1000) * time.Second))
			}
			l.stamps[3] = epoch.Add(time.Hour).UnixMilli()
		}, math.NaN(), math.NaN()},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := newWorld()
			w.cluster = &Cluster{ID: "id", SeesAllGroups: Yes, SeesAllTopics: Yes}
			l := &liveLog{now: epoch}
			c.write(l)
			w.topic("a", part{0, l.end()})
			w.solo("g").commit("a", 0, min(900, l.end()))
			col := New(polled{l, w}, Options{Build: w.opts, Interval: 5 * time.Second, Timeout: 1e5 * time.Hour, Now: func() time.Time { return w.now }})
			g := mustGroup(t, col.Once(t.Context()).Snapshot, "g")
			row := g.Topics[0].Row(0)
			if !same(row.Produced, c.rate) || !same(g.Produced, c.rate) || !math.IsNaN(g.Consumed) || !math.IsNaN(g.Drain) {
				t.Errorf("produced %g and %g, want %g; consumed %g, drain %g", row.Produced, g.Produced, c.rate, g.Consumed, g.Drain)
			}
			if !same(row.Age.Seconds, c.age) {
				t.Errorf("age %v, want %g", row.Age, c.age)
			}
		})
	}
}

// polled is a log with polls of its own.
type polled struct {
	*liveLog
	w *world
}

func (p polled) Poll(context.Context, Ask) *Snapshot { return p.w.poll() }

// What was asked for at the first look gives way to what is seen.
func TestAskedRatesGiveWayToReadOnes(t *testing.T) {
	w := watch(newWorld())
	w.topic("a", part{0, 100})
	w.solo("g").commit("a", 0, 100)
	w.tr.pastRates = map[string][]float32{"a": {7}}
	if g, _ := w.look(t); !same(g.Topics[0].Row(0).Produced, 7) {
		t.Errorf("at first %g", g.Topics[0].Row(0).Produced)
	}
	w.after(time.Second).topic("a", part{0, 110})
	if g, _ := w.look(t); !same(g.Topics[0].Row(0).Produced, 10) {
		t.Errorf("then %g", g.Topics[0].Row(0).Produced)
	}
}

// deadSegment is a log whose first segment was deleted from by DeleteRecords, and
// is not gone yet: leaders name no record for any timestamp up to its newest.
type deadSegment struct {
	polled
	newest int64
}

func (d deadSegment) OffsetsAt(ctx context.Context, qs []TimeQuery) []TimeAnswer {
	out := d.polled.OffsetsAt(ctx, qs)
	for i, q := range qs {
		if q.Timestamp >= 0 && q.Timestamp <= d.newest {
			out[i] = TimeAnswer{Offset: -1, Timestamp: -1}
		}
	}
	return out
}

func TestALogThatWasPurgedWithinTheLastMinuteIsNotIdle(t *testing.T) {
	w, l := newWorld(), &liveLog{now: epoch}
	for s := range 1000 {
		l.append(epoch.Add(time.Duration(s-1000) * time.Second))
	}
	l.start = 970
	w.topic("a", part{970, l.end()})
	w.solo("g").commit("a", 0, 970)
	src := deadSegment{polled{l, w}, l.stamps[969]}
	col := New(src, Options{Build: w.opts, Interval: 5 * time.Second, Timeout: 1e5 * time.Hour, Now: func() time.Time { return w.now }})
	g := mustGroup(t, col.Once(t.Context()).Snapshot, "g")
	if !math.IsNaN(g.Produced) {
		t.Errorf("produced %g/s, in truth 1, and not to be known", g.Produced)
	}
}
