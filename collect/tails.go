package collect

import (
	"context"
	"time"
)

// tailBudget is how many tails one poll reads.
const tailBudget = 50

// TailKind is what the last records of a partition are.
type TailKind uint8

// The kinds.
const (
	TailUnknown TailKind = iota
	TailData             // the first of them is data that some reader may read
	TailControl          // nothing but markers that end transactions
	TailAborted          // nothing but markers and records of aborted transactions
)

// A TailQuery asks what lies between two offsets, From included and To not.
type TailQuery struct {
	Topic     string
	Partition int32
	From, To  int64
}

// A TailSource is a Source that can read records. It reads no topic that this
// principal may not READ. Answers come in the order of the queries.
type TailSource interface {
	Tails(ctx context.Context, queries []TailQuery) []TailKind
}

// tails remembers what was read, as long as some row needs it.
type tails map[TailQuery]TailKind

// readTails reads the tails that may hold nothing but markers, and of which
// DESCRIBE proves nothing.
func (c *Collector) readTails(ctx context.Context, s *Snapshot) {
	source, ok := c.source.(TailSource)
	if !ok || !c.opts.ProbeRecords {
		return
	}
	t := c.tracker
	used, queries := tails{}, []TailQuery(nil)
	for _, g := range s.Groups {
		for _, gt := range g.Topics {
			h := t.topics[gt.Topic.Name]
			if h != nil && h.id != gt.Topic.ID {
				h = nil
			}
			if gt.Reported != nil { // markers leave no share group behind
				continue
			}
			open := t.openOf(gt.Topic)
			for i := range gt.Committed {
				if l := gt.lagAt(i); l.lag <= 0 || l.stale || !t.transactions.suspectTail(h, open, gt, i, s.TakenAt) {
					continue
				}
				q := gt.tailQuery(i)
				kind, known := t.tails[q]
				if _, listed := used[q]; !listed && !known && len(queries) < tailBudget {
					queries = append(queries, q)
				}
				used[q] = kind
			}
		}
	}
	if len(queries) > 0 && ctx.Err() == nil {
		for i, kind := range source.Tails(ctx, queries) {
			used[queries[i]] = kind
		}
	}
	for q, kind := range used {
		if kind == TailUnknown {
			delete(used, q) // read with the next poll
		}
	}
	t.tails = used
}

func (gt *GroupTopic) tailQuery(i int) TailQuery {
	p := gt.Partition(i)
	return TailQuery{gt.Topic.Name, p, gt.position(i, int(p)), gt.Topic.LogEnd[p]}
}

// openOf is what is remembered of a topic's last stable offsets, nil without.
func (t *tracker) openOf(topic *Topic) *openTopic {
	if o := t.open[topic.Name]; o != nil && o.id == topic.ID {
		return o
	}
	return nil
}

// suspectTail reports whether all that row i has unread may be markers, or
// records of one aborted transaction: whether it is short, or was seen to be
// one transaction, and DESCRIBE does not prove it data. h is the topic's
// history, nil without.
func (ends transactions) suspectTail(h *topicTimes, open *openTopic, gt *GroupTopic, i int, now time.Time) bool {
	if !ends.possible {
		return false
	}
	p := int(gt.Partition(i))
	at := gt.position(i, p)
	if stable := gt.Topic.LastStable[p]; stable == at && stable < gt.Topic.LogEnd[p] {
		return false // the first record of an open transaction
	}
	if gt.tail(i) > shortTail && !open.wasOneTransaction(int32(p), at, gt.Topic.LogEnd[p]) {
		return false
	}
	return h == nil || p >= len(h.parts) || !ends.proves(h.parts[p].earliest(at, now))
}
