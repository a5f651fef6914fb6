package collect

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

const (
	// rememberMember is how long a member that left keeps its identity's first
	// sight.
	rememberMember = 24 * time.Hour
	// rememberedMembers is of how many that left; beside as many as are there
	// now. Clients whose names never come back, in a group that restarts all
	// day, would fill the memory.
	rememberedMembers = 1000
)

// acquaintance remembers since when a group's members are known, by identity: a
// member that restarts comes back under another member id.
type acquaintance struct {
	since   time.Time // the group itself; it may have been hidden by a filter
	members map[string]sighting
	present []string // identities at the newest change of the members
}

type sighting struct{ first, last time.Time }

// identity is what stays of a member over restarts: its instance id, else its
// client id and host.
func (m *Member) identity() string {
	if m.InstanceID != "" {
		return m.Key()
	}
	return m.ClientID + "\x00" + m.Host
}

// recognise dates the group and those of its members that are new by id.
func (a *acquaintance) recognise(g *Group, now time.Time) {
	if a.since.IsZero() || g.FirstSeenAt.Before(a.since) {
		a.since = g.FirstSeenAt
	}
	g.FirstSeenAt = a.since
	if !g.MembersKnown {
		return
	}
	changed := len(g.Members) != len(a.present)
	for i := range g.Members {
		changed = changed || g.Members[i].FirstSeenAt.Equal(now)
	}
	if changed {
		a.meet(g.Members, now)
	}
}

func (a *acquaintance) meet(members []Member, now time.Time) {
	if a.members == nil {
		a.members = map[string]sighting{}
	}
	for _, id := range a.present { // until now
		s := a.members[id]
		s.last = now
		a.members[id] = s
	}
	for id, s := range a.members {
		if now.Sub(s.last) > rememberMember {
			delete(a.members, id)
		}
	}
	held := map[string]bool{} // by members that were there before
	for i := range members {
		if m := &members[i]; !m.FirstSeenAt.Equal(now) {
			held[m.identity()] = true
		}
	}
	a.present = a.present[:0]
	for i := range members {
		m := &members[i]
		id := m.identity()
		s, known := a.members[id]
		if known && !held[id] && m.FirstSeenAt.Equal(now) {
			m.FirstSeenAt = s.first
		}
		if !known || m.FirstSeenAt.Before(s.first) {
			s.first = m.FirstSeenAt
		}
		s.last = now
		a.members[id], a.present = s, append(a.present, id)
	}
	a.forget()
}

// forget drops those that left first, where they are too many.
func (a *acquaintance) forget() {
	over := len(a.members) - 2*len(a.present) - rememberedMembers
	if over <= 0 {
		return
	}
	ids := slices.SortedFunc(maps.Keys(a.members), func(x, y string) int {
		return cmp.Or(a.members[x].last.Compare(a.members[y].last), cmp.Compare(x, y))
	})
	for _, id := range ids[:min(len(ids), over+rememberedMembers/10)] { // and some more, so that it is seldom
		delete(a.members, id)
	}
}
