package report

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/klagtop/klagtop/collect"
)

// Options choose how tables and lines look.
type Options struct {
	Wide     bool // more columns
	ASCII    bool // no sign outside ASCII but in names
	Terminal bool // CSV is read by a person: see OffsetsCSV
}

func (o Options) atLeast() string {
	if o.ASCII {
		return ">= "
	}
	return "≥ "
}

// total is a sum of lags with how it was formed: at least N where rows are not
// known, about N where some are kept from an earlier poll.
func (o Options) total(t *collect.Totals) string {
	switch {
	case t.Records < 0:
		return "?"
	case t.Unknown > 0, !t.Complete && t.Stale == 0:
		return o.atLeast() + strconv.FormatInt(t.Records, 10)
	case t.Stale > 0:
		return "~ " + strconv.FormatInt(t.Records, 10)
	}
	return strconv.FormatInt(t.Records, 10)
}

// memberLag is what a member's rows add up to, formed as a total is.
func (o Options) memberLag(m *collect.Member, t *collect.MemberTotals) string {
	if !decoded(m) {
		return "?"
	}
	return o.total(&collect.Totals{Records: t.Lag, Unknown: t.Unknown, Stale: t.Stale, Complete: t.Unknown+t.Stale == 0})
}

// age is a time lag: at least so long, or about so long where it may be off by
// more than a fifth, which is where the terminal view says so, too.
func (o Options) age(a collect.Age) string {
	switch {
	case !a.Known() || math.IsNaN(a.Seconds):
		return "?"
	case a.Method == collect.MethodAtLeast && a.Seconds < 0.1:
		return o.atLeast() + "0s"
	case a.Method == collect.MethodAtLeast:
		return o.atLeast() + span(a.Seconds)
	case a.Method == collect.MethodInterpolated && a.Error > a.Seconds/5:
		return "~ " + span(a.Seconds)
	}
	return span(a.Seconds)
}

// count is a number of which negative values say that it is not known.
func count(n int64) string {
	if n < 0 {
		return "?"
	}
	return strconv.FormatInt(n, 10)
}

// committed is a committed offset.
func committed(n int64) string {
	if n == collect.NoCommit {
		return "-"
	}
	return count(n)
}

// brokerID is a broker's id; "-" for none.
func brokerID(id int32) string {
	if id < 0 {
		return "-"
	}
	return strconv.Itoa(int(id))
}

// rate is records per second.
func rate(f float64) string {
	switch a := math.Abs(f); {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return "?"
	case a >= 100 || f == 0:
		return strconv.FormatFloat(f, 'f', 0, 64)
	case a >= 0.1:
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	return strconv.FormatFloat(f, 'g', 1, 64)
}

// span is a number of seconds with two units at most.
func span(seconds float64) string {
	if math.IsNaN(seconds) || math.IsInf(seconds, 0) {
		return "?"
	}
	const minute, hour, day = 60, 3600, 86400
	switch {
	case seconds == 0:
		return "0s"
	case seconds < 9.95:
		if seconds < 0.1 {
			return "<0.1s"
		}
		return strings.TrimSuffix(strconv.FormatFloat(seconds, 'f', 1, 64), ".0") + "s"
	}
	n := int64(math.Round(seconds))
	switch {
	case n < minute:
		return strconv.FormatInt(n, 10) + "s"
	case n < hour:
		return two(n/minute, "m", n%minute, "s")
	case n < day:
		return two(n/hour, "h", n%hour/minute, "m")
	}
	return two(n/day, "d", n%day/hour, "h")
}

func two(a int64, unit string, b int64, small string) string {
	s := strconv.FormatInt(a, 10) + unit
	if b < 10 {
		s += "0"
	}
	return s + strconv.FormatInt(b, 10) + small
}

// since is how old t was at now; "?" for the zero time.
func since(t, now time.Time) string {
	if t.IsZero() {
		return "?"
	}
	return span(max(0, now.Sub(t).Seconds()))
}

// rows is how many partitions a group has; "?" where none is known because its
// commits could not be read, or a rebalance hides what it subscribes to.
func rows(g *collect.Group) string {
	if n := g.Rows(); n > 0 || g.Lag.Records >= 0 {
		return strconv.Itoa(n)
	}
	return "?"
}
