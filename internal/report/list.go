package report

import (
	"cmp"
	"io"
	"slices"
	"strconv"

	"github.com/klagtop/klagtop/collect"
)

// SortKeys are the words that Sort takes.
func SortKeys() []string {
	return []string{"name", "lag", "time", "members", "partitions", "state", "type"}
}

// Sort gives the groups in the order of a key, those that want attention first;
// ties go by name. Groups whose number is not known come after those with more
// than 0 and before the zeros: they may be any of them. The slice given is not
// changed; an unknown key means name.
func Sort(groups []*collect.Group, key string) []*collect.Group {
	out := slices.Clone(groups)
	number := func(of func(*collect.Group) float64) func(a, b *collect.Group) int {
		weight := func(g *collect.Group) float64 {
			if v := of(g); v >= 0 {
				return v
			}
			return 1e-9 // negative or NaN: not known
		}
		return func(a, b *collect.Group) int { return cmp.Compare(weight(b), weight(a)) }
	}
	var by func(a, b *collect.Group) int
	switch key {
	case "lag":
		by = number(func(g *collect.Group) float64 { return float64(g.Lag.Records) })
	case "time":
		by = number(func(g *collect.Group) float64 { return g.Lag.Age.Seconds })
	case "members":
		by = number(func(g *collect.Group) float64 { return float64(g.Assignment.Members) })
	case "partitions":
		by = number(func(g *collect.Group) float64 { return float64(g.Rows()) })
	case "state":
		by = func(a, b *collect.Group) int { return cmp.Compare(a.State, b.State) }
	case "type":
		by = func(a, b *collect.Group) int { return cmp.Compare(a.Type, b.Type) }
	default:
		by = func(a, b *collect.Group) int { return 0 }
	}
	slices.SortStableFunc(out, func(a, b *collect.Group) int { return cmp.Or(by(a, b), cmp.Compare(a.Name, b.Name)) })
	return out
}

// List prints a line per group.
func List(w io.Writer, groups []*collect.Group, o Options) error {
	t := &table{columns: []column{
		text("GROUP"), text("STATE"), text("TYPE"), number("MEMBERS"), number("PARTITIONS"), number("LAG"), number("TIME-LAG"), text("NOTE"),
	}}
	for _, g := range groups {
		t.add(Printable(g.Name), Printable(g.State), Printable(string(g.Type)), count(g.Assignment.Members), rows(g),
			o.total(&g.Lag), o.age(g.Lag.Age), note(g))
	}
	return t.write(w)
}

// note is the first thing to know of a group beside its numbers.
func note(g *collect.Group) string {
	t, a := &g.Lag, &g.Assignment
	switch {
	case g.Reason != collect.ReasonNone:
		return g.Reason.String()
	case g.CommitsReason != collect.ReasonNone:
		return "commits: " + g.CommitsReason.String()
	case t.Unknown > 0:
		return strconv.Itoa(t.Unknown) + " unknown"
	case t.LostRecords > 0:
		return plural(t.LostRecords, "record") + " lost"
	case a.Conflicts > 0:
		return plural(a.Conflicts, "conflict")
	case a.Members > 0 && a.Unassigned > 0:
		return strconv.FormatInt(a.Unassigned, 10) + " unassigned"
	case t.NoCommit > 0:
		return strconv.Itoa(t.NoCommit) + " without a commit"
	case a.Idle > 0:
		return strconv.FormatInt(a.Idle, 10) + " idle"
	case t.Stale > 0:
		return strconv.Itoa(t.Stale) + " stale"
	}
	return "-"
}
