package kafka

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// Timestamps with a meaning of their own in ListOffsets, beside
// collect.TimestampNewest.
const (
	timestampEnd   int64 = -1
	timestampStart int64 = -2
)

const readCommitted int8 = 1

// remoteWait is how long a broker may look into remote storage, in
// milliseconds. The client adds it to the silence after which a connection
// counts as dead: with its own default of 30 s, one lost answer would keep a
// broker unread for that long after it is well again.
const remoteWait = 1000

const notTheLeader = "the broker that Metadata names does not lead the partition"

// A want is partitions of one topic whose offsets to ask for.
type want struct {
	topic      string
	id         [16]byte
	leaders    []int32
	partitions []int32
	timestamps []int64 // one a partition; nil where all are asked the same
	of         int     // the caller's own index

	index map[int32]int // of partitions, where an answer comes in another order
}

// position finds an answered partition among those asked for, -1 if it was not:
// what brokers answer is not trusted to index our arrays. guess is where it is
// when answers keep the order of the questions.
func (w *want) position(p int32, guess int) int {
	if guess < len(w.partitions) && w.partitions[guess] == p {
		return guess
	}
	if w.index == nil {
		w.index = make(map[int32]int, len(w.partitions))
		for i, q := range w.partitions {
			w.index[q] = i
		}
	}
	if i, ok := w.index[p]; ok {
		return i
	}
	return -1
}

// offsetAnswer is a leader's word on one partition.
type offsetAnswer struct {
	offset    int64
	timestamp int64
	epoch     int32
	at        time.Time
}

// An offsetQuery asks leaders for offsets. set and unread are called once for
// each partition, in any order, by the poll's goroutine.
type offsetQuery struct {
	stage     collect.Stage
	timestamp int64
	isolation int8
	set       func(w *want, p int32, a offsetAnswer)
	unread    func(w *want, p int32, why collect.Reason)
}

// chunk is what one request asks of one leader.
type chunk struct {
	wants []want
	resp  *kmsg.ListOffsetsResponse
	at    time.Time
}

// listOffsets asks the leaders, all side by side. Where one answers that it
// leads no more, brokers and topics are read again, once in a poll, and the new
// leader is asked for those partitions.
func (p *poll) listOffsets(q offsetQuery, wants []want) {
	stale := p.askLeaders(q, wants)
	if len(stale) == 0 {
		return
	}
	p.refresh()
	var again []want
	for _, w := range stale {
		t, ok := p.topics.topics[w.topic]
		switch {
		case !ok:
			p.outdated = true
			p.unread(q, w, w.partitions, collect.ReasonTopicMissing, "the topic is gone")
		case t.id != w.id, slices.Equal(t.leaders, w.leaders):
			p.outdated = true // a topic made anew shows with the next poll
			p.unread(q, w, w.partitions, collect.ReasonNoLeader, notTheLeader)
		default:
			w.leaders = t.leaders
			again = append(again, w)
		}
	}
	for _, w := range p.askLeaders(q, again) {
		p.outdated = true
		p.unread(q, w, w.partitions, collect.ReasonNoLeader, notTheLeader)
	}
}

// askLeaders makes one round and gives what was asked of the wrong broker.
func (p *poll) askLeaders(q offsetQuery, wants []want) (stale []want) {
	byLeader := p.byLeader(q, wants)
	ids := make([]int32, 0, len(byLeader))
	for id := range byLeader {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if len(ids) == 0 {
		return nil
	}
	failed := p.each(q.stage, ids, func(c *call) error {
		for _, ch := range byLeader[c.n.id] {
			resp, at, err := c.ask(q.request(ch.wants))
			if err != nil {
				return err
			}
			ch.resp, ch.at = resp.(*kmsg.ListOffsetsResponse), at
		}
		return nil
	})
	for _, id := range ids {
		for _, ch := range byLeader[id] {
			if ch.resp != nil {
				stale = append(stale, p.takeOffsets(q, id, ch)...)
				continue
			}
			why := failed[id]
			if why == collect.ReasonNone {
				why = collect.ReasonError
			}
			for i := range ch.wants {
				for _, part := range ch.wants[i].partitions {
					q.unread(&ch.wants[i], part, why)
				}
			}
		}
	}
	return stale
}

// byLeader deals partitions to their leaders, in chunks.
func (p *poll) byLeader(q offsetQuery, wants []want) map[int32][]*chunk {
	out := map[int32][]*chunk{}
	size := map[int32]int{}
	for _, w := range wants {
		parts := map[int32]*want{}
		for i, part := range w.partitions {
			leader := int32(-1)
			if int(part) < len(w.leaders) {
				leader = w.leaders[part]
			}
			if leader < 0 {
				p.unread(q, w, w.partitions[i:i+1], collect.ReasonNoLeader, "the partition has no leader")
				continue
			}
			mine := parts[leader]
			if mine == nil {
				chs := out[leader]
				if len(chs) == 0 || size[leader] >= mostOffsets {
					chs = append(chs, &chunk{})
					out[leader], size[leader] = chs, 0
				}
				ch := chs[len(chs)-1]
				ch.wants = append(ch.wants, want{topic: w.topic, id: w.id, leaders: w.leaders, of: w.of})
				parts[leader] = &ch.wants[len(ch.wants)-1]
				mine = parts[leader]
			}
			mine.partitions = append(mine.partitions, part)
			if w.timestamps != nil {
				mine.timestamps = append(mine.timestamps, w.timestamps[i])
			}
			size[leader]++
		}
	}
	return out
}

func (q offsetQuery) request(wants []want) *kmsg.ListOffsetsRequest {
	req := kmsg.NewPtrListOffsetsRequest()
	req.IsolationLevel = q.isolation
	req.TimeoutMillis = remoteWait
	req.Topics = make([]kmsg.ListOffsetsRequestTopic, len(wants))
	for i := range wants {
		w := &wants[i]
		t := &req.Topics[i]
		t.Topic = w.topic
		t.Partitions = make([]kmsg.ListOffsetsRequestTopicPartition, len(w.partitions))
		for j, part := range w.partitions {
			t.Partitions[j] = kmsg.NewListOffsetsRequestTopicPartition()
			t.Partitions[j].Partition, t.Partitions[j].Timestamp = part, q.timestamp
			if w.timestamps != nil {
				t.Partitions[j].Timestamp = w.timestamps[j]
			}
		}
	}
	return req
}

// takeOffsets hands one answer on and gives what the broker does not lead.
func (p *poll) takeOffsets(q offsetQuery, leader int32, ch *chunk) (stale []want) {
	index := make(map[string]*want, len(ch.wants))
	for i := range ch.wants {
		index[ch.wants[i].topic] = &ch.wants[i]
	}
	for i := range ch.resp.Topics {
		t := &ch.resp.Topics[i]
		w := index[t.Topic]
		if w == nil {
			continue
		}
		var moved want
		for j := range t.Partitions {
			a := &t.Partitions[j]
			pos := w.position(a.Partition, j)
			if pos < 0 {
				continue
			}
			switch a.ErrorCode {
			case 0:
				q.set(w, a.Partition, offsetAnswer{offset: a.Offset, timestamp: a.Timestamp, epoch: a.LeaderEpoch, at: ch.at})
			case kerr.NotLeaderForPartition.Code, kerr.UnknownTopicOrPartition.Code, kerr.FencedLeaderEpoch.Code, kerr.UnknownLeaderEpoch.Code:
				moved.partitions = append(moved.partitions, a.Partition)
				if w.timestamps != nil {
					moved.timestamps = append(moved.timestamps, w.timestamps[pos])
				}
			default:
				why := reasonOfCode(a.ErrorCode)
				q.unread(w, a.Partition, why)
				from := leader
				if why == collect.ReasonDenied {
					from = -1 // it is no matter of the broker
				}
				p.problems.partition(q.stage, from, w.topic, a.Partition, why, kerr.ErrorForCode(a.ErrorCode).Error())
			}
		}
		if moved.partitions != nil {
			moved.topic, moved.id, moved.leaders, moved.of = w.topic, w.id, w.leaders, w.of
			stale = append(stale, moved)
		}
	}
	return stale
}

func (p *poll) unread(q offsetQuery, w want, partitions []int32, why collect.Reason, text string) {
	for _, part := range partitions {
		q.unread(&w, part, why)
		p.problems.partition(q.stage, -1, w.topic, part, why, text)
	}
}

// wantsOf turns the builder's needs into wants.
func (p *poll) wantsOf(needs []collect.Need) []want {
	out := make([]want, 0, len(needs))
	for i := range needs {
		t := needs[i].Topic
		out = append(out, want{topic: t.Name, id: t.ID, leaders: t.Leader, partitions: needs[i].Partitions, of: i})
	}
	return out
}
