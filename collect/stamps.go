package collect

import (
	"context"
	"time"
)

const (
	// stampsEvery is how often a growing log's newest timestamp is held against
	// the moment at which it was written.
	stampsEvery = 10 * time.Minute
	// stampsWait bounds that question within a poll.
	stampsWait = 500 * time.Millisecond
)

// lookAtStamps asks for the newest timestamps of logs that grew while they were
// watched, searchPartitions of them at most. A history of log ends tells when a
// record was written; a mirrored or refilled log is stamped long before that,
// and its time lag goes by the stamps. first is true for logs that were never
// looked at: what is said of them would be wrong until then.
func (c *Collector) lookAtStamps(ctx context.Context, s *Snapshot, first bool) {
	c.tracker.meet(s.Cluster.ID)
	c.tracker.noteEnds(s)
	queries := c.tracker.unstamped(s, first)
	if len(queries) == 0 || ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, stampsWait)
	defer cancel()
	answers := c.source.OffsetsAt(ctx, queries)
	now := c.opts.Now()
	for i, a := range answers {
		c.tracker.stamped(queries[i], a, now)
	}
}

func (t *tracker) unstamped(s *Snapshot, first bool) (out []TimeQuery) {
	for _, topic := range s.Topics {
		h := t.topics[topic.Name]
		if h == nil || h.id != topic.ID {
			continue
		}
		for p := range h.parts {
			part := &h.parts[p]
			due := part.stampsAt == 0 || !first && part.datedAt == s.TakenAt.UnixNano() && s.TakenAt.UnixNano()-part.stampsAt > stampsEvery.Nanoseconds()
			if len(part.ends) < 2 || !due {
				continue
			}
			if out = append(out, TimeQuery{topic.Name, int32(p), TimestampNewest}); len(out) == searchPartitions {
				return out
			}
		}
	}
	return out
}

// stamped keeps by how much, at most, the newest record was stamped before or
// after it was written, where it certainly was. A leader that does not answer, or cannot, is not asked again so
// soon.
func (t *tracker) stamped(q TimeQuery, a TimeAnswer, now time.Time) {
	part := &t.topics[q.Topic].parts[q.Partition]
	part.stampsAt = now.UnixNano()
	if a.Reason != ReasonNone || a.Offset < 0 {
		return
	}
	at := a.Timestamp * int64(time.Millisecond)
	if at > now.Add(futureAllowance).UnixNano() {
		part.skewed()
		return
	}
	from, to := int64(0), now.UnixNano() // when it was written
	i := part.endAfter(a.Offset)
	if i > 0 {
		from = part.ends[i-1].last
	}
	if i < len(part.ends) {
		to = part.ends[i].first
	}
	part.behind, part.ahead = part.behind/2, part.ahead/2
	switch {
	case at < from:
		part.behind = max(part.behind, to-at)
	case at > to && from > 0:
		part.ahead = max(part.ahead, at-from)
	}
}

// skewed says that the log holds timestamps in the future.
func (h *partitionTimes) skewed() {
	h.unsearchable = SecondsClockSkew
	if n := len(h.ends); n > 0 {
		h.searchedAt = h.ends[n-1].last
	}
}
