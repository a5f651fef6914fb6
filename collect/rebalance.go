package collect

import (
	"fmt"
	"time"
)

// rebalanceMemory is what is remembered of a group's assignments: the last
// settled one, and the rebalance under way.
//
// Stable is compared with stable. In between, brokers hide assignments or give
// those of the generation before, and a group whose coordinator failed has not
// rebalanced.
type rebalanceMemory struct {
	known       bool // a settled view was seen
	members     []Member
	print       uint64
	assignor    string
	describedAt time.Time
	generation  generationMemory
	reached     map[string]int32 // by topic, the highest partition there was when it dealt them out
	lag         int64            // when it was last seen settled
	statics     *statics         // nil without static members

	open      bool // a rebalance was seen to begin
	startedAt time.Time
	lagBefore int64
	extra     int64 // rebalances that no difference of generations tells of
	held      *held // it seems to be halfway
	waits     waits // members that it waits for
}

func newRebalanceMemory() rebalanceMemory {
	return rebalanceMemory{generation: newGenerationMemory()}
}

// held is a stable look in the middle of a cooperative rebalance, perhaps: a
// member gave up partitions that nobody has taken yet.
type held struct {
	group      *Group
	print      uint64
	generation Generation
}

// rebalances compares a freshly described group with what it was when it was
// last settled.
func (t *tracker) rebalances(g *Group, m *groupMemory) []Event {
	r := &m.rebalance
	defer func() {
		if s := r.statics; s != nil && s.group != g {
			s.sumUp()
		}
	}()
	if !g.MembersKnown || g.DescribedAt.IsZero() || g.DescribedAt.Equal(r.describedAt) || g.Reason != ReasonNone {
		return nil
	}
	if r.generation.fell(g.Generation) && g.Generation.Source == SourceEpoch && r.shares(g) {
		// A broker that was replaced and does not know it yet tells of the past.
		g.Generation = r.generation.shown
		return nil
	}
	if r.describedAt.IsZero() {
		m.counters.RebalancesLower = false // until something is seen that is not exact
	}
	r.describedAt = g.DescribedAt
	before := m.state
	m.state = g.State
	var events []Event
	if m.typ != "" && m.typ != g.Type {
		events = append(events, t.typeChange(g, m.typ, before))
	}
	m.typ = g.Type
	if r.generation.fell(g.Generation) && !r.shares(g) {
		events = append(events, t.madeAnew(g, m, before))
		before = ""
	}
	switch {
	case g.State == StateNotReady:
		events = append(events, t.notReady(g, r, before, len(events) > 0)...)
	case g.Rebalancing():
		if before == "" && !r.known {
			events = append(events, t.firstSeen(g, len(events) > 0)...)
		}
		events = append(events, t.rebalanceBegins(g, m, before)...)
		events = append(events, t.waitsFor(g, r)...)
	default:
		events = append(events, t.settled(g, m, before, len(events) > 0)...)
	}
	if r.known || r.open {
		m.counters.RebalancesLower = m.counters.RebalancesLower || !r.generation.anchored
	}
	return events
}

// notReady tells of a streams group that cannot work: a source topic does not
// exist, or internal ones are still being made. It is no rebalance by itself,
// nor is what its members have then an assignment to compare others with; one
// that was seen to begin goes on.
func (t *tracker) notReady(g *Group, r *rebalanceMemory, before string, told bool) []Event {
	switch {
	case before == "" && !r.known:
		return t.firstSeen(g, told)
	case before != g.State && !r.open:
		return []Event{t.stateChange(g, before)}
	}
	return nil
}

// settled judges a look at a group that is not between two assignments.
func (t *tracker) settled(g *Group, m *groupMemory, before string, told bool) []Event {
	r := &m.rebalance
	if !r.known && before == "" {
		g.Generation = r.settle(g, 0)
		return t.firstSeen(g, told)
	}
	var events []Event
	print := fingerprint(g)
	if h := r.held; h != nil {
		if print == h.print && r.generation.rounds(g.Generation) <= r.generation.rounds(h.generation) || g.State == StateEmpty {
			// It was over then: no second round came.
			events = append(events, t.rebalanceEnds(h.group, m))
			r.settle(h.group, events[0].Count-r.extra)
		}
	} else if r.halfway(g) {
		r.hold(g, print)
		return nil
	}
	if r.initialised(g) {
		r.extra--
		events = append(events, t.shareInitialised(g))
		if r.extra+r.generation.rounds(g.Generation) <= 0 && !r.open {
			g.Generation = r.settle(g, 0)
			return events
		}
	}
	emptied := g.State == StateEmpty && len(r.members) > 0
	exact := r.generation.anchored && r.generation.comparable(g.Generation) && g.Generation.Exact
	grew := r.generation.rounds(g.Generation) > 0
	changed := print != r.print
	switch {
	case emptied && !(exact && grew):
		events = append(events, t.stateChange(g, before))
		g.Generation = r.settle(g, 1) // brokers count the emptying, too
	case r.known && exact && !grew && r.extra == 0 && !(r.open && changed):
		// The epoch says that nothing was dealt out anew: a static member was
		// away, or one has joined whose pattern is not resolved yet. That one
		// belongs to the rebalance to come.
		if before != g.State {
			events = append(events, t.stateChange(g, before))
		}
		r.close()
		if !changed {
			events = append(events, t.returned(g, r)...)
			g.Generation = r.settle(g, 0)
		}
	case !r.known, r.open, changed, grew:
		e := t.rebalanceEnds(g, m)
		events = append(events, e)
		g.Generation = r.settle(g, e.Count-r.extra)
	default:
		if before != g.State {
			events = append(events, t.stateChange(g, before))
		}
		events = append(events, t.returned(g, r)...)
		g.Generation = r.settle(g, 0)
	}
	return events
}

// settle makes the group's assignment the last settled one, counted generations
// after the one before, and gives the generation that is to be shown of it.
func (r *rebalanceMemory) settle(g *Group, counted int64) Generation {
	if !r.known {
		counted = 0
	}
	print := fingerprint(g)
	if !r.known || print != r.print {
		r.reach(g)
	}
	r.known = true
	r.close()
	r.members, r.print, r.lag, r.statics = g.Members, print, g.Lag.Records, staticsOf(g)
	r.assignor = g.Assignor
	return r.generation.reach(g.Generation, counted)
}

// close forgets the rebalance under way.
func (r *rebalanceMemory) close() {
	r.open, r.startedAt, r.extra, r.held, r.waits = false, time.Time{}, 0, nil, nil
}

// bounded is a generation as it may be shown: not below what was reached.
func (r *rebalanceMemory) bounded(g Generation) Generation {
	if !g.Exact && g.Known() && g.Value < r.generation.at {
		g.Value = r.generation.at
	}
	return g
}

// shares reports whether some member of the last settled view is still there
// under the same id: then it is the same group.
func (r *rebalanceMemory) shares(g *Group) bool {
	ids := make(map[string]bool, len(r.members))
	for i := range r.members {
		ids[r.members[i].ID] = true
	}
	for i := range g.Members {
		if ids[g.Members[i].ID] {
			return true
		}
	}
	return false
}

// madeAnew tells of a group that was deleted and made again between two looks:
// its generation fell, and none of its members is left. It begins as a group
// that is seen first does.
func (t *tracker) madeAnew(g *Group, m *groupMemory, before string) Event {
	e := t.event(g.Name, EventGroup, g.DescribedAt)
	e.StateFrom, e.StateTo = before, g.State
	e.Text = fmt.Sprintf("group %s was made anew: its generation went from %d to %d, and no member is left of those before", g.Name, m.rebalance.generation.at, g.Generation.Value)
	at := m.rebalance.describedAt
	m.rebalance = newRebalanceMemory()
	m.rebalance.describedAt = at
	return e
}

// firstSeen makes no event of the first look after a start, which is the
// baseline, nor of a group that was just said to be made anew.
func (t *tracker) firstSeen(g *Group, told bool) []Event {
	if t.polls == 0 || told {
		return nil
	}
	e := t.event(g.Name, EventGroup, g.DescribedAt)
	e.StateTo = g.State
	e.Text = fmt.Sprintf("group %s was seen first, %s with %s", g.Name, g.State, count(len(g.Members), "member"))
	return []Event{e}
}

// rebalanceBegins remembers when a rebalance was seen to begin, and says so once.
func (t *tracker) rebalanceBegins(g *Group, m *groupMemory, before string) []Event {
	r := &m.rebalance
	if g.Generation.Exact && !r.generation.comparable(g.Generation) {
		// Seen first in the middle of one, or it goes over to epochs: how far
		// it came before cannot be told, only that one rebalance is under way.
		r.extra = 1
		r.generation.rebase(g.Generation)
	}
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

// halfway reports whether a classic group looks as it does between the two
// rounds of a cooperative rebalance: a member that is still there gave up
// partitions of a topic that it still subscribes to, and nobody has them. It
// will join again at once, and the rebalance ends with the next round.
func (r *rebalanceMemory) halfway(g *Group) bool {
	if g.Type != TypeClassic || !r.known || g.State != StateStable || fingerprint(g) == r.print {
		return false
	}
	now := make(map[string]*Member, len(g.Members))
	for i := range g.Members {
		if g.Members[i].Decode == DecodeUndecodable {
			return false
		}
		now[g.Members[i].Key()] = &g.Members[i]
	}
	is := ownersOf(g.Members)
	for i := range r.members {
		old := &r.members[i]
		m := now[old.Key()]
		if m == nil || m.ID != old.ID {
			continue
		}
		for _, tp := range old.Assigned {
			gt, ok := g.Topic(tp.Topic)
			if !ok && !g.partly || ok && gt.Orphaned || !subscribes(m, tp.Topic) {
				continue
			}
			for _, p := range tp.Partitions {
				if is[topicPartition{tp.Topic, p}] == nil && (!ok || gt.RowOf(p) >= 0) {
					return true
				}
			}
		}
	}
	return false
}

// hold keeps a rebalance open for one look more.
func (r *rebalanceMemory) hold(g *Group, print uint64) {
	r.held = &held{group: g, print: print, generation: g.Generation}
	if !r.open {
		r.open, r.startedAt, r.lagBefore = true, time.Time{}, r.lag
	}
	g.Generation = r.bounded(g.Generation)
}

// rebalanceEnds makes the one event of a rebalance that is over.
func (t *tracker) rebalanceEnds(g *Group, m *groupMemory) Event {
	r := &m.rebalance
	e := t.event(g.Name, EventRebalance, g.DescribedAt)
	e.Cause, e.Style = CauseUnknown, StyleUnknown
	e.Count = max(1, r.extra+r.generation.rounds(g.Generation))
	e.GenerationFrom, e.GenerationTo = r.generation.shown, g.Generation
	e.MembersAfter, e.LagAfter, e.LagBefore = int64(len(g.Members)), g.Lag.Records, r.lag
	if r.known {
		e.MembersBefore = int64(len(r.members))
		e.Joined, e.Left = membership(r.members, g.Members)
		e.countMoves(r.members, g.Members)
	} else {
		e.LagBefore = Unknown
	}
	if r.open {
		e.LagBefore = r.lagBefore
	}
	if r.open && !r.startedAt.IsZero() {
		e.StartedAt = r.startedAt
		e.Seconds = g.DescribedAt.Sub(r.startedAt).Seconds()
		m.counters.RebalanceTime += g.DescribedAt.Sub(r.startedAt)
		m.counters.RebalanceEvents++
		t.rebalanced.add(g.DescribedAt.Sub(r.startedAt))
	}
	e.Cause = r.cause(g, &e)
	e.Style = r.style(g, e.Count)
	slowest, waited := r.waits.longest(g.DescribedAt)
	e.Text = rebalanceText(&e, slowest, waited)
	m.counters.Rebalances += e.Count
	m.counters.Moved += e.Moved
	m.counters.LastRebalanceAt = g.DescribedAt
	return e
}

func (t *tracker) stateChange(g *Group, before string) Event {
	e := t.event(g.Name, EventState, g.DescribedAt)
	e.StateFrom, e.StateTo = before, g.State
	e.Text = fmt.Sprintf("group %s went from %s to %s", g.Name, before, g.State)
	return e
}

func (t *tracker) typeChange(g *Group, from GroupType, before string) Event {
	e := t.event(g.Name, EventGroup, g.DescribedAt)
	e.StateFrom, e.StateTo = before, g.State
	e.Text = fmt.Sprintf("group %s went from type %s to %s", g.Name, from, g.Type)
	return e
}

// initialised reports whether a share group's partitions have been initialised:
// its members, who had none, have some. The epoch grows with that, and nothing
// was dealt out anew.
func (r *rebalanceMemory) initialised(g *Group) bool {
	if g.Type != TypeShare || !r.known || len(r.members) == 0 || r.generation.rounds(g.Generation) == 0 {
		return false
	}
	for i := range r.members {
		if r.members[i].Partitions() > 0 {
			return false
		}
	}
	return len(ownersOf(g.Members)) > 0
}

func (t *tracker) shareInitialised(g *Group) Event {
	e := t.event(g.Name, EventState, g.DescribedAt)
	e.StateFrom, e.StateTo = g.State, g.State
	e.Text = fmt.Sprintf("group %s: its share partitions are initialised and dealt out", g.Name)
	return e
}

// returned tells of static members that were away and came back within their
// session: they have new ids, and nothing was dealt out anew.
func (t *tracker) returned(g *Group, r *rebalanceMemory) (events []Event) {
	for _, p := range replaced(r.members, g.Members) {
		e := t.event(g.Name, EventMember, g.DescribedAt)
		e.Joined, e.Left = []MemberRef{p.new}, []MemberRef{p.old}
		e.Text = fmt.Sprintf("static member %s of group %s returned within its session, without a rebalance", p.new.InstanceID, g.Name)
		events = append(events, e)
	}
	return events
}
