package kafka

import (
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// consumerProtocol is the protocol type of groups whose members' bytes are
// those of Kafka's consumers.
const consumerProtocol = "consumer"

// notFoundVersion of DescribeGroups is the first in which brokers say with an
// error that there is no such classic group. Before, they describe it as dead.
const notFoundVersion = 6

func classicAnswers(r *kmsg.DescribeGroupsResponse) []answer {
	out := make([]answer, 0, len(r.Groups))
	for i := range r.Groups {
		g := &r.Groups[i]
		switch {
		case g.ErrorCode != 0:
			out = append(out, refusal(g.Group, g.ErrorCode, g.ErrorMessage))
		case (g.State == collect.StateDead || g.State == "") && r.Version < notFoundVersion:
			out = append(out, answer{name: g.Group, verdict: notFound})
		case g.State == collect.StateDead || g.State == "": // no broker's way to say anything
			out = append(out, answer{name: g.Group, verdict: refused, reason: collect.ReasonError, text: "the answer has no error, and state " + strconv.Quote(g.State)})
		default:
			out = append(out, answer{name: g.Group, facts: classicFacts(g)})
		}
	}
	return out
}

func classicFacts(g *kmsg.DescribeGroupsResponseGroup) collect.GroupFacts {
	stable := g.State == collect.StateStable
	f := collect.GroupFacts{
		State: g.State, ProtocolType: g.ProtocolType, MembersKnown: true, Members: make([]collect.Member, len(g.Members)),
		Generation: collect.Generation{Value: collect.Unknown},
	}
	if stable {
		f.Assignor = g.Protocol
	}
	for i := range g.Members {
		m := &g.Members[i]
		f.Members[i] = collect.Member{
			ID: m.MemberID, ClientID: m.ClientID, Host: m.ClientHost, InstanceID: text(m.InstanceID), Epoch: -1, Generation: -1,
		}
		if g.ProtocolType != consumerProtocol {
			f.Members[i].Decode = collect.DecodeNotConsumer
			continue
		}
		s := decodeSubscription(m.ProtocolMetadata, g.Protocol)
		f.Members[i].Subscribed, f.Members[i].Rack, f.Members[i].Generation = s.topics, s.rack, s.generation
		f.Members[i].Rejoined = s.rejoined
		f.Members[i].Assigned, f.Members[i].Decode = decodeAssignment(m.MemberAssignment)
	}
	if stable {
		f.Generation = estimate(f.Members)
	}
	return f
}

// estimate is the generation that members' subscriptions tell: each holds the
// one it was in when it last joined, so the group is at least one further.
// At least, since members whose round failed and static ones that did not
// rejoin hold an older one.
func estimate(members []collect.Member) collect.Generation {
	highest := int32(-1)
	for i := range members {
		highest = max(highest, members[i].Generation)
	}
	if highest < 0 {
		return collect.Generation{Value: collect.Unknown}
	}
	return collect.Generation{Value: int64(highest) + 1, Source: collect.SourceMemberMetadata}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
