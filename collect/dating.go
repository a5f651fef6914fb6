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
	open, nano := t.openOf(gt.Topic), now.UnixNano()
	gt.dated = true
	for i := range gt.Committed {
		l, p := gt.lagAt(i), int(gt.Partition(i))
		if l.lag <= 0 || p >= len(h.parts) {
			continue
		}
		if gt.ages == nil {
			gt.ages = make([]rowAge, gt.Rows())
		}
		h.parts[p].datedAt = nano
		gt.ages[i] = compactAge(h.ageOf(gt, i, open, now, t))
		gt.vague = gt.vague || gt.ages[i].vague()
		gt.oldest.add(gt, i, l)
	}
}

// ageOf is the age of row i, which has lag.
func (h *topicTimes) ageOf(gt *GroupTopic, i int, open *openTopic, now time.Time, t *tracker) Age {
	p := int(gt.Partition(i))
	part := &h.parts[p]
	if gt.Reported != nil { // transaction markers leave no share group behind
		first, last := gt.oldestUnread(i, p)
		return part.ageBetween(first, last, now)
	}
	if t.transactions.suspectTail(h, open, gt, i, now) {
		switch t.tails[gt.tailQuery(i)] {
		case TailControl: // nothing that anybody could read
			return Age{Method: MethodExact}
		case TailData:
		default: // aborted records are unread for ever, too, by those who read committed ones
			return unknownAge(SecondsControlRecords)
		}
	}
	return part.age(gt.position(i, p), now)
}
