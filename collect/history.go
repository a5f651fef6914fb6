package collect

import (
	"math"
	"slices"
	"sort"
	"time"
)

// Bounds of what is remembered of one partition.
const (
	maxSeen    = 48 // distinct log ends
	maxAnchors = 32 // records whose timestamp a search found
	// leastLimit is the smallest lower limit that says something: after a first
	// look every record is at least as old as that look, some milliseconds.
	leastLimit = 1.0
	// skewPause keeps logs with timestamps in the future, which grow all the
	// time, from taking the others' place in the search.
	skewPause = time.Minute
)

// seen is one log end with when the first answer that named it came, and when
// the question for the last one was sent, in Unix nanoseconds. A record at an
// offset from one end up to the next was appended after the question for the
// one and before the answer with the other.
type seen struct {
	end         int64
	first, last int64
}

// anchor is a record whose own timestamp is known, in Unix nanoseconds.
type anchor struct {
	offset, at int64
}

// partitionTimes is when a partition's records were written, as far as it is
// known: from the log ends of earlier polls, free, and from searches.
type partitionTimes struct {
	room    room
	ends    []seen
	anchors []anchor // by offset
	// unsearchable says why a search for times was of no use at searchedAt,
	// and will be of none until the log has grown and skewPause passed.
	unsearchable SecondsReason
	searchedAt   int64
	// tried is the offset that was searched for last: what a search cannot
	// find it need not look for again. It is an offset no search is for at
	// first.
	tried int64
	// Records are stamped at most so many nanoseconds before or after they are
	// written, by what was seen of it, last at stampsAt; datedAt is the newest
	// snapshot in which somebody had a record of the log to read.
	behind, ahead     int64
	stampsAt, datedAt int64
	// No record below youngerEnd is younger than youngest, Unix nanoseconds;
	// both are 0 where that was not asked.
	youngerEnd, youngest int64
}

// limit records that no record that the log holds now, the one at an offset
// among them, is younger than at: what is left to say where all records have
// one timestamp, and the search for one of them leads nowhere.
func (h *partitionTimes) limit(offset, at int64) {
	h.youngerEnd, h.youngest = offset+1, at
	if n := len(h.ends); n > 0 {
		h.youngerEnd = max(h.youngerEnd, h.ends[n-1].end)
	}
}

// topicTimes is the history of one topic; a topic made anew starts anew.
type topicTimes struct {
	id      [16]byte
	parts   []partitionTimes
	starts  []int64             // the log starts at the poll before, by partition
	moves   map[int][]startMove // of log starts, by partition, the newest last
	trends  []startTrend        // by partition; what the moves say, nil until it is worked out
	readers []*GroupTopic       // only while rows are dated
	whole   bool                // the log is known not to be compacted: every offset is a record
}

// note records a log end that was asked for and told at two moments. A log that
// grew shorter was cut or made anew: what is remembered of the offsets beyond it
// is wrong.
func (h *partitionTimes) note(end, asked, at int64) {
	n := len(h.ends)
	switch {
	case n > 0 && end == h.ends[n-1].end:
		h.ends[n-1].last = max(h.ends[n-1].last, asked)
		return
	case n > 0 && end < h.ends[n-1].end:
		h.ends, h.anchors = nil, nil
		h.youngerEnd, h.youngest = 0, 0
	}
	most := h.room.seen()
	if len(h.ends) >= most {
		h.thin()
	}
	if len(h.ends) == cap(h.ends) { // to the bound and not, by doubling, beyond it
		h.ends = append(make([]seen, 0, min(most, max(4, 3*len(h.ends)))), h.ends...)
	}
	h.ends = append(h.ends, seen{end, at, asked})
	switch {
	case h.unsearchable == "":
	case n == 0: // searched before the first log end was noted
		h.searchedAt = at
	case at-h.searchedAt >= skewPause.Nanoseconds():
		h.unsearchable = ""
	}
}

// thin drops every other log end of the older half: the recent past stays fine
// and the distant past coarse. A dropped end only widens a bound.
func (h *partitionTimes) thin() {
	half := len(h.ends) / 2
	kept := h.ends[:0]
	for i, s := range h.ends {
		if i >= half || i%2 == 0 {
			kept = append(kept, s)
		}
	}
	h.ends = kept
}

// pin records the timestamp of a record. Of too many the one goes that leaves
// the smallest gap: a group far behind must not lose its only pin to the many
// of one that is near the end.
func (h *partitionTimes) pin(offset, at int64) {
	i := sort.Search(len(h.anchors), func(i int) bool { return h.anchors[i].offset >= offset })
	if i < len(h.anchors) && h.anchors[i].offset == offset {
		h.anchors[i].at = at
		return
	}
	if n := len(h.anchors); n == cap(h.anchors) { // likewise
		h.anchors = append(make([]anchor, 0, min(h.room.pins()+1, max(4, 2*n))), h.anchors...)
	}
	h.anchors = slices.Insert(h.anchors, i, anchor{offset, at})
	if len(h.anchors) > h.room.pins() {
		k := h.leastPin(i)
		h.anchors = slices.Delete(h.anchors, k, k+1)
	}
}

// around are the nearest pins before and after an offset; at is 0 where there
// is none.
func (h *partitionTimes) around(offset int64) (before, after anchor) {
	i := sort.Search(len(h.anchors), func(i int) bool { return h.anchors[i].offset >= offset })
	if i > 0 {
		before = h.anchors[i-1]
	}
	if i < len(h.anchors) {
		after = h.anchors[i]
	}
	return before, after
}

// leastPin is the index of the pin that is missed least, fresh and the two
// outermost aside.
func (h *partitionTimes) leastPin(fresh int) int {
	least, gap := 1, int64(math.MaxInt64)
	for k := 1; k < len(h.anchors)-1; k++ {
		if wide := h.anchors[k+1].at - h.anchors[k-1].at; k != fresh && wide < gap {
			least, gap = k, wide
		}
	}
	return least
}

// endAfter is the index of the first log end beyond an offset. Most groups are
// near the end, and found there by a step or two.
func (h *partitionTimes) endAfter(offset int64) int {
	i := len(h.ends)
	for steps := 0; i > 0 && h.ends[i-1].end > offset; steps++ {
		if steps == 8 {
			return sort.Search(i, func(i int) bool { return h.ends[i].end > offset })
		}
		i--
	}
	return i
}

// span is an interval of time that contains a record's timestamp.
type span struct {
	from, to int64 // Unix nanoseconds; from is 0 where there is no lower end
	exact    bool
	next     int // index of the first log end beyond the record
}

// when bounds the moment at which the record at an offset was written.
func (h *partitionTimes) when(offset, now int64) (span, bool) {
	s := span{to: now}
	for i := range h.anchors {
		a := h.anchors[i]
		switch {
		case a.offset == offset:
			return span{from: a.at, to: a.at, exact: true}, true
		case a.offset < offset:
			s.from = max(s.from, a.at)
		default:
			s.to = min(s.to, a.at)
		}
	}
	i := h.endAfter(offset)
	s.next = i
	if i > 0 {
		s.from = max(s.from, h.ends[i-1].last-h.behind)
	}
	if i < len(h.ends) {
		s.to = min(s.to, h.ends[i].first+h.ahead)
	}
	if offset < h.youngerEnd {
		s.to = min(s.to, h.youngest)
	} else if len(h.ends) == 0 && len(h.anchors) == 0 {
		return s, false
	}
	if s.from > s.to { // stamped out of order: it may lie anywhere between
		s.from, s.to = s.to, s.from
	}
	return s, true
}

// age is how long ago the record at an offset was written.
//
// Between two points in time the record is taken to lie where it lies between
// their offsets; the error is the distance to the farther one. Outside of what
// is known nothing is extrapolated: there is a lower limit, or nothing.
func (h *partitionTimes) age(offset int64, now time.Time) Age {
	at := now.UnixNano()
	s, ok := h.when(offset, at)
	switch {
	case !ok:
		return unknownAge(h.why())
	case s.exact:
		return Age{Seconds: seconds(at - s.from), Method: MethodExact}
	case s.from > 0:
		guess := h.between(offset, s)
		return Age{Seconds: seconds(at - guess), Error: seconds(max(guess-s.from, s.to-guess)), Method: MethodInterpolated}
	case at > s.to:
		if a := (Age{Seconds: seconds(at - s.to), Method: MethodAtLeast}); a.Seconds >= leastLimit {
			return a
		}
	}
	return unknownAge(h.why())
}

// earliest is the least timestamp that the record at an offset can carry, Unix
// nanoseconds; 0 where that is not known. Where it is not the record's own, it
// was told by another clock, ours or another producer's.
func (h *partitionTimes) earliest(offset int64, now time.Time) int64 {
	s, _ := h.when(offset, now.UnixNano())
	if s.exact {
		return s.from
	}
	return max(0, s.from-futureAllowance.Nanoseconds())
}

func (h *partitionTimes) why() SecondsReason {
	if h.unsearchable != "" {
		return h.unsearchable
	}
	return SecondsBudget
}

// between places an offset within a span by the log ends at both sides.
func (h *partitionTimes) between(offset int64, s span) int64 {
	lo, hi := int64(-1), int64(-1)
	i := s.next
	if i > 0 && h.ends[i-1].last-h.behind == s.from {
		lo = h.ends[i-1].end
	}
	if i < len(h.ends) && h.ends[i].first+h.ahead == s.to {
		hi = h.ends[i].end
	}
	for _, a := range h.anchors {
		if a.offset <= offset && a.at == s.from {
			lo = max(lo, a.offset)
		}
		if a.offset > offset && a.at == s.to && (hi < 0 || a.offset < hi) {
			hi = a.offset
		}
	}
	if lo < 0 || hi <= lo || s.to <= s.from {
		return s.from + (s.to-s.from)/2
	}
	share := float64(offset-lo) / float64(hi-lo)
	return s.from + int64(share*float64(s.to-s.from))
}

// seconds turns nanoseconds into seconds, never below 0: a record stamped a
// little ahead of our clock is new, not negative.
func seconds(ns int64) float64 { return max(0, float64(ns)/1e9) }
