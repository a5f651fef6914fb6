package exporter

import (
	"strings"
	"unicode/utf8"
)

// spell makes a name from the cluster fit for a label. A name that is valid
// UTF-8 without control characters stays as it is, and so do tabs and line
// feeds. In any other, each byte of what does not fit, and each backslash, is
// spelled \xHH.
//
// Two names never become one: a name that already contains the text of such an
// escape is spelled too, so that only spelled names ever contain one, and
// within those the backslash is always an escape.
func spell(name string) string {
	if !needsSpelling(name) {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		if r == '\\' || unfit(r, n) {
			for _, c := range []byte(name[i : i+n]) {
				b.WriteString(`\x`)
				b.WriteByte(hexDigits[c>>4])
				b.WriteByte(hexDigits[c&15])
			}
		} else {
			b.WriteString(name[i : i+n])
		}
		i += n
	}
	return b.String()
}

const hexDigits = "0123456789abcdef"

// unfit reports whether a decoded rune is a byte that is not UTF-8, or a
// control character: a terminal would obey it, and Prometheus' lexer stops at
// some.
func unfit(r rune, n int) bool {
	return r == utf8.RuneError && n == 1 || r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0
}

func needsSpelling(name string) bool {
	for i := 0; i < len(name); {
		r, n := rune(name[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(name[i:])
		}
		if unfit(r, n) || r == '\\' && looksSpelled(name[i:]) {
			return true
		}
		i += n
	}
	return false
}

// looksSpelled reports whether s begins with \xHH.
func looksSpelled(s string) bool {
	return len(s) >= 4 && s[1] == 'x' && strings.IndexByte(hexDigits, s[2]) >= 0 && strings.IndexByte(hexDigits, s[3]) >= 0
}

// appendLabel appends a name and its value, spelled and quoted.
func appendLabel(b []byte, name, value string) []byte {
	if len(b) > 0 {
		b = append(b, ',')
	}
	b = append(b, name...)
	b = append(b, '=', '"')
	b = appendEscaped(b, spell(value))
	return append(b, '"')
}

// appendEscaped escapes what the text format wants escaped in a label value.
func appendEscaped(b []byte, s string) []byte {
	for i := range len(s) {
		switch c := s[i]; c {
		case '\\', '"':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		default:
			b = append(b, c)
		}
	}
	return b
}
