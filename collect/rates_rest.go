package collect

import "slices"

// Of most clusters most partitions stand still between two polls: nothing was
// appended, and nobody committed. What their rows add to a group is what they
// added a poll ago, their age aside.

// rest is what a group's rows on a topic come to while all of them stand still:
// each with a commit, freshly read, at 0 records a second produced and consumed.
type rest struct {
	consumed []float32 // GroupTopic.Consumed, all 0
	progress []int64   // GroupTopic.ProgressAt
	newest   int64     // of these
	owner    []int32   // GroupTopic.Owner
	owners   []int32   // of any row, each once
	backlog  int64

	// What rater.topic took a commit for still by: with no less of a watch and
	// no more patience, one that stands on is still.
	settled  bool
	patience int64

	// notedAt is the newest poll at which rows without lag were seen so and it
	// was not written to their memory; 0 if it was.
	notedAt int64
}

// stand counts the polls for which the rows have had the same commits in the
// same logs, without a poll left out.
func (past *rowMemory) stand(gt *GroupTopic, polls int) {
	last := &past.recent[0]
	if past.polls == 0 || past.seen != polls-1 || past.apart || gt.apart || !gt.Topic.rests || gt.Reported != nil ||
		gt.stale != ReasonNone || gt.CommitReason != nil || last.unread != nil || gt.commitsAt <= last.at ||
		!alike(gt.Committed, last.committed) || !alike(gt.Parts, last.parts) {
		past.stood = 0
		return
	}
	past.stood++
}

// alike reports whether two slices have the same elements; nearly always they
// are the same slice.
func alike[T comparable](a, b []T) bool {
	return (a == nil) == (b == nil) && (shared(a, b) || slices.Equal(a, b))
}

// rests adds rows that stand still to the pass over a group's rows as they were
// added before. It reports whether these are such rows.
func (r *rater) rests(gt *GroupTopic, past *rowMemory, settled bool) bool {
	x := past.rest
	if x == nil || past.stood <= ShortWindow || x.settled && !settled || r.still > x.patience || gt.MoreOwners != nil || !alike(gt.Owner, x.owner) || !gt.dated {
		return false
	}
	gt.Consumed, gt.ProgressAt = x.consumed, x.progress
	x.notedAt = gt.commitsAt
	r.progress = max(r.progress, x.newest)
	for _, o := range x.owners {
		r.rates[o].add(rowRates{})
	}
	if !gt.Orphaned && gt.Rows() > 0 { // judged, each of them: they have commits
		r.oldest.merge(&gt.oldest)
		r.backlog += x.backlog
		r.sum.add(rowRates{})
	}
	return true
}

// restOf is what rows came to in the pass that has just been over them; nil
// where some row does not stand still, or has not for the short window.
func (r *rater) restOf(gt *GroupTopic, past *rowMemory, settled bool) *rest {
	if past.stood < ShortWindow || gt.MoreOwners != nil {
		return nil
	}
	x := &rest{consumed: gt.Consumed, progress: gt.ProgressAt, owner: gt.Owner, settled: settled, patience: r.still}
	owns := make([]bool, len(r.group.Members))
	for i, c := range gt.Committed {
		l := gt.lagAt(i)
		p := int(gt.Partition(i))
		if c < 0 || l.stale || l.lag < 0 || l.ahead > 0 || gt.Consumed[i] != 0 || gt.produced(p) != 0 {
			return nil
		}
		if past.rows[p].at > gt.commitsAt { // the clock was set back: once it has passed that, rates are others
			return nil
		}
		x.backlog += l.lag
		x.newest = max(x.newest, gt.ProgressAt[i])
		if o := gt.Owner[i]; o >= 0 && !owns[o] {
			owns[o] = true
			x.owners = append(x.owners, o)
		}
	}
	return x
}

// wake ends a rest: what it left out is written to the memory of the rows.
func (past *rowMemory) wake() {
	x := past.rest
	past.rest = nil
	if x == nil || x.notedAt == 0 {
		return
	}
	last := &past.recent[0]
	for i, c := range last.committed {
		p := i
		if last.parts != nil {
			p = int(last.parts[i])
		}
		if max(c, last.topic.LogStart[p]) == last.topic.LogEnd[p] {
			past.rows[p].idle = x.notedAt
		}
	}
}
