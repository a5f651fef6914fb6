package document

import (
	"strings"
	"unicode/utf8"
)

// Text is a name of the cluster's as documents and tables spell it. Kafka lets
// any bytes be a group id; in one that is not UTF-8 each bad byte becomes the
// four characters \xNN and each backslash is doubled. Every other name is given
// unchanged, but for one that holds such four characters by itself: its
// backslashes are doubled too, or it would be the spelling of another name. So
// no two names become one.
func Text(name string) string {
	if utf8.ValidString(name) && !holdsEscape(name) {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\x`)
			b.WriteByte(hexDigits[name[i]>>4])
			b.WriteByte(hexDigits[name[i]&15])
		case r == '\\':
			b.WriteString(`\\`)
		default:
			b.WriteString(name[i : i+n])
		}
		i += n
	}
	return b.String()
}

const hexDigits = "0123456789abcdef"

// holdsEscape reports whether \xNN stands somewhere in a name.
func holdsEscape(name string) bool {
	for {
		i := strings.Index(name, `\x`)
		if i < 0 {
			return false
		}
		if name = name[i+2:]; len(name) >= 2 && strings.IndexByte(hexDigits, name[0]) >= 0 && strings.IndexByte(hexDigits, name[1]) >= 0 {
			return true
		}
	}
}
