package collect

import (
	"slices"
	"sort"
)

// layoutGroup gives a group its rows: assigned and committed partitions, and
// for a group of the consumer protocol all partitions of the topics it
// subscribes to or has commits on. A standalone committer owns nothing but
// what it committed.
func (b *Builder) layoutGroup(d *groupDraft) {
	if !d.asked {
		d.why = ReasonTimeout
	}
	keptAt, kept := d.at, false
	if d.why.Passing() && d.continues() && !d.prev.CommitsAt.IsZero() && b.now.Sub(d.prev.CommitsAt) <= b.opts.StaleAfter {
		keptAt, kept = d.prev.CommitsAt, true
	}
	if d.undue {
		keptAt, kept = d.prev.CommitsAt, true
	}
	d.CommitsReason, d.CommitsAt = d.why, keptAt
	uses := d.uses()
	b.addAssigned(d, uses)
	subscribes, known := d.subscription()
	slab := make([]GroupTopic, len(uses.list)) // one allocation for all
	d.Topics, d.laid = make([]*GroupTopic, 0, len(uses.list)), true
	for k := range uses.list {
		use := &uses.list[k]
		if !b.opts.Filter.Topic(use.name) {
			continue
		}
		if d.why != ReasonNone {
			use.commits = nil
		}
		gt := &slab[k]
		if !b.rows(gt, d, use, kept) {
			continue
		}
		gt.Subscribed = use.subscribed || !known || subscribes(use.name)
		use.rows = gt
		d.Topics = append(d.Topics, gt)
	}
	sort.Slice(d.Topics, func(i, j int) bool { return d.Topics[i].Topic.Name < d.Topics[j].Topic.Name })
	d.setOwners(uses)
	for _, gt := range d.Topics {
		gt.Orphaned = d.MembersKnown && len(d.Members) > 0 && known && !gt.Subscribed && !gt.owned()
		b.need(gt)
	}
	d.shareGaps()
	d.hidden = len(d.Topics) == 0 && b.opts.Filter.FiltersTopics()
	b.remember(d, uses)
}

// topic finds a topic's draft. One that nothing was said of is missing.
func (b *Builder) topic(name string) *topicDraft {
	d := b.topics[name]
	if d == nil {
		d = &topicDraft{Topic: &Topic{Name: name, Reason: ReasonTopicMissing}}
		b.topics[name] = d
	}
	if d.exists && d.LogEnd == nil {
		d.allocate(len(d.Leader))
	}
	return d
}

func (d *topicDraft) allocate(n int) {
	flat := make([]int64, 5*n)
	d.LogStart, d.LogEnd, d.LastStable, d.StartAt, d.EndAt = flat[:n:n], flat[n:2*n:2*n], flat[2*n:3*n:3*n], flat[3*n:4*n:4*n], flat[4*n:]
	d.Epoch = make([]int32, n)
	for p := range n {
		d.LogStart[p], d.LogEnd[p], d.LastStable[p], d.Epoch[p] = Unknown, Unknown, Unknown, -1
	}
	marks := make([]bool, 3*n)
	d.needed, d.read, d.kept = marks[:n:n], marks[n:2*n:2*n], marks[2*n:]
}

// rows lays a group's rows on one topic out; false without any.
func (b *Builder) rows(gt *GroupTopic, d *groupDraft, use *topicUse, kept bool) bool {
	t := b.topic(use.name)
	gt.Topic = t.Topic
	var was, old *GroupTopic // the rows before, and those whose numbers stand
	if d.undue || d.why != ReasonNone && !d.why.Answers() && d.continues() {
		was, _ = d.prev.Topic(use.name)
	}
	if kept {
		gt.stale = d.why
		if was != nil && (t.Reason == ReasonNone || t.Reason.Passing()) && was.Topic.ID == t.ID {
			old = was
			// its log end must be as old as its commits, or a consumer
			// that goes on unseen would seem to fall behind
			gt.Topic, gt.apart = old.Topic, true
		}
	}
	parts, n := d.rowParts(t, use, was)
	if n == 0 {
		return false
	}
	gt.Parts, gt.commitsAt = parts, d.CommitsAt.UnixNano()
	if d.CommitsAt.IsZero() {
		gt.commitsAt = 0
	}
	if old == nil && use.commits != nil && gt.takeCommits(use.commits, n) {
		gt.Owner = unowned(n)
		return true
	}
	both := make([]int32, 2*n)
	gt.Committed, gt.CommitEpoch, gt.Owner = make([]int64, n), both[:n:n], both[n:]
	absent := NoCommit
	switch {
	case d.why != ReasonNone:
		absent, gt.stale = Unknown, d.why
	case d.undue && old == nil: // what it has here was not read yet
		absent, gt.stale = Unknown, ReasonTimeout
	case d.undue:
		absent = Unknown
	}
	for i := range n {
		gt.Committed[i], gt.CommitEpoch[i], gt.Owner[i] = absent, -1, -1
	}
	if d.Type == TypeShare {
		gt.shares(d.why)
	}
	switch {
	case old != nil:
		for i := range n {
			if j := old.RowOf(gt.Partition(i)); j >= 0 {
				gt.copyCommit(i, old, j)
			}
		}
	case use.commits != nil:
		if use.commits.Reasons != nil && d.continues() {
			was, _ = d.prev.Topic(use.name)
		}
		if d.Type == TypeShare {
			gt.setShares(use.commits, was)
			break
		}
		gt.setCommits(use.commits, was)
	}
	return true
}

func (gt *GroupTopic) setCommits(c *TopicCommits, was *GroupTopic) {
	for k, p := range c.Partitions {
		i := gt.RowOf(p)
		if i < 0 {
			continue
		}
		if why := reasonAt(c.Reasons, k); why != ReasonNone {
			gt.CommitReason = setReason(gt.CommitReason, gt.Rows(), int32(i), why)
			gt.Committed[i] = Unknown
			if why.Passing() {
				gt.keepCommit(i, was)
			}
			continue
		}
		if c.Offsets[k] >= 0 {
			gt.Committed[i], gt.CommitEpoch[i] = c.Offsets[k], c.Epochs[k]
			gt.setCommittedAt(i, c.Times, k)
			if c.Clues != nil {
				gt.setClue(i, c.Clues[k])
			}
		}
	}
}

// setCommittedAt gives row i the kth of these times, if there are any.
func (gt *GroupTopic) setCommittedAt(i int, times []int64, k int) {
	if times == nil || times[k] == 0 {
		return
	}
	if gt.CommittedAt == nil {
		gt.CommittedAt = make([]int64, gt.Rows())
	}
	gt.CommittedAt[i] = times[k]
}

// keepCommit gives row i the commit it had before, or none; was may be nil.
func (gt *GroupTopic) keepCommit(i int, was *GroupTopic) {
	gt.Committed[i] = Unknown
	if was == nil {
		return
	}
	if j := was.RowOf(gt.Partition(i)); j >= 0 {
		gt.copyCommit(i, was, j)
	}
}

// copyCommit gives row i the commit of another snapshot's row j.
func (gt *GroupTopic) copyCommit(i int, was *GroupTopic, j int) {
	if (gt.Reported == nil) != (was.Reported == nil) { // it was another kind of group
		return
	}
	gt.Committed[i], gt.CommitEpoch[i] = was.Committed[j], was.CommitEpoch[j]
	gt.setCommittedAt(i, was.CommittedAt, j)
	if gt.Reported != nil {
		gt.Reported[i] = was.Reported[j]
	}
}

// addAssigned tells which partitions members own, as far as that makes rows: a
// consumer group has those within the topic's count anyway.
func (b *Builder) addAssigned(d *groupDraft, uses *topicUses) {
	for i := range d.Members {
		for _, tp := range d.Members[i].Assigned {
			use, least := uses.of(tp.Topic), int32(0)
			if use.topic == nil {
				use.topic = b.topics[tp.Topic]
			}
			if t := use.topic; t != nil && d.whole(t) {
				least = int32(len(t.Leader))
			}
			for _, p := range tp.Partitions {
				if p >= least {
					use.assigned = append(use.assigned, p)
				}
			}
		}
	}
}

// whole reports whether all partitions of a topic are the group's.
func (d *groupDraft) whole(t *topicDraft) bool {
	return t.exists && (d.consumes() || d.Topology.has(t.Name))
}

// rowParts lists the partitions of a group's rows in order and counts them; nil
// stands for all partitions of the topic. Rows that the group had, was, it has
// while nobody tells what it committed.
func (d *groupDraft) rowParts(t *topicDraft, use *topicUse, was *GroupTopic) (parts []int32, rows int) {
	whole, n := d.whole(t), int32(t.Partitions())
	list := use.assigned
	add := func(p int32) {
		if p >= 0 && (!whole || p >= n) {
			list = append(list, p)
		}
	}
	if c := use.commits; c != nil {
		for k, p := range c.Partitions {
			if c.Offsets[k] >= 0 || reasonAt(c.Reasons, k) != ReasonNone {
				add(p)
			}
		}
	}
	if was != nil {
		for i := range was.Committed {
			add(was.Partition(i))
		}
	}
	if whole && len(list) == 0 {
		return nil, int(n)
	}
	if whole {
		for p := range n {
			list = append(list, p)
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return list, len(list)
}

// setOwners writes the members' assignments into the rows.
func (d *groupDraft) setOwners(uses *topicUses) {
	for m := range d.Members {
		for _, tp := range d.Members[m].Assigned {
			gt := uses.of(tp.Topic).rows
			if gt == nil {
				continue
			}
			for _, p := range tp.Partitions {
				i := gt.RowOf(p)
				if i < 0 {
					continue
				}
				if gt.Owner[i] < 0 {
					gt.Owner[i] = int32(m)
					continue
				}
				if gt.Owner[i] == int32(m) { // named twice, owned once
					continue
				}
				if gt.MoreOwners == nil {
					gt.MoreOwners = map[int][]int32{}
				}
				if gt.MoreOwners[i] == nil {
					gt.MoreOwners[i] = []int32{gt.Owner[i]}
				}
				gt.MoreOwners[i] = append(gt.MoreOwners[i], int32(m))
			}
		}
	}
}

func (gt *GroupTopic) owned() bool {
	for _, o := range gt.Owner {
		if o >= 0 {
			return true
		}
	}
	return false
}

// need marks a group-topic's partitions as wanted.
func (b *Builder) need(gt *GroupTopic) {
	d := b.topics[gt.Topic.Name]
	d.any = true
	if d.whole {
		return
	}
	if gt.Parts == nil {
		for p := range d.needed {
			d.needed[p] = true
		}
		d.whole = len(d.needed) > 0
		return
	}
	for _, p := range gt.Parts {
		if int(p) < len(d.needed) {
			d.needed[p] = true
		}
	}
}
