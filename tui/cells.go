package tui

import (
	"math"
	"strconv"

	"github.com/klagtop/klagtop/collect"
)

// mark is the sign of a weight.
func (l *look) mark(w weight) cell {
	switch w {
	case weightCritical:
		return cell{l.glyphs.critical, toneBad}
	case weightWarning:
		return cell{l.glyphs.warning, toneWarn}
	case weightUnknown:
		return cell{"?", toneUnknown}
	case weightStale:
		return cell{"~", toneWarn}
	case weightInfo:
		return cell{l.glyphs.info, toneAccent}
	}
	return cell{" ", tonePlain}
}

// knownCell is a number, dimmed where it says nothing.
func (l *look) knownCell(text string) cell {
	switch text {
	case "?":
		return cell{text, toneUnknown}
	case "0":
		return cell{text, toneDim}
	}
	return cell{text: text}
}

func (l *look) rateCell(r float64) cell         { return l.knownCell(l.rate(r)) }
func (l *look) ageCell(a collect.Age) cell      { return l.knownCell(l.age(a)) }
func (l *look) countCell(n int64) cell          { return l.knownCell(l.count(n)) }
func (l *look) totalCell(t collect.Totals) cell { return l.knownCell(l.total(t)) }

func stateCell(l *look, r *groupRow) cell { return l.state(r.Group, !l.wide) }

// state is a group's in words; the two long ones of a classic rebalance are
// shortened where room is dear. A word no one has told us of is shown as it is.
func (l *look) state(g *collect.Group, brief bool) cell {
	text, t := l.text(g.State), tonePlain
	switch g.State {
	case collect.StatePreparingRebalance:
		if brief {
			text = "Preparing"
		}
	case collect.StateCompletingRebalance:
		if brief {
			text = "Completing"
		}
	case collect.StateUnknown:
		t = toneUnknown
	case collect.StateEmpty, collect.StateDead:
		t = toneDim
	}
	if g.Rebalancing() {
		return cell{l.glyphs.rebalancing + " " + text, toneAccent}
	}
	return cell{text, t}
}

func membersCell(l *look, r *groupRow) cell {
	a := &r.Assignment
	if a.Idle > 0 {
		return cell{l.count(a.Members) + " (" + l.count(a.Idle) + ")", toneWarn}
	}
	return l.countCell(a.Members)
}

func partitionsCell(l *look, r *groupRow) cell {
	n := rowCount(l, r.Group)
	if r.Assignment.Unassigned > 0 && r.Assignment.Members > 0 {
		return cell{n + " (" + l.count(r.Assignment.Unassigned) + ")", toneWarn}
	}
	return l.knownCell(n)
}

// rowCount is how many partitions a group has; "?" where none is known because
// its commits could not be read, or a rebalance hides what it subscribes to.
func rowCount(l *look, g *collect.Group) string {
	if g.Rows() == 0 && g.Lag.Records < 0 {
		return "?"
	}
	return l.count(int64(g.Rows()))
}

// noRows says why a group has no partitions to show. That nothing could be read
// must not be said as if there were nothing.
func noRows(g *collect.Group) string {
	switch {
	case g == nil || g.Lag.Records >= 0:
		return "no assigned partitions, no committed offsets"
	case g.CommitsReason != collect.ReasonNone:
		return "the commits could not be read: " + g.CommitsReason.String()
	}
	return "what the group reads is hidden while it rebalances"
}

func groupLagCell(l *look, r *groupRow) cell {
	c := l.totalCell(r.Lag)
	if c.tone == tonePlain && !r.Lag.Complete {
		c.tone = toneWarn
	}
	return c
}

func sparkCell(l *look, r *groupRow) cell {
	return cell{l.spark(r.ring.window(r.samples, historySamples/2)), toneDim}
}

// drainCell is blank where there is nothing to drain or the lag grows: neither
// is a number that is missing.
func drainCell(l *look, r *groupRow) cell {
	switch {
	case !math.IsNaN(r.Drain):
		return cell{seconds(r.Drain), toneGood}
	case r.Lag.Records == 0 && r.Lag.Complete, r.Consumed <= r.Produced:
		return cell{"-", toneDim}
	}
	return l.knownCell("?")
}

func rebalancesCell(l *look, r *groupRow) cell {
	n := l.count(r.Counters.Rebalances)
	if r.Counters.RebalancesLower && r.Counters.Rebalances > 0 {
		return cell{text: l.glyphs.atLeast + n}
	}
	return l.knownCell(n)
}

func causeCell(l *look, r *groupRow) cell {
	text := l.text(r.cause)
	if r.more > 0 {
		text += " +" + strconv.Itoa(r.more)
	}
	switch r.weight {
	case weightCritical:
		return cell{text, toneBad}
	case weightWarning, weightStale:
		return cell{text, toneWarn}
	case weightUnknown:
		return cell{text, toneUnknown}
	}
	return cell{text, toneDim}
}
