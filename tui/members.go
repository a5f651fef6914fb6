package tui

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/klagtop/klagtop/collect"
)

// memberRow is one member of the group on screen.
type memberRow struct {
	*collect.Member
	totals     collect.MemberTotals
	label      string // client id, safe to draw
	partitions string // topic:0-2,5
	note       string
	stale      bool
}

// newMembersPane lists the members of a group.
func newMembersPane(group func(*scene) *collect.Group) pane {
	return &list[*memberRow]{
		table: table[*memberRow]{
			columns: memberColumns(), sorted: -1, order: byClient,
			key: func(r *memberRow) string { return r.Key() },
		},
		build: func(s *scene) []*memberRow {
			if g := group(s); g != nil {
				return memberRows(s.look, g)
			}
			return nil
		},
		text: func(r *memberRow) string {
			return strings.Join([]string{r.label, r.Host, r.InstanceID, r.Rack, r.note, r.partitions}, " ")
		},
		name: func(r *memberRow) string { return r.label + "  " + r.partitions },
		why:  func(s *scene, r *memberRow) []string { return explainMember(s, group(s), r) },
		empty: func(s *scene) string {
			if g := group(s); g != nil && !g.MembersKnown {
				return "the members could not be read: " + orElse(g.Reason.String(), "the broker does not tell them")
			}
			return "no members"
		},
		natural: "client id",
	}
}

func byClient(a, b *memberRow) int {
	return cmp.Or(cmp.Compare(a.ClientID, b.ClientID), cmp.Compare(a.InstanceID, b.InstanceID), cmp.Compare(a.ID, b.ID))
}

func memberRows(l *look, g *collect.Group) []*memberRow {
	totals := g.MemberTotals()
	out := make([]*memberRow, len(g.Members))
	for i := range g.Members {
		m := &g.Members[i]
		out[i] = &memberRow{
			Member: m, totals: totals[i], label: l.name(m.ClientID), partitions: spans(l, m.Assigned),
			note: memberNote(m, g.AssignmentStale), stale: g.AssignmentStale,
		}
	}
	return out
}

// memberNote says what is special about a member.
func memberNote(m *collect.Member, stale bool) string {
	switch {
	case m.Decode == collect.DecodeNotConsumer:
		return "not a consumer"
	case m.Decode == collect.DecodeUndecodable:
		return "undecodable"
	case m.Idle() && !stale:
		return "idle"
	}
	if m.HasTarget {
		if take, leave := difference(m.Target, m.Assigned); take+leave > 0 {
			return "target not taken: +" + strconv.Itoa(take) + " -" + strconv.Itoa(leave)
		}
	}
	if stale {
		return "last stable"
	}
	return copiesNote(m.Streams)
}

// difference counts the partitions that only one of two assignments has.
func difference(want, have []collect.TopicPartitions) (only, other int) {
	type place struct {
		topic     string
		partition int32
	}
	held := map[place]bool{}
	for _, tp := range have {
		for _, p := range tp.Partitions {
			held[place{tp.Topic, p}] = true
		}
	}
	for _, tp := range want {
		for _, p := range tp.Partitions {
			if held[place{tp.Topic, p}] {
				delete(held, place{tp.Topic, p})
			} else {
				only++
			}
		}
	}
	return only, len(held)
}

// spans writes an assignment as topic:0-2,5.
func spans(l *look, assigned []collect.TopicPartitions) string {
	var b strings.Builder
	for i, tp := range assigned {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(l.name(tp.Topic))
		b.WriteByte(':')
		for j := 0; j < len(tp.Partitions); {
			k := j
			for k+1 < len(tp.Partitions) && tp.Partitions[k+1] == tp.Partitions[k]+1 {
				k++
			}
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.Itoa(int(tp.Partitions[j])))
			if k > j+1 {
				b.WriteString("-" + strconv.Itoa(int(tp.Partitions[k])))
				j = k
			}
			j++
		}
	}
	return b.String()
}

// memberLabels names the members apart: by client id, and where several share
// one (many clients have a default) by what tells them apart at a glance.
func memberLabels(l *look, g *collect.Group) []string {
	tries := []func(m *collect.Member) string{
		func(m *collect.Member) string { return l.name(m.ClientID) },
		func(m *collect.Member) string { return l.name(m.ClientID) + "/" + l.text(m.InstanceID) },
		func(m *collect.Member) string { return l.name(m.ClientID) + "@" + l.text(m.Host) },
		func(m *collect.Member) string { return l.name(m.ClientID) + "#" + l.text(tail(m.ID, 6)) },
	}
	out := make([]string, len(g.Members))
	todo := make([]int, len(g.Members))
	for i := range todo {
		todo[i] = i
	}
	for n, label := range tries {
		uses := map[string]int{}
		for _, i := range todo {
			out[i] = label(&g.Members[i])
			uses[out[i]]++
		}
		var again []int
		for _, i := range todo {
			if uses[out[i]] > 1 {
				again = append(again, i)
			}
		}
		if len(again) == 0 || n == len(tries)-1 {
			break
		}
		todo = again
	}
	return out
}

func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[len(s)-n:]
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func memberMark(l *look, r *memberRow) cell {
	switch {
	case r.Decode == collect.DecodeUndecodable:
		return cell{"?", toneUnknown}
	case r.stale:
		return cell{"~", toneWarn}
	case r.note == "idle":
		return cell{"-", toneWarn}
	case r.note != "":
		return cell{l.glyphs.info, toneAccent}
	}
	return cell{" ", tonePlain}
}

func memberColumns() []column[*memberRow] {
	type row = *memberRow
	text := func(of func(r row) string) func(*look, row) cell {
		return func(l *look, r row) cell { return cell{l.text(of(r)), toneDim} }
	}
	return []column[row]{
		{title: "", rank: 0, narrow: 1, cell: memberMark},
		{
			title: "CLIENT ID", rank: 0, tight: true, narrow: 9, broad: 48, middle: true, cell: func(_ *look, r row) cell { return cell{text: r.label} },
			compare: func(a, b row) int { return cmp.Compare(a.ClientID, b.ClientID) },
		},
		{
			title: "HOST", rank: 6, narrow: 9, broad: 40, cell: text(func(r row) string { return r.Host }),
			compare: func(a, b row) int { return cmp.Compare(a.Host, b.Host) },
		},
		{
			title: "INSTANCE", sparse: true, rank: 12, narrow: 8, broad: 32, middle: true, cell: text(func(r row) string { return r.InstanceID }),
			compare: func(a, b row) int { return cmp.Compare(a.InstanceID, b.InstanceID) },
		},
		{
			title: "PARTS", name: "partitions", rank: 0, right: true, cell: func(l *look, r row) cell { return l.knownCell(memberParts(r)) },
			compare: func(a, b row) int { return cmp.Compare(a.Partitions(), b.Partitions()) }, falling: true,
		},
		{
			title: "LAG", rank: 0, right: true, narrow: 6, cell: memberLagCell,
			compare: func(a, b row) int { return cmp.Compare(a.totals.Lag, b.totals.Lag) }, falling: true,
		},
		{
			title: "IN/S", name: "produced/s", rank: 10, right: true, narrow: 5, cell: func(l *look, r row) cell { return l.rateCell(zeroIdle(r, r.totals.Produced)) },
			compare: func(a, b row) int { return compareKnown(a.totals.Produced, b.totals.Produced) }, falling: true,
		},
		{
			title: "OUT/S", name: "consumed/s", rank: 2, right: true, cell: func(l *look, r row) cell { return l.rateCell(zeroIdle(r, r.totals.Consumed)) },
			compare: func(a, b row) int { return compareKnown(a.totals.Consumed, b.totals.Consumed) }, falling: true,
		},
		{
			title: "EPOCH", sparse: true, rank: 14, right: true, cell: func(_ *look, r row) cell { return epochCell(r.Epoch) },
			compare: func(a, b row) int { return cmp.Compare(a.Epoch, b.Epoch) }, falling: true,
		},
		{
			title: "RACK", sparse: true, rank: 13, narrow: 4, broad: 16, cell: text(func(r row) string { return r.Rack }),
			compare: func(a, b row) int { return cmp.Compare(a.Rack, b.Rack) },
		},
		{
			title: "NOTE", sparse: true, rank: 4, narrow: 11, broad: 30, cell: func(l *look, r row) cell { return cell{r.note, memberMark(l, r).tone} },
			compare: func(a, b row) int { return cmp.Compare(a.note, b.note) },
		},
		{title: "PARTITIONS", name: "list of partitions", rank: 5, narrow: 12, broad: 200, cell: text(func(r row) string { return r.partitions })},
	}
}

func memberParts(r *memberRow) string {
	if r.Decode == collect.DecodeUndecodable || r.Decode == collect.DecodeNotConsumer {
		return "?"
	}
	return strconv.Itoa(r.Partitions())
}

func memberLagCell(l *look, r *memberRow) cell {
	c := l.countCell(r.totals.Lag)
	switch {
	case memberParts(r) == "?": // no row of its is known, and 0 not its lag
		return l.knownCell("?")
	case r.totals.Lag < 0:
	case r.totals.Unknown > 0:
		return cell{l.glyphs.atLeast + " " + c.text, toneWarn}
	case r.totals.Stale > 0:
		return cell{"~ " + c.text, toneWarn}
	}
	return c
}

// zeroIdle is a rate: one that owns nothing moves nothing, which is known.
func zeroIdle(r *memberRow, rate float64) float64 {
	if math.IsNaN(rate) && r.Idle() {
		return 0
	}
	return rate
}

func epochCell(epoch int32) cell {
	if epoch < 0 {
		return cell{"-", toneDim}
	}
	return cell{text: strconv.Itoa(int(epoch))}
}
