package tui

import (
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// A tone is what a piece of text means; the theme decides how that looks.
type tone uint8

const (
	tonePlain    tone = iota
	toneDim           // beside the point
	toneStrong        // names of what is on screen
	toneTitle         // column titles
	toneAccent        // where the user is
	toneGood          // lag goes down
	toneWarn          // warning; kept numbers
	toneBad           // critical; lost data
	toneUnknown       // what is not known
	toneSelected      // the row under the cursor
	toneBanner        // the screen is not live
	toneCount
)

// theme is how tones look.
type theme uint8

const (
	themeAuto theme = iota
	themeDark
	themeLight
	themeMono
	themeCount
)

var themeNames = [...]string{"auto", "dark", "light", "mono"}

// glyphs are the characters that have an ASCII form.
type glyphs struct {
	more, atLeast, dot, cursor      string
	critical, warning, info         string
	up, down, flat, steady          string
	ascending, descending, crumb    string
	rebalancing, bar, tabOn, tabOff string
	spark                           []string
}

var unicodeGlyphs = glyphs{
	more: "…", atLeast: "≥", dot: "·", cursor: "▸", critical: "✖", warning: "▲", info: "•",
	up: "↑", down: "↓", flat: "=", steady: "→", ascending: "▴", descending: "▾", crumb: "›",
	rebalancing: "↻", bar: "─", tabOn: "", tabOff: "",
	spark: []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
}

var asciiGlyphs = glyphs{
	more: "..", atLeast: ">=", dot: "|", cursor: ">", critical: "X", warning: "!", info: "i",
	up: "^", down: "v", flat: "=", steady: "-", ascending: "^", descending: "v", crumb: ">",
	rebalancing: "@", bar: "-",
	spark: []string{"_", ".", ":", "-", "=", "+", "*", "#"},
}

// look is how everything is drawn: theme, glyphs, units. Views read it; only
// the model changes it.
type look struct {
	cleaner
	glyphs   glyphs
	whole    bool // numbers in full
	wide     bool // more columns, shorter names
	theme    theme
	noColor  bool // the environment asks for none: the theme stays mono
	profile  termenv.Profile
	ground   background
	on, off  [toneCount]string
	now      time.Time // for the ages of rows; stands still while the screen is paused
	renderer *lipgloss.Renderer
}

// background is what is known of the terminal's.
type background uint8

const (
	groundUnknown background = iota
	groundDark
	groundLight
)

// newLook decides from the environment; it asks the terminal nothing.
func newLook(environ []string, ground background, profile termenv.Profile) *look {
	env := environment(environ)
	l := &look{glyphs: unicodeGlyphs, profile: profile, ground: ground, renderer: lipgloss.NewRenderer(io.Discard)}
	if !env.utf8() {
		l.ascii, l.glyphs = true, asciiGlyphs
	}
	if l.noColor = env.noColor(); l.noColor {
		l.theme = themeMono
		if l.profile == termenv.Ascii { // bold and reverse are no colours
			l.profile = termenv.ANSI
		}
	}
	l.dress()
	return l
}

// nextTheme moves on to the next theme; none but mono where the environment
// asks for no colour.
func (l *look) nextTheme() {
	if !l.noColor {
		l.theme = (l.theme + 1) % themeCount
		l.dress()
	}
}

// dress works out the escape sequences of every tone once: rendering through
// lipgloss cell by cell would cost more than the rest of a frame.
func (l *look) dress() {
	l.renderer.SetColorProfile(l.profile)
	l.renderer.SetHasDarkBackground(l.theme == themeDark || l.theme == themeAuto && l.ground == groundDark)
	for t := range toneCount {
		const probe = "x"
		s := l.style(t).Render(probe)
		i := strings.Index(s, probe)
		l.on[t], l.off[t] = s[:i], s[i+len(probe):]
	}
}

// style is a tone's in the theme. Where the background is not known, colours of
// middle brightness stand out on both.
func (l *look) style(t tone) lipgloss.Style {
	s := l.renderer.NewStyle()
	if l.theme == themeMono {
		return monoStyle(s, t)
	}
	if l.profile == termenv.ANSI {
		return sixteenStyle(s, t)
	}
	middle := l.theme == themeAuto && l.ground == groundUnknown
	colour := func(dark, light, mid string) lipgloss.TerminalColor {
		if middle {
			return lipgloss.Color(mid)
		}
		return lipgloss.AdaptiveColor{Light: light, Dark: dark}
	}
	switch t {
	case toneDim:
		return s.Foreground(colour("#7f8796", "#6b7280", "#7c8088"))
	case toneStrong:
		return s.Bold(true)
	case toneTitle:
		return s.Foreground(colour("#8a93a5", "#57606a", "#7c8088"))
	case toneAccent:
		return s.Bold(true).Foreground(colour("#6cb6ff", "#0550ae", "#3b82d6"))
	case toneGood:
		return s.Foreground(colour("#7ec699", "#1a7f37", "#2f9e5b"))
	case toneWarn:
		return s.Foreground(colour("#e5c07b", "#8a6100", "#b07d1a"))
	case toneBad:
		return s.Bold(true).Foreground(colour("#ff7b72", "#cf222e", "#e0443e"))
	case toneUnknown:
		return s.Foreground(colour("#c297ff", "#8250df", "#9b6fe0"))
	case toneSelected:
		if middle {
			return s.Reverse(true)
		}
		return s.Bold(true).Foreground(colour("#eef2f8", "#10243e", "")).Background(colour("#2b3b52", "#cfe3fb", ""))
	case toneBanner:
		return s.Bold(true).Foreground(colour("#1b1f27", "#ffffff", "#ffffff")).Background(colour("#e5c07b", "#8a6100", "#8a6100"))
	}
	return s
}

// sixteenStyle is for terminals whose few colours are the user's own: only
// those that stand out on light and dark, and no grey, which some schemes use
// for the background.
func sixteenStyle(s lipgloss.Style, t tone) lipgloss.Style {
	colour := map[tone]string{toneAccent: "6", toneGood: "2", toneWarn: "3", toneBad: "1", toneUnknown: "5"}[t]
	if s = monoStyle(s, t); colour != "" {
		s = s.Foreground(lipgloss.Color(colour))
	}
	return s
}

func monoStyle(s lipgloss.Style, t tone) lipgloss.Style {
	switch t {
	case toneStrong, toneAccent, toneBad, toneTitle:
		return s.Bold(true)
	case toneSelected, toneBanner:
		return s.Reverse(true)
	case toneDim:
		return s.Faint(true)
	}
	return s
}

// paint draws a text in a tone.
func (l *look) paint(t tone, s string) string {
	if s == "" {
		return ""
	}
	return l.on[t] + s + l.off[t]
}
