package collect

import (
	"regexp"
	"slices"
	"sort"
	"time"
)

// describeGroup joins what a poll learned of a group with what was known.
func describeGroup(f GroupFacts, prev *Group, staleAfter time.Duration, now time.Time) *Group {
	g := &Group{
		Name: f.Name, Type: f.Type, State: f.State, Reason: f.Reason, ProtocolType: f.ProtocolType, Assignor: f.Assignor,
		Coordinator: f.Coordinator, Generation: f.Generation, Leader: f.Leader, AssignmentEpoch: Unknown,
	}
	switch {
	case f.Described:
		g.DescribedAt, g.MembersKnown, g.Members = f.At, f.MembersKnown, f.Members
		g.Topology = f.Topology
		if f.Generation.Source == SourceEpoch {
			g.AssignmentEpoch = f.AssignmentEpoch
		}
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
	g.State, g.ProtocolType, g.Assignor, g.Generation, g.Leader = prev.State, prev.ProtocolType, prev.Assignor, prev.Generation, prev.Leader
	g.DescribedAt, g.MembersKnown, g.Members, g.AssignmentStale = prev.DescribedAt, prev.MembersKnown, prev.Members, prev.AssignmentStale
	g.AssignmentEpoch, g.Topology = prev.AssignmentEpoch, prev.Topology
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

// topicUse is what a group has to do with one topic.
type topicUse struct {
	name       string
	subscribed bool // members subscribe to it, by name
	commits    *TopicCommits
	// assigned are members' partitions, those beyond count only where all
	// others have rows anyway.
	assigned []int32
	rows     *GroupTopic // nil without any
	topic    *topicDraft // nil where it was not looked up, or nothing is known of it
}

// topicUses are a group's topics. Members name the same topics in the same
// order, so that the next one is nearly always where the one before ended.
type topicUses struct {
	list  []topicUse
	index map[string]int
	next  int
}

// of finds a topic's entry, or makes it. The pointer holds until the next call.
func (u *topicUses) of(name string) *topicUse {
	if u.next >= len(u.list) {
		u.next = 0
	}
	k := u.next
	if len(u.list) == 0 || u.list[k].name != name {
		var ok bool
		if k, ok = u.index[name]; !ok {
			k = len(u.list)
			u.index[name], u.list = k, append(u.list, topicUse{name: name})
		}
	}
	u.next = k + 1
	return &u.list[k]
}

// uses lists every topic a group may have rows on. Members mostly subscribe to
// the same topics, and a list that is like the one before says nothing new.
func (d *groupDraft) uses() *topicUses {
	n := len(d.commits) + 2
	out := &topicUses{list: make([]topicUse, 0, n), index: make(map[string]int, n)}
	for i := range d.commits {
		out.of(d.commits[i].Topic).commits = &d.commits[i]
	}
	if d.undue || d.why != ReasonNone && d.continues() {
		for _, gt := range d.prev.Topics {
			out.of(gt.Topic.Name)
		}
	}
	if d.Topology != nil { // also of an application that is stopped
		for i := range d.Topology.Subtopologies {
			for _, t := range d.Topology.Subtopologies[i].reads() {
				out.of(t).subscribed = true
			}
		}
	}
	subscribes := d.consumes()
	var last []string
	for i := range d.Members {
		m := &d.Members[i]
		for _, tps := range [][]TopicPartitions{m.Assigned, m.Target} {
			for k := range tps {
				if u := out.of(tps[k].Topic); m.Subscribed == nil {
					u.subscribed = true
				}
			}
		}
		if subscribes && !slices.Equal(m.Subscribed, last) {
			for _, t := range m.Subscribed {
				out.of(t).subscribed = true
			}
			last = m.Subscribed
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
	var last []string
	for i := range d.Members {
		m := &d.Members[i]
		if m.Subscribed == nil && m.Regex == "" {
			return nil, false
		}
		if !slices.Equal(m.Subscribed, last) {
			for _, t := range m.Subscribed {
				names[t] = true
			}
			last = m.Subscribed
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
