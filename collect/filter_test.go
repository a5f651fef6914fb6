package collect

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func mustPatterns(t testing.TB, values ...string) []Pattern {
	t.Helper()
	var ps []Pattern
	for _, v := range values {
		p, err := ParsePattern(v)
		if err != nil {
			t.Fatalf("ParsePattern(%q): %v", v, err)
		}
		ps = append(ps, p)
	}
	return ps
}

func TestPatternMatch(t *testing.T) {
	for _, c := range []struct {
		why, pattern, name string
		want               bool
	}{
		{"a plain value is the whole name", "ticker", "ticker", true},
		{"a plain value is not a prefix", "ticker", "ticker-2", false},
		{"a plain value is not a suffix", "ticker", "my-ticker", false},
		{"case matters as it does in Kafka", "ticker", "Ticker", false},
		{"a dot is itself in a plain value", "a.b", "axb", false},
		{"the empty id is a name", "", "", true},
		{"the empty id selects nothing else", "", "ticker", false},
		{"a star matches nothing at all", "ticker*", "ticker", true},
		{"a star crosses dots", "prod.*", "prod.eu.orders", true},
		{"a star crosses slashes", "*orders", "a/b/orders", true},
		{"a lone star matches the empty id", "*", "", true},
		{"a glob covers the whole name", "tick*", "my-ticker", false},
		{"a glob must match to the end", "*tick", "ticker", false},
		{"a star in the middle takes the longest way needed", "a*b*c", "a-b-b-c-c", true},
		{"a question mark is exactly one character", "pod-?", "pod-10", false},
		{"a question mark is not none", "pod-?", "pod-", false},
		{"a question mark takes a whole character, not a byte", "caf?", "café", true},
		{"a bracket is itself in a glob", "a[1]*", "a[1]b", true},
		{"a dot is itself in a glob", "a.*", "axb", false},
		{"a name with a line break is matched whole", "a*b", "a\nb", true},
		{"a regular expression is not anchored", "/tick/", "my-ticker", true},
		{"a regular expression anchored by its writer", "/^tick$/", "my-tick", false},
		{"a regular expression may hold slashes", "/a/b/", "x/a/b/y", true},
		{"one slash is a name", "/", "/", true},
		{"a slash at one end only is a name", "/tick", "/tick", true},
	} {
		t.Run(c.why, func(t *testing.T) {
			p := mustPatterns(t, c.pattern)[0]
			if got := p.Match(c.name); got != c.want {
				t.Errorf("pattern %q, name %q: got %v, want %v", c.pattern, c.name, got, c.want)
			}
			if p.String() != c.pattern {
				t.Errorf("String() = %q, want it as written: %q", p.String(), c.pattern)
			}
		})
	}
}

func TestParsePatternRefuses(t *testing.T) {
	for _, c := range []struct{ why, pattern, says string }{
		{"a group left open", "/ticker(/", "missing closing )"},
		{"nothing between the slashes", "//", "empty"},
		{"a repetition of nothing", "/*/", "missing argument"},
	} {
		t.Run(c.why, func(t *testing.T) {
			_, err := ParsePattern(c.pattern)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("ParsePattern(%q) = %v, want an error that says %q", c.pattern, err, c.says)
			}
		})
	}
}

func TestGlobThatBacktracksEnds(t *testing.T) {
	p := mustPatterns(t, strings.Repeat("a*", 40)+"b")[0]
	if p.Match(strings.Repeat("a", 20_000)) {
		t.Error("matched a name without the final b")
	}
}

func TestFilter(t *testing.T) {
	for _, c := range []struct {
		why              string
		include, exclude []string
		selects, leaves  []string
	}{
		{"no pattern selects everything", nil, nil, []string{"ticker", ""}, nil},
		{"one of several includes is enough", []string{"ticker", "al*"}, nil, []string{"ticker", "alerts"}, []string{"quotes"}},
		{"exclude alone keeps the rest", nil, []string{"/prober/"}, []string{"ticker"}, []string{"internal-prober"}},
		{"exclude wins over an exact include", []string{"ticker"}, []string{"tick*"}, nil, []string{"ticker"}},
		{"the empty id can be asked for", []string{""}, nil, []string{""}, []string{"ticker"}},
		{"the empty id can be left out", nil, []string{""}, []string{"ticker"}, []string{""}},
	} {
		t.Run(c.why, func(t *testing.T) {
			f := Filter{Groups: mustPatterns(t, c.include...), ExcludeGroups: mustPatterns(t, c.exclude...)}
			g := Filter{Topics: f.Groups, ExcludeTopics: f.ExcludeGroups}
			for _, n := range c.selects {
				if !f.Group(n) || !g.Topic(n) {
					t.Errorf("%q is left out", n)
				}
				if !f.Topic(n) || !g.Group(n) {
					t.Errorf("%q: a filter of one kind left out a name of the other", n)
				}
			}
			for _, n := range c.leaves {
				if f.Group(n) || g.Topic(n) {
					t.Errorf("%q is selected", n)
				}
			}
			active := len(c.include)+len(c.exclude) > 0
			if f.FiltersGroups() != active || f.FiltersTopics() || f.Active() != active {
				t.Errorf("groups filtered %v, topics %v, active %v; want %v, false, %v", f.FiltersGroups(), f.FiltersTopics(), f.Active(), active, active)
			}
			if g.FiltersTopics() != active || g.FiltersGroups() || g.Active() != active {
				t.Errorf("topics filtered %v, groups %v, active %v; want %v, false, %v", g.FiltersTopics(), g.FiltersGroups(), g.Active(), active, active)
			}
		})
	}
}

func TestExactGroups(t *testing.T) {
	for _, c := range []struct {
		why              string
		include, exclude []string
		names            []string
		all              bool
	}{
		{"no include: any group may be selected", nil, nil, nil, false},
		{"only an exclude: any group may be selected", nil, []string{"a"}, nil, false},
		{"exact names are all there is", []string{"b", "a"}, nil, []string{"b", "a"}, true},
		{"the empty id is a name", []string{""}, nil, []string{""}, true},
		{"a name given twice is asked once", []string{"a", "a"}, nil, []string{"a"}, true},
		{"a glob needs the list", []string{"a", "b*"}, nil, []string{"a"}, false},
		{"an excluded name is not asked", []string{"a", "b"}, []string{"/a/"}, []string{"b"}, true},
		{"all excluded: nothing to ask", []string{"a"}, []string{"a"}, nil, true},
	} {
		t.Run(c.why, func(t *testing.T) {
			f := Filter{Groups: mustPatterns(t, c.include...), ExcludeGroups: mustPatterns(t, c.exclude...)}
			names, all := f.ExactGroups()
			if !slices.Equal(names, c.names) || all != c.all {
				t.Errorf("got %q, %v; want %q, %v", names, all, c.names, c.all)
			}
		})
	}
}

// FuzzPattern holds the glob matcher against a regular expression of the same meaning.
func FuzzPattern(f *testing.F) {
	for _, s := range [][2]string{{"", ""}, {"a*b", "axb"}, {"?", "é"}, {"/a+/", "aa"}, {"//", ""}, {"*?*", "\xff"}, {"a**b?", "ab\n"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		p, err := ParsePattern(pattern)
		if err != nil {
			return
		}
		got := p.Match(name)
		if p.String() != pattern {
			t.Fatalf("String() = %q, want %q", p.String(), pattern)
		}
		if exact, ok := p.Exact(); ok && (exact != pattern || got != (name == pattern)) {
			t.Fatalf("exact pattern %q, name %q: got %v", pattern, name, got)
		}
		if p.kind != patternGlob || !utf8.ValidString(pattern) || !utf8.ValidString(name) {
			return
		}
		expr := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(pattern))
		if want := regexp.MustCompile(`(?s)\A` + expr + `\z`).MatchString(name); got != want {
			t.Fatalf("glob %q, name %q: got %v, want %v", pattern, name, got, want)
		}
	})
}
