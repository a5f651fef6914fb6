package collect

import (
	"math"
	"testing"
	"time"
)

// pacing is a group on one partition that commits every so often, all that is
// there, while records come in.
func pacing(t *testing.T, every time.Duration, produced func(second int) int64, seconds int) *Group {
	t.Helper()
	w := watch(newWorld())
	w.tr.polled, w.tr.interval = 12, time.Second
	w.group("g", member("m", on("a", 0)))
	end, commit := int64(1000), int64(0)
	var g *Group
	for s := range seconds {
		end += produced(s)
		if s%int(every.Seconds()) == 0 {
			commit = end
		}
		w.topic("a", part{0, end})
		w.groups["g"].commit("a", 0, commit)
		g, _ = w.look(t)
		w.after(time.Second)
	}
	return g
}

func TestTheLongWindowFollowsTheCommits(t *testing.T) {
	steady := func(int) int64 { return 10 }
	for _, c := range []struct {
		why              string
		every            time.Duration
		produced         func(int) int64
		seconds          int
		interval, window time.Duration
	}{
		{"too few commits were seen to know", 60 * time.Second, steady, 200, 0, 15 * time.Second},
		{"each minute", 60 * time.Second, steady, 400, 60 * time.Second, 180 * time.Second},
		{"each second: twelve polls are longer, the assumption is not made any more", time.Second, steady, 60, time.Second, 12 * time.Second},
		{"a record every two minutes says nothing of how often it commits", 5 * time.Second, func(s int) int64 {
			if s%120 == 119 {
				return 1
			}
			return 0
		}, 1200, 0, 15 * time.Second},
	} {
		t.Run(c.why, func(t *testing.T) {
			g := pacing(t, c.every, c.produced, c.seconds)
			if g.CommitInterval != c.interval || g.Window != c.window {
				t.Errorf("commits every %v, a window of %v; want %v, %v", g.CommitInterval, g.Window, c.interval, c.window)
			}
		})
	}
}

// A group's rate is that of all its rows: while some row that was read has none
// yet, the sum of the others would pass for it.
func TestASumOfRatesIsNeverAPart(t *testing.T) {
	w := watch(newWorld())
	w.tr.polled, w.tr.interval = 12, 5*time.Second
	w.group("g", member("m", on("a", 0)), member("n", on("a", 1)))
	end := int64(1000)
	known := false
	for poll := range 20 {
		w.topic("a", part{0, end}, part{0, end})
		w.groups["g"].commit("a", 0, end-10).commit("a", 1, 500) // the second has not moved yet, and lags
		g, _ := w.look(t)
		m := g.MemberTotals()
		_, topic := g.Topics[0].Rates()
		row := g.Topics[0].Row(1).Consumed
		if math.IsNaN(row) && !math.IsNaN(g.Consumed) {
			t.Fatalf("poll %d: the group consumes %g, and nobody knows what the second partition does", poll, g.Consumed)
		}
		if !same(topic, g.Consumed) || !math.IsNaN(m[1].Consumed) && math.IsNaN(row) {
			t.Errorf("poll %d: topic %g, group %g, members %g and %g", poll, topic, g.Consumed, m[0].Consumed, m[1].Consumed)
		}
		if poll >= 3 && !same(m[0].Consumed, 20) {
			t.Errorf("poll %d: the first member consumes %g: its own rows have rates", poll, m[0].Consumed)
		}
		if known = !math.IsNaN(g.Consumed); known && (!same(g.Consumed, 20) || row != 0) {
			t.Errorf("poll %d: consumed %g, of it %g by the second", poll, g.Consumed, row)
		}
		end += 100
		w.after(5 * time.Second)
	}
	if !known {
		t.Error("never known: a commit that stands for a minute stands still")
	}
}

// A partition that gets a record now and then does not hide the group's rate
// for a minute each time.
func TestARareRecordIsNoGap(t *testing.T) {
	w := watch(newWorld())
	w.tr.polled, w.tr.interval = 12, 5*time.Second
	w.group("g", member("m", on("a", 0, 1)))
	end, rare := int64(1000), int64(10)
	for poll := range 60 {
		if poll == 30 {
			rare++
		}
		w.topic("a", part{0, end}, part{0, rare})
		w.groups["g"].commit("a", 0, end).commit("a", 1, rare)
		g, _ := w.look(t)
		if poll > 0 && math.IsNaN(g.Consumed) || g.Consumed > 20.5 {
			t.Errorf("poll %d: consumed %g", poll, g.Consumed)
		}
		end += 100
		w.after(5 * time.Second)
	}
}

// What a member's partitions advanced before it came is another's progress.
func TestAMembersProgressIsItsOwn(t *testing.T) {
	w := watch(newWorld())
	w.group("g", member("m", on("a", 0)))
	for n := range int64(4) {
		w.topic("a", part{0, 100})
		w.groups["g"].commit("a", 0, 10*n)
		w.look(t)
		w.after(time.Second)
	}
	w.group("g", member("n", on("a", 0))).commit("a", 0, 30)
	g, _ := w.look(t)
	if p := g.MemberTotals()[0].ProgressAt; p != 0 || g.ProgressAt.IsZero() {
		t.Errorf("the new member's progress at %d, the group's at %v", p, g.ProgressAt)
	}
	w.after(time.Second).groups["g"].commit("a", 0, 40)
	if g, _ = w.look(t); g.MemberTotals()[0].ProgressAt != w.now.UnixNano() {
		t.Errorf("progress at %d once it commits", g.MemberTotals()[0].ProgressAt)
	}
}
