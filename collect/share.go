package collect

import "time"

// Share groups (KIP-932) have no commits. Of each share partition the broker
// keeps a start offset, below which everything is done, and which records above
// it are done, too: accepted, rejected, or archived after too many deliveries.
// It tells the start offset and how many records are not done, the lag; records
// that a member holds and those it gave back count as such.
//
// Both numbers are of the group's last acknowledgement that was written: the
// start trails (a partition that is read to the end shows start 50, end 80, lag
// 0), and before the first acknowledgement there is neither. The end that the
// lag was counted to, E', lies between the log end of the poll before and the
// one that this poll reads afterwards, E.

// shareLag fills in the lag of row i of a share group, whose log is known from s
// to e and whose start offset is c. The broker does not look at the log start:
// of what it counts, no more is left than the log holds, and what retention took
// is at most what lies between the two starts. Where it counts nothing, all was
// done, and nothing is lost however far the start trails.
func (gt *GroupTopic) shareLag(r *lagged, i int, c, s, e int64) {
	reported := gt.Reported[i]
	r.lag, r.status = min(reported, max(0, e-s)), StatusOK
	if reported > 0 {
		r.lost = max(0, s-max(c, gt.floor(i)))
	}
	switch {
	case c > e:
		r.status, r.lag, r.lost, r.ahead = StatusAhead, 0, 0, c-e
	case r.lost > 0:
		r.status = StatusLost
	}
}

// shareStable is how many of a share row's lag records lie below the last stable
// offset. Which records are done is not told: a group that reads committed
// records only has done none beyond it, another one may have. So at least lag -
// (E - LSO) lie below and at most LSO - start; Unknown where the two differ.
func (gt *GroupTopic) shareStable(i, p int, lag, stable int64) int64 {
	least := max(0, lag-max(0, gt.Topic.LogEnd[p]-stable))
	most := min(lag, max(0, stable-gt.position(i, p)))
	if least != most {
		return Unknown
	}
	return most
}

// oldestUnread bounds the offset of the oldest record that row i has yet to
// read; last is Unknown where it may lie anywhere. For a commit both are the
// position.
//
// For a share partition it lies at the start offset (or the log start) or after.
// Of the lag's records all but those that retention took are still there, below
// E' and thus below E: the oldest of n records below E lies at E - n or before.
// Where that is the start offset, nothing above it is done and nothing came
// since, and the record is known.
func (gt *GroupTopic) oldestUnread(i, p int) (first, last int64) {
	first = gt.position(i, p)
	if gt.Reported == nil {
		return first, first
	}
	n := gt.Reported[i] - max(0, first-max(gt.Committed[i], gt.floor(i)))
	if n <= 0 {
		return first, Unknown
	}
	return first, max(first, gt.Topic.LogEnd[p]-n)
}

// searched is the record whose age a search is for: the latest that the oldest
// unread one can be, whose age is a lower limit.
func (gt *GroupTopic) searched(i, p int) int64 {
	first, last := gt.oldestUnread(i, p)
	return max(first, last)
}

// ageBetween is the age of a record of which only the range of offsets is known.
// The age of the last one is a lower limit, whatever the others' are. The age of
// the first one is an upper limit, and close enough to be called the age where
// the records between them were written within a second: as they are where only
// the log grew between two questions.
func (h *partitionTimes) ageBetween(first, last int64, now time.Time) Age {
	switch {
	case last == Unknown:
		return unknownAge(SecondsNotReported)
	case first == last:
		return h.age(first, now)
	}
	least := h.age(last, now)
	if !least.Known() {
		return least
	}
	limit := max(0, least.Seconds-least.Error)
	if most := h.age(first, now); most.Method == MethodExact || most.Method == MethodInterpolated {
		bound := max(most.Error, most.Seconds-limit)
		if bound <= most.Error+leastLimit {
			return Age{Seconds: most.Seconds, Error: bound, Method: MethodInterpolated}
		}
	}
	return Age{Seconds: limit, Method: MethodAtLeast}
}

// setShares takes over what a broker said of a group's share partitions. Those
// it leaves out are not initialised yet.
func (gt *GroupTopic) setShares(c *TopicCommits, was *GroupTopic) {
	for k, p := range c.Partitions {
		i := gt.RowOf(p)
		if i < 0 {
			continue
		}
		why := reasonAt(c.Reasons, k)
		if why == ReasonNone && c.Lags[k] < 0 {
			why = ReasonNotReported
		}
		gt.CommitReason[i] = why
		if c.Offsets[k] >= 0 && !why.Passing() {
			gt.Committed[i], gt.CommitEpoch[i] = c.Offsets[k], c.Epochs[k]
		}
		switch {
		case why == ReasonNone:
			gt.Reported[i] = c.Lags[k]
		case why.Passing():
			gt.keepCommit(i, was)
		}
	}
	if !someReason(gt.CommitReason) {
		gt.CommitReason = nil
	}
}

func someReason(rs []Reason) bool {
	for _, r := range rs {
		if r != ReasonNone {
			return true
		}
	}
	return false
}

// floor is the offset below which all is known to be done of row i.
func (gt *GroupTopic) floor(i int) int64 {
	if gt.floors == nil {
		return 0
	}
	return gt.floors[i]
}

// setFloors remembers what the start offsets, which trail, do not tell.
func (d *groupDraft) setFloors() {
	if d.Type != TypeShare {
		return
	}
	for _, gt := range d.Topics {
		var was *GroupTopic
		if d.continues() {
			if was, _ = d.prev.Topic(gt.Topic.Name); was != nil && was.Topic.ID != gt.Topic.ID {
				was = nil
			}
		}
		for i := range gt.Reported {
			if f := gt.floorAfter(was, i); f > 0 {
				if gt.floors == nil {
					gt.floors = make([]int64, gt.Rows())
				}
				gt.floors[i] = f
			}
		}
	}
}

// floorAfter is row i's floor, after the rows of the poll before; was may be nil.
//
// When the lag was 0 all was done below E', and so below the log end of the poll
// before, and below the log start. From there on what is unread is known where
// it is not from the start; and a group that had read all is not called
// overtaken when retention passes its start, not even where it had done so
// before the first look. A start offset that was set back ends that: it goes
// back, or the lag counts more than lies above.
func (gt *GroupTopic) floorAfter(was *GroupTopic, i int) int64 {
	p, j, f := int(gt.Partition(i)), -1, int64(0)
	if p >= gt.Topic.Partitions() {
		return 0
	}
	if was != nil && p < was.Topic.Partitions() {
		if j = was.RowOf(int32(p)); j >= 0 {
			f = was.floor(j)
		}
	}
	n, end := gt.Reported[i], gt.Topic.LogEnd[p]
	if n < 0 || end < 0 || !gt.freshAt(i, p) {
		return f
	}
	if n == 0 {
		f = max(f, gt.Topic.LogStart[p])
		if j >= 0 {
			f = max(f, min(end, was.Topic.LogEnd[p]))
		}
	}
	if n > end-f || j >= 0 && gt.Committed[i] < was.Committed[j] {
		return 0
	}
	return f
}

// freshAt reports whether row i's numbers are those of this poll.
func (gt *GroupTopic) freshAt(i, p int) bool {
	return !gt.apart && gt.commitReason(i) == ReasonNone && gt.Topic.endReason(p) == ReasonNone
}

// shares gives the rows the numbers that only share groups have, none of them
// told.
func (gt *GroupTopic) shares(why Reason) {
	n := gt.Rows()
	gt.Reported = make([]int64, n)
	for i := range n {
		gt.Committed[i], gt.Reported[i] = Unknown, Unknown
	}
	if why != ReasonNone {
		return
	}
	gt.CommitReason = make([]Reason, n)
	for i := range n {
		gt.CommitReason[i] = ReasonNotReported
	}
}

// continues reports whether what the group was before, numbers and all, is what
// it is now: a share group and another one of the same name have nothing in
// common.
func (d *groupDraft) continues() bool {
	return d.prev != nil && (d.prev.Type == TypeShare) == (d.Type == TypeShare)
}

// shareGaps says of a share group's offsets, which were read, what they do not
// tell. A topic that this principal may not describe makes the describe of the
// whole group fail and is left out of its offsets without a word. A group whose
// partitions are not initialised yet, a second after its first member came, has
// a lag that nobody knows, and not lag 0.
func (d *groupDraft) shareGaps() {
	switch {
	case d.Type != TypeShare || d.why != ReasonNone:
	case d.facts.Reason == ReasonDenied:
		d.CommitsReason = ReasonDenied
	case len(d.Topics) == 0 && len(d.commits) == 0 && len(d.Members) > 0:
		d.CommitsReason = ReasonNotReported
	}
}
