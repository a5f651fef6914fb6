package kafka

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

func streamsAnswers(r *kmsg.StreamsGroupDescribeResponse, topics *view) []answer {
	out := make([]answer, 0, len(r.Groups))
	for i := range r.Groups {
		g := &r.Groups[i]
		if g.ErrorCode != 0 {
			out = append(out, refusal(g.Group, g.ErrorCode, g.ErrorMessage))
			continue
		}
		out = append(out, answer{name: g.Group, facts: streamsFacts(g, topics)})
	}
	return out
}

func streamsFacts(g *kmsg.StreamsGroupDescribeResponseGroup, topics *view) collect.GroupFacts {
	f := collect.GroupFacts{
		State: g.State, ProtocolType: "streams", Assignor: text(g.AssignorName), Generation: epoch(g.Epoch),
		AssignmentEpoch: int64(g.AssignmentEpoch), Topology: topology(g.Topology),
		MembersKnown: true, Members: make([]collect.Member, len(g.Members)),
	}
	tasks := tasks{topics: topics, reads: map[string][]string{}}
	var all []string
	if f.Topology != nil {
		all = []string{}
		for i := range f.Topology.Subtopologies {
			s := &f.Topology.Subtopologies[i]
			tasks.reads[s.ID] = append(slices.Clone(s.Sources), s.Repartition...)
			all = append(all, tasks.reads[s.ID]...)
		}
		slices.Sort(all)
		all = slices.Compact(all)
	}
	for i := range g.Members {
		f.Members[i] = tasks.member(&g.Members[i])
		f.Members[i].Subscribed = all
	}
	return f
}

func topology(t *kmsg.StreamsGroupDescribeResponseGroupTopology) *collect.Topology {
	if t == nil {
		return nil
	}
	out := &collect.Topology{Epoch: t.Epoch, Subtopologies: make([]collect.Subtopology, len(t.Subtopologies))}
	for i := range t.Subtopologies {
		s := &t.Subtopologies[i]
		out.Subtopologies[i] = collect.Subtopology{ID: s.SubtopologyID, Sources: s.SourceTopics}
		for _, r := range s.RepartitionSourceTopics {
			out.Subtopologies[i].Repartition = append(out.Subtopologies[i].Repartition, r.Topic)
		}
	}
	return out
}

// tasks turns the tasks of one group into the partitions that they read.
type tasks struct {
	topics *view
	reads  map[string][]string // topics by subtopology
}

func (t tasks) member(m *kmsg.StreamsGroupDescribeResponseGroupMember) collect.Member {
	s := &collect.StreamsMember{
		ProcessID: m.ProcessID, TopologyEpoch: m.TopologyEpoch,
		Standby: t.partitions(m.Assignment.StandbyTasks), Warmup: t.partitions(m.Assignment.WarmupTasks),
		TargetStandby: t.partitions(m.TargetAssignment.StandbyTasks), TargetWarmup: t.partitions(m.TargetAssignment.WarmupTasks),
	}
	out := collect.Member{
		ID: m.MemberID, ClientID: m.ClientID, Host: m.ClientHost, InstanceID: text(m.InstanceID), Rack: text(m.RackID),
		Epoch: m.MemberEpoch, Generation: -1, HasTarget: true, Streams: s,
		Assigned: t.partitions(m.Assignment.ActiveTasks), Target: t.partitions(m.TargetAssignment.ActiveTasks),
	}
	a, target := &m.Assignment, &m.TargetAssignment
	out.Decode = resolved(&out, hasTasks(a.ActiveTasks, a.StandbyTasks, a.WarmupTasks), hasTasks(target.ActiveTasks, target.StandbyTasks, target.WarmupTasks))
	if len(s.Standby)+len(s.Warmup) > 0 { // it has something, and what it has is known
		out.Decode = collect.DecodeOK
	}
	return out
}

func hasTasks(lists ...[]kmsg.TaskIDs) bool {
	return slices.ContainsFunc(slices.Concat(lists...), func(t kmsg.TaskIDs) bool { return len(t.Partitions) > 0 })
}

// partitions gives what tasks read: task p of a subtopology reads partition p
// of each of its topics that has so many. What is not known of a topic, such as
// a new internal one, does not make its partitions fewer.
func (t tasks) partitions(ids []kmsg.TaskIDs) []collect.TopicPartitions {
	var out []collect.TopicPartitions
	for i := range ids {
		for _, topic := range t.reads[ids[i].SubtopologyID] {
			read := ids[i].Partitions
			if known, ok := t.topics.topics[topic]; ok {
				read = slices.DeleteFunc(slices.Clone(read), func(p int32) bool { return int(p) >= len(known.leaders) })
			}
			out = append(out, collect.TopicPartitions{Topic: topic, Partitions: read})
		}
	}
	return tidy(out)
}
