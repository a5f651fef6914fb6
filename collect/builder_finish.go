package collect

import (
	"math"
	"sort"
	"sync/atomic"
	"time"
)

// CommitsToReread names groups with a commit below a log start that was read
// after it: the log may have been purged behind a commit that followed ours.
// Their commits are to be read once more before that is called a loss.
func (b *Builder) CommitsToReread() []string {
	var out []string
	for _, d := range b.order {
		if d.why == ReasonNone && !d.undue && d.Type != TypeShare && d.belowLaterStart() { // a share group's start trails anyway
			out = append(out, d.Name)
		}
	}
	return out
}

func (d *groupDraft) belowLaterStart() bool {
	at := d.at.UnixNano()
	for _, gt := range d.Topics {
		for i, c := range gt.Committed {
			p := int(gt.Partition(i))
			if c >= 0 && p < len(gt.Topic.LogStart) && c < gt.Topic.LogStart[p] && gt.Topic.StartAt[p] >= at {
				return true
			}
		}
	}
	return false
}

// StartsToReread lists partitions whose log start lies beyond their log end,
// and those whose start is needed and not known although their end is: the
// topic was made anew, or its log cut.
func (b *Builder) StartsToReread() []Need {
	var out []Need
	for _, d := range b.topics {
		if !d.any || !d.exists {
			continue
		}
		n := Need{Topic: d.Topic}
		for p := range d.LogEnd {
			if !d.read[p] || !d.needed[p] {
				continue
			}
			if s := d.start(p); s > d.LogEnd[p] || s < 0 && d.startReason(p) == ReasonNone {
				n.Partitions = append(n.Partitions, int32(p))
			}
		}
		if n.Partitions != nil {
			out = append(out, n)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Topic.Name < out[j].Topic.Name })
	return out
}

// start is a partition's log start, read or kept.
func (d *topicDraft) start(p int) int64 {
	if d.LogStart[p] < 0 && d.prev != nil && p < len(d.prev.LogStart) {
		return d.prev.LogStart[p]
	}
	return d.LogStart[p]
}

// epochSeen is the highest leader epoch that is known of a partition, -1
// without one.
func (d *topicDraft) epochSeen(p int) int32 {
	if d.Epoch[p] < 0 && d.prev != nil && p < len(d.prev.Epoch) {
		return d.prev.Epoch[p]
	}
	return d.Epoch[p]
}

// Suspects lists the rows on which a last stable offset would say something:
// those with lag, by topic. Without a __transaction_state topic there are none.
func (b *Builder) Suspects() []Need {
	if !b.snap.Cluster.TransactionState {
		return nil
	}
	wanted := map[*Topic][]bool{}
	for _, d := range b.order {
		for _, gt := range d.Topics {
			if gt.apart {
				continue
			}
			behind := wanted[gt.Topic]
			for i, c := range gt.Committed {
				p := int(gt.Partition(i))
				if p < len(gt.Topic.LogEnd) && c < gt.Topic.LogEnd[p] && (gt.Reported == nil || gt.Lag(i) > 0) {
					if behind == nil {
						behind = make([]bool, gt.Topic.Partitions())
						wanted[gt.Topic] = behind
					}
					behind[p] = true
				}
			}
		}
	}
	var out []Need
	for t, ps := range wanted {
		n := Need{Topic: t}
		for p, want := range ps {
			if want {
				n.Partitions = append(n.Partitions, int32(p))
			}
		}
		out = append(out, n)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Topic.Name < out[j].Topic.Name })
	return out
}

// Finish ends the poll: what could not be read for a passing reason is kept
// from before, everything is summed up, and the snapshot is done.
func (b *Builder) Finish(at time.Time, took time.Duration) *Snapshot {
	s := b.snap
	s.TakenAt, s.Took = at, took
	b.clock(at)
	for _, d := range b.topics {
		if d.any {
			b.finishTopic(d)
			d.compare()
			s.Topics = append(s.Topics, d.Topic)
		} else if d.Reason == ReasonTopicMissing {
			s.gone = append(s.gone, d.Name)
		} else if b.had(d.Name) {
			s.unused = append(s.unused, d.Name)
		}
	}
	sort.Strings(s.gone)
	sort.Strings(s.unused)
	sort.Slice(s.Topics, func(i, j int) bool { return s.Topics[i].Name < s.Topics[j].Name })
	for _, d := range b.order {
		if d.hidden {
			s.hidden = append(s.hidden, d.Name)
			continue
		}
		b.keepRows(d)
		b.tellMissingSources(d)
		d.setFloors()
		d.firstSeen(at)
		g := d.Group
		g.Produced, g.Consumed, g.Drain = math.NaN(), math.NaN(), math.NaN()
		b.sumAgain(d)
		if d.undue {
			s.CommitsEvery = max(s.CommitsEvery, at.Sub(d.CommitsAt))
		}
		s.Groups = append(s.Groups, g)
	}
	s.Complete = s.Reached && b.complete()
	s.expires, s.later = s.expiry(), new(atomic.Pointer[Snapshot])
	return s
}

// had reports whether the snapshot before had rows on a topic.
func (b *Builder) had(topic string) bool {
	if b.prev == nil {
		return false
	}
	_, ok := b.prev.Topic(topic)
	return ok
}

// finishTopic fills a topic's gaps from the snapshot before.
func (b *Builder) finishTopic(d *topicDraft) {
	for p := range d.LogEnd {
		// also where no number stands: a zombie must not be believed because
		// it was silent for long
		d.Epoch[p] = d.epochSeen(p)
		if !d.needed[p] {
			continue
		}
		if d.read[p] {
			d.keepStart(p, b.now.Add(-b.opts.StaleAfter).UnixNano())
			if !b.snap.Cluster.TransactionState {
				d.LastStable[p] = d.LogEnd[p]
			}
			continue
		}
		why := d.endReason(p)
		if why == ReasonNone {
			if why = d.Reason; why == ReasonNone {
				why = ReasonTimeout
			}
			b.EndUnread(d.Topic, int32(p), why)
		}
		if why.Passing() && d.prev != nil && p < len(d.prev.LogEnd) && d.prev.LogEnd[p] >= 0 &&
			b.now.Sub(time.Unix(0, d.prev.EndAt[p])) <= b.opts.StaleAfter {
			d.LogStart[p], d.StartAt[p] = d.prev.LogStart[p], d.prev.StartAt[p]
			d.LogEnd[p], d.EndAt[p] = d.prev.LogEnd[p], d.prev.EndAt[p]
			d.LastStable[p] = d.prev.LastStable[p]
			d.kept[p], d.keeps = true, true
		} else if d.ID == ([16]byte{}) {
			// of a topic without an id, a lower epoch may as well be that of
			// one made anew: it is not held against it for ever
			d.Epoch[p] = -1
		}
	}
}

// keepStart takes over the log start where none was read: where none was due
// as long as need be, where it could not be read until that is too long ago.
func (d *topicDraft) keepStart(p int, limit int64) {
	if d.LogStart[p] >= 0 || d.prev == nil || p >= len(d.prev.LogStart) {
		return
	}
	if d.startReason(p) == ReasonNone || d.prev.StartAt[p] >= limit {
		d.LogStart[p], d.StartAt[p] = d.prev.LogStart[p], d.prev.StartAt[p]
	}
}

// keepRows gives rows whose log end is a kept one the commit that was read with
// it: beside an old end, a new commit would seem to run ahead.
//
// Where the group's commits were themselves kept in the poll before, they
// belong to an end that is older still: the row keeps that one, or a group
// that goes on unseen would seem to fall behind.
func (b *Builder) keepRows(d *groupDraft) {
	for _, gt := range d.Topics {
		if t := b.topics[gt.Topic.Name]; !gt.apart && (t.keeps || gt.CommitReason != nil) && d.prev != nil {
			was, _ := d.prev.Topic(t.Name)
			d.source = nil
			gt.own()
			for i := range gt.Committed {
				p := int(gt.Partition(i))
				switch {
				case reasonAt(gt.CommitReason, i).final(): // an answer: no number from before may stand
				case p < len(t.kept) && t.kept[p]:
					gt.keepCommit(i, was)
					gt.keepEnd(p, was)
				case reasonAt(gt.CommitReason, i).Passing() && p < gt.Topic.Partitions() && !gt.Topic.endReason(p).final():
					gt.keepEnd(p, was)
				}
			}
		}
		if gt.apart { // kept, but no longer than the oldest number may be
			gt.Topic = gt.Topic.expired(b.now.Add(-b.opts.StaleAfter).UnixNano())
		}
	}
}

// keepEnd gives partition p the log end that was's commit was read with, where
// that is not the one which the topic keeps; was may be nil.
func (gt *GroupTopic) keepEnd(p int, was *GroupTopic) {
	if was == nil || p >= was.Topic.Partitions() || was.Topic.EndAt[p] == gt.Topic.EndAt[p] {
		return
	}
	if !gt.apart {
		gt.Topic, gt.apart = gt.Topic.clone(), true
	}
	t, old := gt.Topic, was.Topic
	t.LogStart[p], t.StartAt[p], t.LogEnd[p], t.EndAt[p], t.LastStable[p] = old.LogStart[p], old.StartAt[p], old.LogEnd[p], old.EndAt[p], old.LastStable[p]
}

// firstSeen dates the group and its members.
func (d *groupDraft) firstSeen(at time.Time) {
	d.FirstSeenAt = at
	before := map[string]time.Time{}
	if d.prev != nil {
		d.FirstSeenAt = d.prev.FirstSeenAt
		for i := range d.prev.Members {
			before[d.prev.Members[i].Key()] = d.prev.Members[i].FirstSeenAt
		}
	}
	for i := range d.Members {
		m := &d.Members[i]
		m.Host = cleanHost(m.Host)
		if m.FirstSeenAt = before[m.Key()]; m.FirstSeenAt.IsZero() {
			m.FirstSeenAt = at
		}
	}
}

// complete reports whether nothing was missed that could have been told.
func (b *Builder) complete() bool {
	for i := range b.snap.Problems {
		switch b.snap.Problems[i].Stage {
		case StageConnect, StageMetadata, StageListGroups:
			if !b.forgiven(b.snap.Problems[i].Reason) {
				return false
			}
		}
	}
	for _, g := range b.snap.Groups {
		if !b.forgiven(g.Reason) || !b.forgiven(g.CommitsReason) || !b.rowsForgiven(g) || g.veiled() {
			return false
		}
	}
	return true
}

func (b *Builder) forgiven(r Reason) bool {
	return r == ReasonNone || r.Answers() || r == ReasonDenied && b.opts.AcceptDenied
}

func (b *Builder) rowsForgiven(g *Group) bool {
	if g.Lag.Unknown == 0 && g.Lag.Stale == 0 {
		return true
	}
	for _, gt := range g.Topics {
		for i := range gt.Committed {
			if l := gt.lagAt(i); l.stale || l.lag < 0 && !b.forgiven(l.reason) {
				return false
			}
		}
	}
	return true
}
