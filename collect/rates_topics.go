package collect

import (
	"math"
	"slices"
)

// nan32 is a rate that is not known.
var nan32 = float32(math.NaN())

// producedTotal counts what was appended to a topic since it was first seen.
type producedTotal struct {
	id    [16]byte
	ends  []int64 // the newest log end by partition, Unknown before the first
	total int64
}

// rateTopics works out records per second for every partition, over the real
// time between the two readings of its log end.
func (t *tracker) rateTopics(s *Snapshot) {
	var past [ShortWindow]*Topic
	for _, topic := range s.Topics {
		n := 0
		for _, topics := range t.recent { // the oldest first: a longer time is a better rate
			if old, ok := topicOf(topics, topic.Name); ok && old.ID == topic.ID {
				past[n] = old
				n++
			}
		}
		topic.Produced = make([]float32, topic.Partitions())
		for p := range topic.Produced {
			topic.Produced[p] = topic.producedSince(past[:n], p)
			if asked := t.pastRates[topic.Name]; n == 0 && p < len(asked) {
				topic.Produced[p] = asked[p]
			}
		}
		topic.rests = topic.rests && n > 0 && past[n-1].sameRates(topic)
		topic.ProducedTotal = t.countProduced(topic)
	}
}

// sameRates reports whether a later poll found the same rates.
func (t *Topic) sameRates(later *Topic) bool {
	return slices.EqualFunc(t.Produced, later.Produced, func(a, b float32) bool { return a == b || a != a && b != b })
}

func (t *Topic) producedSince(past []*Topic, p int) float32 {
	if t.LogEnd[p] < 0 || t.endReason(p) != ReasonNone {
		return nan32
	}
	for _, old := range past {
		if p >= old.Partitions() || old.LogEnd[p] < 0 {
			continue
		}
		elapsed, grown := t.EndAt[p]-old.EndAt[p], t.LogEnd[p]-old.LogEnd[p]
		if elapsed <= 0 || grown < 0 { // the log was cut: an event, not a rate
			continue
		}
		return float32(float64(grown) / (float64(elapsed) / 1e9))
	}
	return nan32
}

func (t *tracker) countProduced(topic *Topic) int64 {
	m := t.produced[topic.Name]
	if m == nil {
		m = &producedTotal{id: topic.ID}
		t.produced[topic.Name] = m
	} else if m.id != topic.ID {
		m.id, m.ends = topic.ID, nil
	}
	for p, end := range topic.LogEnd {
		if p >= len(m.ends) {
			m.ends = append(m.ends, Unknown)
		}
		if end < 0 {
			continue
		}
		if m.ends[p] >= 0 {
			m.total += max(0, end-m.ends[p])
		}
		m.ends[p] = end
	}
	return m.total
}
