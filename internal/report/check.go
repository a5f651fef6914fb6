package report

import (
	"fmt"
	"math"

	"github.com/klagtop/klagtop/collect"
)

// Limits are what a group may lag at most.
type Limits struct {
	Records int64   // negative for no limit
	Seconds float64 // NaN for no limit
}

// NoLimits is where Limits begin.
func NoLimits() Limits { return Limits{Records: -1, Seconds: math.NaN()} }

// Any reports whether there is a limit.
func (l Limits) Any() bool { return l.Records >= 0 || !math.IsNaN(l.Seconds) }

// Outcome is what comes of holding a group against its limits.
type Outcome uint8

// The outcomes.
const (
	Within Outcome = iota
	Unsure         // too little is known to say that the group is within
	Above
)

// Verdict is a group's outcome with the sentence that says why.
type Verdict struct {
	Group   string
	Outcome Outcome // the worst of its limits
	Text    string

	limits [2]Outcome // of each limit: records, seconds
}

// Judge holds a group of s against its limits. What is known suffices to be
// above one; a group is within when nothing of it was missed.
func Judge(s *collect.Snapshot, g *collect.Group, l Limits, o Options) Verdict {
	v := Verdict{Group: g.Name}
	weigh := func(limit int, out Outcome, text string) {
		v.limits[limit] = out
		switch {
		case v.Text == "" || out > v.Outcome:
			v.Outcome, v.Text = out, text
		case out == v.Outcome:
			v.Text += ", " + text
		}
	}
	missed := !g.Lag.Complete && !s.Complete // a topic that is gone for good, for one, is not missed
	if t := &g.Lag; l.Records >= 0 {
		out := Within
		switch {
		case t.Records > l.Records:
			out = Above
		case t.Records < 0 || missed:
			out = Unsure
		}
		weigh(0, out, fmt.Sprintf("lag %s, %s %d", o.total(t), out.relation(), l.Records))
	}
	if a := g.Lag.Age; !math.IsNaN(l.Seconds) {
		out := Within
		switch {
		case a.Known() && a.Seconds > l.Seconds:
			out = Above
		case !a.Known() || a.Method == collect.MethodAtLeast || missed:
			out = Unsure
		}
		weigh(1, out, fmt.Sprintf("%s behind, %s %s", o.age(a), out.relation(), span(l.Seconds)))
	}
	v.Text = Printable(g.Name) + ": " + v.Text
	return v
}

func (out Outcome) relation() string {
	switch out {
	case Above:
		return "above the limit of"
	case Unsure:
		return "too little is known to compare it with the limit of"
	}
	return "within the limit of"
}

// A Trial judges groups over several polls: one and the same limit must be
// exceeded at every one of them. The zero Trial has seen none.
type Trial struct {
	polls   int
	results map[string]Verdict
}

// Add takes in the verdicts of one poll; complete says whether nothing was
// missed in it, so that a group that is not there was not.
func (t *Trial) Add(verdicts []Verdict, complete bool) {
	absent := Unsure
	if complete {
		absent = Within
	}
	next := make(map[string]Verdict, len(verdicts))
	for _, v := range verdicts {
		now := v.Outcome
		before, seen := t.results[v.Group]
		switch {
		case seen:
			v.and(before.limits)
		case t.polls > 0:
			v.and([2]Outcome{absent, absent})
		}
		if v.Outcome != now { // or the sentence would contradict the exit code
			v.Text += ", but not at every poll"
		}
		next[v.Group] = v
	}
	for name, v := range t.results {
		if _, there := next[name]; !there {
			v.and([2]Outcome{absent, absent})
			next[name] = v
		}
	}
	t.results = next
	t.polls++
}

// and takes another poll's outcomes into a verdict.
func (v *Verdict) and(other [2]Outcome) {
	for i := range v.limits {
		v.limits[i] = both(v.limits[i], other[i])
	}
	v.Outcome = max(v.limits[0], v.limits[1])
}

// both is the outcome of two polls.
func both(a, b Outcome) Outcome {
	switch {
	case a == Within || b == Within:
		return Within
	case a == Unsure || b == Unsure:
		return Unsure
	}
	return Above
}

// Worst is the worst outcome over all groups.
func (t *Trial) Worst() Outcome {
	worst := Within
	for _, v := range t.results {
		worst = max(worst, v.Outcome)
	}
	return worst
}

// Of is a group's verdict as it stands: the outcome over all polls, with the
// newest sentence.
func (t *Trial) Of(group string) (Verdict, bool) {
	v, ok := t.results[group]
	return v, ok
}
