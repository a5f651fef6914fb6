package tui

import (
	"cmp"

	"github.com/klagtop/klagtop/collect"
)

// topicRow is one topic of the group on screen.
type topicRow struct {
	*collect.GroupTopic
	label      string // safe to draw
	totals     collect.Totals
	unassigned int64 // rows without an owner, orphaned ones aside; -1 where the group has no such count
	produced   float64
	consumed   float64
	note       string
}

// newTopicsPane lists the topics on which a group has rows.
func newTopicsPane(group func(*scene) *collect.Group) pane {
	return &list[*topicRow]{
		table: table[*topicRow]{
			columns: topicColumns(), sorted: -1, order: byTopic,
			key: func(r *topicRow) string { return "t" + r.Topic.Name },
		},
		build: func(s *scene) []*topicRow {
			if g := group(s); g != nil {
				return topicRows(s.look, g)
			}
			return nil
		},
		text:    func(r *topicRow) string { return r.label + " " + r.note },
		name:    func(r *topicRow) string { return r.label },
		why:     func(s *scene, r *topicRow) []string { return explainTopic(s, group(s), r) },
		empty:   func(s *scene) string { return noRows(group(s)) },
		natural: "topic",
	}
}

func byTopic(a, b *topicRow) int { return cmp.Compare(a.Topic.Name, b.Topic.Name) }

func topicRows(l *look, g *collect.Group) []*topicRow {
	out := make([]*topicRow, len(g.Topics))
	for i, gt := range g.Topics {
		r := &topicRow{GroupTopic: gt, label: l.name(gt.Topic.Name), totals: gt.TopicTotals(), unassigned: collect.Unknown}
		r.produced, r.consumed = gt.Rates()
		if g.Assignment.Unassigned >= 0 {
			r.unassigned = 0
		}
		for _, o := range gt.Owner {
			if o < 0 && r.unassigned >= 0 && !gt.Orphaned { // the group's own count, topic by topic
				r.unassigned++
			}
		}
		r.note = topicNote(r)
		out[i] = r
	}
	return out
}

func topicNote(r *topicRow) string {
	switch {
	case r.Topic.Reason != collect.ReasonNone:
		return r.Topic.Reason.String()
	case r.Orphaned:
		return "left: no member subscribes to it"
	case r.totals.Unknown > 0:
		return counted(r.totals.Unknown, "unknown")
	case r.totals.Stale > 0:
		return counted(r.totals.Stale, "stale")
	case r.totals.LostRecords > 0:
		return short(r.totals.LostRecords) + " lost"
	case r.totals.NoCommit > 0 && r.totals.NoCommit == r.Rows():
		return "no commits"
	case r.totals.NoCommit > 0:
		return counted(r.totals.NoCommit, "no commit")
	}
	return ""
}

func topicMark(l *look, r *topicRow) cell {
	switch {
	case r.totals.Unknown > 0 || r.totals.Records < 0:
		return cell{"?", toneUnknown}
	case r.totals.Stale > 0:
		return cell{"~", toneWarn}
	case r.totals.LostRecords > 0:
		return cell{l.glyphs.critical, toneBad}
	case r.Orphaned:
		return cell{l.glyphs.info, toneAccent}
	case r.totals.NoCommit > 0:
		return cell{"-", toneDim}
	}
	return cell{" ", tonePlain}
}

func topicColumns() []column[*topicRow] {
	type row = *topicRow
	return []column[row]{
		{title: "", rank: 0, narrow: 1, cell: topicMark},
		{
			title: "TOPIC", rank: 0, tight: true, narrow: 9, broad: 80, middle: true, cell: func(_ *look, r row) cell { return cell{text: r.label} },
			compare: byTopic,
		},
		{
			title: "PARTS", name: "partitions", rank: 1, right: true, cell: func(l *look, r row) cell { return l.countCell(int64(r.Rows())) },
			compare: func(a, b row) int { return cmp.Compare(a.Rows(), b.Rows()) }, falling: true,
		},
		{
			title: "LAG", rank: 0, right: true, narrow: 7, cell: func(l *look, r row) cell { return l.totalCell(r.totals) },
			compare: func(a, b row) int { return cmp.Compare(a.totals.Records, b.totals.Records) }, falling: true,
		},
		{
			title: "MAX", name: "largest lag", rank: 5, right: true, narrow: 6, cell: func(l *look, r row) cell { return l.countCell(r.totals.Max) },
			compare: func(a, b row) int { return cmp.Compare(a.totals.Max, b.totals.Max) }, falling: true,
		},
		{
			title: "UNASSIGNED", rank: 2, right: true, cell: unassignedCell,
			compare: func(a, b row) int { return cmp.Compare(a.unassigned, b.unassigned) }, falling: true,
		},
		{
			title: "IN/S", name: "produced/s", rank: 4, right: true, narrow: 5, cell: func(l *look, r row) cell { return l.rateCell(r.produced) },
			compare: func(a, b row) int { return compareKnown(a.produced, b.produced) }, falling: true,
		},
		{
			title: "OUT/S", name: "consumed/s", rank: 4, right: true, cell: func(l *look, r row) cell { return l.rateCell(r.consumed) },
			compare: func(a, b row) int { return compareKnown(a.consumed, b.consumed) }, falling: true,
		},
		{
			title: "NOTE", rank: 3, narrow: 10, broad: 48, cell: func(l *look, r row) cell { return cell{r.note, topicMark(l, r).tone} },
			compare: func(a, b row) int { return cmp.Compare(a.note, b.note) },
		},
	}
}

func unassignedCell(l *look, r *topicRow) cell {
	c := l.countCell(r.unassigned)
	if r.unassigned > 0 {
		c.tone = toneWarn
	}
	return c
}
