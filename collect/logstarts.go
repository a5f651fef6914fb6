package collect

import (
	"context"
	"math"
	"slices"
	"time"
)

// maxMoves is how many moves of a log start are remembered.
const maxMoves = 6

// startMove is one move of a log start: everything before offset was deleted.
type startMove struct {
	offset, at int64 // at in Unix nanoseconds
	// age of the oldest record left, in nanoseconds; 0 while it is not known.
	age   int64
	asked bool // the leader was asked for its timestamp
}

// startTrend is what the moves of a log start say of the moves to come.
type startTrend struct {
	offset, at int64   // the newest move
	age        float64 // seconds: a record was at least so old when it became the oldest
	pace       float64 // records deleted per second
	jump       float64 // the longest move: a segment, or more
	rest       float64 // seconds: the longest time between two moves
}

// headroom is how many seconds a record has by the log start's own movement,
// the smaller one of what its age and its place say; one segment is the margin.
// A log start that has stood for too long moves by other rules than before.
func (t startTrend) headroom(position int64, age float64, now int64) float64 {
	since := float64(now-t.at) / 1e9
	if t.pace <= 0 || since > 2*t.rest+untold.Seconds() {
		return math.NaN()
	}
	byPlace := (float64(position-t.offset)-t.jump)/t.pace - since
	return min(t.age-age, byPlace)
}

// noteStart remembers where the log of a partition begins, and gives the move
// since the poll before; false without one.
func (h *topicTimes) noteStart(topic *Topic, p int) bool {
	start := topic.LogStart[p]
	if start < 0 || topic.startReason(p) != ReasonNone || topic.endReason(p) != ReasonNone {
		return false
	}
	for len(h.starts) <= p {
		h.starts = append(h.starts, Unknown)
	}
	before := h.starts[p]
	h.starts[p] = start
	switch {
	case start < before: // cut, or made anew
		if h.moves[p] != nil {
			delete(h.moves, p)
			h.trends = nil
		}
		return false
	case before < 0, start == before, start == topic.LogEnd[p]:
		return false
	}
	// What consumers have just committed is deleted behind them on purpose, by
	// Kafka Streams for one: no retention does that.
	for _, gt := range h.readers {
		if i := gt.RowOf(int32(p)); i >= 0 && gt.Committed[i] == start {
			return false
		}
	}
	m := startMove{offset: start, at: topic.StartAt[p]}
	if s, ok := h.parts[p].when(start, m.at); ok && s.exact {
		m.age = max(1, m.at-s.from)
	}
	if h.moves == nil {
		h.moves = map[int][]startMove{}
	}
	moves := append(h.moves[p], m)
	if len(moves) > maxMoves {
		moves = slices.Delete(moves, 0, 1)
	}
	h.moves[p] = moves
	return true
}

// trend is what a partition's moves say; its pace is 0 where they say nothing.
func trend(moves []startMove) startTrend {
	n := len(moves)
	if n < 2 {
		return startTrend{}
	}
	first, last := moves[0], moves[n-1]
	t := startTrend{offset: last.offset, at: last.at, age: math.Inf(1)}
	for i, m := range moves {
		if m.age > 0 {
			t.age = min(t.age, float64(m.age)/1e9)
		}
		if i > 0 {
			t.jump = max(t.jump, float64(m.offset-moves[i-1].offset))
			t.rest = max(t.rest, float64(m.at-moves[i-1].at)/1e9)
		}
	}
	if lasted := float64(last.at-first.at) / 1e9; lasted > 0 && !math.IsInf(t.age, 1) {
		t.pace = float64(last.offset-first.offset) / lasted
	}
	return t
}

// noteStarts follows the log starts of a topic whose readers are known.
func (h *topicTimes) noteStarts(topic *Topic) {
	if topic.Reason != ReasonNone {
		return
	}
	for p := range topic.LogStart {
		if h.noteStart(topic, p) {
			h.trends = nil
		}
	}
	if h.trends == nil && len(h.moves) > 0 {
		h.trends = make([]startTrend, topic.Partitions())
		for p, moves := range h.moves {
			if p < len(h.trends) {
				h.trends[p] = trend(moves)
			}
		}
	}
	topic.trends = h.trends
}

// dateStarts asks how old the oldest records are that the newest moves of log
// starts have left, searchPartitions of them at most, each once.
func (c *Collector) dateStarts(ctx context.Context, s *Snapshot) {
	var queries []TimeQuery
	for _, topic := range s.Topics {
		h := c.tracker.topics[topic.Name]
		if h == nil || h.id != topic.ID {
			continue
		}
		for p, moves := range h.moves {
			m := &moves[len(moves)-1]
			if m.age == 0 && !m.asked && len(queries) < searchPartitions {
				m.asked = true
				queries = append(queries, TimeQuery{topic.Name, int32(p), 0})
			}
		}
	}
	if len(queries) == 0 || ctx.Err() != nil {
		return
	}
	now := c.opts.Now().Add(futureAllowance)
	for i, a := range c.source.OffsetsAt(ctx, queries) {
		h, p := c.tracker.topics[queries[i].Topic], int(queries[i].Partition)
		moves := h.moves[p]
		m := &moves[len(moves)-1]
		stamp := a.Timestamp * int64(time.Millisecond)
		if a.Reason == ReasonNone && a.Offset >= m.offset && stamp > 0 && stamp <= now.UnixNano() {
			m.age = max(1, m.at-stamp)
			h.parts[p].pin(a.Offset, stamp)
			h.trends = nil
		}
	}
}
