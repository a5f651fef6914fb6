package collect

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// restless is a cluster in which nothing stays: groups, members, topics and
// partitions come and go, and so do leaders.
type restless struct {
	*world
	rng  *rand.Rand
	seq  int         // of names
	busy atomic.Bool // what comes and goes still does
	live []string
}

func (c *restless) turn() {
	name := func(what string) string { c.seq++; return fmt.Sprintf("%s-%06d", what, c.seq) }
	for len(c.topics) < 10 {
		c.topic(name("topic"), even(4, 0, 100)...)
	}
	topics := slices.Sorted(maps.Keys(c.topics))
	for len(c.live) < 25 {
		g, t := name("group"), topics[c.rng.IntN(len(topics))]
		c.group(g, member(name("pod"), on(t, 0, 1)), member(name("pod"), on(t, 2, 3))).commit(t, 0, 50).commit(t, 2, 50)
		c.live = append(c.live, g)
	}
	if !c.busy.Load() {
		return
	}
	for _, t := range c.topics {
		for p := range t.parts {
			t.parts[p].end += int64(c.rng.IntN(20))
		}
		if c.rng.IntN(50) == 0 {
			t.parts = append(t.parts, part{0, 1})
		}
		if c.rng.IntN(200) == 0 {
			t.id++ // made anew
		}
	}
	for _, name := range c.live {
		g := c.groups[name]
		for t, ps := range g.commits {
			for p := range ps {
				if topic := c.topics[t]; topic != nil && int(p) < len(topic.parts) && c.rng.IntN(4) > 0 {
					g.commit(t, p, max(0, topic.parts[p].end-int64(c.rng.IntN(30))))
				}
			}
		}
		if c.rng.IntN(20) == 0 {
			t := topics[c.rng.IntN(len(topics))]
			g.facts.Members = []Member{member(fmt.Sprint("pod-", c.rng.IntN(1000)), on(t, 0))}
			g.commit(t, 0, 10)
		}
	}
	for range c.rng.IntN(3) { // groups go
		i := c.rng.IntN(len(c.live))
		delete(c.groups, c.live[i])
		c.live = append(c.live[:i], c.live[i+1:]...)
	}
	if c.rng.IntN(5) == 0 {
		delete(c.topics, topics[c.rng.IntN(len(topics))])
	}
}

// A day of polls in a cluster in which nothing stays: memory does not grow, no
// goroutine is left (synctest would wait for it for ever), and of what is gone
// nothing is remembered.
func TestADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &restless{world: newWorld(), rng: rand.New(rand.NewPCG(1, 2))}
		c.busy.Store(true)
		polls := 0
		f := &fakeSource{fill: func(b *Builder, _ Ask, now time.Time) {
			polls++
			c.turn()
			c.world.now = now
			c.fill(b)
			c.offsets(b)
		}}
		f.offsetsAt = func(_ context.Context, qs []TimeQuery) []TimeAnswer {
			out := make([]TimeAnswer, len(qs))
			for i := range qs {
				out[i] = TimeAnswer{Offset: int64(c.rng.IntN(1000)), Timestamp: time.Now().Add(-time.Duration(c.rng.IntN(1e9))).UnixMilli()}
			}
			return out
		}
		col := New(f, Options{Build: BuildOptions{StaleAfter: 5 * time.Minute}, Interval: time.Minute, Timeout: 10 * time.Second, EventLog: 500})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); col.Run(ctx) }()
		heap := func() uint64 {
			f.mu.Lock()
			f.began, f.asks, f.deadlines = nil, nil, nil // the test's own
			f.mu.Unlock()
			var m runtime.MemStats
			runtime.GC()
			runtime.GC()
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		goroutines := 0
		var after3, most uint64
		for hour := range 24 {
			time.Sleep(time.Hour)
			synctest.Wait()
			switch n := heap(); {
			case hour == 2:
				after3, goroutines = n, runtime.NumGoroutine()
			case hour > 2:
				most = max(most, n)
			}
		}
		if most > after3+after3/2+4<<20 {
			t.Errorf("%d MiB after 3 hours, %d MiB at most in the 21 after that", after3>>20, most>>20)
		}
		if n := runtime.NumGoroutine(); n > goroutines {
			t.Errorf("%d goroutines after 3 hours, %d after 24", goroutines, n)
		}
		c.busy.Store(false)
		time.Sleep(15 * time.Minute) // beyond every grace period
		synctest.Wait()
		cancel()
		<-done
		tr, s := col.tracker, col.hub.Latest().Snapshot
		t.Logf("%d polls, %d names; %d KiB after 3 hours, at most %d KiB later; %d groups, %d topics at the end", polls, c.seq, after3>>10, most>>10, len(s.Groups), len(s.Topics))
		if len(s.Groups) != len(c.groups) || polls < 1400 {
			t.Errorf("%d groups of %d after %d polls", len(s.Groups), len(c.groups), polls)
		}
		for what, n := range map[string][2]int{
			"histories": {len(tr.topics), len(s.Topics)}, "totals of topics": {len(tr.produced), len(s.Topics)},
			"memories of groups": {len(tr.groups), len(s.Groups)}, "topics cut": {len(tr.cuts.topics), len(s.Topics)},
			"open transactions": {len(tr.open), len(s.Topics)},
		} {
			if n[0] > n[1] {
				t.Errorf("%d %s for %d that there are", n[0], what, n[1])
			}
		}
		for name, m := range tr.groups {
			g, ok := s.Group(name)
			if !ok || len(m.rows) > len(g.Topics) {
				t.Errorf("%s: memories of %d topics, rows on %d", name, len(m.rows), len(g.Topics))
			}
		}
		for _, topic := range s.Topics {
			if h := tr.topics[topic.Name]; h != nil && topic.Reason == ReasonNone && (h.id != topic.ID || len(h.parts) > topic.Partitions()) {
				t.Errorf("%s: a history of %d partitions, there are %d", topic.Name, len(h.parts), topic.Partitions())
			}
		}
		if n := tr.historySize(); n > historyBudget/100 {
			t.Errorf("a history of %d bytes", n)
		}
	})
}
