package collect

// sharePast is what is remembered of a share partition's progress.
//
// The measure of progress is the number of offsets that are done, E' - lag: it
// grows with each acknowledgement, while the start offset trails. E' is not
// known, only that it lies between the log end of the poll before and E. So the
// measure has bounds, and where E - lag alone would creep up with whatever is
// produced between two questions, a group that stands still must not look alive:
// it has progressed when its lower bound has passed an upper one of before.
type sharePast struct {
	seen        bool
	low         int64 // the highest lower bound since the last jump
	high        int64 // the lowest upper bound since the last progress
	start, lost int64
	trail       int64 // lagged.lost
}

// progress is the measure by which a group's rows advance: the commits, or what
// is done of share partitions.
func (gt *GroupTopic) progress() []int64 {
	if gt.done != nil {
		return gt.done
	}
	return gt.Committed
}

// measure fills in what is done of a share group's rows, by an upper bound that
// is too high by what is produced between two questions: good for a rate.
func (gt *GroupTopic) measure() {
	if gt.Reported == nil {
		return
	}
	gt.done = make([]int64, gt.Rows())
	for i := range gt.done {
		gt.done[i] = Unknown
		if p := int(gt.Partition(i)); gt.Reported[i] >= 0 && p < gt.Topic.Partitions() && gt.Topic.LogEnd[p] >= 0 {
			gt.done[i] = max(0, gt.Topic.LogEnd[p]-gt.Reported[i])
		}
	}
}

// share takes a freshly read share partition into its memory. Its start offset
// moves back only by somebody's hand; one that moves forward while nobody is in
// the group was set, too.
func (r *rater) share(gt *GroupTopic, past *rowMemory, last *pastRows, i, p int, l lagged) {
	for len(past.share) < len(past.rows) {
		past.share = append(past.share, sharePast{})
	}
	m, row, at := &past.share[p], &past.rows[p], gt.commitsAt
	c := shift{OffsetChange: OffsetChange{Topic: gt.Topic.Name, Partition: int32(p), From: m.start, To: gt.Committed[i]}}
	lost := min(l.lost, gt.Reported[i]) // a counter keeps what it was given: the closer bound
	if m.seen {
		// That bound also grows by records which come later; retention took
		// no more of them than what lies between the starts grew by.
		more := max(0, min(lost-m.lost, l.lost-m.trail))
		r.memory.counters.Overtaken += more
		lost = min(lost, m.lost+more)
	}
	known := m.seen && row.commit >= 0
	done, back := m.acknowledged(gt, last, i, p, row.commit)
	m.lost, m.trail = lost, l.lost
	switch {
	case known && (back || c.To < c.From):
		if c.cause = CauseReset; c.To < c.From {
			r.judge.shifts = append(r.judge.shifts, c)
		}
	case known && r.judge.alone && c.To > c.From && done > row.commit && l.lost == 0:
		if c.cause = CauseSkipped; r.judge.proved {
			r.judge.shifts = append(r.judge.shifts, c)
		} else {
			r.judge.hold(gt, c, true)
		}
	default:
		row.advance(done, at, l, r.memory)
		return
	}
	row.jump(done, at, l)
	past.jumped(int32(p), at)
}

// acknowledged is what row i is known to have done, before being what it was:
// that, until progress is proved. back is true where it had done more.
func (m *sharePast) acknowledged(gt *GroupTopic, last *pastRows, i, p int, before int64) (done int64, back bool) {
	end := gt.Topic.LogEnd[p]
	low, high := gt.Committed[i], gt.done[i]
	if last != nil && p < last.topic.Partitions() && last.topic.LogEnd[p] >= 0 {
		low = max(low, min(end, last.topic.LogEnd[p])-gt.Reported[i])
	}
	back = m.seen && (high < m.low || gt.Committed[i] < m.start)
	switch {
	case !m.seen || before < 0 || back:
		m.low, m.high, before = low, high, high
	case low > m.high:
		m.low, m.high, before = max(m.low, low), high, max(high, before+1)
	default:
		m.low, m.high = max(m.low, low), min(m.high, high)
	}
	m.seen, m.start = true, gt.Committed[i]
	return before, back
}
