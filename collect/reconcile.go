package collect

import (
	"fmt"
	"sort"
	"time"
)

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
	now := make(map[string]bool, len(blocking)) // a group may have ten thousand members
	for _, i := range blocking {
		m := &g.Members[i]
		now[m.Key()] = true
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
	for key, w := range r.waits {
		if !w.since.IsZero() && !now[key] {
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
