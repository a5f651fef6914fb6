package kafka

import (
	"slices"
	"time"

	"github.com/klagtop/klagtop/collect"
)

// A group is what the source remembers of one from poll to poll: where to ask
// for it, and how.
type group struct {
	name     string
	typ      collect.GroupType
	typeTold bool // a list named the type, or a describe of that type found the group
	protocol string
	state    string // as listed last
	assignor string // as described last, "" before

	node   int32   // coordinator: the broker that lists the group
	rivals []int32 // other brokers that list it, too

	listed bool // in a list of the newest round
	// placed is true where no list tells of the group, since its broker gives
	// none, and it was described there.
	placed  bool
	changed bool      // listed with another state, type or place than before
	offsets int       // commits in its newest answer, -1 before the first
	members int       // in its newest description, -1 before the first
	commits *fetched  // its newest answer, nil before the first
	askedAt time.Time // when a broker last said something of its commits
	// missed is the word of a broker that was not its coordinator before that
	// it is gone; zero while none said so.
	missed word
	// deniedAt is when a broker last said that this principal may not see the
	// group, which no list has; zero while none did.
	deniedAt time.Time
	// denial is the last word on a listed group that it may not be described.
	denial denial

	// home is the broker that described the group last, and peopled whether it
	// told of members; empty is the word of another broker that there are none,
	// zero while none said so.
	home    int32
	peopled bool
	empty   word

	// for one poll
	held    bool // a description was not believed yet
	facts   collect.GroupFacts
	why     collect.Reason // why nothing can be asked about it just now
	asked   bool           // a describe was planned
	gone    bool
	phantom bool // named by the user and never seen: it is no group until a broker knows it
}

// denial is a broker's word that a group may not be described: each question
// writes a line into its authorizer's log, so it stands for a while.
type denial struct {
	at    time.Time // zero while there is none
	node  int32
	text  string
	whole bool // about the group itself, and so about its commits; else about a topic that a member has
}

const unknownCount = -1

func newGroup(name string) *group {
	return &group{name: name, typ: collect.TypeClassic, node: -1, offsets: unknownCount, members: unknownCount}
}

// kindOf is the request that describes a type of group; ok is false for a type
// from the future.
func kindOf(t collect.GroupType) (k kind, ok bool) {
	switch t {
	case collect.TypeClassic, "":
		return kindClassic, true
	case collect.TypeConsumer:
		return kindConsumer, true
	case collect.TypeShare:
		return kindShare, true
	case collect.TypeStreams:
		return kindStreams, true
	}
	return 0, false
}

// protocolOf is the protocol type of a type of group, which some brokers leave
// out; "" where the type does not tell it.
func protocolOf(t collect.GroupType) string {
	switch t {
	case collect.TypeConsumer:
		return consumerProtocol
	case collect.TypeShare:
		return "share"
	case collect.TypeStreams:
		return "streams"
	}
	return ""
}

// streamsAssignor is what members of Kafka Streams agree on in classic groups.
const streamsAssignor = "stream"

// meaningful reports whether what members commit beside the offsets says
// something: Kafka Streams puts a time there. Of a classic group that was never
// seen with members nobody tells whose it was, so that is looked for once.
func (g *group) meaningful() bool {
	switch {
	case g.typ == collect.TypeStreams:
		return true
	case g.typ != collect.TypeClassic:
		return false
	case g.assignor == "" && g.state == collect.StateEmpty:
		return g.commits == nil || slices.ContainsFunc(g.commits.topics, func(t collect.TopicCommits) bool { return t.Clues != nil })
	}
	return g.assignor == streamsAssignor
}

// begin starts the facts of a group for this poll, with nothing described.
func (g *group) begin() {
	g.why, g.asked, g.gone, g.held = collect.ReasonNone, false, false, false
	g.facts = collect.GroupFacts{
		Name: g.name, Type: g.typ, State: g.state, ProtocolType: g.protocol, Coordinator: g.node,
		Generation: collect.Generation{Value: collect.Unknown},
	}
	if p := protocolOf(g.typ); p != "" {
		g.facts.ProtocolType = p
	}
}

// fail says that the group could not be described, or asked for at all.
func (g *group) fail(why collect.Reason) {
	g.facts.Reason, g.facts.Described = why, false
}
