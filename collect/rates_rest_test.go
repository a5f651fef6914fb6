package collect

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// trackedText is everything that a tracker adds to a snapshot, and what it keeps
// of rows for the next one, but of those that rest.
func trackedText(tr *tracker, s *Snapshot, rest map[[2]string]bool) string {
	var b strings.Builder
	b.WriteString(snapshotText(s))
	for _, g := range s.Groups {
		m := tr.groups[g.Name]
		fmt.Fprintf(&b, "%s %g %g %g %v %v %v %+v %+v\n", g.Name, g.Produced, g.Consumed, g.Drain, g.ProgressAt, g.CommitInterval, g.Window, g.Counters, g.MemberTotals())
		fmt.Fprintf(&b, "  habit %v, stalled %v, jumps %+v\n", m.habit.gaps, g.stalledAt, m.jumps)
		for _, gt := range g.Topics {
			if past := m.rows[gt.Topic.Name]; past != nil && !rest[[2]string{g.Name, gt.Topic.Name}] {
				fmt.Fprintf(&b, "  %s %+v\n", gt.Topic.Name, past.rows)
			}
		}
	}
	for _, x := range tr.wanted(s) {
		fmt.Fprintf(&b, "wanted %s %d %d\n", x.topic, x.partition, x.target)
	}
	return b.String()
}

// resting are the rows of a snapshot that no pass was made over, by group and
// topic.
func (t *tracker) resting(s *Snapshot) map[[2]string]bool {
	out := map[[2]string]bool{}
	for _, g := range s.Groups {
		for _, gt := range g.Topics {
			if past := t.groups[g.Name].rows[gt.Topic.Name]; past != nil && past.rest != nil && past.rest.notedAt == gt.commitsAt {
				out[[2]string{g.Name, gt.Topic.Name}] = true
			}
		}
	}
	return out
}

// Rows that stand still come to what a pass over each of them would give,
// whatever happens to the cluster before, between and after.
func TestRowsAtRest(t *testing.T) {
	rested := 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 5))
		w := newWorld()
		for _, name := range []string{"a", "b", "c"} {
			w.topic(name, even(1+rng.IntN(3), int64(rng.IntN(4)), 100)...)
		}
		w.group("crew", member("one", on("a", 0)), member("two", on("b", 0))).commit("a", 0, 5).commit("b", 0, 100)
		w.group("idle").commit("c", 0, 7)
		w.topic("d", part{0, 1000})
		busy, every := w.group("busy").commit("a", 0, 5).commit("d", 0, 0), 2+rng.IntN(4)
		w.solo("solo").commit("a", 0, 9).commit("c", 0, 100)
		fast, slow := newTracker("default", "boot"), newTracker("default", "boot")
		var before [2]*Snapshot
		for step := range 40 {
			w.after(time.Duration(1+rng.IntN(9)) * time.Second)
			if quiet := (step/8)%2 == 1; !quiet && rng.IntN(2) == 0 {
				w.disturb(rng)
			}
			if step%every == 0 { // a habit is formed, of which the group's other rows know
				busy.commit("d", 0, int64(step))
			}
			if step == 9 {
				busy.commit("a", 0, 6)
			}
			if rng.IntN(40) == 0 { // the clock is set
				w.after(-time.Minute)
			}
			if rng.IntN(25) == 0 { // set by little: no step
				w.after(-time.Duration(rng.IntN(3000)) * time.Millisecond)
			}
			for _, name := range []string{"busy", "crew", "solo", "idle"} { // not their turn, now and then
				w.groups[name].undue = seed%2 == 0 && rng.IntN(12) == 0
			}
			var texts [2]string
			for k, tr := range []*tracker{fast, slow} {
				w.prev = before[k]
				s := w.poll()
				before[k] = s
				tr.interval = 5 * time.Second
				if tr == slow {
					for _, m := range tr.groups {
						for _, past := range m.rows {
							past.wake()
						}
					}
				}
				events := tr.advance(s)
				rest := fast.resting(s)
				rested += len(rest)
				texts[k] = fmt.Sprintf("%+v\n%s", events, trackedText(tr, s, rest))
			}
			if texts[0] != texts[1] {
				t.Fatalf("seed %d, step %d:\n%s\nwant:\n%s", seed, step, texts[0], texts[1])
			}
		}
	}
	if rested < 4_000 {
		t.Errorf("only %d rests were seen", rested)
	}
}
