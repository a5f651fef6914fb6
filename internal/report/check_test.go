package report

import (
	"strings"
	"testing"

	"github.com/klagtop/klagtop/collect"
)

func TestJudge(t *testing.T) {
	exact := func(s float64) collect.Age { return collect.Age{Seconds: s, Method: collect.MethodExact} }
	whole := collect.Totals{Records: 400, Known: 2, Complete: true, Age: exact(60)}
	partial := collect.Totals{Records: 400, Known: 1, Unknown: 1, Age: collect.Age{Seconds: 60, Method: collect.MethodAtLeast}}
	nothing := collect.Totals{Records: -1, Unknown: 2, Age: collect.Age{Seconds: nan}}
	for name, c := range map[string]struct {
		t        collect.Totals
		complete bool
		records  int64
		seconds  float64
		want     Outcome
		text     string
	}{
		"as much as allowed":                      {whole, true, 400, nan, Within, "lag 400, within the limit of 400"},
		"more than allowed":                       {whole, true, 399, nan, Above, "lag 400, above the limit of 399"},
		"at least more than allowed":              {partial, false, 100, nan, Above, "lag ≥ 400, above the limit of 100"},
		"a part is missed":                        {partial, false, 1000, nan, Unsure, "lag ≥ 400, too little is known"},
		"a part is gone for good, and not missed": {partial, true, 1000, nan, Within, "lag ≥ 400, within"},
		"no lag is known":                         {nothing, true, 1000, nan, Unsure, "lag ?, too little"},
		"seconds above":                           {whole, true, -1, 59, Above, "1m00s behind, above the limit of 59s"},
		"seconds within":                          {whole, true, -1, 60, Within, "1m00s behind, within the limit of 1m00s"},
		"seconds not known":                       {nothing, true, -1, 60, Unsure, "? behind"},
		"at least so many seconds":                {partial, true, -1, 100, Unsure, "≥ 1m00s behind"},
		"one of two limits":                       {whole, true, 1000, 5, Above, "x: 1m00s behind, above the limit of 5s"},
		"both limits":                             {whole, true, 1, 5, Above, "x: lag 400, above the limit of 1, 1m00s behind, above the limit of 5s"},
		"a limit of 0":                            {collect.Totals{Complete: true, Age: exact(0)}, true, 0, 0, Within, "lag 0, within the limit of 0"},
	} {
		v := Judge(&collect.Snapshot{Complete: c.complete}, &collect.Group{Name: "x", Lag: c.t}, Limits{c.records, c.seconds}, Options{})
		if v.Outcome != c.want || !strings.Contains(v.Text, c.text) {
			t.Errorf("%s: %v %q, want %v %q", name, v.Outcome, v.Text, c.want, c.text)
		}
	}
}

func TestTheSentenceOfATrialIsThatOfItsOutcome(t *testing.T) {
	v := func(o Outcome) []Verdict {
		return []Verdict{{Group: "a", Outcome: o, limits: [2]Outcome{o}, Text: "a: lag"}}
	}
	for name, c := range map[string]struct {
		polls [2]Outcome
		want  string
	}{
		"above twice":        {[2]Outcome{Above, Above}, "a: lag"},
		"above at last":      {[2]Outcome{Within, Above}, "a: lag, but not at every poll"},
		"unsure at last":     {[2]Outcome{Within, Unsure}, "a: lag, but not at every poll"},
		"within at last":     {[2]Outcome{Above, Within}, "a: lag"},
		"above after unsure": {[2]Outcome{Unsure, Above}, "a: lag, but not at every poll"},
	} {
		var tr Trial
		for _, o := range c.polls {
			tr.Add(v(o), true)
		}
		if got, _ := tr.Of("a"); got.Text != c.want {
			t.Errorf("%s: %q, want %q", name, got.Text, c.want)
		}
	}
}

func TestATrialNeedsEveryPoll(t *testing.T) {
	v := func(group string, o Outcome) Verdict { return Verdict{Group: group, Outcome: o, limits: [2]Outcome{o}} }
	seconds := func(group string, o Outcome) Verdict {
		return Verdict{Group: group, Outcome: o, limits: [2]Outcome{Within, o}}
	}
	for name, c := range map[string]struct {
		polls    [][]Verdict
		complete []bool
		want     Outcome
	}{
		"above at every poll":                   {[][]Verdict{{v("a", Above)}, {v("a", Above)}}, []bool{true, true}, Above},
		"each limit once":                       {[][]Verdict{{v("a", Above)}, {seconds("a", Above)}}, []bool{true, true}, Within},
		"within once":                           {[][]Verdict{{v("a", Above)}, {v("a", Within)}, {v("a", Above)}}, []bool{true, true, true}, Within},
		"unsure once":                           {[][]Verdict{{v("a", Above)}, {v("a", Unsure)}, {v("a", Above)}}, []bool{true, false, true}, Unsure},
		"each above once":                       {[][]Verdict{{v("a", Above), v("b", Within)}, {v("a", Within), v("b", Above)}}, []bool{true, true}, Within},
		"one of two at every poll":              {[][]Verdict{{v("a", Above), v("b", Within)}, {v("a", Above), v("b", Above)}}, []bool{true, true}, Above},
		"gone":                                  {[][]Verdict{{v("a", Above)}, nil, {v("a", Above)}}, []bool{true, true, true}, Within},
		"not seen in a poll that missed things": {[][]Verdict{{v("a", Above)}, nil, {v("a", Above)}}, []bool{true, false, true}, Unsure},
		"came later":                            {[][]Verdict{nil, {v("a", Above)}}, []bool{true, true}, Within},
	} {
		var tr Trial
		for i, p := range c.polls {
			tr.Add(p, c.complete[i])
		}
		if got := tr.Worst(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
