package tui

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/klagtop/klagtop/collect"
)

// partitionRow is one partition of the group on screen.
type partitionRow struct {
	collect.Row
	label string // topic, safe to draw
	owner string
	note  string // what is special about its numbers, in words
	stale bool   // the owner is that of an earlier generation
}

// newPartitionsPane lists the rows of a group in Kafka's own order.
func newPartitionsPane(group func(*scene) *collect.Group) pane {
	return &list[*partitionRow]{
		table: table[*partitionRow]{
			columns: partitionColumns(), sorted: -1, order: byPartition,
			key: func(r *partitionRow) string { return r.Topic + "/" + strconv.Itoa(int(r.Partition)) },
		},
		build: func(s *scene) []*partitionRow {
			if g := group(s); g != nil {
				return partitionRows(s, g)
			}
			return nil
		},
		text: func(r *partitionRow) string {
			return r.label + "-" + strconv.Itoa(int(r.Partition)) + " " + r.owner + " " + r.note
		},
		name:    (*partitionRow).name,
		why:     func(s *scene, r *partitionRow) []string { return explainPartition(s, group(s), r) },
		empty:   func(s *scene) string { return noRows(group(s)) },
		natural: "topic, partition",
	}
}

func (r *partitionRow) name() string {
	n := r.label + "-" + strconv.Itoa(int(r.Partition))
	if r.owner != "" {
		n += "  owner " + r.owner
	}
	return n
}

func byPartition(a, b *partitionRow) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
}

func partitionRows(s *scene, g *collect.Group) []*partitionRow {
	flat := make([]partitionRow, 0, g.Rows())
	out := make([]*partitionRow, 0, g.Rows())
	owners := memberLabels(s.look, g)
	for _, gt := range g.Topics {
		label := s.look.name(gt.Topic.Name)
		for i := range gt.Rows() {
			flat = append(flat, partitionRow{Row: gt.Row(i), label: label, stale: g.AssignmentStale})
			r := &flat[len(flat)-1]
			r.owner = ownerLabel(owners, &r.Row)
			r.note = partitionNote(&r.Row)
			out = append(out, r)
		}
	}
	return out
}

func ownerLabel(owners []string, r *collect.Row) string {
	switch {
	case len(r.Owners) > 1:
		names := make([]string, len(r.Owners))
		for i, o := range r.Owners {
			names[i] = owners[o]
		}
		return strings.Join(names, " + ")
	case r.Owner >= 0 && int(r.Owner) < len(owners):
		return owners[r.Owner]
	}
	return ""
}

// partitionNote says what a row's number is not: "" for a plain lag.
func partitionNote(r *collect.Row) string {
	var words []string
	switch r.Status {
	case collect.StatusNoCommit:
		words = append(words, "no commit")
	case collect.StatusLost:
		words = append(words, short(r.Lost)+" lost")
	case collect.StatusAhead:
		words = append(words, short(r.Ahead)+" ahead")
	case collect.StatusUnknown:
		return r.Reason.String()
	}
	if r.Stale {
		words = append(words, "stale: "+r.Reason.String())
	}
	if len(r.Owners) > 1 {
		words = append(words, "two owners")
	}
	if r.Orphaned {
		words = append(words, "topic left")
	}
	return strings.Join(words, ", ")
}

// partitionMark is the note in one character, for narrow screens.
func partitionMark(l *look, r *partitionRow) cell {
	switch {
	case r.Status == collect.StatusUnknown:
		return cell{"?", toneUnknown}
	case r.Status == collect.StatusLost:
		return cell{l.glyphs.critical, toneBad}
	case r.Stale:
		return cell{"~", toneWarn}
	case r.Status == collect.StatusAhead, len(r.Owners) > 1:
		return cell{l.glyphs.warning, toneWarn}
	case r.Status == collect.StatusNoCommit:
		return cell{"-", toneDim}
	}
	return cell{" ", tonePlain}
}

func noteCell(l *look, r *partitionRow) cell {
	c := partitionMark(l, r)
	if r.Status == collect.StatusOK && r.Orphaned {
		c.tone = toneDim
	}
	return cell{r.note, c.tone}
}

func partitionLagCell(l *look, r *partitionRow) cell {
	c := l.countCell(r.Lag)
	if r.Stale && r.Lag >= 0 {
		return cell{"~ " + c.text, toneWarn}
	}
	return c
}

func ownerCell(_ *look, r *partitionRow) cell {
	switch {
	case r.owner == "" && r.Orphaned:
		return cell{"-", toneDim}
	case r.owner == "":
		return cell{"-", toneWarn}
	case r.stale:
		return cell{"~ " + r.owner, toneWarn}
	}
	return cell{text: r.owner}
}

func offsetCell(n int64) cell {
	switch text := offset(n); text {
	case "?":
		return cell{text, toneUnknown}
	case "-":
		return cell{text, toneDim}
	default:
		return cell{text: text}
	}
}

func leaderCell(_ *look, r *partitionRow) cell {
	if r.Leader < 0 {
		return cell{"none", toneWarn}
	}
	return cell{strconv.Itoa(int(r.Leader)), toneDim}
}

func partitionColumns() []column[*partitionRow] {
	type row = *partitionRow
	return []column[row]{
		{title: "", rank: 0, narrow: 1, cell: partitionMark},
		{
			title: "TOPIC", rank: 0, tight: true, narrow: 12, broad: 60, middle: true, cell: func(_ *look, r row) cell { return cell{text: r.label} },
			compare: byPartition,
		},
		{
			title: "PART", name: "partition", rank: 0, right: true, cell: func(_ *look, r row) cell { return cell{text: strconv.Itoa(int(r.Partition))} },
			compare: func(a, b row) int { return cmp.Compare(a.Partition, b.Partition) },
		},
		{
			title: "START", name: "log start", rank: 12, right: true, cell: func(_ *look, r row) cell { return offsetCell(r.LogStart) },
			compare: func(a, b row) int { return cmp.Compare(a.LogStart, b.LogStart) }, falling: true,
		},
		{
			title: "COMMITTED", rank: 4, right: true, cell: func(_ *look, r row) cell { return offsetCell(r.Committed) },
			compare: func(a, b row) int { return cmp.Compare(a.Committed, b.Committed) }, falling: true,
		},
		{
			title: "LOG END", rank: 5, right: true, cell: func(_ *look, r row) cell { return offsetCell(r.LogEnd) },
			compare: func(a, b row) int { return cmp.Compare(a.LogEnd, b.LogEnd) }, falling: true,
		},
		{
			title: "LAG", rank: 0, right: true, narrow: 6, cell: partitionLagCell,
			compare: func(a, b row) int { return cmp.Compare(a.Lag, b.Lag) }, falling: true,
		},
		{
			title: "TIME LAG", rank: 2, right: true, cell: func(l *look, r row) cell { return l.ageCell(r.Age) },
			compare: func(a, b row) int { return compareKnown(a.Age.Seconds, b.Age.Seconds) }, falling: true,
		},
		{
			title: "IN/S", name: "produced/s", rank: 10, right: true, narrow: 5, cell: func(l *look, r row) cell { return l.rateCell(r.Produced) },
			compare: func(a, b row) int { return compareKnown(a.Produced, b.Produced) }, falling: true,
		},
		{
			title: "OUT/S", name: "consumed/s", rank: 6, right: true, cell: func(l *look, r row) cell { return l.rateCell(r.Consumed) },
			compare: func(a, b row) int { return compareKnown(a.Consumed, b.Consumed) }, falling: true,
		},
		{
			title: "OWNER", rank: 1, narrow: 8, broad: 48, middle: true, cell: ownerCell,
			compare: func(a, b row) int { return cmp.Compare(a.owner, b.owner) },
		},
		{
			title: "LEADER", rank: 11, right: true, cell: leaderCell,
			compare: func(a, b row) int { return cmp.Compare(a.Leader, b.Leader) },
		},
		{
			title: "READ", name: "sample age", rank: 13, right: true, narrow: 5, cell: func(l *look, r row) cell { return cell{ago(l.now, r.AsOf), toneDim} },
			compare: func(a, b row) int { return b.AsOf.Compare(a.AsOf) }, falling: true,
		},
		{
			title: "PROGRESS", name: "last progress", rank: 14, right: true, cell: progressCell,
			compare: func(a, b row) int { return b.ProgressAt.Compare(a.ProgressAt) }, falling: true,
		},
		{
			title: "NOTE", rank: 3, narrow: 10, broad: 40, cell: noteCell,
			compare: func(a, b row) int { return cmp.Compare(a.note, b.note) },
		},
	}
}

func progressCell(_ *look, r *partitionRow) cell {
	if r.ProgressAt.IsZero() || r.AsOf.IsZero() {
		return cell{"?", toneUnknown}
	}
	return cell{wholeSeconds(max(0, r.AsOf.Sub(r.ProgressAt)).Round(time.Second)), toneDim}
}
