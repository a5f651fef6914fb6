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

// A machine that slept for an hour, and a clock that was set by one, say nothing
// of how often a group commits, nor that a slow committer stands still, nor of
// how long a transaction is open.
func TestWhatAClockThatIsSetDoesNotSay(t *testing.T) {
	for name, step := range map[string]time.Duration{"forward": time.Hour, "back": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			w := watch(newWorld())
			w.group("g", member("m", on("a", 0, 1, 2, 3, 4, 5, 6)))
			end := int64(1000)
			look := func(commit bool) *Group {
				end += 100
				w.after(5*time.Second).topic("a", even(7, 0, end)...).stable[6] = 900
				for p := range int32(6) {
					if commit {
						w.groups["g"].commit("a", p, end-50)
					}
				}
				w.tr.transactions.possible = true
				g, _ := w.look(t)
				w.tr.noteStable(w.prev)
				if g.CommitInterval > 5*time.Second || g.Window > time.Minute {
					t.Errorf("it commits each %v, window %v", g.CommitInterval, g.Window)
				}
				return g
			}
			w.groups["g"].commit("a", 6, 900)
			for range 3 {
				look(true)
			}
			w.after(step)
			w.tr.takenAt = w.now
			w.tr.clockSet(w.now)
			if g := look(false); g.Topics[0].Row(0).Consumed == 0 {
				t.Error("at once: it consumes nothing")
			}
			if g := look(false); g.Topics[0].Row(0).Consumed == 0 {
				t.Error("10 s later: it consumes nothing")
			}
			if got := len(w.tr.openTransactions(w.prev, openAfter)); got != 0 {
				t.Errorf("%d transactions are open for long, in truth for 30 s", got)
			}
			for range 3 {
				look(true)
			}
			g := look(true)
			if c := g.Topics[0].Row(0).Consumed; !same(c, 20) {
				t.Errorf("it consumes %g/s, in truth 20", c)
			}
			for range 4 {
				g = look(false)
			}
			if c := g.Topics[0].Row(0).Consumed; c != 0 {
				t.Errorf("it has committed nothing for 20 s, and consumes %g/s", c)
			}
		})
	}
}
