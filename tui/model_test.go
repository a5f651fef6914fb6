package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/klagtop/klagtop/collect"
	"github.com/muesli/termenv"
)

var rewrite = flag.Bool("update", false, "write the golden screens anew")

// loop stands for the poll loop and remembers what was asked of it.
type loop struct {
	focus     []string
	refreshes int
	every     time.Duration
}

func (l *loop) Focus(g string)              { l.focus = append(l.focus, g) }
func (l *loop) Refresh()                    { l.refreshes++ }
func (l *loop) SetInterval(d time.Duration) { l.every = max(d, collect.MinInterval) }
func (l *loop) Interval() time.Duration     { return l.every }

// A screen is a model driven by hand at a fixed time.
type screen struct {
	*model
	t    testing.TB
	loop *loop
	now  time.Time
	quit bool
}

func newScreen(t testing.TB, w, h int, change ...func(*Options)) *screen {
	s := &screen{t: t, loop: &loop{every: 5 * time.Second}, now: epoch.Add(2 * time.Second)}
	o := Options{Wishes: s.loop, Brokers: "kafka-1:9092", Now: func() time.Time { return s.now }, Environ: []string{"LANG=C.UTF-8"}}
	profile := termenv.Ascii
	for _, f := range change {
		f(&o)
	}
	if environment(o.Environ).Getenv("COLORTERM") != "" {
		profile = termenv.TrueColor
	}
	s.model = newModel(o, newLook(o.Environ, groundDark, profile))
	s.model.next = func(*collect.Update) tea.Cmd { return nil }
	s.send(tea.WindowSizeMsg{Width: w, Height: h})
	return s
}

func (s *screen) send(msg tea.Msg) {
	_, cmd := s.Update(msg)
	if cmd == nil {
		return
	}
	if _, tick := msg.(tickMsg); tick { // it would wait a second for the next
		return
	}
	if _, ok := cmd().(tea.QuitMsg); ok {
		s.quit = true
	}
}

func (s *screen) take(u *collect.Update) *screen {
	s.send(updateMsg{u})
	return s
}

var named = map[string]tea.KeyType{
	"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "shift+tab": tea.KeyShiftTab, "up": tea.KeyUp, "down": tea.KeyDown,
	"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "ctrl+d": tea.KeyCtrlD, "ctrl+u": tea.KeyCtrlU,
	"ctrl+c": tea.KeyCtrlC, "ctrl+l": tea.KeyCtrlL, "ctrl+w": tea.KeyCtrlW, "backspace": tea.KeyBackspace, "left": tea.KeyLeft,
	"ctrl+b": tea.KeyCtrlB, "ctrl+f": tea.KeyCtrlF, "ctrl+h": tea.KeyCtrlH, "ctrl+z": tea.KeyCtrlZ,
}

func keyOf(name string) tea.KeyMsg {
	if k, ok := named[name]; ok {
		return tea.KeyMsg{Type: k}
	}
	if name == "space" || name == " " {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// press types keys, apart by spaces.
func (s *screen) press(keys string) *screen {
	for _, k := range strings.Fields(keys) {
		s.send(keyOf(k))
	}
	return s
}

// lines are the screen's, without escapes and trailing space; each is checked.
func (s *screen) lines() []string {
	s.t.Helper()
	lines := strings.Split(s.View(), "\n")
	if len(lines) > s.height {
		s.t.Fatalf("%d lines on a screen of %d", len(lines), s.height)
	}
	for i, l := range lines {
		if w := ansi.StringWidth(l); w > s.width {
			s.t.Fatalf("line %d is %d wide on a screen of %d: %q", i, w, s.width, l)
		}
		plain := ansi.Strip(l)
		for _, r := range plain {
			if r < 0x20 || r >= 0x7f && r < 0xa0 {
				s.t.Fatalf("line %d has a control character: %q", i, l)
			}
		}
		lines[i] = strings.TrimRight(plain, " ")
	}
	return lines
}

func (s *screen) text() string { s.t.Helper(); return strings.Join(s.lines(), "\n") }

// row is the first line with the text, every gap in it one space; "" without one.
func (s *screen) row(with string) string {
	s.t.Helper()
	for _, l := range s.lines() {
		if l = strings.Join(strings.Fields(l), " "); strings.Contains(l, with) {
			return l
		}
	}
	return ""
}

func (s *screen) shows(want ...string) *screen {
	s.t.Helper()
	text := s.text()
	for _, w := range want {
		if !strings.Contains(text, w) {
			s.t.Errorf("the screen lacks %q:\n%s", w, text)
		}
	}
	return s
}

func (s *screen) hides(not ...string) *screen {
	s.t.Helper()
	text := s.text()
	for _, w := range not {
		if strings.Contains(text, w) {
			s.t.Errorf("the screen has %q:\n%s", w, text)
		}
	}
	return s
}

func (s *screen) golden(name string) {
	s.t.Helper()
	got := s.text() + "\n"
	file := filepath.Join("testdata", fmt.Sprintf("%s.%dx%d.txt", name, s.width, s.height))
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	if got != string(want) {
		s.t.Errorf("%s differs; -update writes it anew\n--- got\n%s--- want\n%s", file, got, want)
	}
}

// live is a screen that shows the street's second update, so that trends exist.
func live(t testing.TB, w, h int, change ...func(*Options)) *screen {
	s := newScreen(t, w, h, change...)
	first := street()
	for i := range first[0].rows["market-updates"] {
		first[0].rows["market-updates"][i].committed -= 500
	}
	a := snapshot(nil, epoch.Add(-5*time.Second), first...)
	return s.take(update(1, a)).take(update(2, snapshot(a, epoch, street()...)))
}

func TestScreens(t *testing.T) {
	for _, size := range [][2]int{{40, 12}, {80, 24}, {120, 40}, {200, 50}} {
		for _, v := range []struct{ name, keys string }{
			{"groups", ""},
			{"partitions", "/ b i l l enter enter"},
			{"topics", "/ t i c k enter enter shift+tab"},
			{"members", "/ t i c k enter enter tab"},
			{"rebalancing", "/ p a y enter enter tab"},
			{"help", "?"},
			{"sort", "s"},
			{"explain", "/ b i l l enter enter x"},
		} {
			t.Run(fmt.Sprintf("%s %dx%d", v.name, size[0], size[1]), func(t *testing.T) {
				live(t, size[0], size[1]).press(v.keys).golden(v.name)
			})
		}
	}
	t.Run("ascii", func(t *testing.T) {
		s := live(t, 120, 40, func(o *Options) { o.Environ = []string{"LANG=C"} })
		for i, r := range s.text() {
			if r > 0x7e {
				t.Fatalf("%q at %d in an ASCII locale:\n%s", r, i, s.text())
			}
		}
		s.golden("ascii")
	})
}

func TestColourAddsNothing(t *testing.T) {
	for _, keys := range []string{"", "j enter", "j enter tab", "j enter shift+tab", "s", "x", "?"} {
		plain := live(t, 120, 40, func(o *Options) { o.Environ = []string{"LANG=C.UTF-8", "NO_COLOR=1"} }).press(keys)
		colour := live(t, 120, 40, func(o *Options) { o.Environ = []string{"LANG=C.UTF-8", "COLORTERM=truecolor"} }).press(keys)
		if a, b := plain.text(), colour.text(); keys != "?" && a != b { // the help lacks T without colours
			t.Errorf("after %q the words differ:\n%s\n---\n%s", keys, a, b)
		}
		if strings.Contains(plain.View(), "38;") || strings.Contains(plain.View(), "48;") {
			t.Errorf("after %q NO_COLOR has a colour: %q", keys, plain.View())
		}
		if !strings.Contains(colour.View(), "38;2;") {
			t.Errorf("after %q there is no colour", keys)
		}
	}
}

func TestThemesDiffer(t *testing.T) {
	seen := map[string]string{}
	s := live(t, 80, 24, func(o *Options) { o.Environ = []string{"LANG=C.UTF-8", "COLORTERM=truecolor"} })
	for _, name := range []string{"dark", "light", "mono"} {
		s.press("T")
		v := s.View()
		if !strings.Contains(s.text(), "theme "+name) {
			t.Errorf("T does not name theme %s", name)
		}
		v = strings.ReplaceAll(v, "theme "+name, "")
		for other, w := range seen {
			if v == w {
				t.Errorf("themes %s and %s look the same", name, other)
			}
		}
		seen[name] = v
	}
}
