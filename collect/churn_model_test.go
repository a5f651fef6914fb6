package collect

import (
	"fmt"
	"slices"
)

// A model broker with one group, of which everything is known: what the
// tracker makes of random looks at it is held against that.

// chooser makes the model's choices from bytes, so that a fuzzer can.
type chooser struct{ b []byte }

func (c *chooser) n(n int) int {
	if len(c.b) == 0 {
		return 0
	}
	x := int(c.b[0])
	c.b = c.b[1:]
	return x % n
}

// modelKind is a protocol with a way of telling generations.
type modelKind struct {
	name        string
	typ         GroupType
	cooperative bool
	source      GenerationSource // SourceNone: clients that tell nothing
	oldBroker   bool             // sends no bytes during a rebalance; a newer one, those of the generation before
}

func modelKinds() []modelKind {
	return []modelKind{
		{"eager, generations in subscriptions", TypeClassic, false, SourceMemberMetadata, true},
		{"cooperative, generations in subscriptions", TypeClassic, true, SourceMemberMetadata, false},
		{"eager, nothing told (KafkaJS)", TypeClassic, false, SourceNone, false},
		{"eager, exact generations", TypeClassic, false, SourceOffsetsTopic, false},
		{"cooperative, exact generations", TypeClassic, true, SourceOffsetsTopic, true},
		{"KIP-848", TypeConsumer, false, SourceEpoch, false},
	}
}

type modelMember struct {
	id, client, instance string
	joinedWith           int32 // generation it held when it joined last
	rejoined             Rejoined
	owns, target         []int32
	epoch                int64
	new                  bool // not in a generation yet
}

func (m *modelMember) key() string {
	if m.instance != "" {
		return "instance " + m.instance
	}
	return m.id
}

type modelGroup struct {
	modelKind
	choose     *chooser
	state      string
	generation int64
	partitions int32
	assignor   string
	members    []*modelMember
	serial     int
	assigned   int64 // KIP-848: the target's epoch

	triggers []Cause // since they were last taken
	restarts int     // static members that came back without a rebalance, likewise
}

func newModelGroup(k modelKind, c *chooser) *modelGroup {
	return &modelGroup{modelKind: k, choose: c, state: StateEmpty, partitions: 4, assignor: "range"}
}

// disturb is the begin of a rebalance.
func (g *modelGroup) disturb(why Cause) {
	g.triggers = append(g.triggers, why)
	if g.typ == TypeConsumer {
		g.generation++
		g.state = StateAssigning
		if len(g.members) == 0 {
			g.state = StateEmpty
		}
		return
	}
	g.state = StatePreparingRebalance
}

func (g *modelGroup) join() {
	g.serial++
	m := &modelMember{id: fmt.Sprintf("id-%d", g.serial), client: fmt.Sprintf("pod-%d", g.serial), joinedWith: -1, new: true}
	if g.choose.n(3) == 0 {
		m.instance = m.client
	}
	g.members = append(g.members, m)
	g.disturb(CauseMemberJoined)
}

func (g *modelGroup) leave() {
	if len(g.members) == 0 {
		return
	}
	i := g.choose.n(len(g.members))
	g.members = slices.Delete(g.members, i, i+1)
	g.disturb(CauseMemberLeft)
}

// restart gives a static member a new id, and brings about no rebalance.
func (g *modelGroup) restart() {
	for _, m := range g.members {
		if m.instance == "" || m.new || g.state != StateStable {
			continue
		}
		g.serial++
		m.id, m.joinedWith, m.rejoined = fmt.Sprintf("id-%d", g.serial), -1, RejoinedEmptyHanded
		g.restarts++
		return
	}
}

// step does one thing that happens to groups, or lets one more part of a
// rebalance happen.
func (g *modelGroup) step() {
	switch g.choose.n(14) {
	case 0, 1:
		if len(g.members) < 6 {
			g.join()
		}
	case 2:
		g.leave()
	case 3:
		if len(g.members) > 0 && g.partitions < 12 {
			g.partitions++
			g.disturb(CausePartitionsChanged)
		}
	case 4:
		if len(g.members) > 0 && g.state == StateStable && g.typ == TypeClassic {
			g.assignor = map[string]string{"range": "sticky", "sticky": "range"}[g.assignor]
			g.disturb(CauseAssignorChanged)
		}
	case 5:
		g.restart()
	case 6:
		if g.choose.n(4) == 0 {
			for len(g.members) > 0 {
				g.leave()
			}
		}
	default:
		g.proceed()
	}
}

// proceed lets a rebalance come one step further.
func (g *modelGroup) proceed() {
	if g.typ == TypeConsumer {
		g.reconcile()
		return
	}
	switch g.state {
	case StatePreparingRebalance:
		for _, m := range g.members {
			if !m.new {
				m.joinedWith = int32(g.generation)
			}
			m.rejoined = RejoinedEmptyHanded
			if g.cooperative && len(m.owns) > 0 {
				m.rejoined = RejoinedHolding
			}
			m.new = false
		}
		g.generation++
		if g.state = StateCompletingRebalance; len(g.members) == 0 {
			g.state = StateEmpty
		}
	case StateCompletingRebalance:
		again := g.assign()
		if g.state = StateStable; again {
			g.state = "between rounds"
		}
	case "between rounds":
		g.state = StatePreparingRebalance
	}
}

// assign deals partitions out, index by index. Under a cooperative assignor, a
// partition that another member holds is only taken from it, in this round.
func (g *modelGroup) assign() (again bool) {
	held := map[int32]*modelMember{}
	for _, m := range g.members {
		for _, p := range m.owns {
			held[p] = m
		}
		m.owns = nil
	}
	for p := range g.partitions {
		to := g.members[int(p)%len(g.members)]
		if from := held[p]; g.cooperative && from != nil && from != to {
			again = true
			continue
		}
		to.owns = append(to.owns, p)
	}
	return again
}

func (g *modelGroup) reconcile() {
	switch {
	case len(g.members) == 0:
		return
	case g.state == StateAssigning:
		for _, m := range g.members {
			m.target = nil
		}
		for p := range g.partitions {
			to := g.members[int(p)%len(g.members)]
			to.target = append(to.target, p)
		}
		g.assigned, g.state = g.generation, StateReconciling
	case g.state == StateReconciling:
		m := g.members[g.choose.n(len(g.members))]
		if kept := common(m.owns, m.target); len(kept) < len(m.owns) {
			m.owns = kept
			break
		}
		owned := map[int32]bool{}
		for _, o := range g.members {
			for _, p := range o.owns {
				owned[p] = owned[p] || o != m
			}
		}
		m.owns = slices.DeleteFunc(slices.Clone(m.target), func(p int32) bool { return owned[p] })
		if len(m.owns) == len(m.target) {
			m.epoch, m.new = g.assigned, false
		}
	}
	if g.state == StateReconciling && !slices.ContainsFunc(g.members, func(m *modelMember) bool { return m.epoch != g.assigned || len(m.owns) != len(m.target) }) {
		g.state = StateStable
	}
}

func common(a, b []int32) (out []int32) {
	for _, x := range a {
		if slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}

// facts is the group as a broker describes it.
func (g *modelGroup) facts() GroupFacts {
	f := GroupFacts{
		Name: "g", Type: g.typ, State: g.state, ProtocolType: "consumer", Coordinator: 1, Described: true, MembersKnown: true,
		Generation: Generation{Value: Unknown}, Members: []Member{},
	}
	if f.State == "between rounds" {
		f.State = StateStable
	}
	stable := f.State == StateStable
	if stable {
		f.Assignor = g.assignor
	}
	highest := int32(-1)
	for _, m := range g.members {
		highest = max(highest, m.joinedWith)
		f.Members = append(f.Members, g.member(m, stable))
	}
	switch {
	case g.source == SourceEpoch, g.source == SourceOffsetsTopic && (stable || f.State == StateEmpty) && g.generation > 0:
		f.Generation = Generation{Value: g.generation, Exact: true, Source: g.source}
	case g.source == SourceMemberMetadata && stable && highest >= 1:
		f.Generation = Generation{Value: int64(highest) + 1, Source: g.source}
	}
	return f
}

func (g *modelGroup) member(m *modelMember, stable bool) Member {
	out := Member{ID: m.id, ClientID: m.client, InstanceID: m.instance, Epoch: -1, Generation: -1, Decode: DecodeEmpty}
	if stable || g.typ == TypeConsumer {
		out.Subscribed = []string{"t"}
		if g.source != SourceNone {
			out.Rejoined = m.rejoined
		}
	}
	if len(m.owns) > 0 && (stable || g.typ == TypeConsumer || !g.oldBroker) {
		out.Assigned, out.Decode = []TopicPartitions{on("t", m.owns...)}, DecodeOK
	}
	if g.typ == TypeConsumer {
		out.HasTarget, out.Epoch = true, int32(m.epoch)
		if len(m.target) > 0 {
			out.Target = []TopicPartitions{on("t", m.target...)}
		}
	}
	return out
}

// owners is who owns each partition, by identity, and the same by id for those
// that went without one.
func (g *modelGroup) owners() map[int32]string {
	out := map[int32]string{}
	for _, m := range g.members {
		for _, p := range m.owns {
			out[p] = m.key()
		}
	}
	return out
}
