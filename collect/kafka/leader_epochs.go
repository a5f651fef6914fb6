package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

var _ collect.EpochSource = (*Source)(nil)

// EpochEnds implements collect.EpochSource. It needs no more than DESCRIBE on
// the topics. What a leader of before would answer is refused by the brokers:
// the question names the leader epoch that is known.
func (s *Source) EpochEnds(ctx context.Context, queries []collect.EpochQuery) []collect.EpochAnswer {
	out := make([]collect.EpochAnswer, len(queries))
	byLeader := map[int32][]int{}
	for i, q := range queries {
		out[i] = collect.EpochAnswer{End: collect.Unknown, Reason: collect.ReasonNoLeader}
		if leader := s.leaderOf(q.Topic, q.Partition); leader >= 0 {
			byLeader[leader] = append(byLeader[leader], i)
		}
	}
	p := s.newPoll(ctx, collect.Ask{})
	p.hurried = true // what is left of the poll may be next to nothing
	answers := make(map[int32]*kmsg.OffsetForLeaderEpochResponse, len(byLeader))
	for id := range byLeader {
		answers[id] = nil
	}
	failed := eachOf(p, collect.StageLogEnd, answers, func(id int32) kmsg.Request { return epochRequest(queries, byLeader[id]) })
	for id, asked := range byLeader {
		index := make(map[topicPart]int, len(asked))
		for _, i := range asked {
			out[i].Reason = collect.ReasonError // left out of the answer
			if why := failed[id]; why != collect.ReasonNone {
				out[i].Reason = why
			}
			index[topicPart{queries[i].Topic, queries[i].Partition}] = i
		}
		if answers[id] == nil {
			continue
		}
		for _, t := range answers[id].Topics {
			for _, a := range t.Partitions {
				if i, ok := index[topicPart{t.Topic, a.Partition}]; ok {
					out[i] = collect.EpochAnswer{End: a.EndOffset, Reason: reasonOfCode(a.ErrorCode)}
				}
			}
		}
	}
	return out
}

func epochRequest(queries []collect.EpochQuery, asked []int) *kmsg.OffsetForLeaderEpochRequest {
	req := kmsg.NewPtrOffsetForLeaderEpochRequest()
	req.ReplicaID = -1
	index := map[string]int{}
	for _, i := range asked {
		q := queries[i]
		k, ok := index[q.Topic]
		if !ok {
			k = len(req.Topics)
			index[q.Topic] = k
			t := kmsg.NewOffsetForLeaderEpochRequestTopic()
			t.Topic = q.Topic
			req.Topics = append(req.Topics, t)
		}
		part := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
		part.Partition, part.CurrentLeaderEpoch, part.LeaderEpoch = q.Partition, q.Leader, q.Epoch
		req.Topics[k].Partitions = append(req.Topics[k].Partitions, part)
	}
	return req
}

// leaderOf is the broker that leads a partition, as far as Metadata told; -1 if
// it did not.
func (s *Source) leaderOf(topic string, p int32) int32 {
	if l := s.topics.topics[topic].leaders; p >= 0 && int(p) < len(l) {
		return l[p]
	}
	return -1
}
