package exporter

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/klagtop/klagtop/collect"
)

// hostile are names that broke pages elsewhere, and pairs of names that a
// careless spelling makes one.
var hostile = []string{
	"", `alerts "eu"`, `alerts\eu`, "alerts\neu", "alerts-\xff", "市場-alerts", "alerts\x1b[2Jeu",
	"alerts-\xfe", `alerts-\xff`, `alerts-\x5cxff`, `alerts-\\xff`, "alerts-\\\xff", "alerts-\ufffd", `alerts\x1b[2Jeu`,
	"nul\x00", `nul\x00`, "tab\t", "del\x7f", "c1\u009b2J", "carriage\rreturn", "line\u2028end", `ends\`, `ends\x`, `ends\xf`, "{}=,", `group="`, strings.Repeat("long", 100),
}

func TestHostileNamesStayApart(t *testing.T) {
	b := newBed()
	for _, n := range hostile {
		b.topic(n, 1)
		b.empty(n, n)
	}
	page := serve(t, Options{}, &collect.Update{Snapshot: b.finish()}).page(t)
	groups, topics := map[string]bool{}, map[string]bool{}
	for _, m := range parse(t, page)["klagtop_group_partition_lag_records"].Metric {
		for _, l := range m.Label {
			switch l.GetName() {
			case "group":
				groups[l.GetValue()] = true
			case "topic":
				topics[l.GetValue()] = true
			}
		}
		if m.GetGauge().GetValue() != 60 {
			t.Errorf("lag %v", m)
		}
	}
	if len(groups) != len(hostile) || len(topics) != len(hostile) {
		t.Errorf("%d names became %d groups and %d topics", len(hostile), len(groups), len(topics))
	}
	for _, n := range []string{"", `alerts "eu"`, `alerts\eu`, "alerts\neu", "市場-alerts", "alerts-\ufffd", "tab\t"} {
		if !groups[n] {
			t.Errorf("group %q has lost its true name", n)
		}
	}
	for _, c := range []byte(page) {
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			t.Fatalf("control byte %#x on the page", c)
		}
	}
}

func TestSpelling(t *testing.T) {
	for name, want := range map[string]string{
		"ticker":      "ticker",
		"a\xffb":      `a\xffb`,
		`a\xffb`:      `a\x5cxffb`,
		`a\xFFb`:      `a\xFFb`,
		"a\x1b[2J":    `a\x1b[2J`,
		"a\\\x1b":     `a\x5c\x1b`,
		"c1\u009b":    `c1\xc2\x9b`,
		"two\nlines":  "two\nlines",
		`back\slash`:  `back\slash`,
		"市場":          "市場",
		"cut\xe5\xb8": `cut\xe5\xb8`,
	} {
		if got := spell(name); got != want {
			t.Errorf("%q is spelled %q, want %q", name, got, want)
		}
	}
}

func FuzzSpellingKeepsNamesApart(f *testing.F) {
	for _, name := range hostile {
		f.Add(name, spell(name)) // a name that is what another is spelled
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		sa, sb := spell(a), spell(b)
		if a != b && sa == sb {
			t.Errorf("%q and %q are both spelled %q", a, b, sa)
		}
		if !utf8.ValidString(sa) {
			t.Errorf("%q is spelled %q, which is not UTF-8", a, sa)
		}
		if strings.ContainsFunc(sa, func(r rune) bool { return unfit(r, utf8.RuneLen(r)) }) {
			t.Errorf("%q is spelled %q, with a control character", a, sa)
		}
	})
}

// A broken coordinator, or a replay, may list things twice.
func TestDuplicatesDoNotBreakThePage(t *testing.T) {
	u := everything()
	s := *u.Snapshot
	for i := range u.Snapshot.Groups {
		g := *u.Snapshot.Groups[i]
		g.Topics = append(append([]*collect.GroupTopic(nil), g.Topics...), g.Topics...)
		if len(g.Topics) == 4 { // neighbours, as a sorted list has them
			g.Topics[1], g.Topics[2] = g.Topics[2], g.Topics[1]
		}
		s.Groups = append(s.Groups, &g)
	}
	s.Topics = append(append([]*collect.Topic(nil), s.Topics...), s.Topics...)
	g := *s.Groups[len(s.Groups)-1]
	g.Name, g.Members = "twins", append(append([]collect.Member(nil), g.Members[0], g.Members[0]), g.Members...)
	s.Groups = append(s.Groups, &g)
	page := serve(t, Options{Members: true}, &collect.Update{Snapshot: &s, Findings: u.Findings}).page(t)
	seen := map[string]bool{}
	for line := range strings.Lines(page) {
		name, _, _ := strings.Cut(line, "} ")
		if seen[name] && !strings.HasPrefix(line, "#") {
			t.Errorf("twice: %s", name)
		}
		seen[name] = true
	}
	if n := len(samplesOf(page, "klagtop_group_members")); n != 5 {
		t.Errorf("%d groups have members, want 5", n)
	}
}

func TestClusterLabel(t *testing.T) {
	s := serve(t, Options{ClusterLabel: "cluster"}, everything())
	page := s.page(t)
	if strings.Contains(page, "kafka_cluster") || !strings.Contains(page, `klagtop_group_members{cluster="prod",group="ticker"} 4`) || !strings.Contains(page, `klagtop_up{cluster="prod"} 1`) {
		t.Errorf("the label is not the one asked for:\n%s", own(page))
	}
	for _, bad := range []string{"group", "topic", "a-b", "1a", "__name__", "le", "state", "job"} {
		if _, err := New(Options{ClusterLabel: bad, Feeds: []Feed{{Name: "prod", Hub: collect.NewHub(1)}}}); err == nil {
			t.Errorf("label %q was taken", bad)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	feed := Feed{Name: "prod", Hub: collect.NewHub(1)}
	for why, o := range map[string]Options{
		"no cluster":             {},
		"two clusters, one name": {Feeds: []Feed{feed, feed}},
		"a level that is none":   {Feeds: []Feed{feed}, Level: "row"},
		"member is no level":     {Feeds: []Feed{feed}, Level: LevelMember},
		"a negative limit":       {Feeds: []Feed{feed}, MaxSeries: -1},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: was taken", why)
		}
	}
}

// Cluster names come from flags and may be anything too.
func TestHostileClusterName(t *testing.T) {
	hub := collect.NewHub(1)
	hub.Publish(everything())
	e, err := New(Options{Feeds: []Feed{{Name: "pr\xffod\n\"", Hub: hub}}, Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	s := &serving{Exporter: e}
	fs := parse(t, s.page(t))
	for _, name := range []string{"klagtop_up", "klagtop_group_members", "klagtop_polls_total"} {
		if got := fmt.Sprint(fs[name].Metric[0]); !strings.Contains(got, `pr\\xffod\n\"`) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
