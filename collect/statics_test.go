package collect

import (
	"runtime"
	"testing"
	"weak"
)

// A rebalance that goes on for long, or an undescribed group, holds no snapshot
// of before it in memory for what its static members were at then; and which of
// them timed out is known all the same.
func TestStaticMembersHoldNoOlderGroup(t *testing.T) {
	w := newWatched(2)
	crew := []Member{member("a", on("t", 0)).static("1", "pod-1"), member("b", on("t", 1)).static("2", "pod-2")}
	both := members(crew...)
	commit := func(n int64) step { return func(w *watched) { w.groups["g"].commit("t", 1, n) } }
	behind := func(w *watched) { w.topic("t", part{0, 10}, part{0, 20}) }
	w.steps(t, all(both, commit(5)), all(both, commit(10)), all(both, behind), both)
	settled := weak.Make(mustGroup(t, w.prev, "g"))
	preparing := func(w *watched) { w.groups["g"].facts.State = StatePreparingRebalance }
	w.steps(t, preparing, preparing, preparing, preparing, preparing)
	runtime.GC()
	if settled.Value() != nil {
		t.Error("the group of before the rebalance is held")
	}
	w.steps(t, preparing, members(member("a", on("t", 0, 1)).static("1", "pod-1")))
	for _, e := range w.events {
		if e.Kind == EventRebalance && e.Cause == CauseMemberTimedOut {
			return
		}
	}
	t.Errorf("%v, want one by %s", briefs(w.events), CauseMemberTimedOut)
}
