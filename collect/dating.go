package collect

import "time"

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
	t.makeRoom(s)
	for _, topic := range s.Topics {
		if topic.Reason != ReasonNone {
			continue
		}
		h := t.times(topic)
		for p := range h.parts {
			h.parts[p].fit(t.room)
		}
		for p, end := range topic.LogEnd {
			if end >= 0 && topic.endReason(p) == ReasonNone {
				at := topic.EndAt[p]
				asked := at
				if s.endsAsked > 0 {
					asked = min(at, s.endsAsked)
				}
				h.parts[p].note(end, asked, at)
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
	for name, h := range t.topics {
		if topic, ok := s.Topic(name); ok && topic.ID == h.id {
			h.whole = topic.Retention.Known && !topic.Retention.Compacts
			h.noteStarts(topic)
		}
		for _, gt := range h.readers {
			h.date(gt, s.TakenAt, t)
		}
		clear(h.readers) // holds nothing of this snapshot
		h.readers = h.readers[:0]
	}
}

func (h *topicTimes) date(gt *GroupTopic, now time.Time, t *tracker) {
	open := t.openOf(gt.Topic)
	for i := range gt.Committed {
		l, p := gt.lagAt(i), int(gt.Partition(i))
		if l.lag <= 0 || p >= len(h.parts) {
			continue
		}
		if gt.ages == nil {
			gt.ages = make([]rowAge, gt.Rows())
		}
		part, at := &h.parts[p], gt.position(i, p)
		part.datedAt = now.UnixNano()
		if gt.Reported != nil { // transaction markers leave no share group behind
			first, last := gt.oldestUnread(i, p)
			gt.ages[i] = compactAge(part.ageBetween(first, last, now))
			continue
		}
		if t.transactions.suspectTail(h, open, gt, i, now) {
			switch t.tails[gt.tailQuery(i)] {
			case TailControl: // nothing that anybody could read
				gt.ages[i] = compactAge(Age{Method: MethodExact})
				continue
			case TailData:
			default: // aborted records are unread for ever, too, by those who read committed ones
				gt.ages[i] = compactAge(unknownAge(SecondsControlRecords))
				continue
			}
		}
		gt.ages[i] = compactAge(part.age(at, now))
	}
}
