package collect

import (
	"fmt"
	"sort"
	"time"
)

// deletedFor is how long a topic that was deleted is remembered, so that one
// of its name is known to be made anew.
const deletedFor = 10 * time.Minute

// topicSeen is what a group knows of one of its topics.
type topicSeen struct {
	id         [16]byte
	partitions int
	deletedAt  time.Time // zero while it exists
	unused     bool      // the poll before had no rows on it: Metadata may be a poll late
}

// remade reports whether a topic is another one of the same name.
func (s topicSeen) remade(t *Topic) bool {
	return s.id != t.ID && s.id != [16]byte{} && t.ID != [16]byte{}
}

// topicChanges tells of topics that grew, are gone or were made anew, each once
// for a group that has rows on it.
func (t *tracker) topicChanges(g *Group, m *groupMemory, s *Snapshot) []Event {
	var events []Event
	change := func(topic string, cause Cause, text string) {
		e := t.event(g.Name, EventTopic, s.TakenAt)
		e.Topic, e.Cause, e.Text = topic, cause, "group "+g.Name+": topic "+topic+" "+text
		events = append(events, e)
	}
	if m.topics == nil {
		m.topics = make(map[string]topicSeen, len(g.Topics))
	}
	for _, gt := range g.Topics {
		topic := gt.Topic
		if gt.apart { // an old one
			var ok bool
			if topic, ok = s.Topic(topic.Name); !ok {
				continue
			}
		}
		seen, known := m.topics[topic.Name]
		now := topicSeen{id: topic.ID, partitions: topic.Partitions()}
		switch {
		case topic.Reason == ReasonTopicMissing:
			if known && seen.deletedAt.IsZero() {
				change(topic.Name, CauseDeleted, "was deleted")
				seen.deletedAt = s.TakenAt
				m.topics[topic.Name] = seen
			}
			continue
		case topic.Reason != ReasonNone:
			continue
		case !known:
		case seen.remade(topic):
			change(topic.Name, CauseRecreated, "was deleted and made anew")
		case now.partitions > seen.partitions:
			change(topic.Name, CausePartitionsAdded, fmt.Sprintf("grew from %s to %d", count(seen.partitions, "partition"), now.partitions))
		case now.partitions < seen.partitions: // a broker that has not heard of all
			now.partitions = seen.partitions
		}
		m.topics[topic.Name] = now
	}
	for _, name := range m.unused(g) {
		switch seen := m.topics[name]; {
		case seen.deletedAt.IsZero() && s.lacks(name):
			change(name, CauseDeleted, "was deleted")
			seen.deletedAt = s.TakenAt
			m.topics[name] = seen
		case seen.deletedAt.IsZero() && !seen.unused:
			seen.unused = true
			m.topics[name] = seen
		case seen.deletedAt.IsZero() || s.TakenAt.Sub(seen.deletedAt) > deletedFor:
			delete(m.topics, name)
		}
	}
	return events
}

// unused lists the topics known of a group on which it has no rows now.
func (m *groupMemory) unused(g *Group) []string {
	known := 0
	for _, gt := range g.Topics {
		if _, ok := m.topics[gt.Topic.Name]; ok {
			known++
		}
	}
	if known == len(m.topics) { // nearly always
		return nil
	}
	used := make(map[string]bool, len(g.Topics))
	for _, gt := range g.Topics {
		used[gt.Topic.Name] = true
	}
	var out []string
	for name := range m.topics {
		if !used[name] {
			out = append(out, name)
		}
	}
	sort.Strings(out)
	return out
}

// lacks reports whether a topic, on which the snapshot before had rows, is
// known to exist no more.
func (s *Snapshot) lacks(topic string) bool {
	i := sort.SearchStrings(s.gone, topic)
	return i < len(s.gone) && s.gone[i] == topic
}
