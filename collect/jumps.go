package collect

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// settling is how long after a topic was made anew the commits of its
	// readers say nothing: live consumers go on to commit their old positions
	// for seconds, beyond the end of the new log, and then go back.
	settling = time.Minute
	// mirrorHabit is how long a commit that moved forward without members
	// makes the next one look like habit: a mirror's, not somebody's hand.
	mirrorHabit = 15 * time.Minute
)

// A shift is one commit that moved other than by consuming.
type shift struct {
	OffsetChange
	cause Cause // "" where it was told before
}

// heldShift is a shift that waits for proof.
type heldShift struct {
	shift
	id [16]byte  // of the topic
	at time.Time // of the commits
}

// jumpMemory is what the judgement of a group's commits rests on, beside the
// commits themselves.
type jumpMemory struct {
	commitsAt  time.Time  // of the newest commits that were judged
	emptySince time.Time  // of the first of the newest descriptions that all found no member; zero if the newest found one
	generation Generation // of that one
	movedAt    time.Time  // when a commit last moved forward without members; zero if never, or if one moved back since
	held       []heldShift
}

// jumpJudge tells shifts from consumption in one pass over a group's rows.
type jumpJudge struct {
	group  *Group
	memory *jumpMemory
	cuts   *cuts
	told   map[topicPartition]cutCommit // commits below which the log is known to have been cut
	s      *Snapshot
	now    time.Time

	alone  bool // nobody was in the group when the commits moved, as far as descriptions tell
	proved bool // and a description of this poll says so, too
	mirror bool // commits move forward without members by habit
	moved  bool // one did in this poll
	shifts []shift
	cut    []shift // commits that stand still, above a log that was cut
}

// judge begins the pass over a group's rows.
func (m *groupMemory) judge(g *Group, cuts *cuts, s *Snapshot) jumpJudge {
	j := jumpJudge{group: g, memory: &m.jumps, cuts: cuts, told: m.cut, s: s, now: s.TakenAt}
	j.look()
	return j
}

// look tells whether the group is alone: the newest description before the
// commits were read last found nobody in it, and none since found anybody. In
// between, nobody can have consumed, but for one who came and went unseen,
// which a group with epochs tells and another one does not.
func (j *jumpJudge) look() {
	g, m := j.group, j.memory
	empty := g.MembersKnown && len(g.Members) == 0 && g.Reason == ReasonNone && !g.DescribedAt.IsZero()
	rejoined := m.generation.Exact && g.Generation.Exact && m.generation.Value != g.Generation.Value
	if !empty || rejoined {
		m.emptySince = time.Time{}
	}
	if empty && m.emptySince.IsZero() {
		m.emptySince, m.generation = g.DescribedAt, g.Generation
	}
	j.alone = !m.emptySince.IsZero() && !m.emptySince.After(m.commitsAt)
	j.proved = j.alone && g.DescribedAt.After(m.commitsAt)
	j.mirror = !m.movedAt.IsZero() && j.now.Sub(m.movedAt) < mirrorHabit
}

// judge tells whether the commit of row i moved other than by consuming since
// it was read last; what it was then is past's.
func (j *jumpJudge) judge(gt *GroupTopic, past *rowMemory, i, p int, l lagged) (jumped bool) {
	was, is := past.rows[p].commit, gt.Committed[i]
	if was == Unknown {
		return false
	}
	settled := past.remade.IsZero() || j.now.Sub(past.remade) > settling
	c := shift{OffsetChange: OffsetChange{Topic: gt.Topic.Name, Partition: int32(p), From: was, To: is}}
	switch {
	case was == is:
		if l.status == StatusAhead && gt.CommitEpoch[i] < 0 && past.cutBelow(gt.Topic, p, is) {
			c.cause, c.To = CauseTruncated, gt.Topic.LogEnd[p]
			j.cut = append(j.cut, c)
		}
		return false
	case is == NoCommit:
		c.cause = CauseReset
		j.hold(gt, c, settled) // the topic may be on its way out, and its commits gone before it
		return true
	case is < was:
		c.cause = CauseReset
		if end, ok := j.cuts.end(gt.Topic, int32(p), past.epochOf(int32(p))); ok && end < was {
			c.cause = CauseTruncated
			if j.told[topicPartition{c.Topic, c.Partition}].commit == was { // when the log was cut
				c.cause = ""
			}
		}
		j.memory.movedAt, j.mirror = time.Time{}, false
		if past.shrank(gt.Topic, p) && c.cause == CauseReset { // cut, or made anew: the next poll knows
			j.hold(gt, c, settled)
			return true
		}
	case l.status == StatusAhead:
		c.cause = CausePastEnd
	case j.skipped(gt, past, i, p):
		c.cause = CauseSkipped
		j.moved = true
		if j.mirror {
			return false
		}
		if !j.proved {
			j.hold(gt, c, settled)
			return true
		}
	default:
		return false
	}
	if settled {
		j.shifts = append(j.shifts, c)
	}
	return true
}

// vanished takes the rows that a group had on a topic and has no more: without
// their commit, nothing made them its own. gt has those that are left, nil
// without any.
func (j *jumpJudge) vanished(gt *GroupTopic, topic string, past *rowMemory) {
	if past.polls == 0 || j.group.CommitsReason != ReasonNone {
		return
	}
	last := &past.recent[0]
	for i := range last.committed {
		p := int32(i)
		if last.parts != nil {
			p = last.parts[i]
		}
		if int(p) >= len(past.rows) || gt != nil && gt.RowOf(p) >= 0 {
			continue
		}
		if was := past.rows[p].commit; was >= 0 {
			past.rows[p].commit = NoCommit
			if past.shared { // it was the measure of what is done, which nobody set
				was = past.share[p].start
			}
			c := shift{OffsetChange{topic, p, was, NoCommit}, CauseReset}
			j.memory.held = append(j.memory.held, heldShift{c, past.id, j.group.CommitsAt})
		}
	}
}

// skipped reports whether a commit that moved forward was set by hand over
// records that nobody read:
//
//	no member before and after, the new commit without a leader epoch, and
//	new > max(old, log start), in a group that once had members or whose old
//	commit had a leader epoch.
//
// A consumer's own commits carry the epoch of what it read (those of Spring
// do not, but a group with a consumer has members); an administrator's carry
// none. While a group has members a forward jump is never called skipped:
// between two polls a fast consumer may read any number of records, and of a
// compacted log any distance of offsets. A share group's start moves when
// records are given up, too.
func (j *jumpJudge) skipped(gt *GroupTopic, past *rowMemory, i, p int) bool {
	if !j.alone || gt.CommitEpoch[i] >= 0 || gt.Reported != nil {
		return false
	}
	was := past.rows[p].commit
	manned := j.group.ProtocolType != "" || past.epochOf(int32(p)) >= 0
	return manned && was >= 0 && gt.Committed[i] > max(was, gt.Topic.LogStart[p])
}

func (j *jumpJudge) hold(gt *GroupTopic, c shift, settled bool) {
	if settled {
		j.memory.held = append(j.memory.held, heldShift{c, gt.Topic.ID, j.group.CommitsAt})
	}
}

// epochOf is the leader epoch of the commit that a partition had at the poll
// before, -1 if it was not told.
func (past *rowMemory) epochOf(p int32) int32 {
	if past.polls > 0 {
		if i := past.recent[0].rowOf(p); i >= 0 {
			return past.epochs[i]
		}
	}
	return -1
}

// shrank reports whether a log ends before where it did at the poll before.
func (past *rowMemory) shrank(t *Topic, p int) bool {
	if past.polls == 0 || p >= past.recent[0].topic.Partitions() {
		return false
	}
	return t.LogEnd[p] < past.recent[0].topic.LogEnd[p]
}

// cutBelow reports whether a log that reached a commit ends below it since
// another leader was elected.
func (past *rowMemory) cutBelow(t *Topic, p int, commit int64) bool {
	if !past.shrank(t, p) {
		return false
	}
	before := past.recent[0].topic
	return before.LogEnd[p] >= commit && before.Epoch[p] >= 0 && t.Epoch[p] > before.Epoch[p]
}

// finish ends the pass, counts, and gives the shifts that are proved.
func (j *jumpJudge) finish(n *GroupCounters) []shift {
	m, g := j.memory, j.group
	var waiting []heldShift
	for _, h := range m.held {
		gt, ok := g.Topic(h.Topic)
		if ok && (gt.Topic.ID != h.id || gt.Topic.Reason.final()) || !ok && (h.To != NoCommit || j.s.lacks(h.Topic)) {
			continue // it was the topic that went
		}
		i := -1
		if ok {
			i = gt.RowOf(h.Partition)
		}
		switch {
		case i < 0 && h.To == NoCommit && g.CommitsAt.After(h.at):
			j.shifts = append(j.shifts, h.shift)
		case i < 0 && h.To == NoCommit:
			waiting = append(waiting, h)
		case i < 0 || h.cause == CauseSkipped && m.emptySince.IsZero():
		case h.cause == CauseSkipped && !g.DescribedAt.After(h.at),
			h.cause != CauseSkipped && !g.CommitsAt.After(h.at):
			waiting = append(waiting, h)
		case h.To == NoCommit && gt.Committed[i] != NoCommit: // it commits again, from where it was told to
		default:
			j.shifts = append(j.shifts, h.shift)
		}
	}
	m.held = waiting
	if j.moved {
		m.movedAt = j.now
	}
	if g.CommitsReason == ReasonNone && !g.CommitsAt.IsZero() {
		m.commitsAt = g.CommitsAt
	}
	n.count(j.shifts)
	return append(j.cut, j.shifts...)
}

// count adds shifts to the group's counters.
func (n *GroupCounters) count(shifts []shift) {
	for i := range shifts {
		switch c := &shifts[i]; {
		case c.To == NoCommit:
		case c.To < c.From:
			n.JumpsBack++
		case c.To > c.From:
			n.JumpsForward++
		}
	}
}

// offsetEvents makes one event for each cause.
func (t *tracker) offsetEvents(g *Group, shifts []shift) []Event {
	var events []Event
	for _, cause := range []Cause{CauseTruncated, CauseReset, CauseSkipped, CausePastEnd} {
		var changes []OffsetChange
		for _, c := range shifts {
			if c.cause == cause {
				changes = append(changes, c.OffsetChange)
			}
		}
		if changes == nil {
			continue
		}
		slices.SortStableFunc(changes, func(a, b OffsetChange) int {
			if c := strings.Compare(a.Topic, b.Topic); c != 0 {
				return c
			}
			return int(a.Partition) - int(b.Partition)
		})
		e := t.event(g.Name, EventOffsets, g.CommitsAt)
		e.Cause, e.Offsets = cause, changes
		if topics := topicsOf(changes); len(topics) == 1 {
			e.Topic = topics[0]
		}
		e.Text = offsetsText(&e)
		events = append(events, e)
	}
	return events
}

func topicsOf(changes []OffsetChange) []string {
	var out []string
	for i := range changes {
		if n := len(out); n == 0 || out[n-1] != changes[i].Topic {
			out = append(out, changes[i].Topic)
		}
	}
	return out
}

// offsetsText says in one sentence what happened to commits.
func offsetsText(e *Event) string {
	var by int64
	gone := 0
	for _, c := range e.Offsets {
		switch {
		case c.To == NoCommit:
			gone++
		case c.From >= 0:
			by += max(c.From-c.To, c.To-c.From)
		}
	}
	where := "on " + count(len(e.Offsets), "partition")
	if e.Topic != "" {
		where += " of " + e.Topic
	} else {
		where += " of " + count(len(topicsOf(e.Offsets)), "topic")
	}
	who := "group " + e.Group + ": "
	switch moved := len(e.Offsets) - gone; e.Cause {
	case CauseTruncated:
		return fmt.Sprintf("%sthe log was cut below the commit %s, by %s", who, where, count64(by, "record"))
	case CauseSkipped:
		return fmt.Sprintf("%scommits were set forward %s, over %s that nobody read", who, where, count64(by, "record"))
	case CausePastEnd:
		return fmt.Sprintf("%scommits were set past the log end %s", who, where)
	default:
		switch {
		case gone == 0:
			return fmt.Sprintf("%scommits moved back %s, by %s", who, where, count64(by, "record"))
		case moved == 0:
			return fmt.Sprintf("%scommits are gone %s: deleted, or expired", who, where)
		}
		return fmt.Sprintf("%scommits moved back or are gone %s: %d moved by %s, %d deleted or expired", who, where, moved, count64(by, "record"), gone)
	}
}

func count64(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
