package kafka

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

var _ collect.TailSource = (*Source)(nil)

const (
	// tailBytes is how much of a partition's end is read: a marker takes 78
	// bytes.
	tailBytes = 64 << 10
	// Bits of a record batch's attributes, and where its header ends.
	transactionalBatch = 1 << 4
	controlBatch       = 1 << 5
	batchHeader        = 61
	// prefixBytes of a batch its length does not count.
	prefixBytes = 12
)

// Tails implements collect.TailSource. Only the headers of batches are looked
// at. Topics that this principal may not READ are not asked for.
func (s *Source) Tails(ctx context.Context, queries []collect.TailQuery) []collect.TailKind {
	out := make([]collect.TailKind, len(queries))
	p := s.newPoll(ctx, collect.Ask{})
	p.hurried = true // what is left of the poll may be next to nothing
	topics := make([]string, len(queries))
	for i := range queries {
		topics[i] = queries[i].Topic
	}
	may := p.readableOf(topics)
	// no partition twice in a request, nor more than a few at once: an answer
	// holds one whole batch, and others as far as they fit
	for rest := indexes(len(queries)); len(rest) > 0; {
		byLeader, later := map[int32][]int{}, []int(nil)
		asked := map[topicPart]bool{}
		answers := map[int32]*kmsg.FetchResponse{}
		for _, i := range rest {
			q := &queries[i]
			leader, key := s.leaderOf(q.Topic, q.Partition), topicPart{q.Topic, q.Partition}
			switch {
			case leader < 0 || !may[q.Topic]:
			case asked[key]:
				later = append(later, i)
			default:
				asked[key] = true
				byLeader[leader] = append(byLeader[leader], i)
				answers[leader] = nil
			}
		}
		eachOf(p, collect.StageTimeSearch, answers, func(id int32) kmsg.Request { return s.fetch(queries, byLeader[id]) })
		for id, mine := range byLeader {
			if r := answers[id]; r != nil {
				s.takeTails(r, queries, mine, out)
			}
		}
		rest = later
	}
	return out
}

func indexes(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func (s *Source) fetch(queries []collect.TailQuery, asked []int) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.ReplicaID, req.MaxWaitMillis, req.MinBytes, req.IsolationLevel = -1, 0, 0, readCommitted
	req.MaxBytes = int32(tailBytes * len(asked))
	req.SessionID, req.SessionEpoch = 0, -1
	for _, i := range asked {
		q := &queries[i]
		part := kmsg.NewFetchRequestTopicPartition()
		part.Partition, part.FetchOffset, part.PartitionMaxBytes = q.Partition, q.From, tailBytes
		k := slices.IndexFunc(req.Topics, func(t kmsg.FetchRequestTopic) bool { return t.Topic == q.Topic })
		if k < 0 {
			k = len(req.Topics)
			t := kmsg.NewFetchRequestTopic()
			t.Topic, t.TopicID = q.Topic, s.topics.topics[q.Topic].id
			req.Topics = append(req.Topics, t)
		}
		req.Topics[k].Partitions = append(req.Topics[k].Partitions, part)
	}
	return req
}

func (s *Source) takeTails(r *kmsg.FetchResponse, queries []collect.TailQuery, asked []int, out []collect.TailKind) {
	for i := range r.Topics {
		t := &r.Topics[i]
		name := t.Topic
		if name == "" {
			name = s.topics.nameOf(t.TopicID)
		}
		for j := range t.Partitions {
			part := &t.Partitions[j]
			for _, k := range asked {
				if q := &queries[k]; q.Topic == name && q.Partition == part.Partition && part.ErrorCode == 0 {
					out[k] = tailOf(part, q.From, q.To)
				}
			}
		}
	}
}

// tailOf tells what lies between two offsets of what a leader answered. Where
// the answer ends before, and no data was in it, that is not known.
func tailOf(part *kmsg.FetchResponseTopicPartition, from, to int64) collect.TailKind {
	kind, next, dead := collect.TailControl, from, slices.Clone(part.AbortedTransactions)
	for b := part.RecordBatches; next < to && len(b) >= batchHeader; {
		first, size := int64(binary.BigEndian.Uint64(b)), int64(int32(binary.BigEndian.Uint32(b[8:])))
		magic, attributes := b[16], binary.BigEndian.Uint16(b[21:])
		last := first + int64(int32(binary.BigEndian.Uint32(b[23:])))
		producer := int64(binary.BigEndian.Uint64(b[43:]))
		switch {
		case magic < 2 || last < first || size < batchHeader-prefixBytes:
			return collect.TailUnknown
		case first >= to:
			return kind // a gap up to the end: nothing else is there
		case last < from: // of before, in the same segment
		case attributes&controlBatch != 0: // ends this producer's transaction
			next = last + 1
			dead = slices.DeleteFunc(dead, func(a kmsg.FetchResponseTopicPartitionAbortedTransaction) bool {
				return a.ProducerID == producer && a.FirstOffset < first
			})
		case attributes&transactionalBatch != 0 && aborted(dead, producer, first):
			kind, next = collect.TailAborted, last+1
		case attributes&transactionalBatch != 0 && first >= part.LastStableOffset:
			return collect.TailUnknown // still open
		default:
			return collect.TailData
		}
		if int64(len(b)) <= size+prefixBytes {
			break
		}
		b = b[size+prefixBytes:]
	}
	if next < to {
		return collect.TailUnknown
	}
	return kind
}

// aborted reports whether a producer's records at an offset are those of one of
// the aborted transactions that have not ended before.
func aborted(list []kmsg.FetchResponseTopicPartitionAbortedTransaction, producer, offset int64) bool {
	for _, a := range list {
		if a.ProducerID == producer && a.FirstOffset <= offset {
			return true
		}
	}
	return false
}
