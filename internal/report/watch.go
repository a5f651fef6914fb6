package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/klagtop/klagtop/collect"
)

// sharesShown is up to how many members a line shows what each of them owns.
const sharesShown = 16

// Watch prints a line per group of one poll: when, which group, its state, and
// what is known of it as name=value. Counts that are 0 and say so by their
// absence are left out.
func Watch(w io.Writer, s *collect.Snapshot, groups []*collect.Group, o Options) error {
	for _, g := range groups {
		if _, err := io.WriteString(w, instant(s.TakenAt)+"  "+watchLine(g, o)+"\n"); err != nil {
			return err
		}
	}
	return nil
}

func watchLine(g *collect.Group, o Options) string {
	a, t := &g.Assignment, &g.Lag
	pairs := []string{
		Printable(g.Name), Printable(g.State),
		"members=" + count(a.Members), "assigned=" + shares(g),
		"lag=" + joined(o.total(t)), "behind=" + joined(o.age(t.Age)),
		"produced=" + rate(g.Produced) + "/s", "consumed=" + rate(g.Consumed) + "/s",
	}
	for _, c := range []struct {
		name string
		n    int64
	}{
		{"idle", a.Idle},
		{"unassigned", max(0, a.Unassigned)},
		{"orphaned", a.Orphaned},
		{"conflicts", a.Conflicts},
		{"no_commit", int64(t.NoCommit)},
		{"unknown", int64(t.Unknown)},
		{"stale", int64(t.Stale)},
		{"lost", t.LostRecords},
	} {
		if c.n > 0 {
			pairs = append(pairs, c.name+"="+strconv.FormatInt(c.n, 10))
		}
	}
	if g.Reason != collect.ReasonNone {
		pairs = append(pairs, "reason="+g.Reason.String())
	}
	if g.AssignmentStale {
		pairs = append(pairs, "assignment=stale")
	}
	return strings.Join(pairs, "  ")
}

// joined makes a value one word.
func joined(s string) string { return strings.ReplaceAll(s, " ", "") }

// shares is how many partitions each member has, 3/3 or 2/2/2; of many members,
// their sum and the range.
func shares(g *collect.Group) string {
	if !g.MembersKnown {
		return "?"
	}
	if len(g.Members) == 0 {
		return "-"
	}
	each := make([]string, len(g.Members))
	least, most, sum := -1, 0, 0
	for i := range g.Members {
		m := &g.Members[i]
		n := m.Partitions()
		if each[i] = strconv.Itoa(n); !decoded(m) {
			each[i] = "?"
			continue
		}
		if least < 0 || n < least {
			least = n
		}
		most, sum = max(most, n), sum+n
	}
	if len(each) <= sharesShown {
		return strings.Join(each, "/")
	}
	if least < 0 {
		return "?"
	}
	return fmt.Sprintf("%d(%d..%d)", sum, least, most)
}

// Event prints a line for one event.
func Event(w io.Writer, e *collect.Event) error {
	line := []string{instant(e.At), Printable(e.Group), string(e.Kind)}
	if e.Text != "" {
		line = append(line, Printable(e.Text))
	}
	_, err := io.WriteString(w, strings.Join(line, "  ")+"\n")
	return err
}

func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
