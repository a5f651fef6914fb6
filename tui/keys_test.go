package tui

import (
	"strings"
	"testing"
)

func TestKeysMeanOneThing(t *testing.T) {
	for in, name := range scopeNames {
		seen := map[string]string{}
		for _, c := range active(commands(), in) {
			if c.Help().Key == "" || c.Help().Desc == "" || c.run == nil {
				t.Errorf("%s: %v has no help or does nothing", name, c.Keys())
			}
			for _, k := range c.Keys() {
				if other, ok := seen[k]; ok {
					t.Errorf("%s: %q means %q and %q", name, k, other, c.Help().Desc)
				}
				seen[k] = c.Help().Desc
			}
		}
		if len(seen) == 0 {
			t.Errorf("%s has no keys", name)
		}
	}
}

func TestHelpNamesEveryKeyOfTheView(t *testing.T) {
	for _, keys := range []string{"", "enter"} {
		s := live(t, 120, 60).press(keys)
		in := s.view()
		s.press("?")
		for _, c := range active(s.keys, in) {
			s.shows(c.every(), c.Help().Desc)
		}
	}
}

// The meaning of a sign once ended where its column did, in the middle of a word.
func TestHelpIsNotCut(t *testing.T) {
	for _, w := range []int{40, 60, 80, 100, 120, 200} {
		s := live(t, w, 40)
		for _, part := range s.look.signs() {
			got := ""
			for _, line := range (&helpPage{of: s.view()}).columns(s.model, w) {
				if width(line) > w {
					t.Errorf("%d columns: a line of %d: %q", w, width(line), line)
				}
				got += line + "\n"
			}
			last := strings.Fields(part[1])
			if end := last[len(last)-1]; !strings.Contains(got, end) {
				t.Errorf("%d columns: the end of %q is not there", w, part[1])
			}
		}
	}
}

func TestHelpScrollsOnALowScreen(t *testing.T) {
	s := live(t, 80, 14).press("?")
	s.hides("largest member")
	s.press("G").shows("largest member")
	s.press("g").shows("views")
	s.press("esc").shows("GROUP")
}
