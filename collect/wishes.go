package collect

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// A wish is the row of a partition that a search would help most.
type wish struct {
	target, lag int64 // the offset to search for; lag 0: no wish
	clue        int64 // see search
}

func newSearch(topic string, partition int32, w wish) *search {
	s := &search{topic: topic, partition: partition, target: w.target, clue: w.clue}
	if w.clue > 0 {
		s.stage = askClue
	}
	return s
}

// wanted lists what is worth a search: the first unread record of rows whose
// age is not known well enough, one a partition, those furthest behind first.
func (t *tracker) wanted(s *Snapshot) []*search {
	wishes := map[string][]wish{} // by topic, then by partition: no map of a million rows
	for _, g := range s.Groups {
		for _, gt := range g.Topics {
			if gt.Topic.Reason != ReasonNone || gt.Orphaned || gt.dated && !gt.vague && !gt.moves { // the last: nearly all that stand still
				continue
			}
			name := gt.Topic.Name
			wishes[name] = t.times(gt.Topic).wishes(gt, wishes[name], s, t.interval)
		}
	}
	var first furthest
	for name, ws := range wishes {
		for p, w := range ws {
			if w.lag > 0 && w.lag >= first.least {
				first.add(lagging{name, int32(p), w})
			}
		}
	}
	searches := first.searches()
	for _, x := range searches {
		x.before, x.after = t.topics[x.topic].parts[x.partition].around(x.target)
	}
	return searches
}

// wishes adds a group's rows on a topic to what is wished for its partitions.
func (h *topicTimes) wishes(gt *GroupTopic, best []wish, s *Snapshot, interval time.Duration) []wish {
	for i := range gt.Committed {
		step := gt.step(i, interval)
		if step == 0 && gt.ages != nil && !gt.ages[i].vague() {
			continue
		}
		l := gt.lagAt(i)
		p := int(gt.Partition(i))
		if l.lag <= 0 || l.stale || p < len(best) && best[p].lag >= l.lag {
			continue
		}
		part := &h.parts[p]
		if part.unsearchable != "" {
			continue
		}
		at := gt.searched(i, p)
		target, ok := part.aim(at, step, gt.Topic.LogEnd[p], s.TakenAt)
		if ok && part.tried == target && vague(part.age(at, s.TakenAt)) {
			target = at // a slow committer: what lies ahead was found, and is far away
		}
		if !ok || part.tried == target {
			continue
		}
		if best == nil {
			best = make([]wish, len(h.parts))
		}
		best[p] = wish{target, l.lag, gt.clue(i, target)}
	}
	return best
}

// step is how many records row i consumes until the next poll; 0 if not known.
func (gt *GroupTopic) step(i int, interval time.Duration) int64 {
	if gt.Consumed == nil || !(gt.Consumed[i] > 0) {
		return 0
	}
	return int64(float64(gt.Consumed[i]) * interval.Seconds())
}

// aim picks the offset to search for. A consumer that moves is ahead of what
// was found for it by the next poll: once its record lies after a known one,
// the search is for a record it has yet to come to, so that it lies between two
// that are known.
func (h *partitionTimes) aim(at, step, end int64, now time.Time) (target int64, ok bool) {
	age := compactAge(h.age(at, now))
	if step == 0 || age.method != MethodExact && age.method != MethodInterpolated {
		return at, age.vague()
	}
	next := min(at+step, end-1)
	ahead := compactAge(h.age(next, now))
	ahead.error *= 2 // it is not there yet, and shall not be vague when it is
	return min(next+step/2, end-1), age.vague() || next > at && ahead.vague()
}

// furthest keeps those searches that are for the rows furthest behind: of a large
// cluster nearly all partitions may be wished for, and few can be searched.
type furthest struct {
	list  []lagging
	least int64 // what lags less need not be added
}

// lagging is a wish with its partition.
type lagging struct {
	topic     string
	partition int32
	wish
}

func (f *furthest) add(l lagging) {
	if f.list = append(f.list, l); len(f.list) >= 8*searchPartitions {
		f.cut()
	}
}

// cut leaves the first ones: by lag, the largest first, then by name.
func (f *furthest) cut() {
	slices.SortFunc(f.list, func(a, b lagging) int {
		return cmp.Or(cmp.Compare(b.lag, a.lag), cmp.Compare(a.topic, b.topic), cmp.Compare(a.partition, b.partition))
	})
	if len(f.list) >= searchPartitions {
		f.list = f.list[:searchPartitions]
		f.least = f.list[searchPartitions-1].lag
	}
}

func (f *furthest) searches() []*search {
	f.cut()
	out := make([]*search, len(f.list))
	for i, l := range f.list {
		out[i] = newSearch(l.topic, l.partition, l.wish)
	}
	return out
}

// vague reports whether an age is worth a search: not known, a mere lower
// limit, or with an error above 10 s and a tenth of itself.
func vague(a Age) bool { return compactAge(a).vague() }

func (r rowAge) vague() bool {
	switch r.method {
	case MethodExact:
		return false
	case MethodInterpolated:
		return float64(r.error) > max(10, r.seconds/10)
	}
	return true
}

// learn keeps what a search found: the target's own timestamp, or those of the
// nearest records before and after it.
func (t *tracker) learn(s *search) {
	h := t.topics[s.topic]
	if h == nil || int(s.partition) >= len(h.parts) {
		return
	}
	part := &h.parts[s.partition]
	if s.done && !s.failed && !s.skew {
		part.tried = s.target
	}
	switch {
	case s.skew:
		part.skewed()
		return
	case s.hi < 0 && s.newest > 0: // not found, but nothing is younger
		part.limit(s.target, s.newest*1e6)
		return
	case s.stage == askNewest || s.hi < 0:
		return
	}
	switch {
	case s.exact:
		part.pin(s.hi, s.hiRecord*1e6)
	case s.tied && h.whole:
		part.pin(s.target, s.loAt*1e6)
	}
	for _, a := range s.worthKeeping() {
		part.pin(a.offset, a.at)
	}
}

// ahead is how many records after the target are kept: a consumer that moves
// on lies between two of them by the next poll.
const ahead = 2

// worthKeeping are the records that a search has met: the target, or the
// nearest ones around it, and some that lie ahead.
func (s *search) worthKeeping() []anchor {
	slices.SortFunc(s.met, func(a, b anchor) int { return cmp.Compare(a.offset, b.offset) })
	met := slices.CompactFunc(s.met, func(a, b anchor) bool { return a.offset == b.offset })
	i := sort.Search(len(met), func(i int) bool { return met[i].offset >= s.target })
	return met[max(0, i-1):min(len(met), i+1+ahead)]
}
