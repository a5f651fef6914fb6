package config

import (
	"strings"
	"testing"
	"unicode/utf16"
)

func TestParsePropertiesReadsAsJavaDoes(t *testing.T) {
	for _, c := range []struct {
		why, file string
		want      []property
	}{
		{"an equals sign", "a=b", []property{{key: "a", value: "b", line: 1}}},
		{"blanks around it", "  a \t= b", []property{{key: "a", value: "b", line: 1}}},
		{"a colon", "a:b", []property{{key: "a", value: "b", line: 1}}},
		{"a blank alone", "a b=c", []property{{key: "a", value: "b=c", line: 1}}},
		{"only the first sign separates", "a==b:c", []property{{key: "a", value: "=b:c", line: 1}}},
		{"a key alone", "a", []property{{key: "a", line: 1}}},
		{"an empty value", "a=\nb=1", []property{{key: "a", line: 1}, {key: "b", value: "1", line: 2}}},
		{"comments and empty lines", "# x=1\n\n  ! y=2\na=b", []property{{key: "a", value: "b", line: 4}}},
		{"a comment sign in a value", "a=b # c", []property{{key: "a", value: "b # c", line: 1}}},
		{"lines of Windows", "a=1\r\nb=2\r\n", []property{{key: "a", value: "1", line: 1}, {key: "b", value: "2", line: 2}}},
		{"a value over three lines", "a=x \\\n   y \\\n\tz\nb=1", []property{{key: "a", value: "x y z", line: 1}, {key: "b", value: "1", line: 4}}},
		{"a value over two lines of Windows", "a=x \\\r\n   y\r\nb=1", []property{{key: "a", value: "x y", line: 1}, {key: "b", value: "1", line: 3}}},
		{"a key over two lines", "a\\\n  b=1", []property{{key: "ab", value: "1", line: 1}}},
		{"an escaped backslash joins nothing", "a=x\\\\\nb=1", []property{{key: "a", value: `x\`, line: 1}, {key: "b", value: "1", line: 2}}},
		{"a comment sign on a joined line", "a=x\\\n#y", []property{{key: "a", value: "x#y", line: 1}}},
		{"a backslash at the end of the file", `a=x\`, []property{{key: "a", value: "x", line: 1}}},
		{"escaped separators in a key", `a\=b\:c\ d=1`, []property{{key: "a=b:c d", value: "1", line: 1}}},
		{"the letters that escape", `a=1\t2\n3\r4\f5`, []property{{key: "a", value: "1\t2\n3\r4\f5", line: 1}}},
		{"another letter loses its backslash", `a=C\:\kafka\"`, []property{{key: "a", value: `C:kafka"`, line: 1}}},
		{"unicode", `a=caf\u00e9`, []property{{key: "a", value: "café", line: 1}}},
		{"unicode of two units", `a=\ud83d\ude00`, []property{{key: "a", value: "😀", line: 1}}},
		{"nothing is expanded", "a=${b}${", []property{{key: "a", value: "${b}${", line: 1}}},
		{"bytes are ISO-8859-1, and marked", "a=caf\xe9", []property{{key: "a", value: "café", line: 1, foreign: true}}},
		{"blanks at the end go, as Kafka trims them", "a=b \t ", []property{{key: "a", value: "b", line: 1}}},
		{"a mark that an editor put in front", "\xef\xbb\xbfa=b", []property{{key: "a", value: "b", line: 1}}},
		{"an empty file", "", nil},
	} {
		t.Run(c.why, func(t *testing.T) {
			got, err := parseProperties([]byte(c.file))
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(c.want) {
				t.Fatalf("got %+v, want %+v", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("got %+v, want %+v", got[i], c.want[i])
				}
			}
		})
	}
}

func TestParsePropertiesNamesTheLineItRefuses(t *testing.T) {
	for _, file := range []string{"a=1\n\n\\u00=b\n", "a=1\n\npath=C:\\users\n", "\n\na=\\u12"} {
		_, err := parseProperties([]byte(file))
		if err == nil || !strings.Contains(err.Error(), "line 3:") || !strings.Contains(err.Error(), `\u`) {
			t.Errorf("%q: %v, want line 3 and \\u", file, err)
		}
	}
}

// FuzzProperties writes what was read in Java's most careful form and reads it again.
func FuzzProperties(f *testing.F) {
	for _, s := range []string{"a=b", "a\\\r\n b:c", "\\", "a=\\u0041\\ud800", "# c\n!\n=\n:=", "\x00\xff=\\u", "sasl.jaas.config=x required username=\"u\";"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		props, err := parseProperties(file)
		if err != nil {
			return
		}
		var b strings.Builder
		for _, p := range props {
			if p.key == "" || p.value == "" {
				return // written as nothing, it would not be told from a value
			}
			escapeAll(&b, p.key)
			b.WriteByte('=')
			escapeAll(&b, p.value)
			b.WriteByte('\n')
		}
		again, err := parseProperties([]byte(b.String()))
		if err != nil || len(again) != len(props) {
			t.Fatalf("read again: %v, %d keys, want %d", err, len(again), len(props))
		}
		for i := range props {
			if again[i].key != props[i].key || again[i].value != props[i].value {
				t.Fatalf("key %q value %q became %q %q", props[i].key, props[i].value, again[i].key, again[i].value)
			}
		}
	})
}

func escapeAll(b *strings.Builder, s string) {
	const hex = "0123456789abcdef"
	for _, u := range utf16.Encode([]rune(s)) {
		b.WriteString(`\u`)
		for shift := 12; shift >= 0; shift -= 4 {
			b.WriteByte(hex[u>>shift&15])
		}
	}
}
