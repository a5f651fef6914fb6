package document

import (
	"strings"
	"unicode/utf8"
)

// Text is a name of the cluster's as documents, metrics and tables spell it.
// Valid UTF-8 is given unchanged. Kafka lets any bytes be a group id; in a name
// that is not UTF-8, each bad byte becomes the four characters \xNN and each
// backslash is doubled: with a replacement character instead, two groups that
// differ in one such byte would be told apart no more.
func Text(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	const hex = "0123456789abcdef"
	var b strings.Builder
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\x`)
			b.WriteByte(hex[name[i]>>4])
			b.WriteByte(hex[name[i]&15])
		case r == '\\':
			b.WriteString(`\\`)
		default:
			b.WriteString(name[i : i+n])
		}
		i += n
	}
	return b.String()
}
