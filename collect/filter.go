package collect

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Pattern selects names of groups or topics. A plain value is an exact name; a value with * or ? is a
// glob over the whole name, in which both also match dots and slashes; a value between slashes is a
// Go regular expression, unanchored as written. The zero Pattern is the exact empty name: Kafka allows
// a group whose id is empty. A Pattern is immutable and safe for concurrent use.
type Pattern struct {
	text string
	kind patternKind
	re   *regexp.Regexp // set when kind is patternRegexp
}

type patternKind uint8

const (
	patternExact patternKind = iota
	patternGlob
	patternRegexp
)

// ParsePattern reads a pattern as a user writes it. It fails only on a regular expression that does not
// compile, or on an empty one: "//" would silently select everything where a template left a hole.
func ParsePattern(s string) (Pattern, error) {
	if len(s) >= 2 && s[0] == '/' && s[len(s)-1] == '/' {
		expr := s[1 : len(s)-1]
		if expr == "" {
			return Pattern{}, errors.New("the regular expression between the slashes is empty")
		}
		re, err := regexp.Compile(expr)
		if err != nil {
			return Pattern{}, fmt.Errorf("not a regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
		return Pattern{text: s, kind: patternRegexp, re: re}, nil
	}
	if strings.ContainsAny(s, "*?") {
		return Pattern{text: s, kind: patternGlob}, nil
	}
	return Pattern{text: s}, nil
}

// Match reports whether the pattern selects the name.
func (p Pattern) Match(name string) bool {
	switch p.kind {
	case patternGlob:
		return matchGlob(p.text, name)
	case patternRegexp:
		return p.re.MatchString(name)
	default:
		return p.text == name
	}
}

// String gives the pattern as the user wrote it.
func (p Pattern) String() string { return p.text }

// Exact gives the one name the pattern can select, and false for a glob or a regular expression.
func (p Pattern) Exact() (name string, ok bool) {
	if p.kind != patternExact {
		return "", false
	}
	return p.text, true
}

// matchGlob compares in time len(glob) x len(name) at worst: it goes back to the last star only, so that
// a pattern such as a*a*a*a*b cannot hold up a poll. A ? takes one character, not one byte.
func matchGlob(glob, name string) bool {
	g, n := 0, 0
	star, resume := -1, 0
	for n < len(name) {
		switch {
		case g < len(glob) && glob[g] == '*':
			star, resume = g, n
			g++
		case g < len(glob) && glob[g] == '?':
			g++
			n += runeWidth(name[n:])
		case g < len(glob) && glob[g] == name[n]:
			g++
			n++
		case star >= 0:
			resume += runeWidth(name[resume:])
			g, n = star+1, resume
		default:
			return false
		}
	}
	return strings.Trim(glob[g:], "*") == ""
}

func runeWidth(s string) int {
	_, width := utf8.DecodeRuneInString(s)
	return width
}

// Filter is what the user asked to see. An empty include list selects every name; exclusion wins over
// inclusion. The zero Filter selects everything. A Filter is not changed once it is in use, and then
// is safe for concurrent use.
type Filter struct {
	Groups, ExcludeGroups []Pattern
	Topics, ExcludeTopics []Pattern
}

// Group reports whether the group is selected.
func (f Filter) Group(name string) bool { return selected(name, f.Groups, f.ExcludeGroups) }

// Topic reports whether rows of the topic are kept.
func (f Filter) Topic(name string) bool { return selected(name, f.Topics, f.ExcludeTopics) }

// ExactGroups gives the selected groups that are named exactly, each once and in the order given, without
// those an exclusion takes away. all is true when no other group can be selected: every include pattern
// is exact and there is at least one.
func (f Filter) ExactGroups() (names []string, all bool) {
	all = len(f.Groups) > 0
	seen := make(map[string]bool, len(f.Groups))
	for _, p := range f.Groups {
		name, exact := p.Exact()
		if !exact {
			all = false
			continue
		}
		if !seen[name] && f.Group(name) {
			names = append(names, name)
		}
		seen[name] = true
	}
	return names, all
}

// FiltersGroups reports whether some group may be left out.
func (f Filter) FiltersGroups() bool { return len(f.Groups) > 0 || len(f.ExcludeGroups) > 0 }

// FiltersTopics reports whether rows of some topic may be left out.
func (f Filter) FiltersTopics() bool { return len(f.Topics) > 0 || len(f.ExcludeTopics) > 0 }

// Active reports whether anything may be left out, so that an absent group or topic proves nothing.
func (f Filter) Active() bool { return f.FiltersGroups() || f.FiltersTopics() }

func selected(name string, include, exclude []Pattern) bool {
	return (len(include) == 0 || anyMatches(include, name)) && !anyMatches(exclude, name)
}

func anyMatches(patterns []Pattern, name string) bool {
	for _, p := range patterns {
		if p.Match(name) {
			return true
		}
	}
	return false
}
