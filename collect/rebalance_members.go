package collect

import (
	"slices"
	"sort"
)

// ref names a member.
func (m *Member) ref() MemberRef {
	return MemberRef{MemberID: m.ID, ClientID: m.ClientID, Host: m.Host, InstanceID: m.InstanceID}
}

// membership compares two sets of members by their identity over restarts.
func membership(before, after []Member) (joined, left []MemberRef) {
	missing := func(from, in []Member) []MemberRef {
		keys := make(map[string]bool, len(in))
		for i := range in {
			keys[in[i].Key()] = true
		}
		var out []MemberRef
		for i := range from {
			if m := &from[i]; !keys[m.Key()] {
				out = append(out, m.ref())
			}
		}
		return out
	}
	return missing(after, before), missing(before, after)
}

// replacement is a static member under two member ids.
type replacement struct{ old, new MemberRef }

// replaced lists the static members that have another member id than before.
func replaced(before, after []Member) (out []replacement) {
	old := map[string]*Member{}
	for i := range before {
		if m := &before[i]; m.InstanceID != "" {
			old[m.InstanceID] = m
		}
	}
	for i := range after {
		m := &after[i]
		if was := old[m.InstanceID]; m.InstanceID != "" && was != nil && was.ID != m.ID {
			out = append(out, replacement{was.ref(), m.ref()})
		}
	}
	return out
}

// countMoves compares owners before and after, partition by partition. Of a
// partition with several owners (share groups), it moved when none of them has
// it any more.
func (e *Event) countMoves(before, after []Member) {
	was, is := ownersOf(before), ownersOf(after)
	for tp, from := range was {
		to := is[tp]
		switch {
		case to == nil:
			e.Lost++
			e.Moves = append(e.Moves, Move{tp.topic, tp.partition, from[0].ID, ""})
		case slices.ContainsFunc(to, func(m *Member) bool { return has(from, m.Key()) }):
			e.Kept++
		default:
			e.Moved++
			e.Moves = append(e.Moves, Move{tp.topic, tp.partition, from[0].ID, to[0].ID})
		}
	}
	for tp, to := range is {
		if was[tp] == nil {
			e.Gained++
			e.Moves = append(e.Moves, Move{tp.topic, tp.partition, "", to[0].ID})
		}
	}
	sort.Slice(e.Moves, func(i, j int) bool {
		a, b := e.Moves[i], e.Moves[j]
		return a.Topic < b.Topic || a.Topic == b.Topic && a.Partition < b.Partition
	})
}

func has(members []*Member, key string) bool {
	return slices.ContainsFunc(members, func(m *Member) bool { return m.Key() == key })
}

func ownersOf(members []Member) map[topicPartition][]*Member {
	out := map[topicPartition][]*Member{}
	for i := range members {
		for _, tp := range members[i].Assigned {
			for _, p := range tp.Partitions {
				at := topicPartition{tp.Topic, p}
				out[at] = append(out[at], &members[i])
			}
		}
	}
	return out
}

// subscribes reports whether a member may be given a topic's partitions.
func subscribes(m *Member, topic string) bool {
	return m.Subscribed == nil || m.Regex != "" || slices.Contains(m.Subscribed, topic)
}

// fingerprint is equal for two looks at a group with the same members, by
// identity, the same assignor and the same assignment, in whatever order the
// broker tells them.
func fingerprint(g *Group) uint64 {
	sum := stir(hashOf(g.Assignor), 0)
	for i := range g.Members {
		m := &g.Members[i]
		key := hashOf(m.Key())
		sum += stir(key, 1)
		for _, tp := range m.Assigned {
			topic := stir(key, hashOf(tp.Topic))
			for _, p := range tp.Partitions {
				sum += stir(topic, uint64(uint32(p)))
			}
		}
	}
	return sum
}

// stir mixes two numbers so that sums of the results do not collide by habit
// (the finalizer of splitmix64).
func stir(a, b uint64) uint64 {
	x := a ^ (b+1)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
