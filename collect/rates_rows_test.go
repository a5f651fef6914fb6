package collect

import (
	"math"
	"testing"
	"time"
)

// A group that commits at every second poll has one rate, and not a third less
// and a third more by turns as one or two of its commits lie in the window.
func TestARateIsNotThatOfThePolls(t *testing.T) {
	w := watch(newWorld())
	w.topic("a", part{0, 1_000_000})
	w.group("g", member("m", on("a", 0))).commit("a", 0, 0)
	seen := 0
	for s := range 60 {
		if s%2 == 1 {
			w.groups["g"].commit("a", 0, int64(s+1)*50)
		}
		w.after(time.Second)
		g, _ := w.look(t)
		if s < 10 {
			continue
		}
		if r := g.Topics[0].Row(0).Consumed; !math.IsNaN(r) {
			seen++
			if !same(r, 50) {
				t.Errorf("second %d: consumed %g, want 50", s, r)
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d rates", seen)
	}
}
