package collect

import (
	"math"
	"time"
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
	for _, topic := range s.Topics {
		topic.Produced = make([]float32, topic.Partitions())
		for p := range topic.Produced {
			topic.Produced[p] = t.producedRate(topic, p)
		}
		topic.ProducedTotal = t.countProduced(topic)
	}
}

func (t *tracker) producedRate(topic *Topic, p int) float32 {
	if topic.LogEnd[p] < 0 || topic.endReason(p) != ReasonNone {
		return nan32
	}
	for _, old := range t.recent {
		before, ok := old.Topic(topic.Name)
		if !ok || before.ID != topic.ID || p >= before.Partitions() || before.LogEnd[p] < 0 {
			continue
		}
		elapsed := float64(topic.EndAt[p]-before.EndAt[p]) / 1e9
		grown := topic.LogEnd[p] - before.LogEnd[p]
		if elapsed <= 0 || grown < 0 { // the log was cut: an event, not a rate
			continue
		}
		return float32(float64(grown) / elapsed)
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

// assumedCommits is how long a commit may stand still before that says
// something, while the group's own habit is not known: three intervals of the
// clients' default, 5 s.
const assumedCommits = 15 * time.Second

// rowMemory is what is remembered of a group's rows on one topic, by partition.
type rowMemory struct {
	id   [16]byte
	rows []rowPast
}

// rowPast is a row's newest commit and when it and the one before advanced.
type rowPast struct {
	commit   int64 // NoCommit, or Unknown before the first reading
	previous int64 // the commit before the newest advance; Unknown if there was none
	at       int64 // of the newest advance, Unix nanoseconds; 0 if none was seen
	before   int64 // of the advance before that; 0 likewise
}

// rateGroup works out a group's rates, progress and counters.
func (t *tracker) rateGroup(g *Group, m *groupMemory, s *Snapshot) {
	committed, backlog := g.committed(), int64(0)
	newest, _ := t.before(0, g.Name)
	oldest, polls := t.before(shortWindow, g.Name)
	for _, gt := range g.Topics {
		past := m.past(gt)
		last, base := sameTopic(newest, gt), sameTopic(oldest, gt)
		gt.Consumed, gt.ProgressAt = make([]float32, gt.Rows()), make([]int64, gt.Rows())
		for i := range gt.Committed {
			p := gt.Partition(i)
			row, l := &past.rows[p], gt.lagAt(i)
			gt.Consumed[i] = nan32
			if !l.stale && l.lag >= 0 {
				m.counters.add(gt, last, i, l)
				row.advance(gt, i, l, &m.counters)
				gt.Consumed[i] = row.rate(gt, base, i, l, polls == shortWindow && idleGroup(g) || s.TakenAt.Sub(g.FirstSeenAt) > assumedCommits)
			}
			gt.ProgressAt[i] = row.at
			if row.at > 0 && (g.ProgressAt.IsZero() || row.at > g.ProgressAt.UnixNano()) {
				g.ProgressAt = time.Unix(0, row.at)
			}
			if gt.judged(i, committed) {
				backlog += max(0, l.lag)
				g.Consumed = plus(g.Consumed, float64(gt.Consumed[i]))
				if int(p) < len(gt.Topic.Produced) {
					g.Produced = plus(g.Produced, float64(gt.Topic.Produced[p]))
				}
			}
		}
	}
	for name := range m.rows {
		if _, ok := g.Topic(name); !ok {
			delete(m.rows, name)
		}
	}
	if net := g.Consumed - g.Produced; backlog > 0 && net > 0 {
		if drain := float64(backlog) / net; drain <= maxDrain.Seconds() {
			g.Drain = drain
		}
	}
}

func idleGroup(g *Group) bool { return g.MembersKnown && len(g.Members) == 0 }

// before is the group as it was n polls ago at most, and how many polls ago
// that was; n 0 is the newest snapshot that was tracked.
func (t *tracker) before(n int, group string) (*Group, int) {
	k := len(t.recent)
	if k == 0 {
		return nil, 0
	}
	back := min(max(n, 1), k)
	g, _ := t.recent[k-back].Group(group)
	return g, back
}

// sameTopic is a group's rows on a topic at another time, nil if the topic was
// another then.
func sameTopic(g *Group, gt *GroupTopic) *GroupTopic {
	if g == nil {
		return nil
	}
	old, ok := g.Topic(gt.Topic.Name)
	if !ok || old.Topic.ID != gt.Topic.ID {
		return nil
	}
	return old
}

// past finds a group-topic's memory; a topic made anew starts anew.
func (m *groupMemory) past(gt *GroupTopic) *rowMemory {
	past := m.rows[gt.Topic.Name]
	if past == nil || past.id != gt.Topic.ID {
		past = &rowMemory{id: gt.Topic.ID}
		m.rows[gt.Topic.Name] = past
	}
	most := 0
	if n := gt.Rows(); n > 0 {
		most = int(gt.Partition(n-1)) + 1
	}
	for len(past.rows) < most {
		past.rows = append(past.rows, rowPast{commit: Unknown, previous: Unknown})
	}
	return past
}

// add counts what was appended to a row's partition, and what retention took
// from it unread, since the snapshot before.
func (n *GroupCounters) add(gt, last *GroupTopic, i int, l lagged) {
	if last == nil {
		return
	}
	j, p := last.RowOf(gt.Partition(i)), int(gt.Partition(i))
	if j < 0 || p >= last.Topic.Partitions() || last.Topic.LogEnd[p] < 0 {
		return
	}
	n.Produced += max(0, gt.Topic.LogEnd[p]-last.Topic.LogEnd[p])
	if before := last.lagAt(j); before.lag >= 0 && before.started {
		// also where the commit has passed the purge by now
		unread := max(last.Committed[j], last.Topic.LogStart[p])
		n.Overtaken += max(0, min(gt.Topic.LogStart[p], last.Topic.LogEnd[p])-unread-max(0, min(gt.Committed[i], gt.Topic.LogStart[p])-unread))
	}
}

// advance takes a freshly read row into its memory. A commit that moved
// backwards, or past the log end, is a jump and no progress.
func (r *rowPast) advance(gt *GroupTopic, i int, l lagged, n *GroupCounters) {
	commit := gt.Committed[i]
	switch {
	case r.commit == Unknown || commit < 0:
	case r.commit >= 0 && commit < r.commit:
		n.JumpsBack++
		r.at, r.before, r.previous = 0, 0, Unknown
	case commit > r.commit && l.status == StatusAhead:
		n.JumpsForward++
		r.at, r.before, r.previous = 0, 0, Unknown
	case commit > r.commit:
		if r.commit >= 0 {
			n.Consumed += commit - r.commit
		}
		r.previous, r.before, r.at = r.commit, r.at, gt.commitsAt
	}
	r.commit = commit
}

// rate is a row's records per second by commit progress: over the short window
// while the group commits about every poll, and otherwise between its last two
// commits, so that a group which commits once a minute has the rate it has and
// not a spike each minute. settled is true when a commit that never moved may
// be called still.
func (r *rowPast) rate(gt, base *GroupTopic, i int, l lagged, settled bool) float32 {
	commit := gt.Committed[i]
	if commit < 0 || base == nil {
		return nan32
	}
	j := base.RowOf(gt.Partition(i))
	if j < 0 || base.Committed[j] < 0 || base.Committed[j] > commit {
		return nan32
	}
	switch {
	case r.at == 0 && (l.lag == 0 || settled):
		return 0
	case r.at == 0 || r.before == 0:
		return nan32
	case r.before >= base.commitsAt: // at least two advances within the window
		return float32(float64(commit-base.Committed[j]) / (float64(gt.commitsAt-base.commitsAt) / 1e9))
	}
	gap := r.at - r.before
	if gt.commitsAt-r.at > 2*gap+assumedCommits.Nanoseconds() {
		return 0
	}
	if r.previous < 0 {
		return nan32
	}
	return float32(float64(r.commit-r.previous) / (float64(gap) / 1e9))
}
