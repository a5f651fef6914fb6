package collect

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// retained is a log of one record a second whose segments hold 100 of them, and
// from which Kafka deletes at times; deleted says up to which segment.
type retained struct {
	*world
	log     *liveLog
	c       *Collector
	deletes func(r *retained, segmentEnd int64) bool
}

func newRetained(deletes func(*retained, int64) bool) *retained {
	w := newWorld()
	w.cluster = &Cluster{ID: "id", SeesAllGroups: Yes, SeesAllTopics: Yes}
	r := &retained{world: w, log: &liveLog{now: w.now}, deletes: deletes}
	r.c = New(r.log, Options{Interval: 5 * time.Second, Now: func() time.Time { return r.log.now }})
	return r
}

// step lets five seconds pass and polls; what is due goes each half minute.
func (r *retained) step(t *testing.T, settings Retention) Row {
	t.Helper()
	for range 5 {
		r.log.now = r.log.now.Add(time.Second)
		r.log.append(r.log.now)
	}
	if r.log.now.Second()%30 == 0 {
		for end := r.log.start - r.log.start%100 + 100; end < r.log.end() && r.deletes(r, end); end += 100 {
			r.log.start = end
		}
	}
	r.now = r.log.now
	r.topic("a", part{r.log.start, r.log.end()})
	b := r.builder()
	r.offsets(b)
	for _, n := range b.Needs() {
		b.SetRetention(n.Topic, settings)
	}
	s := b.Finish(r.now, time.Millisecond)
	r.prev = s
	r.c.finish(s)
	r.c.dateStarts(t.Context(), s)
	r.c.searchTimes(t.Context(), s)
	g := mustGroup(t, s, "g")
	row := g.Topics[0].Row(0)
	if !same(g.Lag.Headroom, row.Headroom) {
		t.Fatalf("the group's headroom is %g, its only row's %g", g.Lag.Headroom, row.Headroom)
	}
	return row
}

// olderThan is retention.ms, and longerThan retention.bytes in records.
func olderThan(d time.Duration) func(*retained, int64) bool {
	return func(r *retained, end int64) bool {
		return r.log.now.UnixMilli()-r.log.stamps[end-1] > d.Milliseconds()
	}
}

func longerThan(n int64) func(*retained, int64) bool {
	return func(r *retained, end int64) bool { return r.log.end()-end >= n }
}

// Headroom is never more than what is left, and not less by more than the margin
// and what the segments and looks of Kafka make uncertain.
func TestHeadroom(t *testing.T) {
	hour := Retention{Known: true, Deletes: true, Time: time.Hour, Bytes: -1}
	with := func(change func(*Retention)) Retention { r := hour; change(&r); return r }
	const segment, look = 100.0, 35.0
	for _, c := range []struct {
		why      string
		deletes  func(*retained, int64) bool
		settings Retention
		known    bool
	}{
		{"by time, seen", olderThan(time.Hour), Retention{}, true},
		{"by volume, seen", longerThan(3000), Retention{}, true},
		{"by time, told", olderThan(time.Hour), hour, true},
		{"by time, told, and by volume, seen: the sooner one", longerThan(2000), with(func(r *Retention) { r.Bytes = 1 << 30 }), true},
		{"nothing is deleted, nothing is told", func(*retained, int64) bool { return false }, Retention{}, false},
		{"by time, told, and by volume, of which nothing was seen", func(*retained, int64) bool { return false }, with(func(r *Retention) { r.Bytes = 1 << 30 }), false},
		{"for ever", func(*retained, int64) bool { return false }, with(func(r *Retention) { r.Time = -1 }), false},
		{"compacted only", func(*retained, int64) bool { return false }, Retention{Known: true, Compacts: true, Time: time.Hour, Bytes: -1}, false},
		{"purged behind its readers", func(r *retained, end int64) bool { return end <= r.groups["g"].commits["a"][0] }, Retention{}, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			r := newRetained(c.deletes)
			g := r.solo("g").commit("a", 0, 0)
			const hours = 5000 / 5
			for range hours { // it reads, a quarter of an hour behind, in steps of a segment
				at := max(0, r.log.end()-900)
				g.commit("a", 0, at-at%100)
				r.step(t, c.settings)
			}
			stuck := g.commits["a"][0]
			told := map[time.Time]float64{}
			for polls := 0; r.log.start <= stuck && polls < 1200; polls++ {
				if row := r.step(t, c.settings); !math.IsNaN(row.Headroom) && row.Status == StatusOK {
					told[r.log.now] = row.Headroom
				}
			}
			if (len(told) > 0) != c.known {
				t.Fatalf("told %d times, known %v", len(told), c.known)
			}
			if r.log.start <= stuck {
				if c.known {
					t.Fatal("never deleted")
				}
				return
			}
			if known := float64(len(told)) * 5; known < 500 {
				t.Errorf("known for %g s only", known)
			}
			for at, h := range told {
				left := r.log.now.Sub(at).Seconds()
				if h > left+look || h < 0.9*left-2*segment-look { // a tenth by the pace that was seen
					t.Errorf("%g s before the record was deleted: a headroom of %g s", left, h)
				}
			}
		})
	}
}

// A log start that moves no more, because nothing is produced, says nothing of
// what is deleted next.
func TestHeadroomEndsWithTheMovement(t *testing.T) {
	tr := startTrend{offset: 1000, at: epoch.UnixNano(), age: 3600, pace: 1, jump: 100, rest: 100}
	at := func(d time.Duration) float64 { return tr.headroom(3000, 1500, epoch.Add(d).UnixNano()) }
	if got := at(time.Minute); !same(got, 1840) {
		t.Errorf("a minute later: %g", got)
	}
	if got := at(time.Hour); !math.IsNaN(got) {
		t.Errorf("an hour later: %g", got)
	}
	if got := (startTrend{}).headroom(10, 10, 0); !math.IsNaN(got) {
		t.Errorf("without a movement: %g", got)
	}
}

func TestHeadroomNeedsTheAge(t *testing.T) {
	w := watch(newWorld())
	w.topic("a", part{0, 100})
	w.solo("g").commit("a", 0, 100)
	s := w.poll()
	s.Topics[0].Retention = Retention{Known: true, Deletes: true, Time: time.Hour, Bytes: -1}
	w.tr.advance(s)
	row := mustGroup(t, s, "g").Topics[0].Row(0)
	if !math.IsNaN(row.Headroom) {
		t.Errorf("%g s for nothing unread", row.Headroom)
	}
	w.after(time.Second).groups["g"].commit("a", 0, 10) // older than the first look
	s = w.poll()
	w.tr.advance(s)
	row = mustGroup(t, s, "g").Topics[0].Row(0)
	if row.Age.Method != MethodAtLeast || !math.IsNaN(row.Headroom) {
		t.Errorf("an age of %v, a headroom of %g: the record may be older", row.Age, row.Headroom)
	}
}

// Rows that are passed over because an older one has less change nothing.
func TestHeadroomOfAGroupIsTheLeastOfItsRows(t *testing.T) {
	known := 0
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 11))
		g, committed := &Group{}, rng.IntN(2) == 0
		for range 1 + rng.IntN(3) {
			g.Topics = append(g.Topics, randomlyAged(rng, 1+rng.IntN(8)))
		}
		want := math.NaN()
		for _, gt := range g.Topics {
			for i := range gt.Committed {
				if h := gt.headroom(i, gt.lagAt(i)); gt.judged(i, committed) && !math.IsNaN(h) && !(h >= want) {
					want = h
				}
			}
		}
		if got := g.headroom(committed); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("seed %d: %g, the least of the rows is %g", seed, got, want)
		}
		if !math.IsNaN(want) {
			known++
		}
	}
	if known < 500 {
		t.Errorf("only %d groups had any", known)
	}
}

// randomlyAged is a topic whose rows lag by ages found in all ways, and which
// deletes by all rules.
func randomlyAged(rng *rand.Rand, n int) *GroupTopic {
	topic := &Topic{LogStart: make([]int64, n), LogEnd: make([]int64, n), EndAt: make([]int64, n)}
	topic.Retention = Retention{Known: rng.IntN(4) > 0, Deletes: rng.IntN(4) > 0, Time: time.Duration(rng.IntN(4)-1) * time.Minute, Bytes: int64(rng.IntN(3) - 1)}
	if rng.IntN(2) == 0 {
		topic.trends = make([]startTrend, n)
		for p := range topic.trends {
			topic.trends[p] = startTrend{age: float64(rng.IntN(300)), pace: float64(rng.IntN(2)), rest: 60}
		}
	}
	gt := &GroupTopic{Topic: topic, Committed: make([]int64, n), ages: make([]rowAge, n), Orphaned: rng.IntN(8) == 0}
	for i := range n {
		topic.LogEnd[i], gt.Committed[i] = 10, int64(rng.IntN(12)-1)
		a := Age{Seconds: float64(rng.IntN(200)), Error: float64(rng.IntN(20)), Method: Method(rng.IntN(4))}
		if a.Method == MethodUnknown {
			a = unknownAge(SecondsBudget)
		}
		if gt.lagAt(i).lag > 0 {
			gt.ages[i] = compactAge(a)
		}
	}
	return gt
}
