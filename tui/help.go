package tui

import (
	"strconv"
	"strings"
)

// helpPage lists every key that works in the view it was opened from.
type helpPage struct {
	of  scope
	top int
}

func (*helpPage) scope() scope { return inHelp }

func (m *model) openHelp() { m.overlay = &helpPage{of: m.view()} }

// sections is the order of the help.
var sections = [...]string{"views", "move", "rows", "numbers", "screen"}

// signs explains what the key table cannot.
func (l *look) signs() [][2]string {
	return [][2]string{
		{"?", "not known"},
		{"-", "no commit; nothing to say"},
		{"≥ N", "a sum with unknown parts"},
		{"~ N", "a sum with stale parts"},
		{"~5s", "off by a fifth or more"},
		{l.glyphs.up + " " + l.glyphs.down, "lag grows, shrinks"},
		{l.glyphs.steady + " " + l.glyphs.flat, "lag hardly moves, rests"},
		{"3 (1)", "three members, one idle"},
		{"12 (2)", "12 partitions, 2 unowned"},
		{"time lag", "first unread record's age"},
		{"drain", "until lag 0, at this pace"},
		{"skew", "largest member's lag / mean; 1 is even"},
		{"read", "how old the number is"},
		{"progress", "since the commit moved"},
	}
}

func (o *helpPage) draw(m *model, w, h int) []string {
	body := o.columns(m, w)
	room := max(1, h-1)
	top := max(0, min(o.top, len(body)-room))
	title := "keys in " + scopeNames[o.of]
	if len(body) > room {
		title += ", lines " + strconv.Itoa(top+1) + " to " + strconv.Itoa(top+room) + " of " + strconv.Itoa(len(body)) + ", j k"
	}
	lines := []string{rule(m.look, title, w)}
	return append(lines, body[top:min(len(body), top+room)]...)
}

// scroll moves the page, as far as it has lines.
func (o *helpPage) scroll(m *model, by int) {
	last := len(o.columns(m, m.width)) - (m.bodyHeight() - 1)
	o.top = max(0, min(o.top+by, last))
}

// columns sets the blocks side by side where there is room.
func (o *helpPage) columns(m *model, w int) []string {
	const least = 40
	n := max(1, min(w/least, 3))
	each := w / n
	if n == 1 {
		var all []string
		for _, b := range o.blocks(m, w) {
			all = append(all, b...)
		}
		return all
	}
	columns := make([][]string, n)
	for _, b := range o.blocks(m, each) { // each block to the shortest column
		at := 0
		for i := range columns {
			if len(columns[i]) < len(columns[at]) {
				at = i
			}
		}
		columns[at] = append(columns[at], b...)
	}
	var lines []string
	for y := 0; ; y++ {
		line, more := "", false
		for i := range columns {
			text := ""
			if y < len(columns[i]) {
				text, more = columns[i][y], true
			}
			line += pad(text, each, false)
		}
		if !more {
			return lines
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
}

// blocks are the sections, no line of them wider than w: what a sign means must
// not end in the middle of a word.
func (o *helpPage) blocks(m *model, w int) [][]string {
	l := m.look
	var out [][]string
	for _, section := range sections {
		b := []string{l.paint(toneAccent, section)}
		for _, c := range active(m.keys, o.of) {
			if c.section == section {
				b = append(b, l.meaning(c.every(), c.Help().Desc, w)...)
			}
		}
		out = append(out, append(b, ""))
	}
	b := []string{l.paint(toneAccent, "filter")}
	b = append(b, l.meaning("text", "rows whose name has it", w)...)
	b = append(b, l.meaning("!text", "the others", w)...)
	out = append(out, append(b, ""))
	b = []string{l.paint(toneAccent, "signs")}
	for _, s := range l.signs() {
		b = append(b, l.meaning(s[0], s[1], w)...)
	}
	return append(out, append(b, ""))
}

// meaning is a sign and what it means, on as many lines as that takes.
func (l *look) meaning(sign, means string, w int) []string {
	const left, gap = 11, 1
	lead := "  " + pad(l.sign(sign), left, false)
	var out []string
	for _, part := range wrap(means, w-2-left-2*gap) {
		out = append(out, lead+strings.Repeat(" ", gap)+l.paint(toneDim, part))
		lead = strings.Repeat(" ", 2+left)
	}
	return out
}

// sign is a key or sign as the terminal can show it.
func (l *look) sign(s string) string {
	if !l.ascii {
		return s
	}
	return strings.NewReplacer("↑", "Up", "↓", "Down", "←", "Left", "≥", l.glyphs.atLeast).Replace(s)
}
