package collect

import (
	"fmt"
	"math"
	"sort"
	"time"
)

// rebalanceMemory is what is remembered of a group's assignments: the last
// stable one, and the rebalance under way.
type rebalanceMemory struct {
	known       bool // a stable view was seen
	members     []Member
	print       uint64
	generation  Generation
	assignor    string
	describedAt time.Time
	lag         int64

	open      bool // a rebalance was seen to begin
	startedAt time.Time
	lagBefore int64
}

// rebalances compares a freshly described group with what it was when it was
// last stable. Stable is compared with stable: in between brokers hide
// assignments, and a group whose coordinator failed has not rebalanced.
func (t *tracker) rebalances(g *Group, m *groupMemory) []Event {
	r := &m.rebalance
	if !g.MembersKnown || g.DescribedAt.IsZero() || g.DescribedAt.Equal(r.describedAt) || g.Reason != ReasonNone {
		return nil
	}
	r.describedAt = g.DescribedAt
	m.counters.RebalancesLower = !(g.Generation.Known() && g.Generation.Exact)
	before := m.state
	m.state = g.State
	var events []Event
	if m.typ != "" && m.typ != g.Type {
		events = append(events, t.typeChange(g, m.typ, before))
	}
	m.typ = g.Type
	if g.Rebalancing() || g.State == StateNotReady {
		if before == "" {
			t.firstSeen(g, m, &events)
		}
		return append(events, t.rebalanceBegins(g, m, before)...)
	}
	emptied := g.State == StateEmpty && len(r.members) > 0
	switch {
	case !r.known && before == "":
		t.firstSeen(g, m, &events)
	case !r.known, r.open && !emptied, r.differs(g) && !emptied, emptied && r.rounds(g) > 0 && g.Generation.Exact:
		events = append(events, t.rebalanceEnds(g, m))
	case before != g.State:
		events = append(events, t.stateChange(g, before))
	}
	r.settle(g)
	return events
}

// firstSeen makes no event of the first look after a start: it is the baseline.
func (t *tracker) firstSeen(g *Group, m *groupMemory, events *[]Event) {
	if t.polls == 0 {
		return
	}
	e := t.event(g.Name, EventGroup, g.DescribedAt)
	e.StateTo, e.MembersAfter, e.Text = g.State, int64(len(g.Members)), fmt.Sprintf("group %s was seen first, %s with %s", g.Name, g.State, count(len(g.Members), "member"))
	*events = append(*events, e)
}

// rebalanceBegins remembers when a rebalance was seen to begin, and says so once.
func (t *tracker) rebalanceBegins(g *Group, m *groupMemory, before string) []Event {
	r := &m.rebalance
	if r.open {
		return nil
	}
	r.open, r.startedAt, r.lagBefore = true, g.DescribedAt, m.lag
	if !r.known {
		r.startedAt, r.lagBefore = time.Time{}, Unknown
		return nil
	}
	return []Event{t.stateChange(g, before)}
}

func (t *tracker) stateChange(g *Group, before string) Event {
	e := t.event(g.Name, EventState, g.DescribedAt)
	e.StateFrom, e.StateTo, e.MembersAfter = before, g.State, int64(len(g.Members))
	e.GenerationTo = g.Generation
	e.Text = fmt.Sprintf("group %s went from %s to %s", g.Name, before, g.State)
	return e
}

func (t *tracker) typeChange(g *Group, from GroupType, before string) Event {
	e := t.event(g.Name, EventGroup, g.DescribedAt)
	e.StateFrom, e.StateTo, e.MembersAfter = before, g.State, int64(len(g.Members))
	e.Text = fmt.Sprintf("group %s went from type %s to %s", g.Name, from, g.Type)
	return e
}

// settle makes the group's assignment the last stable one.
func (r *rebalanceMemory) settle(g *Group) {
	r.known, r.open = true, false
	r.members, r.print, r.assignor, r.lag = g.Members, fingerprint(g), g.Assignor, g.Lag.Records
	r.generation = g.Generation
}

func (r *rebalanceMemory) differs(g *Group) bool {
	return fingerprint(g) != r.print || r.rounds(g) > 0
}

// rounds is by how much the generation grew; 0 where that is not known. A
// generation that went down belongs to a group made anew.
func (r *rebalanceMemory) rounds(g *Group) int64 {
	if !g.Generation.Known() || !r.generation.Known() || g.Generation.Source != r.generation.Source {
		return 0
	}
	return max(0, g.Generation.Value-r.generation.Value)
}

// rebalanceEnds makes the one event of a rebalance that is over.
func (t *tracker) rebalanceEnds(g *Group, m *groupMemory) Event {
	r := &m.rebalance
	e := t.event(g.Name, EventRebalance, g.DescribedAt)
	e.Count = max(1, r.rounds(g))
	e.GenerationFrom, e.GenerationTo = r.generation, g.Generation
	e.MembersAfter, e.LagAfter, e.LagBefore = int64(len(g.Members)), g.Lag.Records, r.lag
	e.StateTo = ""
	if r.known {
		e.MembersBefore = int64(len(r.members))
		e.Joined, e.Left = membership(r.members, g.Members)
		e.countMoves(r.members, g.Members)
	}
	if r.open && !r.startedAt.IsZero() {
		e.StartedAt, e.LagBefore = r.startedAt, r.lagBefore
		e.Seconds = g.DescribedAt.Sub(r.startedAt).Seconds()
		m.counters.RebalanceTime += g.DescribedAt.Sub(r.startedAt)
		m.counters.RebalanceEvents++
	}
	e.Cause = r.cause(g, &e)
	if g.Type == TypeConsumer {
		e.Style = StyleReconcile
	}
	e.Text = rebalanceText(&e)
	m.counters.Rebalances += e.Count
	m.counters.Moved += e.Moved
	m.counters.LastRebalanceAt = g.DescribedAt
	return e
}

// cause names why, where what is seen allows one answer only.
func (r *rebalanceMemory) cause(g *Group, e *Event) Cause {
	switch {
	case !r.known:
		return CauseUnknown
	case r.assignor != "" && g.Assignor != "" && r.assignor != g.Assignor:
		return CauseAssignorChanged
	case len(e.Joined) > 0 && len(e.Left) == 0:
		return CauseMemberJoined
	case len(e.Left) > 0 && len(e.Joined) == 0:
		return CauseMemberLeft
	case len(e.Joined) > 0:
		return CauseUnknown
	case subscriptions(r.members) != subscriptions(g.Members):
		return CauseTopicsChanged
	case e.Gained > 0 && e.Lost == 0:
		return CausePartitionsChanged
	case g.Generation.Source == SourceEpoch:
		return CauseEpoch
	}
	return CauseUnknown
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
				out = append(out, MemberRef{MemberID: m.ID, ClientID: m.ClientID, Host: m.Host, InstanceID: m.InstanceID})
			}
		}
		return out
	}
	return missing(after, before), missing(before, after)
}

// countMoves compares owners before and after, partition by partition.
func (e *Event) countMoves(before, after []Member) {
	was, is := ownersOf(before), ownersOf(after)
	for tp, from := range was {
		to := is[tp]
		switch {
		case to == nil:
			e.Lost++
			e.Moves = append(e.Moves, Move{tp.topic, tp.partition, from.ID, ""})
		case to.Key() == from.Key():
			e.Kept++
		default:
			e.Moved++
			e.Moves = append(e.Moves, Move{tp.topic, tp.partition, from.ID, to.ID})
		}
	}
	for tp, to := range is {
		if was[tp] == nil {
			e.Gained++
			e.Moves = append(e.Moves, Move{tp.topic, tp.partition, "", to.ID})
		}
	}
	sort.Slice(e.Moves, func(i, j int) bool {
		a, b := e.Moves[i], e.Moves[j]
		return a.Topic < b.Topic || a.Topic == b.Topic && a.Partition < b.Partition
	})
}

func ownersOf(members []Member) map[topicPartition]*Member {
	out := map[topicPartition]*Member{}
	for i := range members {
		for _, tp := range members[i].Assigned {
			for _, p := range tp.Partitions {
				out[topicPartition{tp.Topic, p}] = &members[i]
			}
		}
	}
	return out
}

func subscriptions(members []Member) string {
	set := map[string]bool{}
	for i := range members {
		for _, t := range members[i].Subscribed {
			set[t] = true
		}
		if members[i].Regex != "" {
			set["regex "+members[i].Regex] = true
		}
	}
	names := make([]string, 0, len(set))
	for n := range set {
		names = append(names, n)
	}
	sort.Strings(names)
	return fmt.Sprint(names)
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

// rebalanceText says in one sentence what happened.
func rebalanceText(e *Event) string {
	s := fmt.Sprintf("group %s rebalanced", e.Group)
	if e.Count > 1 {
		s = fmt.Sprintf("group %s rebalanced at least %d times", e.Group, e.Count)
		if e.GenerationTo.Exact {
			s = fmt.Sprintf("group %s rebalanced %d times", e.Group, e.Count)
		}
	}
	if !math.IsNaN(e.Seconds) {
		s += fmt.Sprintf(" in %.1f s", e.Seconds)
	}
	if n := len(e.Joined); n > 0 {
		s += fmt.Sprintf(", %s joined", count(n, "member"))
	}
	if n := len(e.Left); n > 0 {
		s += fmt.Sprintf(", %s left", count(n, "member"))
	}
	return s + fmt.Sprintf(": %s moved, %d kept", count(int(e.Moved), "partition"), e.Kept)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
