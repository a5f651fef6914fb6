package collect

import "slices"

// Nearly always a group's rows are those it had a poll ago: the same members own
// the same partitions, and commits lie on the same topics. Laying a million of
// them out anew would be most of what a poll costs.

// rowSource is what a group's rows were laid out from.
type rowSource struct {
	commits []TopicCommits
	of      []int32 // by Group.Topics: the index of the commits, -1 without any
}

// answered is yes, no, or not looked at yet.
type answered uint8

const (
	notLooked answered = iota
	isSo
	isNotSo
)

// repeats reports whether a group's rows follow from the same members and commits
// on the same partitions as those of the snapshot before.
func (d *groupDraft) repeats() bool {
	if d.repeat == notLooked {
		d.repeat = isNotSo
		if d.sameSource() {
			d.repeat = isSo
		}
	}
	return d.repeat == isSo
}

func (d *groupDraft) sameSource() bool {
	p := d.prev
	if p == nil || p.source == nil || !d.asked || d.undue || d.why != ReasonNone {
		return false
	}
	if d.Type != p.Type || d.State != p.State || d.Reason != p.Reason || d.ProtocolType != p.ProtocolType || d.MembersKnown != p.MembersKnown || d.AssignmentStale != p.AssignmentStale {
		return false
	}
	return sameCommitted(d.commits, p.source.commits) && sameWork(d.Members, p.Members)
}

// sameCommitted reports whether commits lie on the same partitions. Those that
// are none, negative ones, make no rows.
func sameCommitted(a, b []TopicCommits) bool {
	return slices.EqualFunc(a, b, func(a, b TopicCommits) bool {
		if a.Topic != b.Topic || a.Reasons != nil || !shared(a.Partitions, b.Partitions) && !slices.Equal(a.Partitions, b.Partitions) {
			return false
		}
		if shared(a.Offsets, b.Offsets) {
			return true
		}
		for i, o := range a.Offsets {
			if (o < 0) != (b.Offsets[i] < 0) {
				return false
			}
		}
		return true
	})
}

// sameWork reports whether members subscribe to the same, and own and are given
// the same.
func sameWork(a, b []Member) bool {
	if shared(a, b) {
		return true
	}
	parts := func(a, b TopicPartitions) bool {
		return a.Topic == b.Topic && slices.Equal(a.Partitions, b.Partitions)
	}
	return slices.EqualFunc(a, b, func(a, b Member) bool {
		return a.ID == b.ID && a.Regex == b.Regex && a.Decode == b.Decode && a.HasTarget == b.HasTarget &&
			(a.Subscribed == nil) == (b.Subscribed == nil) && slices.Equal(a.Subscribed, b.Subscribed) &&
			slices.EqualFunc(a.Assigned, b.Assigned, parts) && slices.EqualFunc(a.Target, b.Target, parts)
	})
}

// shared reports whether two slices are one.
func shared[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// repeat gives a group that repeats itself the rows it had, with the commits of
// this poll; false where one of its topics is not what it was.
func (b *Builder) repeat(d *groupDraft) bool {
	if !d.repeats() {
		return false
	}
	topics := make([]*topicDraft, len(d.prev.Topics))
	for k, was := range d.prev.Topics {
		t := b.topics[was.Topic.Name]
		if t == nil || !t.exists || t.Reason != ReasonNone || was.Topic.Reason != ReasonNone || t.ID != was.Topic.ID || len(t.Leader) != was.Topic.Partitions() {
			d.repeat = isNotSo
			return false
		}
		if t.LogEnd == nil {
			t.allocate(len(t.Leader))
		}
		topics[k] = t
	}
	d.CommitsReason, d.CommitsAt, d.laid = ReasonNone, d.at, true
	slab := make([]GroupTopic, len(topics)) // one allocation for all
	d.Topics = make([]*GroupTopic, len(topics))
	for k, was := range d.prev.Topics {
		gt := &slab[k]
		gt.Topic, gt.Parts, gt.Owner, gt.MoreOwners = topics[k].Topic, was.Parts, was.Owner, was.MoreOwners
		gt.Subscribed, gt.Orphaned, gt.commitsAt = was.Subscribed, was.Orphaned, d.at.UnixNano()
		d.repeatCommits(gt, was, d.prev.source.of[k])
		d.Topics[k] = gt
		b.need(gt)
	}
	d.source = &rowSource{d.commits, d.prev.source.of}
	return true
}

// repeatCommits gives rows their commits, the i-th of the group's.
func (d *groupDraft) repeatCommits(gt, was *GroupTopic, i int32) {
	if i < 0 {
		gt.Committed, gt.CommitEpoch = was.Committed, was.CommitEpoch
		return
	}
	c, before := &d.commits[i], &d.prev.source.commits[i]
	if c.plain() && before.plain() && shared(c.Offsets, before.Offsets) && shared(c.Epochs, before.Epochs) {
		gt.Committed, gt.CommitEpoch = was.Committed, was.CommitEpoch
		return
	}
	n := was.Rows()
	if gt.takeCommits(c, n) {
		return
	}
	gt.Committed, gt.CommitEpoch = make([]int64, n), make([]int32, n)
	for i := range n {
		gt.Committed[i], gt.CommitEpoch[i] = NoCommit, -1
	}
	gt.setCommits(c, nil)
}

// takeCommits lets commits that are one a row, in order, be the rows' own
// without copying them. It reports whether they are.
func (gt *GroupTopic) takeCommits(c *TopicCommits, rows int) bool {
	if len(c.Partitions) != rows || !c.plain() {
		return false
	}
	for i, p := range c.Partitions {
		if c.Offsets[i] < 0 || gt.Parts == nil && p != int32(i) || gt.Parts != nil && gt.Parts[i] != p {
			return false
		}
	}
	gt.Committed, gt.CommitEpoch = c.Offsets, c.Epochs // plain commits are no more than these
	return true
}

// plain reports whether commits are offsets and epochs, and nothing that a row
// would have to be given besides.
func (c *TopicCommits) plain() bool {
	return c.Reasons == nil && c.Lags == nil && c.Times == nil && c.Clues == nil
}

// own gives rows arrays of commits that nobody shares.
func (gt *GroupTopic) own() {
	gt.Committed, gt.CommitEpoch = slices.Clone(gt.Committed), slices.Clone(gt.CommitEpoch)
}

// remember keeps what a group's rows were laid out from, where the next snapshot
// may repeat them: nothing was kept from before, or left out.
func (b *Builder) remember(d *groupDraft, uses *topicUses) {
	if d.undue || d.why != ReasonNone || d.Type != TypeClassic && d.Type != TypeConsumer || b.opts.Filter.FiltersTopics() || len(d.Topics) != len(uses.list) {
		return
	}
	index := make(map[string]int32, len(d.commits))
	for i := range d.commits {
		index[d.commits[i].Topic] = int32(i)
	}
	if len(index) != len(d.commits) {
		return
	}
	s := &rowSource{d.commits, make([]int32, len(d.Topics))}
	for k, gt := range d.Topics {
		i, ok := index[gt.Topic.Name]
		if !ok {
			i = -1
		}
		if s.of[k] = i; gt.CommitReason != nil || gt.apart || gt.Topic.Reason != ReasonNone {
			return
		}
	}
	d.source = s
}

// settled is the part of a group's numbers that follows from its rows alone,
// without the memory that the tracker adds.
type settled struct {
	lag        Totals
	assignment Assignment
}

// sumAgain takes over what the group's rows added up to a poll ago, if all that
// goes into it is the same. Otherwise it adds them up.
func (b *Builder) sumAgain(d *groupDraft) {
	if b.stands(d) {
		d.settled = d.prev.settled
		d.Lag, d.Assignment = d.settled.lag, d.settled.assignment
		return
	}
	d.sum()
	d.settled = settled{d.Lag, d.Assignment}
}

// stands reports whether no row of a group has another number than a poll ago.
func (b *Builder) stands(d *groupDraft) bool {
	if d.source == nil || d.prev == nil || d.prev.source == nil || d.repeat != isSo {
		return false
	}
	for k, gt := range d.Topics {
		was := d.prev.Topics[k]
		if !shared(gt.Committed, was.Committed) || !shared(gt.Owner, was.Owner) || !b.topics[gt.Topic.Name].stands {
			return false
		}
	}
	return true
}

// compare notes whether a topic has the numbers that it had a poll ago, all of
// them read.
func (d *topicDraft) compare() {
	p := d.prev
	d.stands = p != nil && d.Reason == ReasonNone && p.Reason == ReasonNone && !d.keeps &&
		d.EndReason == nil && p.EndReason == nil && d.StartReason == nil && p.StartReason == nil &&
		slices.Equal(d.LogEnd, p.LogEnd) && slices.Equal(d.LogStart, p.LogStart) && slices.Equal(d.LastStable, p.LastStable)
	d.rests = d.stands
}
