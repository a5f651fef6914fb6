package collect

import (
	"math"
	"time"
)

// rowMemory is what is remembered of a group's rows on one topic.
type rowMemory struct {
	id     [16]byte
	seen   int       // the poll that saw it last
	rows   []rowPast // by partition
	recent [ShortWindow]pastRows
	polls  int // how many of recent are filled, the newest first

	epochs []int32         // of the newest commits, by row
	remade time.Time       // when the topic was seen to be made anew; zero if it was not
	jumps  map[int32]int64 // when commits jumped within recent, by partition, Unix nanoseconds
	stood  int             // for how many polls no row has had another number; see stand
	apart  bool            // the newest of recent has a topic of its own
	rest   *rest           // nil while some row moves
	// clockSet is when the clock was set last: rows that have not advanced since
	// did so by another one. Unix nanoseconds; 0 never.
	clockSet int64

	shared bool        // it is a share group
	share  []sharePast // by partition, in share groups
}

// rowPast is a row's newest commit and when it and the one before advanced.
type rowPast struct {
	commit   int64 // NoCommit, or Unknown before the first reading
	previous int64 // the commit before the newest advance; Unknown if there was none, or a jump since
	at       int64 // of the newest advance, Unix nanoseconds; 0 if none was seen
	before   int64 // of the advance before that; 0 likewise
	idle     int64 // when the row was last seen without lag; 0 likewise
}

// pastRows is a group's rows on a topic at an earlier poll. It shares the
// arrays of that snapshot and holds nothing else of it.
type pastRows struct {
	topic     *Topic
	parts     []int32
	committed []int64
	unread    []Reason // why single commits are kept ones; nil without any
	at        int64    // when the commits were read
}

func (past *pastRows) rowOf(p int32) int { return rowOf(past.parts, len(past.committed), p) }

// rowBase is what a row's rate is measured from.
type rowBase struct {
	commit, at int64
	level      bool // nothing was unread then
}

// base is the oldest recent commit of a partition that was read when its poll
// says. One kept beside an older log end is as old as that: taken for a commit
// of its poll, it would squeeze a whole outage into one window.
func (past *rowMemory) base(p int32) (rowBase, bool) {
	for k := past.polls - 1; k >= 0; k-- {
		r := &past.recent[k]
		j := r.rowOf(p)
		if r.at < past.jumps[p] {
			continue
		}
		if j >= 0 && r.committed[j] >= 0 && r.topic.endReason(int(p)) == ReasonNone && reasonAt(r.unread, j) == ReasonNone {
			return rowBase{r.committed[j], r.at, r.committed[j] == r.topic.LogEnd[p]}, true
		}
	}
	return rowBase{}, false
}

// past finds a group-topic's memory; a topic made anew starts anew.
func (m *groupMemory) past(gt *GroupTopic, now time.Time) *rowMemory {
	past := m.rows[gt.Topic.Name]
	if past == nil || past.id != gt.Topic.ID || past.shared != (gt.Reported != nil) {
		past = &rowMemory{id: gt.Topic.ID, shared: gt.Reported != nil}
		if seen, ok := m.topics[gt.Topic.Name]; ok && seen.remade(gt.Topic) {
			past.remade = now
		}
		m.rows[gt.Topic.Name] = past
	}
	// Partitions beyond the topic's count have no numbers to remember, and an
	// assignment may name any.
	for n := gt.Topic.Partitions(); len(past.rows) < n; {
		past.rows = append(make([]rowPast, 0, n), past.rows...)
		for len(past.rows) < n {
			past.rows = append(past.rows, rowPast{commit: Unknown, previous: Unknown})
		}
	}
	return past
}

// keep makes the rows the newest of the recent ones.
func (past *rowMemory) keep(gt *GroupTopic) {
	copy(past.recent[1:], past.recent[:])
	past.recent[0] = pastRows{gt.Topic, gt.Parts, gt.progress(), gt.CommitReason, gt.commitsAt}
	past.epochs, past.apart = gt.CommitEpoch, gt.apart
	past.polls = min(past.polls+1, ShortWindow)
	for p, at := range past.jumps { // those that no rate can reach back over
		if at < past.recent[past.polls-1].at {
			delete(past.jumps, p)
		}
	}
}

// rateGroup works out a group's rates, progress, age and counters, in one
// pass over its rows, and gives the commits that moved other than by consuming.
func (t *tracker) rateGroup(g *Group, m *groupMemory, s *Snapshot) []shift {
	if g.undue && m.last != nil {
		g.standRates(m.last)
		m.last = g
		return nil
	}
	m.last = g
	m.habit.room = gapsAPoll
	r := rater{
		group: g, memory: m, judge: m.judge(g, &t.cuts, s), committed: g.committed(),
		idle:  g.MembersKnown && len(g.Members) == 0 && g.ProtocolType != "",
		still: m.habit.still().Nanoseconds(), sum: noRates(), rates: make([]rateSum, len(g.Members)),
	}
	// While the habit is only assumed, a commit that never moved is that of a
	// slow committer for as long as the long window.
	unmoved := m.habit.still()
	if m.habit.interval() == 0 {
		unmoved = t.window(&m.habit)
	}
	r.watched = s.TakenAt.Sub(g.FirstSeenAt) > unmoved
	for i := range r.rates {
		r.rates[i] = noRates()
	}
	for _, gt := range g.Topics {
		past := m.past(gt, s.TakenAt)
		past.stand(gt, t.polls)
		past.seen = t.polls
		r.topic(gt, past)
		if past.polls > 0 && gt.Parts != nil && len(gt.Committed) < len(past.recent[0].committed) {
			r.judge.vanished(gt, gt.Topic.Name, past)
		}
		past.keep(gt)
	}
	for name, past := range m.rows {
		if past.seen != t.polls {
			r.judge.vanished(nil, name, past)
			delete(m.rows, name)
		}
	}
	g.CommitInterval, g.Window = m.habit.interval(), t.window(&m.habit)
	g.Lag.Age, g.Lag.Headroom = r.oldest.age(g, g.Lag.Known), g.headroom(r.committed)
	g.Assignment.SkewRate = g.rateSkew(consumedOf(r.rates))
	g.Produced, g.Consumed = r.sum.rates()
	if r.progress > 0 {
		g.ProgressAt = time.Unix(0, r.progress)
	}
	if net := g.Consumed - g.Produced; r.backlog > 0 && net > 0 && !r.partial {
		if drain := float64(r.backlog) / net; drain <= maxDrain.Seconds() {
			g.Drain = drain
		}
	}
	return r.judge.finish(&m.counters)
}

// rater is the one pass over a group's rows.
type rater struct {
	group     *Group
	memory    *groupMemory
	judge     jumpJudge
	committed bool  // the group has a commit
	watched   bool  // for long enough that a commit which never moved is still
	idle      bool  // nobody is there to commit
	still     int64 // nanoseconds for which a commit that moved must stand

	partial           bool // some row with lag, or whose lag is not known, has no rates
	backlog, progress int64
	oldest            worstAge
	sum               rateSum
	rates             []rateSum // by member
}

func (r *rater) topic(gt *GroupTopic, past *rowMemory) {
	var last *pastRows
	if past.polls > 0 {
		last = &past.recent[0]
	}
	gt.measure()
	settled := r.watched || r.idle && past.polls == ShortWindow
	if r.rests(gt, past, settled) {
		return
	}
	past.wake()
	gt.Consumed, gt.ProgressAt = make([]float32, gt.Rows()), make([]int64, gt.Rows())
	for i := range gt.Committed {
		p, l := int(gt.Partition(i)), gt.lagAt(i)
		gt.Consumed[i] = nan32
		judged := gt.judged(i, r.committed)
		if p < len(past.rows) {
			row := &past.rows[p]
			r.memory.counters.appended(gt, last, p)
			if !l.stale && l.lag >= 0 {
				r.memory.counters.overtaken(gt, last, i, p)
				if c := gt.Committed[i]; gt.Reported != nil {
					r.share(gt, past, last, i, p, l)
				} else if (c != row.commit || l.ahead > 0) && r.judge.judge(gt, past, i, p, l) {
					row.jump(c, gt.commitsAt, l)
					past.jumped(int32(p), gt.commitsAt)
				} else {
					row.advance(c, gt.commitsAt, l, r.memory)
				}
				gt.Consumed[i] = row.rate(gt, past, i, l, settled, r.still)
				gt.moves = gt.moves || gt.Consumed[i] > 0
			}
			gt.ProgressAt[i] = row.at
			r.progress = max(r.progress, row.at)
		}
		rates := gt.rowRates(i, p, l)
		if judged {
			r.oldest.add(gt, i, l)
			r.backlog += max(0, l.lag)
			r.partial = r.partial || l.lag != 0 && math.IsNaN(rates.consumed-rates.produced)
			r.sum.add(rates)
		}
		if o := gt.Owner[i]; o >= 0 && gt.MoreOwners == nil {
			r.rates[o].add(rates)
		} else if o >= 0 {
			for _, o := range gt.owners(i) {
				r.rates[o].add(rates)
			}
		}
	}
	past.rest = r.restOf(gt, past, settled)
}

// appended counts what was appended to a row's partition since the poll before,
// also where the commit cannot be read: a kept row's log end stands with it.
func (n *GroupCounters) appended(gt *GroupTopic, last *pastRows, p int) {
	if last != nil && p < min(gt.Topic.Partitions(), last.topic.Partitions()) && last.topic.LogEnd[p] >= 0 && last.rowOf(int32(p)) >= 0 {
		n.Produced += max(0, gt.Topic.LogEnd[p]-last.topic.LogEnd[p])
	}
}

// overtaken counts what retention took from a row's partition unread, since the
// poll before. What the commit has passed by now may have been read before it
// was deleted, and is not counted.
func (n *GroupCounters) overtaken(gt *GroupTopic, last *pastRows, i, p int) {
	if last == nil || p >= last.topic.Partitions() || last.topic.LogEnd[p] < 0 {
		return
	}
	j := last.rowOf(int32(p))
	if j < 0 {
		return
	}
	start, end := gt.Topic.LogStart[p], last.topic.LogEnd[p]
	if before := last.committed[j]; gt.Reported == nil && before >= 0 && last.topic.LogStart[p] >= 0 && start > before {
		unread := max(before, last.topic.LogStart[p])
		n.Overtaken += max(0, min(start, end)-max(unread, min(gt.Committed[i], start)))
	}
}

// advance takes a freshly read row into its memory.
func (r *rowPast) advance(commit, at int64, l lagged, m *groupMemory) {
	n := &m.counters
	if r.commit != Unknown && commit > r.commit {
		if r.commit >= 0 {
			n.Consumed += commit - r.commit
		}
		r.before = r.at
		if r.previous == Unknown { // the first advance, or the first since a jump
			r.before = 0
		}
		r.previous, r.at = r.commit, at
		r.habit(&m.habit)
	}
	if l.lag == 0 {
		r.idle = at
	}
	r.commit = commit
}

// habit notes the time between the row's last two advances, unless there was
// nothing to commit for much of it: then it is the producers' habit.
func (r *rowPast) habit(h *habit) {
	if gap := r.at - r.before; r.before > 0 && r.idle-r.before <= gap/5 {
		h.note(gap)
	}
}

// jump takes a commit that moved other than by consuming: no progress, and
// nothing to take a rate from.
func (r *rowPast) jump(commit, at int64, l lagged) {
	r.before, r.previous, r.commit = 0, Unknown, commit
	if l.lag == 0 {
		r.idle = at
	}
}

// jumped marks a commit's jump, so that no rate reaches back over it.
func (past *rowMemory) jumped(p int32, at int64) {
	if past.jumps == nil {
		past.jumps = map[int32]int64{}
	}
	past.jumps[p] = at
}

// paces reports whether the commit advances at about every poll, a poll being
// so long. At every second poll one or two advances would lie in the short
// window by turns, and the rate be a third too low and a third too high.
func (r *rowPast) paces(poll, still int64) bool {
	return r.at-r.before < poll*3/2 && still < poll*3/2
}

// rate is a row's records per second by commit progress: over the short window
// while the group commits about every poll or nothing is left unread, and
// otherwise between its last two commits, so that a group which commits once a
// minute has the rate it has and not a spike each minute. settled is true when
// a commit that never moved may be called still, and patience is how long one
// that did move must stand for that, in nanoseconds.
func (r *rowPast) rate(gt *GroupTopic, past *rowMemory, i int, l lagged, settled bool, patience int64) float32 {
	commit := gt.progress()[i]
	if commit < 0 {
		return nan32
	}
	base, ok := past.base(gt.Partition(i))
	if gt.Reported != nil {
		base.commit = min(base.commit, commit) // an upper bound each, of one number that only grows
	}
	elapsed := gt.commitsAt - base.at
	if !ok || elapsed <= 0 || base.commit > commit {
		return nan32
	}
	window := float32(float64(commit-base.commit) / (float64(elapsed) / 1e9))
	still, jumped := gt.commitsAt-r.at, r.previous == Unknown && commit != base.commit
	if r.previous == Unknown && past.clockSet > 0 && (still < 0 || r.at < past.clockSet) {
		still = gt.commitsAt - past.clockSet
	}
	switch {
	case base.level && l.lag == 0 && !jumped: // it consumed what was produced
		return window
	case r.at == 0 && (l.lag == 0 || settled):
		return 0
	case r.at == 0:
		return nan32
	case r.before == 0 && still > patience:
		return 0
	case r.before == 0:
		return nan32
	case r.before >= base.at && r.paces(elapsed/int64(past.polls), still):
		return window
	}
	gap := r.at - r.before
	if still > max(3*gap, patience) {
		return 0
	}
	if r.previous < 0 || gap <= 0 {
		return nan32
	}
	return float32(float64(r.commit-r.previous) / (float64(gap) / 1e9))
}
