package collect

import (
	"testing"
	"time"
)

// Counters go on over a coordinator that is away for longer than numbers stand.
func TestCountersOverAnOutage(t *testing.T) {
	w := watch(newWorld())
	w.topic("a", part{0, 100})
	g := w.group("g", member("m", on("a", 0))).commit("a", 0, 90)
	look := func(after time.Duration, p part) GroupCounters {
		w.after(after).topic("a", p)
		got, _ := w.look(t)
		return got.Counters
	}
	look(0, part{0, 100})
	g.commitsUnread = ReasonLoading
	for i := range int64(8) {
		look(time.Minute, part{0, 200 + 100*i})
	}
	g.commitsUnread = ReasonNone
	g.commit("a", 0, 990)
	if c := look(time.Minute, part{0, 1000}); c.Produced != 900 || c.Consumed != 900 {
		t.Errorf("produced %d and consumed %d, in truth 900 both", c.Produced, c.Consumed)
	}
}
