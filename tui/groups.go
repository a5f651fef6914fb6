package tui

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/klagtop/klagtop/collect"
)

// weight is how much a group wants to be looked at. Rules give the upper ones;
// without them, what is not known comes first.
type weight uint8

const (
	weightNone weight = iota
	weightInfo
	weightStale
	weightUnknown
	weightWarning
	weightCritical
)

// groupRow is one group in the list.
type groupRow struct {
	*collect.Group
	label   string // safe to draw
	weight  weight
	finding *collect.Finding
	more    int // further findings
	cause   string
	age     float64 // to sort by; these are here because sorting reads them often
	records int64
	empty   bool // known to have neither members nor lag
	ring    *ring
	samples uint64 // of the ring, when the row was made
	trend   trend
}

// groupsPane lists every group of the cluster, worst first.
type groupsPane struct {
	list[*groupRow]
	issuesOnly, hideEmpty bool
	counts                counts
}

// counts sum the whole cluster up, whatever is hidden.
type counts struct{ groups, critical, warning, rebalancing, unknown, stale int }

func newGroupsPane() *groupsPane {
	p := &groupsPane{}
	p.list = list[*groupRow]{
		table:   table[*groupRow]{columns: groupColumns(), key: (*groupRow).identity, order: worstFirst, sorted: -1},
		build:   p.rows,
		keep:    p.keeps,
		text:    func(r *groupRow) string { return r.label },
		name:    func(r *groupRow) string { return r.label },
		target:  func(r *groupRow) (string, bool) { return r.Name, true },
		why:     explainGroup,
		empty:   noGroups,
		natural: "worst first",
	}
	return p
}

// identity is the key of the row: never "", also for the group without a name.
func (r *groupRow) identity() string { return "g" + r.Name }

func (p *groupsPane) rows(s *scene) []*groupRow {
	p.counts = counts{}
	if s.snap == nil {
		return nil
	}
	flat := make([]groupRow, len(s.snap.Groups))
	out := make([]*groupRow, len(flat))
	for i, g := range s.snap.Groups {
		r := &flat[i]
		r.Group, r.label = g, s.look.name(g.Name)
		if r.finding = s.primary[g.Name]; r.finding != nil {
			r.more = s.findings[g.Name] - 1
		}
		r.weight, r.cause = weigh(g, r.finding), cause(g, r.finding)
		if r.ring = s.history.rings[g.Name]; r.ring != nil {
			r.samples = r.ring.n
			r.trend = r.ring.trend(r.samples)
		}
		if r.age = -1; g.Lag.Age.Known() {
			r.age = g.Lag.Age.Seconds
		}
		r.records = g.Lag.Records
		r.empty = g.MembersKnown && len(g.Members) == 0 && r.records == 0 && r.weight == weightNone
		p.counts.add(r)
		out[i] = r
	}
	return out
}

func (c *counts) add(r *groupRow) {
	c.groups++
	switch r.weight {
	case weightCritical:
		c.critical++
	case weightWarning:
		c.warning++
	}
	if r.Rebalancing() {
		c.rebalancing++
	}
	switch {
	case r.unknown():
		c.unknown++
	case stale(r.Group):
		c.stale++
	}
}

func (r *groupRow) unknown() bool { return unknown(r.Group) }

// unknown reports whether something of the group is not known at all.
func unknown(g *collect.Group) bool {
	return g.State == collect.StateUnknown || g.Lag.Records < 0 || g.Lag.Unknown > 0 || g.Reason != collect.ReasonNone && !g.Reason.Passing()
}

// stale reports whether something of the group is kept from an earlier poll.
func stale(g *collect.Group) bool {
	return g.Lag.Stale > 0 || g.CommitsReason != collect.ReasonNone || g.Reason != collect.ReasonNone
}

func weigh(g *collect.Group, f *collect.Finding) weight {
	switch {
	case f != nil && f.Severity == collect.Critical:
		return weightCritical
	case f != nil && f.Severity == collect.Warning:
		return weightWarning
	case unknown(g):
		return weightUnknown
	case stale(g):
		return weightStale
	case f != nil:
		return weightInfo
	}
	return weightNone
}

// keeps is what i and e leave on the screen. A group with lag, or of which it
// is not known, is never hidden as empty.
func (p *groupsPane) keeps(r *groupRow) bool {
	if p.issuesOnly && r.weight < weightStale {
		return false
	}
	return !p.hideEmpty || !r.empty
}

func (p *groupsPane) note() string {
	var words []string
	if p.issuesOnly {
		words = append(words, "issues only")
	}
	if p.hideEmpty {
		words = append(words, "empty ones hidden")
	}
	if p.hidden > 0 {
		words = append(words, strconv.Itoa(p.hidden)+" hidden")
	}
	if p.missed > 0 {
		words = append(words, strconv.Itoa(p.missed)+" filtered")
	}
	if n := p.list.note(); n != "" {
		words = append(words, n)
	}
	return strings.Join(words, ", ")
}

// worstFirst is the order in which groups want to be looked at.
func worstFirst(a, b *groupRow) int {
	switch { // not cmp.Or: it would compare all of it every time
	case a.weight != b.weight:
		return cmp.Compare(b.weight, a.weight)
	case a.age != b.age:
		return cmp.Compare(b.age, a.age)
	case a.records != b.records:
		return cmp.Compare(b.records, a.records)
	}
	return cmp.Compare(a.Name, b.Name)
}

// cause is why a group looks as it does: its primary finding, else the plain
// fact that explains most.
func cause(g *collect.Group, f *collect.Finding) string {
	switch {
	case f != nil:
		return f.Code
	case g.Reason != collect.ReasonNone:
		return g.Reason.String()
	case g.CommitsReason != collect.ReasonNone:
		return "commits " + g.CommitsReason.String()
	case g.Lag.Unknown > 0:
		return counted(g.Lag.Unknown, "unknown")
	case g.Lag.Stale > 0:
		return counted(g.Lag.Stale, "stale")
	case g.Lag.LostRecords > 0:
		return short(g.Lag.LostRecords) + " lost"
	case g.Assignment.Conflicts > 0:
		return counted(int(g.Assignment.Conflicts), "with two owners")
	case g.Lag.NoCommitRecords > 0 && g.Lag.NoCommit == g.Lag.Known:
		return "no commits"
	case g.Lag.NoCommitRecords > 0:
		return counted(g.Lag.NoCommit, "no commit")
	}
	return ""
}

func counted(n int, what string) string { return strconv.Itoa(n) + " " + what }

func noGroups(s *scene) string {
	if s.snap != nil && s.snap.Filtered {
		return "no group matches the filters klagtop was started with"
	}
	return "no consumer groups"
}

func groupColumns() []column[*groupRow] {
	return []column[*groupRow]{
		{
			title: "", name: "severity", rank: 0, cell: func(l *look, r *groupRow) cell { return l.mark(r.weight) },
			compare: func(a, b *groupRow) int { return cmp.Compare(a.weight, b.weight) }, falling: true,
		},
		{
			title: "GROUP", rank: 0, tight: true, narrow: 10, broad: 60, middle: true, cell: func(_ *look, r *groupRow) cell { return cell{text: r.label} },
			compare: func(a, b *groupRow) int { return cmp.Compare(a.Name, b.Name) },
		},
		{
			title: "TYPE", rank: 14, cell: func(l *look, r *groupRow) cell { return cell{l.text(string(r.Type)), toneDim} },
			compare: func(a, b *groupRow) int { return cmp.Compare(a.Type, b.Type) },
		},
		{
			title: "STATE", rank: 3, narrow: 11, broad: 20, cell: stateCell,
			compare: func(a, b *groupRow) int { return cmp.Compare(a.State, b.State) },
		},
		{
			title: "ASSIGNOR", rank: 17, narrow: 8, broad: 18, cell: func(l *look, r *groupRow) cell { return cell{l.text(r.Assignor), toneDim} },
			compare: func(a, b *groupRow) int { return cmp.Compare(a.Assignor, b.Assignor) },
		},
		{
			title: "MEMBERS", rank: 4, right: true, cell: membersCell,
			compare: func(a, b *groupRow) int { return cmp.Compare(a.Assignment.Members, b.Assignment.Members) }, falling: true,
		},
		{
			title: "PARTS", name: "partitions", rank: 15, right: true, cell: partitionsCell,
			compare: func(a, b *groupRow) int { return cmp.Compare(a.Rows(), b.Rows()) }, falling: true,
		},
		{
			title: "LAG", rank: 0, right: true, narrow: 7, cell: groupLagCell,
			compare: func(a, b *groupRow) int { return cmp.Compare(a.Lag.Records, b.Lag.Records) }, falling: true,
		},
		{
			title: "", name: "trend", rank: 1, tight: true, narrow: 1, cell: func(l *look, r *groupRow) cell { return l.trend(r.trend) },
			compare: func(a, b *groupRow) int { return cmp.Compare(a.trend, b.trend) }, falling: true,
		},
		{title: "HISTORY", rank: 13, narrow: historySamples / 2, cell: sparkCell},
		{
			title: "TIME LAG", rank: 2, right: true, cell: func(l *look, r *groupRow) cell { return l.ageCell(r.Lag.Age) },
			compare: func(a, b *groupRow) int { return cmp.Compare(a.age, b.age) }, falling: true,
		},
		{
			title: "IN/S", name: "produced/s", rank: 10, right: true, narrow: 5, cell: func(l *look, r *groupRow) cell { return l.rateCell(r.Produced) },
			compare: func(a, b *groupRow) int { return compareKnown(a.Produced, b.Produced) }, falling: true,
		},
		{
			title: "OUT/S", name: "consumed/s", rank: 11, right: true, cell: func(l *look, r *groupRow) cell { return l.rateCell(r.Consumed) },
			compare: func(a, b *groupRow) int { return compareKnown(a.Consumed, b.Consumed) }, falling: true,
		},
		{
			title: "DRAIN", name: "drain time", rank: 12, right: true, narrow: 6, cell: drainCell,
			compare: func(a, b *groupRow) int { return compareKnown(a.Drain, b.Drain) }, falling: true,
		},
		{
			title: "SKEW", rank: 18, right: true, cell: func(l *look, r *groupRow) cell { return l.knownCell(ratio(r.Assignment.SkewLag)) },
			compare: func(a, b *groupRow) int { return compareKnown(a.Assignment.SkewLag, b.Assignment.SkewLag) }, falling: true,
		},
		{
			title: "REBAL", name: "rebalances", rank: 16, right: true, cell: rebalancesCell,
			compare: func(a, b *groupRow) int { return cmp.Compare(a.Counters.Rebalances, b.Counters.Rebalances) }, falling: true,
		},
		{
			title: "READ", name: "sample age", rank: 19, right: true, narrow: 5, cell: func(l *look, r *groupRow) cell { return cell{ago(l.now, r.CommitsAt), toneDim} },
			compare: func(a, b *groupRow) int { return b.CommitsAt.Compare(a.CommitsAt) }, falling: true,
		},
		{
			title: "CAUSE", rank: 5, narrow: 14, broad: 48, cell: causeCell,
			compare: func(a, b *groupRow) int { return cmp.Compare(a.cause, b.cause) },
		},
	}
}

// compareKnown orders numbers with those that are not known below all others.
func compareKnown(a, b float64) int {
	switch {
	case math.IsNaN(a) && math.IsNaN(b):
		return 0
	case math.IsNaN(a):
		return -1
	case math.IsNaN(b):
		return 1
	}
	return cmp.Compare(a, b)
}
