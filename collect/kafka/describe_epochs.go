package kafka

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// What the three protocols with epochs have in common: brokers tell members,
// assignments and epochs as they are, nothing is to be decoded.

func epoch(e int32) collect.Generation {
	return collect.Generation{Value: int64(e), Exact: true, Source: collect.SourceEpoch}
}

func consumerAnswers(r *kmsg.ConsumerGroupDescribeResponse, topics *view) []answer {
	out := make([]answer, 0, len(r.Groups))
	for i := range r.Groups {
		g := &r.Groups[i]
		if g.ErrorCode != 0 {
			out = append(out, refusal(g.Group, g.ErrorCode, g.ErrorMessage))
			continue
		}
		f := collect.GroupFacts{
			State: g.State, ProtocolType: consumerProtocol, Assignor: g.AssignorName, Generation: epoch(g.Epoch),
			AssignmentEpoch: int64(g.AssignmentEpoch), MembersKnown: true, Members: make([]collect.Member, len(g.Members)),
		}
		for j := range g.Members {
			m := &g.Members[j]
			f.Members[j] = collect.Member{
				ID: m.MemberID, ClientID: m.ClientID, Host: m.ClientHost, InstanceID: text(m.InstanceID), Rack: text(m.RackID),
				Epoch: m.MemberEpoch, Generation: -1, Regex: text(m.SubscribedTopicRegex), HasTarget: true,
				Subscribed: sorted(m.SubscribedTopics),
				Assigned:   topics.name(m.Assignment.TopicPartitions), Target: topics.name(m.TargetAssignment.TopicPartitions),
			}
			f.Members[j].Decode = resolved(&f.Members[j], hasPartitions(m.Assignment.TopicPartitions), hasPartitions(m.TargetAssignment.TopicPartitions))
		}
		out = append(out, answer{name: g.Group, facts: f})
	}
	return out
}

func shareAnswers(r *kmsg.ShareGroupDescribeResponse, topics *view) []answer {
	out := make([]answer, 0, len(r.Groups))
	for i := range r.Groups {
		g := &r.Groups[i]
		if g.ErrorCode != 0 {
			out = append(out, refusal(g.GroupID, g.ErrorCode, g.ErrorMessage))
			continue
		}
		f := collect.GroupFacts{
			State: g.GroupState, ProtocolType: "share", Assignor: g.Assignor, Generation: epoch(g.GroupEpoch),
			AssignmentEpoch: int64(g.AssignmentEpoch), MembersKnown: true, Members: make([]collect.Member, len(g.Members)),
		}
		for j := range g.Members {
			m := &g.Members[j]
			var tps []kmsg.AssignmentTopicPartition
			for _, tp := range m.Assignment.TopicPartitions {
				tps = append(tps, kmsg.AssignmentTopicPartition{TopicID: tp.TopicID, Topic: tp.Topic, Partitions: tp.Partitions})
			}
			f.Members[j] = collect.Member{
				ID: m.MemberID, ClientID: m.ClientID, Host: m.ClientHost, Rack: text(m.RackID), Epoch: m.MemberEpoch, Generation: -1,
				Subscribed: sorted(m.SubscribedTopicNames), Assigned: topics.name(tps),
			}
			f.Members[j].Decode = resolved(&f.Members[j], hasPartitions(tps), false)
		}
		out = append(out, answer{name: g.GroupID, facts: f})
	}
	return out
}

// name turns a broker's assignment into ours. Some brokers leave out the names
// and give ids only; an id that Metadata does not know belongs to a topic that
// is too new or just gone.
func (v *view) name(tps []kmsg.AssignmentTopicPartition) []collect.TopicPartitions {
	var out []collect.TopicPartitions
	for i := range tps {
		name := tps[i].Topic
		if name == "" {
			if name = v.nameOf(tps[i].TopicID); name == "" {
				v.strange.Store(true)
				continue
			}
		}
		out = append(out, collect.TopicPartitions{Topic: name, Partitions: tps[i].Partitions})
	}
	return tidy(out)
}

// tidy puts an assignment in order, each topic once and without empty ones. It
// copies what it keeps.
func tidy(tps []collect.TopicPartitions) []collect.TopicPartitions {
	slices.SortStableFunc(tps, func(a, b collect.TopicPartitions) int { return strings.Compare(a.Topic, b.Topic) })
	var out []collect.TopicPartitions
	for _, tp := range tps {
		if len(tp.Partitions) == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Topic == tp.Topic {
			out[n-1].Partitions = append(out[n-1].Partitions, tp.Partitions...)
			continue
		}
		out = append(out, collect.TopicPartitions{Topic: tp.Topic, Partitions: slices.Clone(tp.Partitions)})
	}
	for i := range out {
		slices.Sort(out[i].Partitions)
		out[i].Partitions = slices.Compact(out[i].Partitions)
	}
	return out
}

// sorted copies names; no names are known ones, not unknown.
func sorted(names []string) []string {
	out := append([]string{}, names...)
	slices.Sort(out)
	return out
}

// resolved is what became of the assignment of a member that owns and is given
// something, or not, as the broker says. One of which nothing could be named is
// not one of nothing: the member is not idle.
func resolved(m *collect.Member, owns, given bool) collect.Decode {
	if len(m.Assigned) == 0 && (owns || given && len(m.Target) == 0) {
		return collect.DecodeUndecodable
	}
	return decodeOf(m.Assigned)
}

func hasPartitions(tps []kmsg.AssignmentTopicPartition) bool {
	return slices.ContainsFunc(tps, func(tp kmsg.AssignmentTopicPartition) bool { return len(tp.Partitions) > 0 })
}

func decodeOf(assigned []collect.TopicPartitions) collect.Decode {
	if len(assigned) == 0 {
		return collect.DecodeEmpty
	}
	return collect.DecodeOK
}
