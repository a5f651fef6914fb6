package collect

import "time"

// standRates lets a group whose commits were not read in this poll keep the rates
// that it had: a commit that nobody asked for has not stood still. The age of its
// first unread record goes on.
func (g *Group) standRates(last *Group) {
	g.Produced, g.Consumed, g.Drain, g.ProgressAt = last.Produced, last.Consumed, last.Drain, last.ProgressAt
	g.CommitInterval, g.Window = last.CommitInterval, last.Window
	g.Assignment.SkewRate = last.Assignment.SkewRate
	committed, oldest := g.committed(), worstAge{}
	for _, gt := range g.Topics {
		if was, ok := last.Topic(gt.Topic.Name); ok && was.Rows() == gt.Rows() {
			gt.Consumed, gt.ProgressAt, gt.moves = was.Consumed, was.ProgressAt, was.moves
		}
		for i := range gt.Committed {
			if gt.judged(i, committed) {
				oldest.add(gt, i, gt.lagAt(i))
			}
		}
	}
	g.Lag.Age = oldest.age(g, g.Lag.Known)
}

// stall notes since when records arrive and a group with lag commits nothing: the
// moment to look at it again, whenever its turn would be.
func (m *groupMemory) stall(g *Group, now time.Time) {
	switch {
	case g.Lag.Records <= 0 || !(g.Produced > 0) || g.Consumed != 0:
		m.stalled = time.Time{}
	case m.stalled.IsZero():
		m.stalled = now
	}
	g.stalledAt = m.stalled
}
