package collect

import (
	"context"
	"time"
)

// PastRate is what produced rates are taken over at the first look, where log
// ends of the past can be asked for.
const PastRate = time.Minute

const (
	// pastAge is how far back log ends are asked for beside that: what lies
	// after it need not be searched for.
	pastAge = 5 * time.Minute
	// pastPartitions bounds these questions; what is beyond has its rates from
	// the second look on.
	pastPartitions = 3 * searchPartitions
)

// pastEnd is a partition whose log ends of the past are asked for.
type pastEnd struct {
	topic *Topic
	part  int32
	times *partitionTimes
	// newest is the timestamp of its newest record, Unix milliseconds. A leader
	// that names no record since an earlier moment is in a state of its own:
	// after DeleteRecords it does so until the dead segment is gone.
	newest int64
}

// askPastEnds asks for the log ends of one and five minutes ago, by timestamp,
// so that the first look knows what is produced. It goes by the records' own
// timestamps: where the newest lies in the future, nothing is said. Partitions
// that never held a record need no question.
func (c *Collector) askPastEnds(ctx context.Context, s *Snapshot) {
	t := c.tracker
	t.meet(s.Cluster.ID)
	t.noteEnds(s)
	t.pastRates = map[string][]float32{}
	parts := t.pastEnds(s)
	now := c.opts.Now()
	parts = c.askPast(ctx, parts, TimestampNewest, func(e *pastEnd, a TimeAnswer) bool {
		e.newest = a.Timestamp
		if a.Timestamp > now.Add(futureAllowance).UnixMilli() {
			e.times.skewed()
			return false
		}
		return a.Offset >= 0
	})
	since := s.TakenAt.Add(-PastRate)
	parts = c.askPast(ctx, parts, since.UnixMilli(), func(e *pastEnd, a TimeAnswer) bool {
		if a.Offset < 0 && e.newest >= since.UnixMilli() {
			return false
		}
		end := e.topic.LogEnd[e.part]
		if a.Offset >= 0 { // else nothing was produced since
			e.times.pin(a.Offset, a.Timestamp*int64(time.Millisecond))
			end = min(end, a.Offset)
		}
		if elapsed := e.topic.EndAt[e.part] - since.UnixNano(); elapsed > 0 {
			t.pastRate(e.topic)[e.part] = float32(float64(e.topic.LogEnd[e.part]-end) / (float64(elapsed) / 1e9))
		}
		return true
	})
	c.askPast(ctx, parts, s.TakenAt.Add(-pastAge).UnixMilli(), func(e *pastEnd, a TimeAnswer) bool {
		if a.Offset >= 0 {
			e.times.pin(a.Offset, a.Timestamp*int64(time.Millisecond))
		}
		return true
	})
}

// askPast puts one question to the leaders and gives the partitions whose
// answers take accepts.
func (c *Collector) askPast(ctx context.Context, parts []pastEnd, timestamp int64, take func(*pastEnd, TimeAnswer) bool) (good []pastEnd) {
	if len(parts) == 0 || ctx.Err() != nil {
		return nil
	}
	queries := make([]TimeQuery, len(parts))
	for i, e := range parts {
		queries[i] = TimeQuery{e.topic.Name, e.part, timestamp}
	}
	for i, a := range c.source.OffsetsAt(ctx, queries) {
		if a.Reason != ReasonNone || timestamp >= 0 && a.Offset >= 0 && a.Timestamp < timestamp { // older than asked for
			continue
		}
		if take(&parts[i], a) {
			good = append(good, parts[i])
		}
	}
	return good
}

// pastEnds lists partitions that hold records, and notes those that never did.
func (t *tracker) pastEnds(s *Snapshot) (out []pastEnd) {
	for _, topic := range s.Topics {
		if topic.Reason != ReasonNone {
			continue
		}
		h := t.times(topic)
		for p, end := range topic.LogEnd {
			if end == 0 && topic.endReason(p) == ReasonNone {
				t.pastRate(topic)[p] = 0
			}
			if end <= topic.LogStart[p] || topic.LogStart[p] < 0 || topic.endReason(p) != ReasonNone {
				continue
			}
			if out = append(out, pastEnd{topic: topic, part: int32(p), times: &h.parts[p]}); len(out) == pastPartitions {
				return out
			}
		}
	}
	return out
}

// pastRate are the rates of a topic's partitions at the first look, NaN where
// they are not known.
func (t *tracker) pastRate(topic *Topic) []float32 {
	rates := t.pastRates[topic.Name]
	if rates == nil {
		rates = make([]float32, topic.Partitions())
		for p := range rates {
			rates[p] = nan32
		}
		t.pastRates[topic.Name] = rates
	}
	return rates
}
