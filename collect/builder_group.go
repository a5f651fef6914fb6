package collect

import (
	"regexp"
	"sort"
	"time"
)

// describeGroup joins what a poll learned of a group with what was known.
func describeGroup(f GroupFacts, prev *Group, staleAfter time.Duration, now time.Time) *Group {
	g := &Group{
		Name: f.Name, Type: f.Type, State: f.State, Reason: f.Reason, ProtocolType: f.ProtocolType, Assignor: f.Assignor,
		Coordinator: f.Coordinator, Generation: f.Generation,
	}
	switch {
	case f.Described:
		g.DescribedAt, g.MembersKnown, g.Members = f.At, f.MembersKnown, f.Members
		g.recallHidden(prev)
	case f.Reason == ReasonNone && prev != nil && prev.Type == f.Type:
		g.recall(prev)
	case f.Reason.Passing() && prev != nil && (now.IsZero() || now.Sub(prev.DescribedAt) <= staleAfter):
		g.recall(prev)
		g.AssignmentStale = true
	default:
		g.Generation = Generation{Value: Unknown}
		if f.Reason.Passing() && prev != nil { // known once, but too long ago
			g.State, g.ProtocolType, g.Assignor, g.DescribedAt = StateUnknown, prev.ProtocolType, prev.Assignor, prev.DescribedAt
		}
	}
	if g.State == "" {
		g.State = StateUnknown
	}
	if g.Coordinator < 0 && prev != nil {
		g.Coordinator = prev.Coordinator
	}
	sort.SliceStable(g.Members, func(i, j int) bool {
		a, b := &g.Members[i], &g.Members[j]
		return a.ClientID < b.ClientID || a.ClientID == b.ClientID && a.ID < b.ID
	})
	return g
}

// recall takes a description over as it was.
func (g *Group) recall(prev *Group) {
	reason, coordinator := g.Reason, g.Coordinator
	g.State, g.ProtocolType, g.Assignor, g.Generation = prev.State, prev.ProtocolType, prev.Assignor, prev.Generation
	g.DescribedAt, g.MembersKnown, g.Members, g.AssignmentStale = prev.DescribedAt, prev.MembersKnown, prev.Members, prev.AssignmentStale
	g.Reason, g.Coordinator = reason, coordinator
	if len(prev.Members) > 0 { // the caller sorts in place
		g.Members = append([]Member(nil), prev.Members...)
	}
}

// recallHidden fills in what brokers hide while a classic group rebalances:
// assignor, subscriptions and assignments are then those of the last stable
// generation, marked stale. An old coordinator sends no bytes, a newer one
// (Kafka 4) those of the generation before: neither is what members own now.
func (g *Group) recallHidden(prev *Group) {
	if g.Type != TypeClassic || !g.MembersKnown {
		return
	}
	if g.Assignor == "" && prev != nil && len(g.Members) > 0 {
		g.Assignor = prev.Assignor
	}
	if !g.Rebalancing() {
		return
	}
	g.AssignmentStale = true
	before := map[string]*Member{}
	if prev != nil {
		for i := range prev.Members {
			before[prev.Members[i].Key()] = &prev.Members[i]
		}
	}
	for i := range g.Members {
		m := &g.Members[i]
		old := before[m.Key()]
		if old == nil {
			continue
		}
		if m.Subscribed == nil {
			m.Subscribed = old.Subscribed
		}
		if len(m.Assigned) == 0 {
			m.Assigned, m.Decode = old.Assigned, old.Decode
		}
		if m.Generation < 0 {
			m.Generation = old.Generation
		}
	}
	if !g.Generation.Known() && prev != nil {
		g.Generation = prev.Generation
	}
}

// topicNames is every topic a group may have rows on, true where its members
// subscribe to it.
func (d *groupDraft) topicNames() map[string]bool {
	out := map[string]bool{}
	for _, c := range d.commits {
		out[c.Topic] = false
	}
	if d.why != ReasonNone && d.prev != nil {
		for _, gt := range d.prev.Topics {
			out[gt.Topic.Name] = false
		}
	}
	for i := range d.Members {
		m := &d.Members[i]
		for _, tps := range [][]TopicPartitions{m.Assigned, m.Target} {
			for _, tp := range tps {
				out[tp.Topic] = out[tp.Topic] || m.Subscribed == nil
			}
		}
		if d.consumes() || d.Type == TypeStreams {
			for _, t := range m.Subscribed {
				out[t] = true
			}
		}
	}
	return out
}

// subscription tells which topics members subscribe to; known is false where
// some member's subscription is hidden or cannot be read.
func (d *groupDraft) subscription() (has func(topic string) bool, known bool) {
	if !d.MembersKnown || len(d.Members) == 0 {
		return nil, false
	}
	names := map[string]bool{}
	var patterns []*regexp.Regexp
	for i := range d.Members {
		m := &d.Members[i]
		if m.Subscribed == nil && m.Regex == "" {
			return nil, false
		}
		for _, t := range m.Subscribed {
			names[t] = true
		}
		if m.Regex != "" {
			re, err := regexp.Compile("^(?:" + m.Regex + ")$")
			if err != nil {
				return nil, false
			}
			patterns = append(patterns, re)
		}
	}
	return func(topic string) bool {
		if names[topic] {
			return true
		}
		for _, re := range patterns {
			if re.MatchString(topic) {
				return true
			}
		}
		return false
	}, true
}
