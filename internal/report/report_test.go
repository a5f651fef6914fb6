package report

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode"

	"github.com/klagtop/klagtop/collect"
)

func TestTables(t *testing.T) {
	s := cluster(t)
	wide := Options{Wide: true, ASCII: true}
	golden(t, "offsets", func(b *bytes.Buffer) error { return Offsets(b, s, s.Groups, Options{}) })
	golden(t, "offsets-wide-ascii", func(b *bytes.Buffer) error { return Offsets(b, s, s.Groups, wide) })
	golden(t, "members", func(b *bytes.Buffer) error { return Members(b, s.Groups, Options{}) })
	golden(t, "members-wide", func(b *bytes.Buffer) error { return Members(b, s.Groups, wide) })
	golden(t, "state", func(b *bytes.Buffer) error { return State(b, s, s.Groups, Options{}) })
	golden(t, "list", func(b *bytes.Buffer) error { return List(b, s.Groups, Options{}) })
	golden(t, "watch", func(b *bytes.Buffer) error { return Watch(b, s, s.Groups, Options{}) })
}

func TestCSV(t *testing.T) {
	s := cluster(t)
	tame := []*collect.Group{group(t, s, "alerts"), group(t, s, "fresh"), group(t, s, "hidden"), group(t, s, "ticker")}
	golden(t, "offsets-csv", func(b *bytes.Buffer) error { return OffsetsCSV(b, tame, Options{}) })
	golden(t, "members-csv", func(b *bytes.Buffer) error { return MembersCSV(b, tame, Options{}) })
	golden(t, "state-csv", func(b *bytes.Buffer) error { return StateCSV(b, tame, Options{}) })
}

// A program must be able to tell every name again.
func TestCSVKeepsNamesAsTheyAre(t *testing.T) {
	var b bytes.Buffer
	if err := OffsetsCSV(&b, cluster(t).Groups, Options{}); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	clients := map[string]bool{}
	for _, r := range records {
		clients[r[24]] = true
	}
	if !clients["\u202eevil\nclient\x00"] || !clients["市場"] {
		t.Errorf("client ids: %v", clients)
	}
}

func TestNoControlByteOfANameReachesATerminal(t *testing.T) {
	s := cluster(t)
	var b bytes.Buffer
	for _, o := range []Options{{}, {Wide: true}} {
		for _, err := range []error{
			Offsets(&b, s, s.Groups, o), Members(&b, s.Groups, o), State(&b, s, s.Groups, o), List(&b, s.Groups, o), Watch(&b, s, s.Groups, o),
			Event(&b, &collect.Event{Group: "\x1b[2J", Kind: collect.EventGroup, Text: "gone\n\x9b31m\x1b"}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	shown := Options{Terminal: true}
	for _, err := range []error{OffsetsCSV(&b, s.Groups, shown), MembersCSV(&b, s.Groups, shown), StateCSV(&b, s.Groups, shown)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, g := range s.Groups {
		b.WriteString(Judge(s, g, Limits{Records: 1, Seconds: 1}, Options{}).Text + "\n")
	}
	for _, r := range strings.ReplaceAll(b.String(), "\n", "") {
		if !unicode.IsPrint(r) {
			t.Errorf("%U is printed", r)
		}
	}
	if strings.Contains(b.String(), "\ufffd") {
		t.Error("a bad byte became a replacement character: two names look alike")
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"ticker": "ticker", "": `""`, "a b": "a b", "市場-alerts": "市場-alerts", "a\nb\tc\rd": `a\nb\tc\rd`, "\x1b[2J": `\x1b[2J`,
		"\xff": `\xff`, "\u202e": `\u202e`, "\U000e0041": `\U000e0041`, "e\u0301": "e\u0301",
	} {
		if got := Printable(in); got != want {
			t.Errorf("Printable(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSpans(t *testing.T) {
	for seconds, want := range map[float64]string{
		0: "0s", 0.04: "<0.1s", 0.1: "0.1s", 3.24: "3.2s", 9.96: "10s", 59.4: "59s", 59.6: "1m00s", 125: "2m05s", 3599.9: "1h00m", 7500: "2h05m", 86400: "1d00h", 9e5: "10d10h",
	} {
		if got := span(seconds); got != want {
			t.Errorf("span(%v) = %q, want %q", seconds, got, want)
		}
	}
	if span(nan) != "?" {
		t.Error("an unknown span is not ?")
	}
}

// A guess between two far points must not read like a measurement: beside a
// group long left alone, one on the same topic was 1.6 s behind give or take a
// minute, and looked like 1.6 s.
func TestTimeLagsSayHowTheyAreKnown(t *testing.T) {
	for name, c := range map[string]struct {
		age         collect.Age
		want, ascii string
	}{
		"exact":              {collect.Age{Seconds: 4.2, Method: collect.MethodExact}, "4.2s", "4.2s"},
		"a fifth off":        {collect.Age{Seconds: 100, Error: 20, Method: collect.MethodInterpolated}, "1m40s", "1m40s"},
		"more than that":     {collect.Age{Seconds: 1.6, Error: 59, Method: collect.MethodInterpolated}, "~ 1.6s", "~ 1.6s"},
		"at least":           {collect.Age{Seconds: 4.2, Method: collect.MethodAtLeast}, "≥ 4.2s", ">= 4.2s"},
		"at least, but when": {collect.Age{Seconds: 0.01, Method: collect.MethodAtLeast}, "≥ 0s", ">= 0s"},
		"not known":          {collect.Age{Seconds: nan}, "?", "?"},
	} {
		if got := (Options{}).age(c.age); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if got := (Options{ASCII: true}).age(c.age); got != c.ascii {
			t.Errorf("%s in ASCII: %q, want %q", name, got, c.ascii)
		}
	}
}

func TestTotalsSayHowTheyWereFormed(t *testing.T) {
	for name, c := range map[string]struct {
		t    collect.Totals
		want string
	}{
		"whole":                    {collect.Totals{Records: 120, Known: 6, Complete: true}, "120"},
		"a true zero":              {collect.Totals{Complete: true}, "0"},
		"nothing known":            {collect.Totals{Records: -1, Unknown: 2}, "?"},
		"some unknown":             {collect.Totals{Records: 120, Known: 5, Unknown: 1}, "≥ 120"},
		"some kept":                {collect.Totals{Records: 120, Known: 6, Stale: 1}, "~ 120"},
		"unknown beside kept ones": {collect.Totals{Records: 120, Known: 5, Unknown: 1, Stale: 2}, "≥ 120"},
	} {
		if got := (Options{}).total(&c.t); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestWhatAShareGroupLostIsAnUpperBound(t *testing.T) {
	for typ, want := range map[collect.GroupType]string{collect.TypeShare: "queue: share, Empty, 0 partitions, lag 30, behind ?, up to 25 records lost", collect.TypeClassic: "queue: classic, Empty, 0 partitions, lag 30, behind ?, 25 records lost"} {
		g := &collect.Group{Name: "queue", Type: typ, State: "Empty", Lag: collect.Totals{Records: 30, Known: 1, LostRecords: 25, Complete: true}}
		g.Assignment.Members = collect.Unknown
		if got := Sentence(g, Options{}); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

func TestAMembersLagSaysHowItWasFormed(t *testing.T) {
	owns := &collect.Member{Decode: collect.DecodeOK}
	for name, c := range map[string]struct {
		m    *collect.Member
		t    collect.MemberTotals
		want string
	}{
		"whole":         {owns, collect.MemberTotals{Lag: 120}, "120"},
		"a true zero":   {&collect.Member{Decode: collect.DecodeEmpty}, collect.MemberTotals{}, "0"},
		"nothing known": {owns, collect.MemberTotals{Lag: -1, Unknown: 2}, "?"},
		"some unknown":  {owns, collect.MemberTotals{Lag: 120, Unknown: 1, Stale: 1}, "≥ 120"},
		"some kept":     {owns, collect.MemberTotals{Lag: 120, Stale: 1}, "~ 120"},
		"undecodable":   {&collect.Member{Decode: collect.DecodeUndecodable}, collect.MemberTotals{}, "?"},
	} {
		if got := (Options{}).memberLag(c.m, &c.t); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A group first seen while it rebalances tells nobody what it reads.
func TestHiddenPartitionsAreNotZero(t *testing.T) {
	g := &collect.Group{Name: "g", State: collect.StatePreparingRebalance, Lag: collect.Totals{Records: collect.Unknown}}
	if got := rows(g); got != "?" {
		t.Errorf("partitions: %s, want ?", got)
	}
	if g.Lag.Records = 0; rows(g) != "0" {
		t.Errorf("a group that reads nothing has %s partitions, want 0", rows(g))
	}
}

func TestSort(t *testing.T) {
	mk := func(name string, lag int64, seconds float64, members int64) *collect.Group {
		return &collect.Group{Name: name, Lag: collect.Totals{Records: lag, Age: collect.Age{Seconds: seconds}}, Assignment: collect.Assignment{Members: members}}
	}
	groups := []*collect.Group{mk("zero", 0, 0, 0), mk("unknown", -1, nan, -1), mk("some", 5, 70, 3), mk("more", 50, 7, 2), mk("also-more", 50, 0.5, 9)}
	for key, want := range map[string]string{
		"lag":     "also-more more some unknown zero",
		"time":    "some more also-more unknown zero",
		"members": "also-more some more unknown zero",
		"name":    "also-more more some unknown zero",
		"state":   "also-more more some unknown zero",
	} {
		var got []string
		for _, g := range Sort(groups, key) {
			got = append(got, g.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("by %s: %s, want %s", key, strings.Join(got, " "), want)
		}
	}
	if groups[0].Name != "zero" {
		t.Error("the slice that was given is changed")
	}
}

func TestSharesOfManyMembersAreSummedUp(t *testing.T) {
	g := &collect.Group{MembersKnown: true}
	for i := range 20 {
		g.Members = append(g.Members, collect.Member{Decode: collect.DecodeOK, Assigned: tp("t", make([]int32, 2+i%2)...)})
	}
	if got := shares(g); got != "50(2..3)" {
		t.Errorf("shares: %s", got)
	}
}

func TestAWriteThatFailsIsReported(t *testing.T) {
	s := cluster(t)
	closed := errors.New("closed")
	w := writerFunc(func([]byte) (int, error) { return 0, closed })
	for name, err := range map[string]error{
		"offsets": Offsets(w, s, s.Groups, Options{}), "list": List(w, s.Groups, Options{}), "watch": Watch(w, s, s.Groups, Options{}), "csv": OffsetsCSV(w, s.Groups, Options{}),
	} {
		if !errors.Is(err, closed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

var _ io.Writer = writerFunc(nil)
