package collect

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// cause names why a group rebalanced, where what is seen allows one answer. An
// assignor that changed comes first: whoever brought it joined, left or
// restarted. After it, one kind of change is the cause, and of several which
// was first cannot be told. What static members do by restarting, and an epoch
// that grew, are causes only where nothing else changed.
func (r *rebalanceMemory) cause(g *Group, e *Event) Cause {
	if !r.known {
		return CauseUnknown
	}
	if r.assignor != "" && g.Assignor != "" && r.assignor != g.Assignor {
		return CauseAssignorChanged
	}
	topics, grown := r.otherTopics(g, len(e.Joined)+len(e.Left) == 0)
	var found []Cause
	add := func(is bool, c Cause) {
		if is {
			found = append(found, c)
		}
	}
	add(len(e.Joined) > 0, CauseMemberJoined)
	add(len(e.Left) > 0, CauseMemberLeft)
	add(topics, CauseTopicsChanged)
	add(grown, CausePartitionsChanged)
	switch {
	case len(found) > 1:
		return CauseUnknown
	case len(found) == 1 && found[0] == CauseMemberLeft && r.timedOut(e.Left):
		return CauseMemberTimedOut
	case len(found) == 1:
		return found[0]
	case len(replaced(r.members, g.Members)) > 0:
		return CauseStaticRestart
	case g.Generation.Source == SourceEpoch:
		return CauseEpoch
	}
	return CauseUnknown
}

// otherTopics reports whether the group's topics changed, and whether one of
// them got more partitions. A member's subscription is compared with its own
// before: one that joins brings its own. With the same members, also a topic
// of which all partitions came or went tells it (a pattern).
func (r *rebalanceMemory) otherTopics(g *Group, sameMembers bool) (topics, grown bool) {
	before := make(map[string]*Member, len(r.members))
	for i := range r.members {
		before[r.members[i].Key()] = &r.members[i]
	}
	for i := range g.Members {
		m := &g.Members[i]
		if old := before[m.Key()]; old != nil && old.Subscribed != nil && m.Subscribed != nil {
			topics = topics || old.Regex != m.Regex || !slices.Equal(old.Subscribed, m.Subscribed)
		}
	}
	was, is := tops(r.members), tops(g.Members)
	for topic, top := range is {
		_, had := was[topic]
		topics = topics || !had && sameMembers
		grown = grown || had && top > r.reached[topic]
	}
	for topic := range was {
		_, has := is[topic]
		topics = topics || !has && sameMembers
	}
	return topics, grown
}

// tops is the highest partition that members own, by topic.
func tops(members []Member) map[string]int32 {
	out := map[string]int32{}
	for i := range members {
		for _, tp := range members[i].Assigned {
			for _, p := range tp.Partitions {
				out[tp.Topic] = max(out[tp.Topic], p)
			}
		}
	}
	return out
}

// reach notes how many partitions there are when the group has dealt them out,
// whether it has yet or not: only what comes after that can be told to be new.
func (r *rebalanceMemory) reach(g *Group) {
	r.reached = tops(g.Members)
	for topic, top := range r.reached {
		if gt, ok := g.Topic(topic); ok {
			r.reached[topic] = max(top, int32(gt.Topic.Partitions())-1)
		}
	}
}

// shortestSession is the shortest session timeout that brokers allow as they
// come (group.min.session.timeout.ms).
const shortestSession = 6 * time.Second

// timedOut reports whether all that left are known to have been dropped by the
// broker. Dynamic members are not: they also leave by themselves, silent as
// they were, when max.poll.interval is over. Static members do not: one that
// had stood still over unread records, or had said that it would be back, ran
// out of its session.
func (r *rebalanceMemory) timedOut(left []MemberRef) bool {
	for _, ref := range left {
		if ref.InstanceID == "" || r.statics == nil {
			return false
		}
		key := "instance " + ref.InstanceID
		if w := r.waits[key]; w != nil && w.away {
			continue
		}
		if !r.statics.stoodStill(key) {
			return false
		}
	}
	return len(left) > 0
}

// style tells how a rebalance was carried out. Of classic groups, the evidence
// is what members said when they joined for it: whoever still held partitions
// then went on working on those that it kept (cooperative), whoever had given
// up all of them stopped (eager). Subscriptions say so from version 1 on; only
// members that keep partitions count, and where they differ nothing is said.
// Over several rounds, who came to the last one with nothing may have lost it
// in one before: then nothing is said either.
func (r *rebalanceMemory) style(g *Group, rounds int64) Style {
	switch g.Type {
	case TypeConsumer, TypeStreams:
		return StyleReconcile
	case TypeClassic:
	default:
		return StyleUnknown
	}
	before := make(map[string]*Member, len(r.members))
	for i := range r.members {
		before[r.members[i].ID] = &r.members[i]
	}
	var holding, emptyHanded bool
	for i := range g.Members {
		m := &g.Members[i]
		old := before[m.ID]
		if old == nil || old.Partitions() == beyond(old.Assigned, m.Assigned, nil) {
			continue // keeps nothing
		}
		holding = holding || m.Rejoined == RejoinedHolding
		emptyHanded = emptyHanded || m.Rejoined == RejoinedEmptyHanded && rounds == 1
	}
	switch {
	case holding && !emptyHanded:
		return StyleCooperative
	case emptyHanded && !holding:
		return StyleEager
	}
	return StyleUnknown
}

// namedAtMost is how many members a sentence names.
const namedAtMost = 3

// rebalanceText says in one sentence what happened; slowest is the member that
// was waited for most, and for how long.
func rebalanceText(e *Event, slowest MemberRef, waited time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "group %s rebalanced", e.Group)
	if e.Count > 1 {
		atLeast := "at least "
		if e.GenerationTo.Exact {
			atLeast = ""
		}
		fmt.Fprintf(&b, " %s%d times", atLeast, e.Count)
	}
	if !math.IsNaN(e.Seconds) {
		fmt.Fprintf(&b, " in %.1f s", e.Seconds)
	}
	who(&b, e.Joined, "joined")
	who(&b, e.Left, "left")
	switch e.Cause {
	case CauseMemberTimedOut:
		b.WriteString(" (timed out)")
	case CauseStaticRestart:
		b.WriteString(", a static member restarted")
	case CausePartitionsChanged:
		b.WriteString(", a topic has more partitions")
	case CauseTopicsChanged:
		b.WriteString(", the topics changed")
	case CauseAssignorChanged:
		b.WriteString(", the assignor changed")
	}
	fmt.Fprintf(&b, ": %s moved, %d kept", count(int(e.Moved), "partition"), e.Kept)
	if e.Gained > 0 {
		fmt.Fprintf(&b, ", %d that had no owner have one", e.Gained)
	}
	if e.Lost > 0 {
		fmt.Fprintf(&b, ", %d without an owner", e.Lost)
	}
	switch e.Style {
	case StyleEager:
		b.WriteString("; all members stopped for it")
	case StyleCooperative:
		b.WriteString("; kept ones went on")
	}
	if waited > 0 {
		fmt.Fprintf(&b, "; it waited longest for %s, %.1f s", nameOf(slowest), waited.Seconds())
	}
	return b.String()
}

// who names members that came or went.
func who(b *strings.Builder, refs []MemberRef, did string) {
	if len(refs) > namedAtMost {
		fmt.Fprintf(b, ", %s %s", count(len(refs), "member"), did)
		return
	}
	names := make([]string, len(refs))
	for i, ref := range refs {
		names[i] = nameOf(ref)
	}
	if len(names) > 0 {
		fmt.Fprintf(b, ", %s %s", strings.Join(names, " and "), did)
	}
}

// nameOf is what people call a member: its instance id, else its client id.
func nameOf(m MemberRef) string {
	switch {
	case m.InstanceID != "":
		return m.InstanceID
	case m.ClientID != "":
		return m.ClientID
	}
	return m.MemberID
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
