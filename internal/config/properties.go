package config

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// property is one key of a Java properties file. The grammar is java.util.Properties', read here because a setting that is
// refused must be named with its line.
type property struct {
	key, value string
	line       int // where the key begins, from 1
	foreign    bool
}

// propertiesError is a line that Java would refuse, too.
type propertiesError struct {
	line int
	err  error
}

func (e *propertiesError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }

// parseProperties reads a file as Java's Properties.load(InputStream) does: bytes are ISO-8859-1, a key ends at the first
// "=", ":" or white space, a backslash at a line's end joins the next line, and of a key given twice the last one
// counts, which is the caller's business. foreign marks keys or values with characters outside ASCII that are
// not written as \uXXXX: an editor most likely wrote them as UTF-8, and Java reads something else.
func parseProperties(file []byte) ([]property, error) {
	text := string(bytes.TrimPrefix(file, []byte("\xef\xbb\xbf")))
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
	var props []property
	for i := 0; i < len(lines); i++ {
		first := i + 1
		line := strings.TrimLeft(lines[i], blanks)
		if line == "" || line == `\` || line[0] == '#' || line[0] == '!' {
			continue
		}
		for continues(line) {
			line = line[:len(line)-1]
			if i++; i == len(lines) {
				break
			}
			line += strings.TrimLeft(lines[i], blanks)
		}
		p, err := splitProperty(line)
		if err != nil {
			return nil, &propertiesError{first, err}
		}
		p.line = first
		props = append(props, p)
	}
	return props, nil
}

const blanks = " \t\f"

// continues reports whether the line ends in a backslash that is not itself escaped.
func continues(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

func splitProperty(line string) (property, error) {
	end := keyEnd(line)
	rest := strings.TrimLeft(line[end:], blanks)
	if rest != "" && (rest[0] == '=' || rest[0] == ':') {
		rest = strings.TrimLeft(rest[1:], blanks)
	}
	key, err := unescape(line[:end])
	if err != nil {
		return property{}, err
	}
	value, err := unescape(rest)
	if err != nil {
		return property{}, err
	}
	// Kafka trims every value it reads as text, a list or a number.
	p := property{key: key, value: strings.TrimFunc(value, func(r rune) bool { return r <= ' ' })}
	for i := range len(line) {
		p.foreign = p.foreign || line[i] >= 0x80
	}
	return p, nil
}

func keyEnd(line string) int {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '=', ':', ' ', '\t', '\f':
			return i
		}
	}
	return len(line)
}

// unescape resolves backslashes. Characters are UTF-16 units, as in Java: two \u escapes may make one character.
func unescape(s string) (string, error) {
	units := make([]uint16, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := uint16(s[i])
		if c == '\\' && i+1 < len(s) {
			i++
			switch c = uint16(s[i]); c {
			case 't':
				c = '\t'
			case 'r':
				c = '\r'
			case 'n':
				c = '\n'
			case 'f':
				c = '\f'
			case 'u':
				if i+5 > len(s) {
					return "", errUnicodeEscape
				}
				n, err := strconv.ParseUint(s[i+1:i+5], 16, 16)
				if err != nil {
					return "", errUnicodeEscape
				}
				c = uint16(n)
				i += 4
			}
		}
		units = append(units, c)
	}
	return string(utf16.Decode(units)), nil
}

var errUnicodeEscape = errors.New(`\u needs four hexadecimal digits (write \\ for a backslash)`)
