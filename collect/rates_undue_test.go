package collect

import (
	"testing"
	"time"
)

// A group whose turn it was not keeps its numbers, all of one moment, and its
// rates: it has not stopped because nobody asked.
func TestGroupsThatWait(t *testing.T) {
	w, tr := newWorld(), newTracker("default", "boot")
	w.topic("a", even(2, 0, 100)...)
	g := w.group("g", member("one", on("a", 0, 1))).commit("a", 0, 90).commit("a", 1, 90)
	poll := func(undue bool) *Group {
		w.after(time.Second)
		g.undue = undue
		s := w.poll()
		tr.advance(s)
		return mustGroup(t, s, "g")
	}
	poll(false)
	for step := range int64(12) {
		for p := range w.topics["a"].parts {
			w.topics["a"].parts[p].end += 10
			g.commit("a", int32(p), 90+10*(step+1))
		}
		got := poll(step%3 != 0)
		if got.Lag.Records != 20 || !got.Lag.Complete || got.Lag.Stale != 0 {
			t.Errorf("step %d: lag %+v", step, got.Lag)
		}
		if want := w.now.Add(-time.Duration(step%3) * time.Second); !got.CommitsAt.Equal(want) {
			t.Errorf("step %d: commits of %v, want %v", step, got.CommitsAt, want)
		}
		if every := w.prev.CommitsEvery; every != time.Duration(step%3)*time.Second {
			t.Errorf("step %d: commits every %v", step, every)
		}
		if step >= 6 && !same(got.Consumed, 20) {
			t.Errorf("step %d: consumed %v a second", step, got.Consumed)
		}
	}
}

// What cannot be known of a group that waits is not made up.
func TestWhatGroupsThatWaitDoNotKnow(t *testing.T) {
	for _, c := range []struct {
		why    string
		change func(w *world)
		want   []string
	}{
		{"nothing happened", func(*world) {}, []string{"a/0 0..100 at 90 lag 10 ok"}},
		{"a partition was added", func(w *world) { w.topic("a", even(2, 0, 100)...) }, []string{"a/0 0..100 at 90 lag 10 ok", "a/1 ?..? at ? lag ? unknown timeout"}},
		{"the topic was made anew", func(w *world) { w.topics["a"].id++ }, []string{"a/0 0..100 at ? lag ? unknown timeout"}},
		{"it waits for too long", func(w *world) { w.after(6 * time.Minute) }, []string{"a/0 0..100 at 90 lag 10 ok"}}, // and is asked
	} {
		w := newWorld()
		w.topic("a", even(1, 0, 100)...)
		g := w.group("g", member("one", on("a", 0))).commit("a", 0, 90)
		w.poll()
		g.undue = true
		c.change(w)
		w.after(time.Second)
		t.Log(c.why)
		wantLines(t, rowsOf(mustGroup(t, w.poll(), "g")), c.want...)
	}
}
