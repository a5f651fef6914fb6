package tui

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// An overlay lies over a view and takes its keys.
type overlay interface {
	scope() scope
	// draw returns at most h lines of at most w cells; the view has the rest.
	draw(m *model, w, h int) []string
}

// rule is the line that parts an overlay from the view above it.
func rule(l *look, title string, w int) string {
	text := l.glyphs.bar + l.glyphs.bar + " " + title + " "
	return l.paint(toneDim, cutEnd(text+strings.Repeat(l.glyphs.bar, max(0, w-width(text))), w, ""))
}

// wrap breaks a text into lines of at most w cells, between words where it can.
func wrap(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	return strings.Split(ansi.Wrap(s, w, " "), "\n")
}

// sortMenu lists the ways to sort the pane below it.
type sortMenu struct {
	orders []ordering
	at     int
}

func (*sortMenu) scope() scope { return inMenu }

func (o *sortMenu) draw(m *model, w, h int) []string {
	h = min(h, max(5, m.bodyHeight()-6)) // some rows stay on the screen
	lines := []string{rule(m.look, "sort by", w)}
	room := max(1, h-1)
	top := max(0, min(o.at-room/2, len(o.orders)-room))
	for i := top; i < len(o.orders) && i < top+room; i++ {
		text := "  " + o.orders[i].name
		if o.orders[i].active {
			text += " " + m.look.glyphs.dot + " now"
		}
		if text = pad(cutEnd(text, w-1, m.look.glyphs.more), w-1, false); i == o.at {
			lines = append(lines, m.look.paint(toneSelected, m.look.glyphs.cursor+text))
			continue
		}
		lines = append(lines, " "+strings.TrimRight(text, " "))
	}
	return lines
}

func (m *model) openMenu() {
	o := &sortMenu{orders: m.pane().orders()}
	for i := range o.orders {
		if o.orders[i].active {
			o.at = i
		}
	}
	m.overlay = o
}

func (m *model) chooseSort() {
	if o, ok := m.overlay.(*sortMenu); ok {
		m.pane().sortBy(o.orders[o.at].column)
	}
	m.overlay = nil
}

func (m *model) closeOverlay() { m.overlay = nil }

// filterLine is the filter being typed; the rows follow each key.
type filterLine struct {
	text   []rune
	before string
}

func (*filterLine) scope() scope { return inFilter }

// draw has no lines of its own: the filter stands in the status line.
func (*filterLine) draw(*model, int, int) []string { return nil }

func (m *model) openFilter() {
	was := m.pane().filterText()
	m.overlay = &filterLine{text: []rune(was), before: was}
}

func (m *model) edit(change func([]rune) []rune) {
	if o, ok := m.overlay.(*filterLine); ok {
		o.text = change(o.text)
		m.pane().setFilter(string(o.text))
	}
}

// typeRunes adds what was typed or pasted, as far as it can be part of a name.
func (m *model) typeRunes(rs []rune) {
	m.edit(func(text []rune) []rune {
		for _, r := range rs {
			if unicode.IsPrint(r) && len(text) < 255 {
				text = append(text, r)
			}
		}
		return text
	})
}

func (m *model) keepFilter() { m.overlay = nil }

func (m *model) dropFilter() {
	if o, ok := m.overlay.(*filterLine); ok {
		m.pane().setFilter(o.before)
	}
	m.overlay = nil
}

func (m *model) eraseRune() {
	m.edit(func(text []rune) []rune { return text[:max(0, len(text)-1)] })
}

func (m *model) eraseWord() {
	m.edit(func(text []rune) []rune {
		s := strings.TrimRightFunc(string(text), func(r rune) bool { return !word(r) })
		return []rune(strings.TrimRightFunc(s, word))
	})
}

func word(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func (m *model) eraseAll() { m.edit(func([]rune) []rune { return nil }) }
