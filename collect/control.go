package collect

import (
	"context"
	"time"
)

// TransactionTopic is where brokers keep the state of transactions.
const TransactionTopic = "__transaction_state"

const (
	// shortTail is how many unread records may be nothing but the markers
	// that end transactions: a consumer that commits what it read stays
	// before them for ever, and their age says nothing.
	shortTail = 10
	// markerSkew is how far a marker's timestamp may lie after that of the
	// record in TransactionTopic which says that the transaction is over.
	markerSkew = 2 * time.Second
)

// transactions is what a poll knows of the ends of transactions.
type transactions struct {
	possible bool  // the cluster has, or may have, a TransactionTopic
	known    bool  // newest was read after the log ends were
	newest   int64 // timestamp of its newest record, Unix nanoseconds; 0 without any
}

// proves reports whether a record written at the earliest at from is data. No
// request that DESCRIBE allows tells a marker from data; but no marker is
// younger than the newest record of TransactionTopic.
func (t transactions) proves(from int64) bool {
	return t.known && from > t.newest+markerSkew.Nanoseconds()
}

// lookForMarkers reads when a transaction ended last, where some row has a
// tail that could be markers, or one aborted transaction, only.
func (c *Collector) lookForMarkers(ctx context.Context, s *Snapshot) {
	t := transactions{possible: s.Cluster.TransactionState}
	defer func() { c.tracker.transactions = t }()
	n := s.Cluster.TransactionPartitions
	if !t.possible || n == 0 || ctx.Err() != nil || !s.shortTails() && len(c.tracker.open) == 0 {
		return
	}
	queries := make([]TimeQuery, n)
	for p := range queries {
		queries[p] = TimeQuery{TransactionTopic, int32(p), TimestampNewest}
	}
	for _, a := range c.source.OffsetsAt(ctx, queries) {
		if a.Reason != ReasonNone {
			return
		}
		if a.Offset >= 0 {
			t.newest = max(t.newest, a.Timestamp*int64(time.Millisecond))
		}
	}
	t.known = true
}

// shortTails reports whether some row may have nothing but markers unread.
func (s *Snapshot) shortTails() bool {
	for _, g := range s.Groups {
		for _, gt := range g.Topics {
			if gt.Reported != nil { // a share group reads past markers
				continue
			}
			for i := range gt.Committed {
				if l := gt.lagAt(i); l.lag > 0 && gt.tail(i) <= shortTail {
					return true
				}
			}
		}
	}
	return false
}

// tail is how many offsets lie between row i's first unread record and the log
// end.
func (gt *GroupTopic) tail(i int) int64 {
	p := int(gt.Partition(i))
	return gt.Topic.LogEnd[p] - gt.position(i, p)
}
