package collect

import (
	"context"
	"slices"
	"time"
)

const (
	// openAfter is how long a last stable offset may stand still below the log
	// end before its transaction is asked about: the default transaction
	// timeout of producers, 60 s, and the 10 s after which coordinators look
	// for those that ran out. Three polls, where that is longer.
	openAfter = 70 * time.Second
	// openBudget is how many partitions one poll asks about.
	openBudget = 100
	// openAgain and openRetry are how long an answer, and a failure to get
	// one, holds. What is denied is not asked again: each question would be a
	// line in a broker's authorizer log.
	openAgain = 5 * time.Minute
	openRetry = 30 * time.Second
)

// An OpenTransaction holds a partition's last stable offset back for longer
// than transactions last by default: readers of committed records wait for it.
type OpenTransaction struct {
	Partition int32
	Start     int64 // offset of its first record: the last stable offset
	Age       Age   // since it began; at_least where no broker tells
	TransactionAnswer
}

// A TransactionQuery asks whose transaction holds a last stable offset back.
type TransactionQuery struct {
	Topic     string
	Partition int32
	Start     int64
	Age       time.Duration // it is open for at least as long
}

// A TransactionAnswer is what brokers tell of an open transaction. What this
// principal may not see, or no broker knows, has the values given here.
type TransactionAnswer struct {
	Reason          Reason        // why nothing more is known; ReasonNone where a producer is
	ProducerID      int64         // Unknown
	ProducerEpoch   int32         // -1
	TransactionalID string        // ""
	Coordinator     int32         // -1
	State           string        // "", as the coordinator spells it
	Timeout         time.Duration // 0
	StartedAt       time.Time     // zero
	// Hanging is true where its coordinator is proved to know nothing of it: it
	// will never end by itself.
	Hanging bool
}

// Nobody is the answer about a transaction of which nothing is known.
func Nobody(why Reason) TransactionAnswer {
	return TransactionAnswer{Reason: why, ProducerID: Unknown, ProducerEpoch: -1, Coordinator: -1}
}

// A TransactionSource is a Source that can ask for open transactions. Answers
// come in the order of the queries.
type TransactionSource interface {
	Transactions(ctx context.Context, queries []TransactionQuery) []TransactionAnswer
}

// OpenTransaction is the one that holds a partition's last stable offset back,
// nil where none is known to do so for long.
func (t *Topic) OpenTransaction(p int32) *OpenTransaction {
	i, ok := slices.BinarySearchFunc(t.Open, p, func(o OpenTransaction, p int32) int { return int(o.Partition) - int(p) })
	if !ok || int(p) >= len(t.LastStable) || t.LastStable[p] != t.Open[i].Start {
		return nil
	}
	return &t.Open[i]
}

// openTopic is what is remembered of a topic's last stable offsets.
type openTopic struct {
	id    [16]byte
	parts map[int32]*openPart // those where it was seen below the log end
}

// openPart is a partition whose last stable offset was seen below its log end.
type openPart struct {
	stable int64 // the last stable offset
	since  int64 // when it was seen there first, Unix nanoseconds
	end    int64 // the log end that was seen beside it last
	closed bool  // it is the log end now

	askedAt int64 // 0 never
	told    TransactionAnswer
}

// lookForTransactions asks whose transactions hold last stable offsets back for
// long.
func (c *Collector) lookForTransactions(ctx context.Context, s *Snapshot) {
	t := c.tracker
	t.noteStable(s)
	queries := t.openTransactions(s, max(openAfter, 3*c.Interval()))
	source, ok := c.source.(TransactionSource)
	if ok && len(queries) > 0 && ctx.Err() == nil {
		for i, a := range source.Transactions(ctx, queries) {
			part := t.open[queries[i].Topic].parts[queries[i].Partition]
			part.askedAt, part.told = s.TakenAt.UnixNano(), a
		}
	}
	t.showTransactions(s, max(openAfter, 3*c.Interval()))
}

// noteStable follows last stable offsets that are below their log ends.
func (t *tracker) noteStable(s *Snapshot) {
	for _, topic := range s.Topics {
		if topic.Reason != ReasonNone {
			continue
		}
		open := t.open[topic.Name]
		if open != nil && open.id != topic.ID {
			open = nil
			delete(t.open, topic.Name)
		}
		for p, stable := range topic.LastStable {
			end := topic.LogEnd[p]
			if end < 0 || topic.endReason(p) != ReasonNone || stable == end && (open == nil || open.parts[int32(p)] == nil) {
				continue
			}
			if open == nil && stable >= 0 {
				open = &openTopic{id: topic.ID, parts: map[int32]*openPart{}}
				t.open[topic.Name] = open
			}
			open.note(int32(p), stable, end, topic.EndAt[p])
		}
	}
	for name, open := range t.open {
		if topic, ok := s.Topic(name); !ok || topic.Reason == ReasonTopicMissing || len(open.parts) == 0 {
			delete(t.open, name)
		}
	}
}

func (o *openTopic) note(p int32, stable, end, at int64) {
	if o == nil {
		return
	}
	part := o.parts[p]
	switch {
	case stable < 0: // not asked for: nobody waits there
		delete(o.parts, p)
	case stable < end && (part == nil || part.closed || part.stable != stable):
		o.parts[p] = &openPart{stable: stable, since: at, end: end}
	case stable < end:
		part.end = end
	case part == nil:
	case end <= part.end+shortTail:
		part.closed = true
	default:
		delete(o.parts, p)
	}
}

// wasOneTransaction reports whether all that lies between two offsets of a
// partition was seen to be written while one transaction was open that is over
// now, but for the markers that ended it: if it was aborted, nobody who reads
// committed records will ever read any of that.
func (o *openTopic) wasOneTransaction(p int32, from, end int64) bool {
	if o == nil {
		return false
	}
	part := o.parts[p]
	return part != nil && part.closed && part.stable <= from && end <= part.end+shortTail
}

// held is how long a partition's last stable offset has been where it is, at
// least; and the age of the record there, where it is known better.
func (t *tracker) held(topic *Topic, p int32, part *openPart, now time.Time) (time.Duration, Age) {
	least := Age{Seconds: max(0, float64(now.UnixNano()-part.since)/1e9), Method: MethodAtLeast}
	if at := part.told.StartedAt; !at.IsZero() {
		return now.Sub(at), Age{Seconds: max(0, now.Sub(at).Seconds()), Method: MethodExact}
	}
	if h := t.topics[topic.Name]; h != nil && h.id == topic.ID && int(p) < len(h.parts) {
		a := h.parts[p].age(part.stable, now)
		if a.Known() && a.Seconds-a.Error >= least.Seconds || a.Method == MethodExact {
			return time.Duration((a.Seconds - a.Error) * float64(time.Second)), a
		}
	}
	return time.Duration(least.Seconds * float64(time.Second)), least
}

// suspects calls f for each partition whose last stable offset is held back for
// long, topics by name and partitions in order.
func (t *tracker) suspects(s *Snapshot, after time.Duration, f func(topic *Topic, p int32, part *openPart, least time.Duration, age Age)) {
	for _, topic := range s.Topics {
		open := t.open[topic.Name]
		if open == nil || topic.Reason != ReasonNone {
			continue
		}
		for p := range int32(topic.Partitions()) {
			part := open.parts[p]
			if part == nil || part.closed || topic.LastStable[p] != part.stable {
				continue
			}
			if least, age := t.held(topic, p, part, s.TakenAt); least >= after {
				f(topic, p, part, least, age)
			}
		}
	}
}

// openTransactions lists what to ask now.
func (t *tracker) openTransactions(s *Snapshot, after time.Duration) (queries []TransactionQuery) {
	t.suspects(s, after, func(topic *Topic, p int32, part *openPart, least time.Duration, _ Age) {
		asked := s.TakenAt.Sub(time.Unix(0, part.askedAt))
		due := part.askedAt == 0 || part.told.Reason.Passing() && asked >= openRetry || part.told.Reason == ReasonNone && asked >= openAgain
		if due && len(queries) < openBudget {
			queries = append(queries, TransactionQuery{topic.Name, p, part.stable, least})
		}
	})
	return queries
}

// showTransactions writes what is known of open transactions into the snapshot.
func (t *tracker) showTransactions(s *Snapshot, after time.Duration) {
	t.suspects(s, after, func(topic *Topic, p int32, part *openPart, _ time.Duration, age Age) {
		o := OpenTransaction{Partition: p, Start: part.stable, Age: age, TransactionAnswer: part.told}
		if part.askedAt == 0 {
			o.TransactionAnswer = Nobody(ReasonTimeout)
		}
		topic.Open = append(topic.Open, o)
	})
}
