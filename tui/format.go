package tui

import (
	"math"
	"strconv"
	"time"

	"github.com/klagtop/klagtop/collect"
)

// count is a number of things, "?" where it is not known. Records are drawn
// short (12.3k) or whole (12,345) as the user likes.
func (l *look) count(n int64) string {
	switch {
	case n < 0:
		return "?"
	case l.whole:
		return grouped(n)
	}
	return short(n)
}

// short is a number in at most five cells.
func short(n int64) string {
	if n < 10_000 {
		return strconv.FormatInt(n, 10)
	}
	const units = "kMGTPE"
	v, i := float64(n)/1000, 0
	for v >= 999.5 && i < len(units)-1 {
		v, i = v/1000, i+1
	}
	digits := 0
	switch {
	case v < 9.995:
		digits = 2
	case v < 99.95:
		digits = 1
	}
	return strconv.FormatFloat(v, 'f', digits, 64) + units[i:i+1]
}

// grouped is a whole number with its thousands apart.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// offset is always whole: it is compared digit by digit.
func offset(n int64) string {
	switch n {
	case collect.NoCommit:
		return "-"
	case collect.Unknown:
		return "?"
	}
	return strconv.FormatInt(n, 10)
}

// total is a lag summed up: "≥ N" where rows are unknown, "~ N" where some are
// kept from an earlier poll.
func (l *look) total(t collect.Totals) string {
	n := l.count(t.Records)
	switch {
	case t.Records < 0 || t.Complete:
		return n
	case t.Unknown > 0:
		return l.glyphs.atLeast + " " + n
	}
	return "~ " + n
}

// rate is records per second.
func (l *look) rate(r float64) string {
	switch {
	case math.IsNaN(r):
		return "?"
	case r == 0:
		return "0"
	case math.Abs(r) < 0.05:
		return "<0.1"
	case math.Abs(r) < 9.95:
		return strconv.FormatFloat(r, 'f', 1, 64)
	}
	return l.count(int64(math.Round(r)))
}

// ratio is a skew: 1 is even.
func ratio(r float64) string {
	if math.IsNaN(r) {
		return "?"
	}
	return strconv.FormatFloat(r, 'f', 2, 64)
}

// age is a time lag with how it is known.
func (l *look) age(a collect.Age) string {
	if !a.Known() || math.IsNaN(a.Seconds) {
		return "?"
	}
	s := seconds(a.Seconds)
	switch {
	case a.Method == collect.MethodAtLeast && a.Seconds < 0.1:
		return l.glyphs.atLeast + "0s"
	case a.Method == collect.MethodAtLeast:
		return l.glyphs.atLeast + s
	case a.Method == collect.MethodInterpolated && a.Error > a.Seconds/5:
		return "~" + s
	}
	return s
}

// seconds is a length of time in at most six cells.
func seconds(s float64) string {
	switch {
	case math.IsNaN(s):
		return "?"
	case s <= 0:
		return "0"
	case s < 0.1:
		return "<0.1s"
	case s < 9.95:
		return strconv.FormatFloat(s, 'f', 1, 64) + "s"
	}
	n := int64(math.Round(s))
	switch {
	case n < 60:
		return strconv.FormatInt(n, 10) + "s"
	case n < 3600:
		return two(n/60, "m", n%60, "s")
	case n < 86_400:
		return two(n/3600, "h", n%3600/60, "m")
	case n < 100*86_400:
		return two(n/86_400, "d", n%86_400/3600, "h")
	}
	return strconv.FormatInt(n/86_400, 10) + "d"
}

func two(a int64, unit string, b int64, small string) string {
	s := strconv.FormatInt(a, 10) + unit
	if b < 10 {
		s += "0"
	}
	return s + strconv.FormatInt(b, 10) + small
}

// ago is how old a moment is, in whole seconds; "?" for one that never was. A
// clock set back must not make an age negative.
func ago(now, then time.Time) string {
	if then.IsZero() {
		return "?"
	}
	return wholeSeconds(now.Sub(then))
}

func wholeSeconds(d time.Duration) string {
	n := int64(d / time.Second)
	if n < 60 {
		return strconv.FormatInt(max(0, n), 10) + "s"
	}
	return seconds(float64(n))
}

// interval is a poll interval as a user would type it.
func interval(d time.Duration) string {
	switch {
	case d <= 0:
		return "?"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	case d%time.Second != 0:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	case d >= time.Minute:
		return seconds(d.Seconds())
	}
	return strconv.FormatInt(int64(d/time.Second), 10) + "s"
}
