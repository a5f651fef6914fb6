package collect

import "slices"

// historyBudget is what the history of log ends may take, in bytes, whatever the
// size of the cluster. A large one remembers less of each partition, which widens
// the bounds of ages.
const historyBudget = 96 << 20

// What a partition takes in bytes: itself, a log end, a searched record.
const (
	partitionBytes = 144
	seenBytes      = 24
	anchorBytes    = 16
)

// Least that is remembered of a partition, though it be beyond the budget.
const (
	leastSeen    = 6
	leastAnchors = 4
)

// room is how much is remembered of one partition; the zero value is the most.
type room struct{ ends, anchors uint8 }

func (r room) seen() int {
	if r.ends == 0 {
		return maxSeen
	}
	return int(r.ends)
}

func (r room) pins() int {
	if r.anchors == 0 {
		return maxAnchors
	}
	return int(r.anchors)
}

// roomFor shares the budget out among so many partitions: two thirds of it for
// log ends, a third for searched records.
func roomFor(budget, partitions int) room {
	each := budget/max(1, partitions) - partitionBytes
	ends, pins := each*2/3/seenBytes, each/3/anchorBytes-1 // one more while it is put in
	if ends >= maxSeen && pins >= maxAnchors {
		return room{}
	}
	return room{uint8(min(max(ends, leastSeen), maxSeen)), uint8(min(max(pins, leastAnchors), maxAnchors))}
}

// fit makes what is remembered fit into a room, and gives back what it took
// beyond.
func (h *partitionTimes) fit(r room) {
	if h.room == r {
		return
	}
	h.room = r
	for len(h.ends) > r.seen() {
		h.thin()
	}
	for len(h.anchors) > r.pins() {
		k := h.leastPin(-1)
		h.anchors = slices.Delete(h.anchors, k, k+1)
	}
	if cap(h.ends) > r.seen() {
		h.ends = slices.Clip(slices.Clone(h.ends))
	}
	if cap(h.anchors) > r.pins()+1 {
		h.anchors = slices.Clip(slices.Clone(h.anchors))
	}
}

// makeRoom shares the history's budget out among the topics of a snapshot. Small
// changes in their number are let be.
func (t *tracker) makeRoom(s *Snapshot) {
	n := 0
	for _, topic := range s.Topics {
		n += topic.Partitions()
	}
	if n <= t.sharers && n >= t.sharers*3/4 {
		return
	}
	t.sharers = n + n/16
	t.room = roomFor(t.budget, t.sharers)
}
