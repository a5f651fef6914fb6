package tui

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// cleaner makes text from a cluster safe to draw. Whoever may join a group
// chooses its client id, so any byte can come; a terminal would obey some.
type cleaner struct{ ascii bool }

// name is a group's, topic's or client's name to draw; Kafka allows an empty one.
func (c cleaner) name(s string) string {
	if s == "" {
		return "(empty)"
	}
	return c.text(s)
}

// text spells out what is not printable: control bytes as ^[, bytes that are
// no UTF-8 as \xff, and what would move or hide its neighbours (direction
// marks, odd spaces, a combining mark at the start) as \u202e.
func (c cleaner) text(s string) string {
	if plainASCII(s) {
		return s
	}
	var b strings.Builder
	for i, w := 0, 0; i < len(s); i += w {
		var r rune
		r, w = utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && w == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r < 0x20:
			b.WriteByte('^')
			b.WriteByte(byte(r) + '@')
		case r == 0x7f:
			b.WriteString("^?")
		case c.ascii && r > 0x7e, !drawable(r), b.Len() == 0 && unicode.IsMark(r):
			spell(&b, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func spell(b *strings.Builder, r rune) {
	if r > 0xffff {
		fmt.Fprintf(b, `\U%08x`, r)
		return
	}
	fmt.Fprintf(b, `\u%04x`, r)
}

// drawable reports whether a rune takes its own place and no other. The
// joiners are part of how some scripts are written.
func drawable(r rune) bool {
	return unicode.IsPrint(r) || r == '\u200c' || r == '\u200d'
}

func plainASCII(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// width is how many cells a text takes.
func width(s string) int {
	if plainASCII(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

// cutEnd shortens a text to w cells from its end.
func cutEnd(s string, w int, more string) string {
	switch {
	case w <= 0:
		return ""
	case width(s) <= w:
		return s
	case w <= width(more):
		return ansi.Truncate(s, w, "")
	}
	return ansi.Truncate(s, w, more)
}

// cutMiddle shortens a text to w cells from its middle: the ends of names tell
// more than their middles.
func cutMiddle(s string, w int, more string) string {
	total := width(s)
	if total <= w || w <= width(more)+2 {
		return cutEnd(s, w, more)
	}
	tail := (w - width(more)) / 2
	head := w - width(more) - tail
	end := ansi.TruncateLeft(s, total-tail, "")
	for n := total - tail + 1; width(end) > tail; n++ { // a wide rune lies over the cut
		end = ansi.TruncateLeft(s, n, "")
	}
	return ansi.Truncate(s, head, "") + more + end
}

// pad fills a text up to w cells.
func pad(s string, w int, right bool) string {
	n := w - width(s)
	if n <= 0 {
		return s
	}
	if right {
		return strings.Repeat(" ", n) + s
	}
	return s + strings.Repeat(" ", n)
}
