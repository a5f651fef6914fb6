package kafka

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

var _ collect.TransactionSource = (*Source)(nil)

// mostTransactions is how many transactions of one coordinator are described.
const mostTransactions = 500

// unfinished are the states in which a transaction holds last stable offsets
// back.
func unfinished() []string {
	return []string{"Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence"}
}

// Transactions implements collect.TransactionSource. The partitions' leaders
// tell the producers, where this principal may READ the topic; the coordinators
// tell the transactions of those producers, or all that are open for as long,
// as far as it may describe their transactional ids.
func (s *Source) Transactions(ctx context.Context, queries []collect.TransactionQuery) []collect.TransactionAnswer {
	p := s.newPoll(ctx, collect.Ask{})
	p.hurried = true // what is left of the poll may be next to nothing
	h := hunt{poll: p, queries: queries, out: make([]collect.TransactionAnswer, len(queries))}
	for i := range h.out {
		h.out[i] = collect.Nobody(collect.ReasonNotReported)
	}
	h.askLeaders()
	h.askCoordinators()
	return h.out
}

// hunt is the search for whose transactions some partitions wait for.
type hunt struct {
	*poll
	queries []collect.TransactionQuery
	out     []collect.TransactionAnswer
}

// askLeaders asks for the producers with an open transaction.
func (h *hunt) askLeaders() {
	topics := make([]string, len(h.queries))
	for i := range h.queries {
		topics[i] = h.queries[i].Topic
	}
	may := h.readableOf(topics)
	byLeader := map[int32][]int{}
	answers := map[int32]*kmsg.DescribeProducersResponse{}
	for i := range h.queries {
		q := &h.queries[i]
		if leader := h.leaderOf(q.Topic, q.Partition); leader >= 0 && may[q.Topic] {
			byLeader[leader] = append(byLeader[leader], i)
			answers[leader] = nil
		}
	}
	eachOf(h.poll, collect.StageTransactions, answers, func(id int32) kmsg.Request {
		req := kmsg.NewPtrDescribeProducersRequest()
		for _, i := range byLeader[id] {
			t := kmsg.NewDescribeProducersRequestTopic()
			t.Topic, t.Partitions = h.queries[i].Topic, []int32{h.queries[i].Partition}
			if k := len(req.Topics) - 1; k >= 0 && req.Topics[k].Topic == t.Topic {
				req.Topics[k].Partitions = append(req.Topics[k].Partitions, h.queries[i].Partition)
				continue
			}
			req.Topics = append(req.Topics, t)
		}
		return req
	})
	for id, asked := range byLeader {
		if answers[id] == nil {
			continue
		}
		producers := map[topicPart][]kmsg.DescribeProducersResponseTopicPartitionActiveProducer{}
		for _, t := range answers[id].Topics {
			for _, part := range t.Partitions {
				if part.ErrorCode == 0 {
					producers[topicPart{t.Topic, part.Partition}] = part.ActiveProducers
				}
			}
		}
		for _, i := range asked {
			q := &h.queries[i]
			h.takeProducer(i, producers[topicPart{q.Topic, q.Partition}])
		}
	}
}

// takeProducer finds the producer whose transaction begins first: that is where
// the last stable offset stands.
func (h *hunt) takeProducer(i int, producers []kmsg.DescribeProducersResponseTopicPartitionActiveProducer) {
	first := int64(-1)
	for _, a := range producers {
		if start := a.CurrentTxnStartOffset; start >= 0 && (first < 0 || start < first) {
			first = start
			h.out[i].Reason, h.out[i].ProducerID, h.out[i].ProducerEpoch = collect.ReasonNone, a.ProducerID, a.ProducerEpoch
		}
	}
}

// ongoing is a transaction as its coordinator describes it.
type ongoing struct {
	kmsg.DescribeTransactionsResponseTransactionState
	node int32
}

// askCoordinators asks all brokers, each for the transactions that it
// coordinates.
func (h *hunt) askCoordinators() {
	lists := map[int32]*kmsg.ListTransactionsResponse{}
	for _, id := range h.ids() {
		lists[id] = nil
	}
	producers, all := h.producers()
	failed := eachOf(h.poll, collect.StageTransactions, lists, func(int32) kmsg.Request {
		req := kmsg.NewPtrListTransactionsRequest()
		if all {
			req.ProducerIDFilters = producers
			return req
		}
		req.StateFilters, req.DurationFilterMillis = unfinished(), h.least().Milliseconds()
		return req
	})
	ids := map[int32][]string{}
	details := map[int32]*kmsg.DescribeTransactionsResponse{}
	whole := len(failed) == 0
	for id, list := range lists {
		if list == nil || list.ErrorCode != 0 {
			whole = false
			continue
		}
		for _, t := range list.TransactionStates {
			if len(ids[id]) < mostTransactions {
				ids[id] = append(ids[id], t.TransactionalID)
				details[id] = nil
			} else {
				whole = false
			}
		}
	}
	missed := eachOf(h.poll, collect.StageTransactions, details, func(id int32) kmsg.Request {
		req := kmsg.NewPtrDescribeTransactionsRequest()
		req.TransactionalIDs = ids[id]
		return req
	})
	var open []ongoing
	for id, d := range details {
		if d == nil {
			continue
		}
		for _, t := range d.TransactionStates {
			if t.ErrorCode == 0 {
				open = append(open, ongoing{t, id})
			} else {
				whole = false
			}
		}
	}
	for i := range h.queries {
		h.take(i, open, whole && len(missed) == 0 && all)
		if h.out[i].ProducerID < 0 {
			h.out[i].Reason = unseen(failed, missed)
		}
	}
}

// unseen is why nothing is known of a transaction: a broker that may be asked
// again, or that none tells of it.
func unseen(failed, missed map[int32]collect.Reason) collect.Reason {
	for _, m := range []map[int32]collect.Reason{failed, missed} {
		for _, why := range m {
			if why.Passing() {
				return why
			}
		}
	}
	return collect.ReasonNotReported
}

// producers lists the producers found; all is true when each partition has one.
func (h *hunt) producers() (ids []int64, all bool) {
	for i := range h.out {
		if h.out[i].ProducerID < 0 {
			return nil, false
		}
		if !slices.Contains(ids, h.out[i].ProducerID) {
			ids = append(ids, h.out[i].ProducerID)
		}
	}
	return ids, true
}

// least is how long every transaction asked about is open.
func (h *hunt) least() time.Duration {
	d := h.queries[0].Age
	for i := range h.queries {
		d = min(d, h.queries[i].Age)
	}
	return d * 9 / 10 // our clock and theirs
}

// take finds a partition's transaction among those that coordinators tell of.
// whole is true where they told of all those of the producers found, as far as
// this principal may see them.
func (h *hunt) take(i int, open []ongoing, whole bool) {
	q, a := &h.queries[i], &h.out[i]
	var best *ongoing
	for k := range open {
		t := &open[k]
		if !slices.Contains(unfinished(), t.State) || !t.holds(q.Topic, q.Partition) || a.ProducerID >= 0 && a.ProducerID != t.ProducerID {
			continue
		}
		if best == nil || t.StartTimestamp < best.StartTimestamp {
			best = t
		}
	}
	if best != nil {
		a.Reason, a.ProducerID, a.ProducerEpoch = collect.ReasonNone, best.ProducerID, int32(best.ProducerEpoch)
		a.TransactionalID, a.Coordinator, a.State = best.TransactionalID, best.node, best.State
		a.Timeout = time.Duration(best.TimeoutMillis) * time.Millisecond
		if best.StartTimestamp > 0 {
			a.StartedAt = time.UnixMilli(best.StartTimestamp)
		}
		return
	}
	if a.ProducerID < 0 || !whole {
		return
	}
	for k := range open { // the id of one whose coordinator says that it is over
		if open[k].ProducerID == a.ProducerID {
			a.TransactionalID, a.Coordinator, a.State, a.Hanging = open[k].TransactionalID, open[k].node, open[k].State, true
			return
		}
	}
	a.Hanging = h.seesTransactions()
}

func (t *ongoing) holds(topic string, p int32) bool {
	for i := range t.Topics {
		if t.Topics[i].Topic == topic && slices.Contains(t.Topics[i].Partitions, p) {
			return true
		}
	}
	return false
}

// seesTransactions asks for a transactional id that nobody has: who may
// describe all of them is told so. It is asked once an hour, and only where a
// producer's transaction is found at no coordinator.
func (h *hunt) seesTransactions() bool {
	now := h.o.Now()
	if !h.sees.transactionsAt.IsZero() && now.Sub(h.sees.transactionsAt) < seesFor {
		return h.sees.transactions
	}
	resp, _ := h.anyBroker(func() kmsg.Request {
		req := kmsg.NewPtrDescribeTransactionsRequest()
		req.TransactionalIDs = []string{"klagtop-" + rand.Text()}
		return req
	})
	r, ok := resp.(*kmsg.DescribeTransactionsResponse)
	if !ok || len(r.TransactionStates) == 0 {
		return false
	}
	code := r.TransactionStates[0].ErrorCode
	h.sees.transactions = code == kerr.TransactionalIDNotFound.Code || code == kerr.NotCoordinator.Code
	h.sees.transactionsAt = now
	return h.sees.transactions
}
