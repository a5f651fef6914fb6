package collect

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func events(from, to uint64) (out []Event) {
	for n := from; n <= to; n++ {
		out = append(out, Event{Seq: n})
	}
	return out
}

func TestNewestUpdateWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub(10)
		if h.Latest() != nil {
			t.Fatal("an update before the first")
		}
		got := make(chan []uint64)
		go func() {
			var seen []uint64
			var u *Update
			for ok := true; ; {
				if u, ok = h.Next(t.Context(), u); !ok {
					got <- seen
					return
				}
				seen = append(seen, u.Seq)
				time.Sleep(time.Second) // slower than the updates come
			}
		}()
		synctest.Wait()
		for n := range uint64(30) {
			h.Publish(&Update{Seq: n + 1})
			time.Sleep(300 * time.Millisecond)
		}
		time.Sleep(5 * time.Second)
		h.Close()
		seen := <-got
		if len(seen) < 5 || len(seen) > 15 || seen[0] != 1 || seen[len(seen)-1] != 30 {
			t.Errorf("a slow reader saw %v, want some of 1 to 30 and the last", seen)
		}
		if h.Latest().Seq != 30 {
			t.Errorf("the newest is %d after closing", h.Latest().Seq)
		}
	})
}

func TestNextEnds(t *testing.T) {
	t.Run("with its context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, ok := NewHub(1).Next(ctx, nil); ok {
			t.Error("an update out of nothing")
		}
	})
	t.Run("with the hub, after the newest was taken", func(t *testing.T) {
		h := NewHub(1)
		last := &Update{Seq: 1}
		h.Publish(last)
		h.Close()
		h.Close()
		u, ok := h.Next(t.Context(), nil)
		if !ok || u != last {
			t.Fatalf("the last update is lost: %v, %v", u, ok)
		}
		if _, ok := h.Next(t.Context(), last); ok {
			t.Error("an update after the last")
		}
	})
	t.Run("a late publication does no harm", func(t *testing.T) {
		h := NewHub(1)
		h.Close()
		h.Publish(&Update{Seq: 1})
	})
}

func TestEventCursor(t *testing.T) {
	for _, c := range []struct {
		why    string
		after  uint64
		want   string
		missed uint64
	}{
		{"from the beginning, most are gone", 0, "[6 7 8 9 10]", 5},
		{"from where the log begins", 5, "[6 7 8 9 10]", 0},
		{"in the middle", 8, "[9 10]", 0},
		{"a gap of one", 4, "[6 7 8 9 10]", 1},
		{"up to date", 10, "[]", 0},
		{"from the future", 99, "[]", 0},
	} {
		t.Run(c.why, func(t *testing.T) {
			h := NewHub(5)
			h.Publish(&Update{Events: events(1, 3)})
			h.Publish(&Update{})
			h.Publish(&Update{Events: events(4, 10)})
			es, missed := h.Events(c.after)
			seqs := []uint64{}
			for _, e := range es {
				seqs = append(seqs, e.Seq)
			}
			if fmt.Sprint(seqs) != c.want || missed != c.missed {
				t.Errorf("got %v, missed %d; want %s, %d", seqs, missed, c.want, c.missed)
			}
		})
	}
}

func TestLargeEventsTakeTheRoomOfSeveral(t *testing.T) {
	h := NewHub(10)
	publish := func(seq uint64, moves int) {
		h.Publish(&Update{Events: []Event{{Seq: seq, Moves: make([]Move, moves)}}})
	}
	kept := func() (first, last uint64, n int) {
		es, _ := h.Events(0)
		return es[0].Seq, es[len(es)-1].Seq, len(es)
	}
	for seq := range uint64(20) {
		publish(seq+1, 20) // each as large as three
	}
	if first, last, n := kept(); first != 18 || last != 20 || n != 3 {
		t.Errorf("kept %d events from %d to %d, want the three that ten places hold", n, first, last)
	}
	publish(21, 100_000)
	if first, last, n := kept(); first != 21 || last != 21 || n != 1 {
		t.Errorf("kept %d events from %d to %d, want the newest", n, first, last)
	}
}

func TestEventsAreTheReadersOwn(t *testing.T) {
	h := NewHub(3)
	h.Publish(&Update{Events: events(1, 3)})
	es, _ := h.Events(0)
	es[0].Group = "changed"
	if again, _ := h.Events(0); again[0].Group != "" {
		t.Error("a reader changed the log")
	}
	h.Publish(&Update{Events: events(4, 6)})
	if es[2].Seq != 3 {
		t.Error("the log changed what a reader holds")
	}
}

func TestStreamSaysWhatItDropped(t *testing.T) {
	h := NewHub(1)
	slow, quick := h.Stream(3), h.Stream(100)
	for n := range uint64(10) {
		h.Publish(&Update{Seq: n + 1})
	}
	if slow.Dropped() != 7 || quick.Dropped() != 0 {
		t.Errorf("dropped %d and %d, want 7 and 0", slow.Dropped(), quick.Dropped())
	}
	h.Close()
	count := func(s *Stream) (n int) {
		for u := range s.C() {
			if n++; u.Seq != uint64(n) {
				t.Errorf("update %d came as number %d", u.Seq, n)
			}
		}
		return n
	}
	if a, b := count(slow), count(quick); a != 3 || b != 10 {
		t.Errorf("got %d and %d updates, want 3 and 10", a, b)
	}
	slow.Close()
	if _, ok := <-h.Stream(1).C(); ok {
		t.Error("a stream begun after the end delivers")
	}
}

func TestStreamCloses(t *testing.T) {
	h := NewHub(1)
	s := h.Stream(1)
	s.Close()
	s.Close()
	if _, ok := <-s.C(); ok {
		t.Error("a closed stream delivers")
	}
	h.Publish(&Update{})
	h.Close()
}

func TestHubUnderManyReaders(t *testing.T) {
	h := NewHub(10)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var u *Update
			for ok := true; ; {
				if u, ok = h.Next(t.Context(), u); !ok {
					return
				}
				h.Events(0)
			}
		})
		wg.Go(func() {
			s := h.Stream(1)
			for range s.C() {
				h.Latest()
			}
			s.Close()
		})
	}
	for n := range uint64(200) {
		h.Publish(&Update{Seq: n, Events: events(n, n)})
	}
	h.Close()
	wg.Wait()
}

func TestFindingsOfAnUpdate(t *testing.T) {
	u := &Update{Findings: []Finding{{Cluster: true, Code: "cluster_unreachable"}, {Code: "stalled"}, {Group: "a", Code: "stalled", Primary: true}, {Group: "b", Code: "parked"}, {Group: "a", Code: "falling_behind"}}}
	codes := func(fs []Finding) (out []string) {
		for _, f := range fs {
			out = append(out, f.Code)
		}
		return out
	}
	wantLines(t, codes(u.GroupFindings("a")), "stalled", "falling_behind")
	wantLines(t, codes(u.ClusterFindings()), "cluster_unreachable")
	wantLines(t, codes(u.GroupFindings("")), "stalled") // of the group whose name is empty
	wantLines(t, codes(u.GroupFindings("none")))
}
