package collect

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func at(s float64) int64 { return epoch.Add(time.Duration(s * float64(time.Second))).UnixNano() }

func moment(s float64) time.Time { return time.Unix(0, at(s)) }

func TestAgeFromHistory(t *testing.T) {
	type end struct {
		offset int64
		at     float64
	}
	for _, c := range []struct {
		why            string
		ends           []end
		pins           []end
		offset         int64
		now            float64
		method         Method
		seconds, error float64
	}{
		{"halfway between two readings", []end{{100, 0}, {200, 10}}, nil, 150, 20, MethodInterpolated, 15, 5},
		{"near the earlier reading", []end{{100, 0}, {200, 10}}, nil, 110, 20, MethodInterpolated, 19, 9},
		{"the first one after a reading", []end{{100, 0}, {200, 10}}, nil, 100, 20, MethodInterpolated, 20, 10},
		{"older than the first reading: at least since then", []end{{100, 0}, {200, 10}}, nil, 50, 20, MethodAtLeast, 20, 0},
		{"idle for long, then written: not older than the last look at the idle log", []end{{100, 0}, {100, 3600}, {200, 3610}}, nil, 100, 3620, MethodInterpolated, 20, 10},
		{"between the pins of a search", nil, []end{{100, -3600}, {200, -1800}}, 150, 0, MethodInterpolated, 2700, 900},
		{"a pin on the record itself", []end{{500, 0}}, []end{{100, -3600}}, 100, 0, MethodExact, 3600, 0},
		{"a pin before and a reading after", []end{{200, 0}}, []end{{100, -100}}, 150, 0, MethodInterpolated, 50, 50},
		{"a pin after only", []end{{500, 0}}, []end{{100, -3600}}, 50, 0, MethodAtLeast, 3600, 0},
		{"the nearest of many count", []end{{100, 0}, {200, 10}, {300, 20}, {400, 30}}, []end{{240, 14}}, 250, 40, MethodInterpolated, 25, 5},
		{"read just now for the first time: nothing is known", []end{{100, 0}}, nil, 50, 0, MethodUnknown, math.NaN(), 0},
		{"nothing read", nil, nil, 50, 0, MethodUnknown, math.NaN(), 0},
		{"beyond everything: since the last reading", []end{{100, 0}}, nil, 100, 4, MethodInterpolated, 2, 2},
	} {
		t.Run(c.why, func(t *testing.T) {
			var h partitionTimes
			for _, e := range c.ends {
				h.note(e.offset, at(e.at), at(e.at))
			}
			for _, p := range c.pins {
				h.pin(p.offset, at(p.at))
			}
			a := h.age(c.offset, moment(c.now))
			if a.Method != c.method || !same(a.Seconds, c.seconds) || !same(a.Error, c.error) {
				t.Errorf("got %+v, want %s %g ± %g", a, c.method, c.seconds, c.error)
			}
		})
	}
}

// TestAgeFromHistoryOnRandomLogs polls logs that grow at random, and holds
// the age of random unread records against the moment they were written.
func TestAgeFromHistoryOnRandomLogs(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var h partitionTimes
		var written []int64 // by offset
		now := at(0)
		for poll := range 1 + rnd.IntN(400) {
			for range rnd.IntN(4) * rnd.IntN(20) {
				now += rnd.Int64N(1e9)
				written = append(written, now)
			}
			now += rnd.Int64N(3e9)
			if poll%7 != 3 { // a reading that failed
				h.note(int64(len(written)), now, now)
			}
			if len(written) > 0 && rnd.IntN(10) == 0 {
				o := rnd.IntN(len(written))
				h.pin(int64(o), written[o])
			}
		}
		if len(written) == 0 {
			continue
		}
		for range 50 {
			o := rnd.IntN(len(written))
			truth := float64(now-written[o]) / 1e9
			a := h.age(int64(o), time.Unix(0, now))
			switch a.Method {
			case MethodExact, MethodInterpolated:
				if math.Abs(a.Seconds-truth) > a.Error+1e-6 {
					t.Fatalf("offset %d of %d: %+v, in truth %g", o, len(written), a, truth)
				}
			case MethodAtLeast:
				if a.Seconds > truth+1e-6 {
					t.Fatalf("offset %d of %d: %+v, in truth %g", o, len(written), a, truth)
				}
			}
		}
	}
}

func TestErrorsNeverContradictThemselves(t *testing.T) {
	// timestamps out of order: the record before is stamped after the one after
	var h partitionTimes
	h.pin(100, at(-10))
	h.pin(200, at(-70))
	a := h.age(150, moment(0))
	if a.Method != MethodInterpolated || a.Error < 30 || a.Seconds < 10 || a.Seconds > 70 {
		t.Errorf("%+v, want the error to cover both stamps", a)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	var h partitionTimes
	for i := range int64(100_000) {
		h.note(i*10, at(float64(i)), at(float64(i)))
		h.pin(i*10, at(float64(i)))
	}
	if len(h.ends) > maxSeen || len(h.anchors) > maxAnchors || cap(h.ends) > 2*maxSeen || cap(h.anchors) > 2*maxAnchors+2 {
		t.Errorf("%d ends (room for %d), %d pins (%d)", len(h.ends), cap(h.ends), len(h.anchors), cap(h.anchors))
	}
	if !slices.IsSortedFunc(h.ends, func(a, b seen) int { return int(a.end - b.end) }) {
		t.Error("ends out of order")
	}
	recent := h.ends[len(h.ends)-10:]
	if gap := recent[9].end - recent[0].end; gap > 90 {
		t.Errorf("the newest ten readings span %d records: the recent past must stay fine", gap)
	}
	if first := h.ends[0].first; first > at(60_000) {
		t.Errorf("the oldest reading is of %v: the past is forgotten too soon", time.Unix(0, first))
	}
}

func TestALogThatWasCutForgets(t *testing.T) {
	var h partitionTimes
	h.note(100, at(0), at(0))
	h.note(200, at(10), at(10))
	h.pin(150, at(5))
	h.note(120, at(20), at(20)) // an unclean election
	if a := h.age(110, moment(30)); a.Method != MethodAtLeast || !same(a.Seconds, 10) {
		t.Errorf("%+v: the offsets were written anew, what was known of them is wrong", a)
	}
}

func TestNothingIsLeftOfADeletedTopic(t *testing.T) {
	w := newWorld()
	w.topic("a", even(3, 0, 10)...)
	w.topic("b", even(3, 0, 10)...)
	w.solo("g").commit("a", 0, 3).commit("b", 0, 3)
	w.group("h", member("m", on("a", 0, 1, 2)))
	tr := newTracker("default", "boot")
	tr.advance(w.poll())
	delete(w.topics, "a")
	delete(w.groups, "h")
	delete(w.groups["g"].commits, "a")
	for range ShortWindow + 1 {
		w.after(time.Second)
		tr.advance(w.poll())
	}
	if len(tr.topics) != 1 || len(tr.produced) != 1 || len(tr.groups) != 1 || len(tr.groups["g"].rows) != 1 {
		t.Errorf("%d histories, %d totals, %d groups, %d rows of a group are left, want 1 each", len(tr.topics), len(tr.produced), len(tr.groups), len(tr.groups["g"].rows))
	}
}

func TestPinsOfAGroupFarBehindStay(t *testing.T) {
	for _, first := range []bool{true, false} {
		var h partitionTimes
		if first {
			h.pin(5, at(-7200))
		}
		for i := range int64(500) { // a group near the end is searched for again and again
			h.pin(100_000+i*10, at(float64(i)))
		}
		if !first {
			h.pin(5, at(-7200))
		}
		if a := h.age(5, moment(600)); a.Method != MethodExact || a.Seconds != 7800 {
			t.Errorf("pinned first %v: %+v", first, a)
		}
	}
}
