package report

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/klagtop/klagtop/internal/document"
)

// Printable is a name of the cluster's that is safe on a terminal and in a line
// of text: what is not printable is spelled as an escape. Any client may choose
// a client id, and a terminal obeys what it is sent. The empty name is "".
func Printable(name string) string {
	name = document.Text(name)
	if name == "" {
		return `""`
	}
	if strings.IndexFunc(name, unprintable) < 0 {
		return name
	}
	var b strings.Builder
	for _, r := range name {
		switch {
		case !unprintable(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// unprintable takes in what is invisible or turns the direction of writing:
// with those, two names can look alike.
func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// orDash is a name in a column where none is "-".
func orDash(name string) string {
	if name == "" {
		return "-"
	}
	return Printable(name)
}
