package config

import (
	"errors"
	"fmt"
	"strings"
)

// loginModule is one entry of a JAAS configuration: a Java class and its options.
type loginModule struct {
	class   string
	options map[string]string
}

// parseJAAS reads the value of sasl.jaas.config: class, control flag, options as key=value, a semicolon. Words and quoted
// strings are those of java.io.StreamTokenizer as Kafka sets it up: " and ' quote, backslash escapes as in C,
// and //, /* */ and a lone / begin comments. Errors name options but never a value.
func parseJAAS(s string) (loginModule, error) {
	t := &jaasTokens{rest: s}
	m := loginModule{options: map[string]string{}}
	class, err := t.next()
	if err != nil {
		return m, err
	}
	if class.kind != jaasText {
		return m, errors.New("no login module in it")
	}
	m.class = class.text
	flag, err := t.next()
	if err != nil {
		return m, err
	}
	switch strings.ToLower(flag.text) {
	case "required", "requisite", "sufficient", "optional":
	default:
		return m, fmt.Errorf(`the word after the login module must be "required"`)
	}
	for {
		key, err := t.next()
		if err != nil {
			return m, err
		}
		if key.kind == ';' {
			break
		}
		if key.kind != jaasText {
			return m, errors.New("not closed by a semicolon, or an option's value with special characters is not quoted")
		}
		if err := m.option(t, key.text); err != nil {
			return m, err
		}
	}
	if more, err := t.next(); err != nil || more.kind != jaasEnd {
		return m, errors.New("something follows the semicolon; one login module is expected")
	}
	return m, nil
}

func (m loginModule) option(t *jaasTokens, key string) error {
	equals, err := t.next()
	if err != nil {
		return err
	}
	if equals.kind != '=' {
		if len(m.options) == 0 {
			return errors.New("an option is not of the form key=value")
		}
		// What stands here may be the rest of a password that was not quoted: it is not repeated.
		return errors.New("an option after the first is not of the form key=value, or a value with special characters is not quoted")
	}
	value, err := t.next()
	if err != nil {
		return err
	}
	if value.kind != jaasText {
		return fmt.Errorf("option %s has no value, or one with special characters that is not quoted", plainWord(key))
	}
	m.options[key] = value.text
	return nil
}

// plainWord gives an option's name, unless it is so odd that it may be part of a secret.
func plainWord(s string) string {
	for _, known := range []string{"username", "password", "tokenauth", "serviceName", "keyTab", "principal", "clientId", "clientSecret"} {
		if s == known {
			return s
		}
	}
	return "(unknown)"
}

type jaasKind rune

const (
	jaasEnd  jaasKind = -1
	jaasText jaasKind = -2 // a word or a quoted string; other tokens are one character, which is their kind
)

type jaasToken struct {
	kind jaasKind
	text string
}

type jaasTokens struct{ rest string }

func (t *jaasTokens) next() (jaasToken, error) {
	t.skip()
	if t.rest == "" {
		return jaasToken{kind: jaasEnd}, nil
	}
	c := t.rest[0]
	switch {
	case c == '"' || c == '\'':
		text, err := t.quoted(c)
		return jaasToken{jaasText, text}, err
	case wordByte(c):
		n := 0
		for n < len(t.rest) && wordByte(t.rest[n]) {
			n++
		}
		word := t.rest[:n]
		t.rest = t.rest[n:]
		return jaasToken{jaasText, word}, nil
	}
	t.rest = t.rest[1:]
	return jaasToken{kind: jaasKind(c)}, nil
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("._-$", c) >= 0 || c >= 0x80
}

// skip passes white space and comments.
func (t *jaasTokens) skip() {
	for {
		t.rest = strings.TrimLeftFunc(t.rest, func(r rune) bool { return r <= ' ' })
		switch {
		case strings.HasPrefix(t.rest, "/*"):
			_, t.rest, _ = strings.Cut(t.rest[2:], "*/")
		case strings.HasPrefix(t.rest, "/"):
			after := t.rest[min(2, len(t.rest)):] // Java looks for the line's end only behind the next character
			end := strings.IndexAny(after, "\r\n")
			if end < 0 {
				end = len(after)
			}
			t.rest = after[end:]
		default:
			return
		}
	}
}

func (t *jaasTokens) quoted(quote byte) (string, error) {
	var b strings.Builder
	s := t.rest[1:]
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case quote:
			t.rest = s[i+1:]
			return b.String(), nil
		case '\r', '\n':
			return "", errOpenQuote
		case '\\':
			r, n := jaasEscape(s[i+1:])
			if n == 0 {
				return "", errOpenQuote
			}
			b.WriteString(r)
			i += n
		default:
			b.WriteByte(c)
		}
	}
	return "", errOpenQuote
}

var errOpenQuote = errors.New("a quote is not closed")

// jaasEscape reads what follows a backslash, and says how many bytes that was.
func jaasEscape(s string) (text string, n int) {
	if s == "" {
		return "", 0
	}
	if s[0] >= '0' && s[0] <= '7' { // one to three octal digits, up to 377
		limit := 2
		if s[0] <= '3' {
			limit = 3
		}
		code := rune(0)
		for n < len(s) && n < limit && s[n] >= '0' && s[n] <= '7' {
			code = code<<3 + rune(s[n]-'0')
			n++
		}
		return string(code), n
	}
	if i := strings.IndexByte("abfnrtv", s[0]); i >= 0 {
		return "\a\b\f\n\r\t\v"[i : i+1], 1
	}
	return s[:1], 1
}
