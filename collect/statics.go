package collect

import (
	"slices"
	"time"
)

// statics are what a group's static members were at when it was last seen
// settled: it tells why they went.
type statics struct {
	group *Group // nil once it is summed up
	at    time.Time
	lag   map[string]staticLag // by member key
}

type staticLag struct{ lag, progressAt int64 }

// staticsOf is nil for a group without static members. It is summed up later: a
// group that is settled poll after poll need never be.
func staticsOf(g *Group) *statics {
	if !slices.ContainsFunc(g.Members, func(m Member) bool { return m.InstanceID != "" }) {
		return nil
	}
	return &statics{group: g, at: g.DescribedAt}
}

// sumUp lets go of the group: with its topics it would be a second snapshot in
// memory for as long as nothing settles.
func (s *statics) sumUp() {
	if s == nil || s.group == nil {
		return
	}
	s.lag = map[string]staticLag{}
	totals := s.group.MemberTotals()
	for i := range s.group.Members {
		if m := &s.group.Members[i]; m.InstanceID != "" {
			s.lag[m.Key()] = staticLag{totals[i].Lag, totals[i].ProgressAt}
		}
	}
	s.group = nil
}

// stoodStill reports whether a member had made no progress over unread records
// for as long as a session lasts at the least.
func (s *statics) stoodStill(key string) bool {
	s.sumUp()
	m, ok := s.lag[key]
	return ok && m.lag > 0 && m.progressAt != 0 && s.at.Sub(time.Unix(0, m.progressAt)) >= shortestSession
}
