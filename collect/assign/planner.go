package assign

import (
	"fmt"
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/klagtop/klagtop/collect"
)

// maxMembers is what franz-go's sticky balancer can number.
const maxMembers = 60_000

// Planner is collect.Planner by the assignors of this package.
type Planner struct{}

var _ collect.Planner = Planner{}

// Plan works out what would become of g under a change; see collect.Planner.
func (Planner) Plan(g *collect.Group, s *collect.Snapshot, c collect.Change) (*collect.WhatIf, error) {
	if err := Check(c.Assignor); err != nil {
		return nil, err
	}
	if err := plannable(g); err != nil {
		return nil, err
	}
	before, notes := observe(g, s)
	if len(before.topics) == 0 {
		return nil, &collect.NoPlanError{
			Reason: "nothing is known of the topics of the group: there is nothing to deal out",
			Hint:   "a group that has just begun to rebalance hides them for a moment; topics that may not be described stay hidden",
		}
	}
	after := *before
	after.topics, after.members = slices.Clone(before.topics), slices.Clone(before.members)
	before.arrange()
	out, err := after.change(c)
	if err != nil {
		return nil, err
	}
	if len(after.members) == 0 {
		return nil, &collect.NoPlanError{Reason: "there is no member to assign anything to", Hint: "--members 3 shows what three members would get"}
	}
	before.recognise()
	after.ownWord = before.ownWord
	after.settleTurns(before)
	w := &collect.WhatIf{
		Now: before.now(g), Added: out.added, Removed: out.removed, Stale: g.AssignmentStale, Notes: append(notes, out.notes...),
	}
	for _, t := range after.topics {
		w.Topics = append(w.Topics, collect.PlannedTopic{Name: t.name, Now: t.now, Then: t.then})
	}
	chosen := applying(&after)
	if c.Assignor != "" {
		chosen = []assignor{find(word(c.Assignor), after.protocol)}
	}
	for _, a := range chosen {
		w.Plans = append(w.Plans, after.plan(g, a))
	}
	if c.Assignor == "" {
		w.Advice = recommend(after.question(w))
	}
	return w, nil
}

// plannable refuses groups whose work no assignor of these deals out.
func plannable(g *collect.Group) error {
	refuse := func(format string, args ...any) error {
		return &collect.NoPlanError{Reason: fmt.Sprintf(format, args...)}
	}
	switch {
	case g.Type == collect.TypeShare:
		return refuse("it is a share group: brokers spread its partitions over the members as these come and go, and give one to several when there are more members than partitions")
	case g.Type == collect.TypeStreams || g.Assignor == "stream":
		return refuse("it is a Kafka Streams application, whose tasks are dealt out, with the state that they keep, and not partitions")
	case g.Type != collect.TypeClassic && g.Type != collect.TypeConsumer:
		return refuse("its type is %q, which is not one whose partitions are assigned", g.Type)
	case g.Type == collect.TypeClassic && g.ProtocolType != "consumer" && (g.ProtocolType != "" || len(g.Members) > 0):
		return refuse("its members speak the protocol %q, which assigns no partitions", g.ProtocolType)
	case !g.MembersKnown && g.Reason != collect.ReasonNone:
		return refuse("its members could not be read: %s", g.Reason)
	case !g.MembersKnown:
		return refuse("its members could not be read")
	case len(g.Members) > maxMembers:
		return refuse("it has %d members, more than can be planned for", len(g.Members))
	}
	return nil
}

// recognise tells a hand-written assignor by what it did: one that deals by index
// is called so, and one that is called so and does otherwise is not. Under another
// name it must be the only rule that explains what is: few partitions lie alike
// under several.
func (s *situation) recognise() {
	if s.ownName == "" || s.ownWord != "" && s.ownWord != byIndex {
		return
	}
	named := s.ownWord == byIndex
	s.ownWord = ""
	if s.did(dealByIndex) && (named || !s.did(serverRange) && !s.did(dealInTurn) && !s.did(balancer(kgo.RoundRobinBalancer))) {
		s.ownWord = byIndex
	}
}

// did reports whether the present assignment is what an assignor would make of
// the present members.
func (s *situation) did(deal func(*situation) dealt) bool {
	return !s.blind && len(s.members) > 0 && slices.EqualFunc(deal(s).owners, s.owned, slices.Equal[[]int32])
}

// now is the assignment as it is.
func (s *situation) now(g *collect.Group) collect.Plan {
	name := s.ownName
	p := collect.Plan{
		Assignor: name, Protocol: s.protocol, Own: true, Exact: !g.AssignmentStale && !s.blind,
		Style: collect.StyleUnknown, Stopped: collect.Unknown, Moved: collect.Unknown, Kept: collect.Unknown, Gained: collect.Unknown, Lost: collect.Unknown,
	}
	s.measure(g, &p, s.owned)
	byClient(p.Members)
	if s.blind { // what is shown of it is not all
		p.Assignment.Idle, p.Assignment.Assigned, p.Assignment.Unassigned = collect.Unknown, collect.Unknown, collect.Unknown
		p.Assignment.SkewPartitions, p.Assignment.SkewRate = math.NaN(), math.NaN()
		p.Assignment.Colocated, p.Assignment.Copartitioned = collect.Unknown, collect.Unknown
		p.Fewest, p.Most = collect.Unknown, collect.Unknown
	}
	return p
}

// plan has one assignor deal, and holds what it did against what is.
func (s *situation) plan(g *collect.Group, a assignor) collect.Plan {
	d := a.deal(s)
	p := collect.Plan{
		Assignor: a.name, Protocol: a.protocol, Own: s.own(a), Style: a.style, Rounds: d.rounds, Notes: d.notes,
		Exact: a.exact && !s.hidden && !(a.racks && s.racks),
	}
	if p.Style == collect.StyleReconcile {
		p.Rounds = 0
	}
	if p.Exact && !s.decided(a) {
		p.Exact = false
		p.Notes = append(p.Notes, "The ids of members that start decide who gets what, and how much moves; here new ones come last, and others where they are.")
	}
	if a.name == kafkaJS && p.Exact && !s.turnsSure {
		p.Exact = false
		p.Notes = append(p.Notes, "KafkaJS deals topics in the order in which the application subscribes to them, which the present assignment does not tell for certain.")
	}
	p.Notes = append(p.Notes, s.way(a)...)
	s.measure(g, &p, d.owners)
	s.compare(&p, d.owners)
	byClient(p.Members)
	return p
}

// way says what it takes to get to an assignor that the group does not have.
func (s *situation) way(a assignor) []string {
	switch {
	case s.own(a) || s.ownName == "":
	case a.protocol != s.protocol && a.protocol == collect.TypeConsumer:
		return []string{"It takes Kafka 4.0 or newer, clients with group.protocol=consumer, and a rolling restart."}
	case a.protocol != s.protocol:
		return []string{"It takes clients that go back to group.protocol=classic, and a rolling restart."}
	case a.name == byIndex && a.protocol == collect.TypeConsumer:
		return []string{"It takes an assignor that is written and installed on the brokers (group.consumer.assignors)."}
	case a.name == byIndex:
		return []string{"It takes an assignor that the application brings along, and a restart of all members."}
	case a.style == collect.StyleCooperative:
		return []string{"From an eager assignor it takes two rolling restarts: first with both, then with this one alone."}
	}
	return nil
}
