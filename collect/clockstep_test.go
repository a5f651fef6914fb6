package collect

import (
	"testing"
	"time"
)

// A clock that is set makes no spike and no wrong age: what was measured by it
// is forgotten, and known again from the next polls.
func TestAClockThatIsSet(t *testing.T) {
	w := watch(newWorld())
	w.group("g", member("m", on("a", 0)))
	end := int64(1000)
	look := func() *Group {
		end += 100
		w.after(5*time.Second).topic("a", part{0, end})
		w.groups["g"].commit("a", 0, end-50)
		g, _ := w.look(t)
		return g
	}
	for range 6 {
		look()
	}
	w.after(-time.Hour)
	for poll := range 6 {
		g := look()
		r := g.Topics[0].Row(0)
		if poll < 1 && (r.Age.Method == MethodInterpolated || r.Produced == r.Produced || r.Consumed == r.Consumed) {
			t.Errorf("at once: age %v, produced %g, consumed %g", r.Age, r.Produced, r.Consumed)
		}
		if poll >= 1 && !same(r.Produced, 20) || poll >= 3 && !same(r.Consumed, 20) {
			t.Errorf("poll %d: produced %g, consumed %g", poll, r.Produced, r.Consumed)
		}
		if poll >= 1 && (!r.Age.Known() || r.Age.Seconds > 10) {
			t.Errorf("poll %d: age %v, in truth 2.5 s", poll, r.Age)
		}
		if g.Counters.Consumed > 1200 || g.Counters.JumpsBack > 0 {
			t.Errorf("poll %d: %+v", poll, g.Counters)
		}
	}
}

func TestStepped(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		why    string
		before time.Time
		now    time.Time
		want   bool
	}{
		{"the first poll", time.Time{}, now, false},
		{"five seconds later", now, now.Add(5 * time.Second), false},
		{"set back", now.Round(0), now.Add(-time.Minute).Round(0), true},
		{"a gap that both clocks saw", now, now.Add(time.Hour), false},
	} {
		if got := stepped(c.before, c.now); got != c.want {
			t.Errorf("%s: %v", c.why, got)
		}
	}
}
