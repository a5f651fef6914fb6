package collect

import (
	"math"
	"slices"
	"time"
)

// expiry is when the oldest number shown becomes too old; zero without any.
func (s *Snapshot) expiry() time.Time {
	var oldest int64
	older := func(at int64) {
		if at > 0 && (oldest == 0 || at < oldest) {
			oldest = at
		}
	}
	ends := func(t *Topic) {
		for p, at := range t.EndAt {
			if t.LogEnd[p] >= 0 {
				older(at)
			}
		}
	}
	for _, t := range s.Topics {
		ends(t)
	}
	for _, g := range s.Groups {
		if g.MembersKnown {
			older(g.describedUntil(s.TakenAt).UnixNano())
		}
		for _, gt := range g.Topics {
			if !gt.expired {
				older(gt.commitsAt)
			}
			if gt.apart {
				ends(gt.Topic)
			}
		}
	}
	if oldest == 0 {
		return time.Time{}
	}
	return time.Unix(0, oldest).Add(s.StaleAfter)
}

// At is the snapshot as it may be shown at a later moment: the snapshot itself
// while all its numbers may stand, otherwise a copy in which those that are
// older than StaleAfter are unknown. A poll that hangs must not leave a frozen
// number that looks healthy. The copy is kept: readers that come back before
// more expires get the same one.
func (s *Snapshot) At(now time.Time) *Snapshot {
	if s.stands(now) {
		return s
	}
	if s.later != nil {
		if l := s.later.Load(); l != nil && l.stands(now) && !now.Before(l.shownAt) {
			return l
		}
	}
	limit := now.Add(-s.StaleAfter).UnixNano()
	out := *s
	topics := map[*Topic]*Topic{}
	renew := func(t *Topic) *Topic {
		if n, ok := topics[t]; ok {
			return n
		}
		n := t.expired(limit)
		topics[t] = n
		return n
	}
	out.Topics = make([]*Topic, len(s.Topics))
	for i, t := range s.Topics {
		out.Topics[i] = renew(t)
	}
	out.Groups = make([]*Group, len(s.Groups))
	for i, g := range s.Groups {
		out.Groups[i] = g.expired(limit, s.TakenAt, renew)
		if !out.Groups[i].Lag.Complete {
			out.Complete = false
		}
	}
	out.expires, out.shownAt, out.later = out.expiry(), now, nil
	if s.later != nil {
		s.later.Store(&out)
	}
	return &out
}

// stands reports whether nothing shown is too old at a moment.
func (s *Snapshot) stands(now time.Time) bool {
	return s.expires.IsZero() || !now.After(s.expires)
}

// expired is the topic without log ends read before limit.
func (t *Topic) expired(limit int64) *Topic {
	n := t
	for p, at := range t.EndAt {
		if t.LogEnd[p] < 0 || at >= limit {
			continue
		}
		if n == t {
			n = t.clone()
		}
		n.LogEnd[p], n.LogStart[p], n.LastStable[p] = Unknown, Unknown, Unknown
		if p < len(n.Produced) {
			n.Produced[p] = nan32
		}
		if n.EndReason[p] == ReasonNone {
			n.EndReason[p] = ReasonTimeout
		}
	}
	return n
}

// clone is the topic with numbers and reasons of its own.
func (t *Topic) clone() *Topic {
	n := *t
	for _, a := range []*[]int64{&n.LogStart, &n.LogEnd, &n.LastStable, &n.StartAt, &n.EndAt} {
		*a = slices.Clone(*a)
	}
	n.Produced = slices.Clone(t.Produced)
	n.EndReason = make([]Reason, len(t.LogEnd))
	copy(n.EndReason, t.EndReason)
	return &n
}

// expired is the group without commits and descriptions read before limit.
func (g *Group) expired(limit int64, taken time.Time, renew func(*Topic) *Topic) *Group {
	c := *g
	c.Topics = make([]*GroupTopic, len(g.Topics))
	for i, gt := range g.Topics {
		n := *gt
		n.Topic = renew(gt.Topic)
		if gt.commitsAt > 0 && gt.commitsAt < limit {
			n.Committed = make([]int64, len(gt.Committed))
			for k := range n.Committed {
				n.Committed[k] = Unknown
			}
			n.Consumed = nil
			if n.expired = true; n.stale == ReasonNone {
				n.stale = ReasonTimeout
			}
		}
		c.Topics[i] = &n
	}
	if !g.DescribedAt.IsZero() && g.describedUntil(taken).UnixNano() < limit {
		c.State, c.MembersKnown, c.Members = StateUnknown, false, nil
		c.Generation = Generation{Value: Unknown}
		if c.Reason == ReasonNone {
			c.Reason = ReasonTimeout
		}
		for _, gt := range c.Topics {
			gt.Owner, gt.MoreOwners = unowned(len(gt.Owner)), nil
		}
	}
	c.sum()
	if c.Lag.Records < 0 {
		c.Produced, c.Consumed, c.Drain = math.NaN(), math.NaN(), math.NaN()
	}
	if c.MembersKnown {
		c.Assignment.SkewRate = g.Assignment.SkewRate
	}
	return &c
}

// describedUntil is the time to which a description held: one that was not
// due again in the poll that ended at taken was as good as new then. Large
// clusters describe a group each half minute, which StaleAfter may be shorter
// than.
func (g *Group) describedUntil(taken time.Time) time.Time {
	if g.Reason == ReasonNone && taken.After(g.DescribedAt) {
		return taken
	}
	return g.DescribedAt
}

func unowned(n int) []int32 {
	o := make([]int32, n)
	for i := range o {
		o[i] = -1
	}
	return o
}
