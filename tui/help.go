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
var signs = [...][2]string{
	{"?", "not known"},
	{"-", "no commit; nothing to tell"},
	{"≥ N", "a sum with unknown parts"},
	{"~ N", "a sum with parts kept from an earlier poll"},
	{"3 (1)", "three members, one of them idle"},
	{"12 (2)", "twelve partitions, two without an owner"},
	{"time lag", "age of the oldest unread record"},
	{"drain", "time until lag is 0 at this pace"},
	{"skew", "largest member's lag / mean; 1 is even"},
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
	blocks := o.blocks(m)
	const each = 40
	n := max(1, min(w/each, 3))
	if n == 1 {
		var all []string
		for _, b := range blocks {
			all = append(all, b...)
		}
		return all
	}
	columns := make([][]string, n)
	for _, b := range blocks { // each block to the shortest column
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

func (o *helpPage) blocks(m *model) [][]string {
	l := m.look
	var out [][]string
	for _, section := range sections {
		b := []string{l.paint(toneAccent, section)}
		for _, c := range active(m.keys, o.of) {
			if c.section == section {
				b = append(b, "  "+pad(l.sign(c.every()), 12, false)+" "+l.paint(toneDim, c.Help().Desc))
			}
		}
		out = append(out, append(b, ""))
	}
	b := []string{
		l.paint(toneAccent, "filter"),
		"  " + pad("text", 12, false) + " " + l.paint(toneDim, "rows whose name has it"),
		"  " + pad("!text", 12, false) + " " + l.paint(toneDim, "the others"), "",
	}
	out = append(out, b)
	b = []string{l.paint(toneAccent, "signs")}
	for _, s := range signs {
		b = append(b, "  "+pad(l.sign(s[0]), 12, false)+" "+l.paint(toneDim, s[1]))
	}
	return append(out, append(b, ""))
}

// sign is a key or sign as the terminal can show it.
func (l *look) sign(s string) string {
	if !l.ascii {
		return s
	}
	return strings.NewReplacer("↑", "Up", "↓", "Down", "←", "Left", "≥", l.glyphs.atLeast).Replace(s)
}
