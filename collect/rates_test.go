package collect

import (
	"math"
	"testing"
	"time"
)

// watched is a world with a tracker that sees each of its polls.
type watched struct {
	*world
	tr     *tracker
	events []Event // all so far
}

func watch(w *world) *watched { return &watched{world: w, tr: newTracker("default", "boot")} }

// look polls, tracks, and returns the group and what happened.
func (w *watched) look(t *testing.T) (*Group, []Event) {
	t.Helper()
	s := w.poll()
	es := w.tr.advance(s)
	w.events = append(w.events, es...)
	return mustGroup(t, s, "g"), es
}

func TestRatesOverRealTime(t *testing.T) {
	w := watch(newWorld())
	w.topic("a", part{0, 1000}, part{0, 500})
	w.group("g", member("m", on("a", 0)), member("n", on("a", 1))).commit("a", 0, 100).commit("a", 1, 500)
	g, _ := w.look(t)
	if !math.IsNaN(g.Produced) || !math.IsNaN(g.Consumed) || !math.IsNaN(g.Drain) {
		t.Errorf("one look knows no rate: %g, %g, %g", g.Produced, g.Consumed, g.Drain)
	}
	end, commit := int64(1000), int64(100)
	for i, gap := range []time.Duration{time.Second, 3 * time.Second, 500 * time.Millisecond, 10 * time.Second, 2 * time.Second, 2 * time.Second} {
		n := int64(gap / (100 * time.Millisecond))
		end, commit = end+n, commit+3*n // 10/s produced, 30/s consumed
		w.after(gap).topic("a", part{0, end}, part{0, 500})
		w.groups["g"].commit("a", 0, commit)
		g, _ = w.look(t)
		r := g.Topics[0].Row(0)
		if !same(r.Produced, 10) || !same(g.Produced, 10) {
			t.Errorf("poll %d: produced %g on the row, %g in the group, want 10 whatever the time between polls", i, r.Produced, g.Produced)
		}
		if i >= 1 && !same(r.Consumed, 30) {
			t.Errorf("poll %d: consumed %g, want 30", i, r.Consumed)
		}
		if !r.ProgressAt.Equal(w.now) || !g.ProgressAt.Equal(w.now) {
			t.Errorf("poll %d: progress at %v", i, r.ProgressAt)
		}
	}
	if !same(g.Consumed, 30) || !same(g.Drain, float64(end-commit)/20) {
		t.Errorf("consumed %g, drained in %g s", g.Consumed, g.Drain)
	}
	still := g.Topics[0].Row(1)
	if still.Produced != 0 || still.Consumed != 0 || !still.ProgressAt.IsZero() {
		t.Errorf("the idle row: produced %g, consumed %g, progress %v", still.Produced, still.Consumed, still.ProgressAt)
	}
	m := g.MemberTotals()
	if !same(m[0].Consumed, 30) || !same(m[0].Produced, 10) || m[1].Consumed != 0 || m[0].ProgressAt != w.now.UnixNano() || m[1].ProgressAt != 0 {
		t.Errorf("members: %+v", m)
	}
	if !same(g.Assignment.SkewRate, 2) {
		t.Errorf("skew of rates %g, want all on one of two", g.Assignment.SkewRate)
	}
	if g.Topics[0].Topic.ProducedTotal != end-1000 || g.Counters.Produced != end-1000 || g.Counters.Consumed != commit-100 {
		t.Errorf("totals: topic %d, produced %d, consumed %d", g.Topics[0].Topic.ProducedTotal, g.Counters.Produced, g.Counters.Consumed)
	}
}

func TestSlowCommitterHasTheRateItHas(t *testing.T) {
	w := watch(newWorld())
	end, commit := int64(0), int64(0)
	w.topic("a", part{0, end})
	w.group("g", member("m", on("a", 0))).commit("a", 0, commit)
	seen := 0
	for s := range 400 {
		end += 10
		if s%60 == 59 { // once a minute, everything
			commit = end
		}
		w.topic("a", part{0, end})
		w.groups["g"].commit("a", 0, commit)
		g, _ := w.look(t)
		r := g.Topics[0].Row(0)
		if r.Consumed > 10.5 || r.Consumed < 0 {
			t.Fatalf("second %d: a spike of %g", s, r.Consumed)
		}
		if s > 125 {
			seen++
			if !same(r.Consumed, 10) {
				t.Fatalf("second %d: consumed %g, want 10 between commits too", s, r.Consumed)
			}
		}
		w.after(time.Second)
	}
	for range 150 { // it stops
		end += 10
		w.topic("a", part{0, end})
		w.after(time.Second)
		w.look(t)
	}
	g, _ := w.look(t)
	if g.Topics[0].Row(0).Consumed != 0 || !math.IsNaN(g.Drain) {
		t.Errorf("stopped minutes ago: consumed %g, drain %g", g.Topics[0].Row(0).Consumed, g.Drain)
	}
}

func TestAnOutageIsNoSpike(t *testing.T) {
	for _, c := range []struct {
		why    string
		breaks func(w *watched, broken bool)
	}{
		{"the leader was silent", func(w *watched, broken bool) {
			w.topics["a"].endUnread[0] = map[bool]Reason{true: ReasonTimeout}[broken]
		}},
		{"the coordinator was down", func(w *watched, broken bool) {
			w.groups["g"].commitsUnread = map[bool]Reason{true: ReasonBrokerDown}[broken]
		}},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := watch(newWorld())
			w.group("g", member("m", on("a", 0)))
			for n := range int64(60) {
				w.topic("a", part{0, 500*n + 100})
				w.groups["g"].commit("a", 0, 500*n) // 100/s, all the time
				c.breaks(w, n >= 10 && n < 50)
				g, _ := w.look(t)
				if r := g.Topics[0].Row(0); r.Consumed > 101 || n > 52 && !same(r.Consumed, 100) {
					t.Errorf("poll %d: consumed %g, want 100", n, r.Consumed)
				}
				w.after(5 * time.Second)
			}
		})
	}
}

func TestRatesEndWithTheNumbersTheyAreOf(t *testing.T) {
	w := watch(newWorld())
	w.group("g", member("m", on("a", 0)))
	for n := range int64(5) {
		w.topic("a", part{0, 500*n + 100})
		w.groups["g"].commit("a", 0, 500*n)
		w.look(t)
		w.after(5 * time.Second)
	}
	none := func(why string, s *Snapshot) {
		t.Helper()
		g := mustGroup(t, s, "g")
		r, m := g.Topics[0].Row(0), g.MemberTotals()
		for _, rate := range []float64{r.Produced, r.Consumed, g.Produced, g.Consumed} {
			if !math.IsNaN(rate) {
				t.Errorf("%s: a rate of %g: row %g, %g, group %g, %g", why, rate, r.Produced, r.Consumed, g.Produced, g.Consumed)
			}
		}
		for i := range m {
			if !math.IsNaN(m[i].Produced) || !math.IsNaN(m[i].Consumed) {
				t.Errorf("%s: rates %g, %g of a member", why, m[i].Produced, m[i].Consumed)
			}
		}
	}
	none("a poll that hangs", w.prev.At(w.now.Add(time.Hour)))
	w.groups["g"].commitsUnread = ReasonBrokerDown // and whether it is produced as before is not looked at
	w.look(t)
	none("the coordinator is down", w.prev)
}

func TestAnotherClusterIsNoSpike(t *testing.T) {
	w := watch(newWorld())
	w.topic("a", part{0, 100}).id = 0 // brokers before 2.8 give topics no id
	w.group("g", member("m", on("a", 0))).commit("a", 0, 50)
	w.look(t)
	w.after(5*time.Second).topic("a", part{0, 1_000_000})
	w.groups["g"].commit("a", 0, 900_000)
	w.cluster = &Cluster{ID: "another"}
	g, events := w.look(t)
	if !math.IsNaN(g.Produced) || g.Counters.Produced != 0 || g.Counters.Consumed != 0 || w.prev.Topics[0].ProducedTotal != 0 {
		t.Errorf("produced %g, counters %+v, of the topic %d: nothing of it was seen", g.Produced, g.Counters, w.prev.Topics[0].ProducedTotal)
	}
	if len(events) != 0 {
		t.Errorf("events %+v: it is a first look", events)
	}
}

func TestACommitThatMovedOnceAndNeverAgain(t *testing.T) {
	w := watch(newWorld())
	w.topic("a", part{0, 100})
	w.group("g", member("m", on("a", 0))).commit("a", 0, 10)
	w.look(t)
	w.after(time.Second).groups["g"].commit("a", 0, 20)
	w.look(t)
	for range 60 {
		w.after(time.Second)
		w.look(t)
	}
	g, _ := w.look(t)
	if c := g.Topics[0].Row(0).Consumed; c != 0 {
		t.Errorf("still for a minute: consumed %g", c)
	}
	if p := g.ProgressAt; !p.Equal(epoch.Add(time.Second)) {
		t.Errorf("progress at %v", p)
	}
}

func TestNothingIsEverNegative(t *testing.T) {
	for _, c := range []struct {
		why    string
		change func(w *world)
		after  func(t *testing.T, g *Group)
	}{
		{"commits set back", func(w *world) { w.groups["g"].commit("a", 0, 10) }, func(t *testing.T, g *Group) {
			if g.Counters.JumpsBack != 1 || g.Counters.JumpsForward != 0 {
				t.Errorf("jumps: %d back, %d forward", g.Counters.JumpsBack, g.Counters.JumpsForward)
			}
			if g.ProgressAt.IsZero() {
				t.Error("a reset is no progress, but does not undo what was")
			}
		}},
		{"commits set past the end", func(w *world) { w.groups["g"].commit("a", 0, 100_000) }, func(t *testing.T, g *Group) {
			if g.Counters.JumpsForward != 1 || g.Counters.JumpsBack != 0 || g.Counters.Consumed != 90 {
				t.Errorf("jumps: %d back, %d forward; consumed %d", g.Counters.JumpsBack, g.Counters.JumpsForward, g.Counters.Consumed)
			}
		}},
		{"the commit is deleted", func(w *world) { delete(w.groups["g"].commits["a"], 0) }, func(t *testing.T, g *Group) {
			if g.Counters.JumpsBack != 0 {
				t.Error("a deleted commit is no jump")
			}
		}},
		{"the log is cut", func(w *world) { w.topic("a", part{0, 50}) }, nil},
		{"the topic is made anew", func(w *world) {
			w.topic("a", part{0, 5}).id = 2
			w.groups["g"].commit("a", 0, 3)
		}, func(t *testing.T, g *Group) {
			if g.Counters.JumpsBack != 0 {
				t.Error("a new topic is no jump back")
			}
			if !math.IsNaN(g.Produced) || !math.IsNaN(g.Consumed) {
				t.Errorf("rates out of two topics: %g, %g", g.Produced, g.Consumed)
			}
			if g.Topics[0].Topic.ProducedTotal != 300 {
				t.Errorf("the topic's total went from 300 to %d", g.Topics[0].Topic.ProducedTotal)
			}
		}},
		{"the topic shrinks", func(w *world) { w.topic("a") }, nil},
		{"an end cannot be read", func(w *world) { w.topics["a"].endUnread[0] = ReasonNoLeader }, func(t *testing.T, g *Group) {
			if !math.IsNaN(g.Topics[0].Row(0).Produced) {
				t.Errorf("a rate of %g out of an old number", g.Topics[0].Row(0).Produced)
			}
		}},
		{"commits cannot be read", func(w *world) { w.groups["g"].commitsUnread = ReasonLoading }, func(t *testing.T, g *Group) {
			if !math.IsNaN(g.Consumed) {
				t.Errorf("a rate of %g out of an old number", g.Consumed)
			}
		}},
		{"the clock goes back", func(w *world) { w.after(-time.Hour) }, nil},
		{"the machine slept", func(w *world) { w.after(8 * time.Hour) }, func(t *testing.T, g *Group) {
			if g.Produced > 1 || g.Consumed > 1 {
				t.Errorf("a spike after sleep: %g, %g", g.Produced, g.Consumed)
			}
		}},
		{"an assignment of a partition that cannot be", func(w *world) {
			w.groups["g"].facts.Members[0].Assigned = []TopicPartitions{on("a", 0, math.MaxInt32-1)}
		}, nil},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := watch(newWorld())
			w.topic("a", part{0, 100})
			w.group("g", member("m", on("a", 0))).commit("a", 0, 10)
			for i := range int64(4) {
				w.topic("a", part{0, 100 + 100*i})
				w.groups["g"].commit("a", 0, 10+30*i)
				w.after(time.Second)
				w.look(t)
			}
			c.change(w.world)
			var before GroupCounters
			for i := range 6 {
				w.after(time.Second)
				g, _ := w.look(t)
				for _, v := range []float64{g.Produced, g.Consumed, g.Drain, g.Lag.Age.Seconds} {
					if v < 0 || math.IsInf(v, 0) {
						t.Errorf("poll %d: produced %g, consumed %g, drain %g, age %g", i, g.Produced, g.Consumed, g.Drain, g.Lag.Age.Seconds)
					}
				}
				n := g.Counters
				if n.Produced < before.Produced || n.Consumed < before.Consumed || n.Overtaken < before.Overtaken || n.JumpsBack < before.JumpsBack || n.JumpsForward < before.JumpsForward {
					t.Errorf("poll %d: a counter fell: %+v after %+v", i, n, before)
				}
				before = n
				if i == 0 && c.after != nil {
					c.after(t, g)
				}
			}
		})
	}
}

func TestDrain(t *testing.T) {
	for _, c := range []struct {
		why                string
		produced, consumed int64 // per second
		backlog            int64
		want               float64
	}{
		{"faster than what comes in", 10, 30, 2000, 100},
		{"slower: it grows, there is no such time", 30, 10, 2000, math.NaN()},
		{"as fast: neither", 10, 10, 2000, math.NaN()},
		{"nothing to do", 10, 10, 0, math.NaN()},
		{"longer than a month", 10, 11, 3_000_000, math.NaN()},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := watch(newWorld())
			end := int64(10_000_000)
			w.topic("a", part{0, end})
			var g *Group
			for i := range int64(8) {
				left := c.backlog - (i-7)*(c.produced-c.consumed)*-1 // c.backlog at the last poll
				w.topic("a", part{0, end + c.produced*i})
				w.group("g", member("m", on("a", 0))).commit("a", 0, end+c.produced*i-left)
				w.after(time.Second)
				g, _ = w.look(t)
			}
			if g.Lag.Records != c.backlog {
				t.Fatalf("backlog %d, want %d", g.Lag.Records, c.backlog)
			}
			if !same(g.Drain, c.want) {
				t.Errorf("drain %g, want %g", g.Drain, c.want)
			}
		})
	}
}

func TestDrainNeedsTheRatesOfAllThatLags(t *testing.T) {
	w := watch(newWorld())
	w.group("g", member("m", on("a", 0, 1)))
	for n := range int64(12) {
		w.topic("a", part{0, 100_000 + 500*n}, part{0, 100_000 + 500*n})  // 100/s each
		w.groups["g"].commit("a", 0, 2000*n).commit("a", 1, 2000*(n/3)*3) // 400/s each, the second in three polls once
		g, _ := w.look(t)
		if got := g.Drain; !math.IsNaN(got) && math.IsNaN(g.Topics[0].Row(1).Consumed) {
			t.Errorf("poll %d: drained in %g s, at a rate of one of two partitions", n, got)
		} else if n > 8 && math.IsNaN(got) {
			t.Errorf("poll %d: no drain time, with rates %g and %g", n, g.Produced, g.Consumed)
		}
		w.after(5 * time.Second)
	}
}

func TestOrphanedRowsAreNoPartOfTheRates(t *testing.T) {
	w := watch(newWorld())
	var g *Group
	for i := range int64(6) {
		w.topic("a", part{0, 10 * i})
		w.topic("left", part{0, 1000 * i})
		w.group("g", member("m", on("a", 0))).commit("a", 0, 10*i).commit("left", 0, 0)
		w.after(time.Second)
		g, _ = w.look(t)
	}
	if !same(g.Produced, 10) || !same(g.Consumed, 10) || !math.IsNaN(g.Drain) {
		t.Errorf("produced %g, consumed %g, drain %g", g.Produced, g.Consumed, g.Drain)
	}
}

func TestOvertaken(t *testing.T) {
	type at struct{ start, end, commit int64 }
	for _, c := range []struct {
		why   string
		polls []at
		want  int64
	}{
		{"retention stays behind the commit", []at{{0, 100, 50}, {40, 200, 60}}, 0},
		{"retention passes a commit that stands", []at{{0, 100, 50}, {80, 200, 50}}, 30},
		{"what was lost before the first look is not counted again", []at{{80, 100, 50}, {80, 200, 50}, {90, 200, 50}}, 10},
		{"the commit reached the start: it may have read its way there", []at{{0, 100, 50}, {80, 200, 80}}, 0},
		{"the commit moved on, but not as far", []at{{0, 100, 50}, {80, 200, 70}}, 10},
		{"it goes on for several polls, each record once", []at{{0, 100, 50}, {60, 200, 50}, {70, 300, 50}, {70, 300, 50}, {100, 300, 80}}, 40},
		{"records that nobody saw come and go: only those known to be there", []at{{0, 100, 50}, {1000, 1200, 50}}, 50},
		{"caught up: nothing was unread", []at{{0, 100, 100}, {300, 400, 300}}, 0},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := watch(newWorld())
			var g *Group
			for _, p := range c.polls {
				w.topic("a", part{p.start, p.end})
				w.solo("g").commit("a", 0, p.commit)
				w.after(time.Second)
				g, _ = w.look(t)
			}
			if g.Counters.Overtaken != c.want {
				t.Errorf("overtaken %d, want %d", g.Counters.Overtaken, c.want)
			}
		})
	}
}

func TestTopicRatesWithoutTheTopicsPast(t *testing.T) {
	w := watch(newWorld())
	w.topic("a", part{0, 10})
	w.solo("g").commit("a", 0, 5)
	w.look(t)
	w.after(time.Second).topic("a", part{0, 20}, part{0, 1_000_000}) // a partition is added, full already
	w.groups["g"].commit("a", 1, 0)
	g, _ := w.look(t)
	if got := g.Topics[0].Topic.Produced; !same(float64(got[0]), 10) || !math.IsNaN(float64(got[1])) {
		t.Errorf("rates %v: a partition that was not there has none", got)
	}
	if total := g.Topics[0].Topic.ProducedTotal; total != 10 {
		t.Errorf("total %d", total)
	}
}

func TestGroupAgesFollowTheRows(t *testing.T) {
	w := watch(newWorld())
	w.topic("a", part{0, 100})
	w.group("g", member("m", on("a", 0))).commit("a", 0, 100)
	w.look(t)
	for i := range int64(10) {
		w.after(time.Second).topic("a", part{0, 110 + 10*i})
		w.look(t)
	}
	g, _ := w.look(t)
	if a := g.Lag.Age; a.Method != MethodInterpolated || a.Seconds < 9 || a.Seconds > 10.5 {
		t.Errorf("age %+v, in truth between 9 and 10 s", a)
	}
	w.groups["g"].commit("a", 0, 200)
	if g, _ = w.look(t); g.Lag.Age.Method != MethodExact || g.Lag.Age.Seconds != 0 {
		t.Errorf("caught up: %+v", g.Lag.Age)
	}
}
