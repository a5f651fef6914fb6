package collect

import (
	"sort"
	"time"
)

// times gives the history of a topic; one with another id is another topic.
func (t *tracker) times(topic *Topic) *topicTimes {
	h := t.topics[topic.Name]
	if h == nil || h.id != topic.ID {
		h = &topicTimes{id: topic.ID}
		t.topics[topic.Name] = h
	}
	for len(h.parts) < topic.Partitions() {
		h.parts = append(h.parts, partitionTimes{tried: Unknown})
	}
	return h
}

// noteEnds records the log ends of a snapshot, and forgets topics that are gone.
func (t *tracker) noteEnds(s *Snapshot) {
	for _, topic := range s.Topics {
		if topic.Reason != ReasonNone {
			continue
		}
		h := t.times(topic)
		for p, end := range topic.LogEnd {
			if end >= 0 && topic.endReason(p) == ReasonNone {
				h.parts[p].note(end, topic.EndAt[p])
			}
		}
	}
	for name := range t.topics {
		if topic, ok := s.Topic(name); !ok || topic.Reason == ReasonTopicMissing {
			delete(t.topics, name)
		}
	}
}

// dateRows gives the rows with lag the age of their first unread record. It
// goes by topic and not by group: the histories of a large cluster do not fit
// into a processor's cache, those of one topic do.
func (t *tracker) dateRows(s *Snapshot) {
	for _, g := range s.Groups {
		for _, gt := range g.Topics {
			if h := t.topics[gt.Topic.Name]; h != nil && h.id == gt.Topic.ID {
				h.readers = append(h.readers, gt)
			}
		}
	}
	for _, h := range t.topics {
		for _, gt := range h.readers {
			h.date(gt, s.TakenAt)
		}
		clear(h.readers) // holds nothing of this snapshot
		h.readers = h.readers[:0]
	}
}

func (h *topicTimes) date(gt *GroupTopic, now time.Time) {
	for i := range gt.Committed {
		l, p := gt.lagAt(i), int(gt.Partition(i))
		if l.lag <= 0 || p >= len(h.parts) {
			continue
		}
		if gt.ages == nil {
			gt.ages = make([]rowAge, gt.Rows())
		}
		gt.ages[i] = compactAge(h.parts[p].age(gt.position(i, p), now))
	}
}

// wanted lists what is worth a search: the first unread record of rows whose
// age is not known well enough, one a partition, those furthest behind first.
func (t *tracker) wanted(s *Snapshot) []*search {
	type candidate struct {
		search
		lag int64
	}
	best := map[topicPartition]candidate{}
	for _, g := range s.Groups {
		for _, gt := range g.Topics {
			if gt.Topic.Reason != ReasonNone || gt.Orphaned {
				continue
			}
			h := t.times(gt.Topic)
			for i := range gt.Committed {
				if gt.ages != nil && !vague(gt.ages[i].age()) {
					continue
				}
				l := gt.lagAt(i)
				p := int(gt.Partition(i))
				if l.lag <= 0 || l.stale || h.parts[p].unsearchable != "" || h.parts[p].tried == gt.position(i, p) {
					continue
				}
				at := gt.position(i, p)
				key := topicPartition{gt.Topic.Name, int32(p)}
				if best[key].lag < l.lag && vague(h.parts[p].age(at, s.TakenAt)) {
					best[key] = candidate{search{topic: key.topic, partition: key.partition, target: at}, l.lag}
				}
			}
		}
	}
	all := make([]candidate, 0, len(best))
	for _, c := range best {
		all = append(all, c)
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := &all[i], &all[j]
		return a.lag > b.lag || a.lag == b.lag && (a.topic < b.topic || a.topic == b.topic && a.partition < b.partition)
	})
	out := make([]*search, 0, min(len(all), searchPartitions))
	for i := range all[:min(len(all), searchPartitions)] {
		out = append(out, &all[i].search)
	}
	return out
}

// vague reports whether an age is worth a search: not known, a mere lower
// limit, or with an error above 10 s and a tenth of itself.
func vague(a Age) bool {
	switch a.Method {
	case MethodExact:
		return false
	case MethodInterpolated:
		return a.Error > max(10, a.Seconds/10)
	}
	return true
}

// learn keeps what a search found: the target's own timestamp, or those of the
// nearest records before and after it.
func (t *tracker) learn(s *search) {
	h := t.topics[s.topic]
	if h == nil || int(s.partition) >= len(h.parts) {
		return
	}
	part := &h.parts[s.partition]
	if s.done && !s.failed && !s.skew {
		part.tried = s.target
	}
	switch {
	case s.skew:
		part.unsearchable = SecondsClockSkew
		if n := len(part.ends); n > 0 {
			part.searchedAt = part.ends[n-1].last
		}
		return
	case s.stage == askNewest || s.hi < 0:
		return
	case !s.exact && s.lo >= 0:
		part.pin(s.lo, s.loAt*1e6)
	}
	part.pin(s.hi, s.hiRecord*1e6)
}
