package collect

import (
	"fmt"
	"slices"
	"sort"
	"time"
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

// blockedAfter is for how long a group waits for a member before that is an
// event.
const blockedAfter = time.Minute

// awayEpoch is the epoch that brokers give a static member of a KIP-848 group
// that said it would be back.
const awayEpoch = -2

// A wait is what a group's reconciliation has to do with one member.
type wait struct {
	member MemberRef
	since  time.Time     // when it was first seen to be waited for; zero when it is not now
	total  time.Duration // for which it was waited for before
	told   bool
	away   bool // it has said that it would be back
}

// waits are the members that a rebalance waits for, by identity; nil without any.
type waits map[string]*wait

// longest is the member that was waited for most, up to now.
func (w waits) longest(now time.Time) (who MemberRef, d time.Duration) {
	for _, k := range sortedKeys(w) {
		total := w[k].total
		if !w[k].since.IsZero() {
			total += now.Sub(w[k].since)
		}
		if total > d {
			who, d = w[k].member, total
		}
	}
	return who, d
}

func sortedKeys(w waits) []string {
	keys := make([]string, 0, len(w))
	for k := range w {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// waitsFor notes whom a group waits for, and tells of those that it has waited
// for too long.
func (t *tracker) waitsFor(g *Group, r *rebalanceMemory) (events []Event) {
	blocking := g.Blocking()
	for _, i := range blocking {
		m := &g.Members[i]
		if r.waits == nil {
			r.waits = waits{}
		}
		w := r.waits[m.Key()]
		if w == nil {
			w = &wait{}
			r.waits[m.Key()] = w
		}
		if w.since.IsZero() {
			w.since = g.DescribedAt
		}
		w.member, w.away = m.ref(), m.Epoch == awayEpoch
		m.BlockingSince = w.since
		if d := g.DescribedAt.Sub(w.since); d >= blockedAfter && !w.told {
			w.told = true
			e := t.event(g.Name, EventMember, g.DescribedAt)
			e.StartedAt, e.Seconds, e.Joined = w.since, d.Seconds(), []MemberRef{w.member}
			e.Text = fmt.Sprintf("group %s has waited for %s for %.0f s: %s", g.Name, nameOf(w.member), d.Seconds(), g.obstacle(m))
			events = append(events, e)
		}
	}
	for _, w := range r.waits {
		if !w.since.IsZero() && !slices.ContainsFunc(blocking, func(i int) bool { return g.Members[i].ref() == w.member }) {
			w.total += g.DescribedAt.Sub(w.since)
			w.since, w.told = time.Time{}, false
		}
	}
	return events
}

// Blocking lists the members, as indexes into Members, that a group with
// targets waits for: those that hold what their target does not give them any
// more, those that have not taken what nobody else holds, and where there are
// neither, those whose epoch is behind. Members that only wait for what
// another has to give up block nothing.
func (g *Group) Blocking() (out []int) {
	if !g.Rebalancing() || g.Type == TypeClassic {
		return nil
	}
	holders := ownersOf(g.Members)
	var behind []int
	for i := range g.Members {
		m := &g.Members[i]
		if !m.HasTarget {
			continue
		}
		free := func(tp topicPartition) bool { return len(holders[tp]) == 0 }
		switch {
		case m.Epoch == awayEpoch, beyond(m.Assigned, m.Target, nil) > 0, beyond(m.Target, m.Assigned, free) > 0:
			out = append(out, i)
		case int64(m.Epoch) < g.Generation.Value && g.State == StateReconciling:
			behind = append(behind, i)
		}
	}
	if out == nil {
		return behind
	}
	return out
}

// beyond counts the partitions in a and not in b that are also good; nil for all.
func beyond(a, b []TopicPartitions, good func(topicPartition) bool) (n int) {
	in := map[topicPartition]bool{}
	for _, tp := range b {
		for _, p := range tp.Partitions {
			in[topicPartition{tp.Topic, p}] = true
		}
	}
	for _, tp := range a {
		for _, p := range tp.Partitions {
			if at := (topicPartition{tp.Topic, p}); !in[at] && (good == nil || good(at)) {
				n++
			}
		}
	}
	return n
}

// obstacle says what a member that is waited for has not done.
func (g *Group) obstacle(m *Member) string {
	switch gives, takes := beyond(m.Assigned, m.Target, nil), beyond(m.Target, m.Assigned, nil); {
	case m.Epoch == awayEpoch:
		return "it is static and said that it would be back"
	case gives > 0:
		return "it has not given up " + count(gives, "partition") + " that its target leaves out"
	case takes > 0:
		return "it has not taken " + count(takes, "partition") + " of its target"
	}
	return fmt.Sprintf("it is at epoch %d of %d", m.Epoch, g.Generation.Value)
}
