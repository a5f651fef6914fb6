package tui

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/klagtop/klagtop/collect"
)

// hostile are names that would harm a terminal or a layout.
var hostile = []string{
	"", "a", "alerts\x1b[2Jeu", "alerts\neu", "alerts-\xff\xfe", "市場-alerts", "\u0301combining", "flag-🇮🇩-👩‍👩‍👧", "bidi-\u202egpj.exe", "tab\tname",
	"c1-\u009b31m", "\x00\x07\x7f", "zero\u200bwidth", "nbsp\u00a0name", strings.Repeat("long-", 60), strings.Repeat("漢", 150), "\ufeffbom", "private-\ue000", "astral-\U0010ffff",
}

func hostileStreet(pick func(int) int) []groupSpec {
	specs := street()
	for _, n := range hostile {
		m := member(hostile[pick(len(hostile))])
		m.ID, m.Host, m.InstanceID = n, n, n
		topic := "t" + hostile[pick(len(hostile))]
		g := groupSpec{facts: classic(n, hostile[pick(len(hostile))]), members: []collect.Member{m}, rows: map[string][]row{
			topic: lagging(1+pick(5), int64(pick(1_000_000)), float64(pick(100_000)), m.ClientID),
		}}
		g.facts.Assignor, g.facts.Type = hostile[pick(len(hostile))], collect.GroupType(hostile[pick(len(hostile))])
		specs = append(specs, g)
	}
	return specs
}

func TestHostileNamesAreSpelledOut(t *testing.T) {
	for _, lang := range []string{"LANG=C.UTF-8", "LANG=C"} {
		s := newScreen(t, 160, 60, func(o *Options) { o.Environ = []string{lang} })
		s.take(update(1, snapshot(nil, epoch, hostileStreet(func(int) int { return 2 })...)))
		s.shows("(empty)", "alerts^[[2Jeu", "alerts^Jeu", `alerts-\xff\xfe`, `bidi-\u202egpj.exe`, "tab^Iname", "^@^G^?", `zero\u200bwidth`)
		for range hostile {
			s.press("enter").lines()
			s.press("tab x").lines()
			s.press("esc esc j").lines()
		}
	}
}

// FuzzKeys presses keys on snapshots that change meanwhile: no panic, no line
// wider than the screen, no control byte from a name (lines checks them all).
func FuzzKeys(f *testing.F) {
	for seed := range uint64(12) {
		f.Add(seed, uint8(60))
	}
	f.Fuzz(func(t *testing.T, seed uint64, steps uint8) {
		play(t, rand.New(rand.NewPCG(seed, 7)), int(steps))
	})
}

func play(t *testing.T, r *rand.Rand, steps int) {
	var keys []string
	for _, c := range commands() {
		keys = append(keys, c.Keys()...)
	}
	keys = append(keys, "x", "市", "!", "/", "enter", "j")
	sizes := [][2]int{{10, 3}, {30, 6}, {31, 9}, {40, 12}, {80, 24}, {200, 50}, {300, 80}}
	size := func() [2]int { return sizes[r.IntN(len(sizes))] }
	first := size()
	s := newScreen(t, first[0], first[1], func(o *Options) {
		o.Environ = []string{[]string{"LANG=C", "LANG=C.UTF-8"}[r.IntN(2)], "COLORTERM=truecolor"}
		if r.IntN(4) == 0 {
			o.Group = hostile[r.IntN(len(hostile))]
		}
	})
	var prev *collect.Snapshot
	for i := range steps {
		s.now = s.now.Add(time.Duration(r.IntN(4000)-500) * time.Millisecond) // clocks step back too
		switch n := r.IntN(20); {
		case n == 0:
			z := size()
			s.send(tea.WindowSizeMsg{Width: z[0], Height: z[1]})
		case n < 4:
			prev = someSnapshot(r, prev, s.now)
			s.take(update(uint64(i+1), prev))
		case n == 4:
			s.now = s.now.Add(time.Duration(r.IntN(10)) * time.Minute)
			s.send(tickMsg{})
		case n == 5:
			s.send(tea.MouseMsg{X: r.IntN(80), Y: r.IntN(40), Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
		default:
			s.send(keyOf(keys[r.IntN(len(keys))]))
		}
		s.lines()
	}
}

// someSnapshot drops, breaks and changes groups at random.
func someSnapshot(r *rand.Rand, prev *collect.Snapshot, at time.Time) *collect.Snapshot {
	var kept []groupSpec
	states := []string{collect.StateStable, collect.StateEmpty, collect.StatePreparingRebalance, collect.StateUnknown, "Hibernating"}
	reasons := []collect.Reason{collect.ReasonNone, collect.ReasonNone, collect.ReasonBrokerDown, collect.ReasonDenied, collect.ReasonTimeout}
	for _, g := range hostileStreet(r.IntN) {
		if r.IntN(4) == 0 {
			continue
		}
		if r.IntN(4) == 0 {
			g.facts.State = states[r.IntN(len(states))]
		}
		if r.IntN(6) == 0 {
			g.facts.Reason = reasons[r.IntN(len(reasons))]
			g.facts.Described = g.facts.Reason == collect.ReasonNone
			g.commits = reasons[r.IntN(len(reasons))]
		}
		for _, rows := range g.rows {
			for i := range rows {
				rows[i].unread, rows[i].commitUnread = reasons[r.IntN(2)*r.IntN(len(reasons))], reasons[r.IntN(2)*r.IntN(len(reasons))]
				rows[i].committed += r.Int64N(2000) - 1000
			}
		}
		kept = append(kept, g)
	}
	s := snapshot(prev, at, kept...)
	s.Reached = r.IntN(5) > 0
	return s
}

// BenchmarkFrame is a key and the frame that follows, at 10,000 groups.
func BenchmarkFrame(b *testing.B) {
	s := newScreen(b, 200, 50, func(o *Options) { o.Environ = []string{"LANG=C.UTF-8", "COLORTERM=truecolor"} })
	s.take(update(1, crowd(10_000)))
	for b.Loop() {
		s.send(keyOf("j"))
		_ = s.View()
	}
}

// BenchmarkUpdate is a new update at 10,000 groups and the frame that follows.
func BenchmarkUpdate(b *testing.B) {
	s := newScreen(b, 200, 50, func(o *Options) { o.Environ = []string{"LANG=C.UTF-8", "COLORTERM=truecolor"} })
	snap := crowd(10_000)
	for i := uint64(1); b.Loop(); i++ {
		s.take(update(i, snap))
		_ = s.View()
	}
}

// BenchmarkFilter is a letter typed into the filter at 10,000 groups.
func BenchmarkFilter(b *testing.B) {
	s := newScreen(b, 200, 50)
	s.take(update(1, crowd(10_000))).press("/ t e")
	for b.Loop() {
		s.press("a backspace")
		_ = s.View()
	}
}
