package config

import (
	"maps"
	"strings"
	"testing"
)

func TestParseJAASReadsAsKafkaDoes(t *testing.T) {
	for _, c := range []struct {
		why, text, class string
		options          map[string]string
	}{
		{"the usual form", `org.PlainLoginModule required username="u" password="p";`, "org.PlainLoginModule", map[string]string{"username": "u", "password": "p"}},
		{"single quotes", `M required username='u' password='p"q';`, "M", map[string]string{"username": "u", "password": `p"q`}},
		{"words need no quotes", `M required username=svc-a_1.x$ serviceName=kafka;`, "M", map[string]string{"username": "svc-a_1.x$", "serviceName": "kafka"}},
		{"blanks and lines anywhere", "M\n required\n\tusername = \"u\"\n ;\n", "M", map[string]string{"username": "u"}},
		{"no blanks", `M required a="b"c="d";`, "M", map[string]string{"a": "b", "c": "d"}},
		{"escaped quotes and backslashes", `M required password="a\"b\\c\'";`, "M", map[string]string{"password": `a"b\c'`}},
		{"signs that mean something elsewhere", `M required password="a;b=c//d/*e*/ #{}";`, "M", map[string]string{"password": "a;b=c//d/*e*/ #{}"}},
		{"escapes of C", `M required password="\a\b\f\n\r\t\v";`, "M", map[string]string{"password": "\a\b\f\n\r\t\v"}},
		{"octal escapes", `M required password="\1\41x\101\3777\4001\8";`, "M", map[string]string{"password": "\x01!xA\u00ff7 018"}},
		{"comments", "M /* x=\"y\" */ required // z\n username=\"u\"; // end", "M", map[string]string{"username": "u"}},
		{"a lone slash begins one, too", "M required / z\n username=\"u\";", "M", map[string]string{"username": "u"}},
		{"an open comment hides the rest", `M required username="u"; /* x`, "M", map[string]string{"username": "u"}},
		{"no options", "M required;", "M", map[string]string{}},
		{"any control flag, in any case", "M Sufficient;", "M", map[string]string{}},
		{"letters beyond ASCII", `M required username=josé;`, "M", map[string]string{"username": "josé"}},
		{"of an option given twice the last counts", `M required a="1" a="2";`, "M", map[string]string{"a": "2"}},
		{"an empty value", `M required password="";`, "M", map[string]string{"password": ""}},
	} {
		t.Run(c.why, func(t *testing.T) {
			m, err := parseJAAS(c.text)
			if err != nil || m.class != c.class || !maps.Equal(m.options, c.options) {
				t.Errorf("got %q %q %v, want %q %q", m.class, m.options, err, c.class, c.options)
			}
		})
	}
}

func TestParseJAASRefuses(t *testing.T) {
	for _, c := range []struct{ why, text, says string }{
		{"nothing", "", "no login module"},
		{"a semicolon alone", ";", "no login module"},
		{"no control flag", "M", "required"},
		{"an option in its place", `M username="hunter2";`, "required"},
		{"no semicolon", `M required username="hunter2"`, "semicolon"},
		{"a quote left open", `M required password="hunter2;`, "quote is not closed"},
		{"a quote left open at a line's end", "M required password=\"hunter2\n\";", "quote is not closed"},
		{"a backslash at the end", `M required password="hunter2\`, "quote is not closed"},
		{"an open quote for a class", `"M`, "quote is not closed"},
		{"an open quote for a flag", `M "req`, "quote is not closed"},
		{"an open quote for a key", `M required "hunter2`, "quote is not closed"},
		{"an open quote for a sign", `M required a "hunter2`, "quote is not closed"},
		{"no value", `M required password=;`, "option password has no value"},
		{"no sign", `M required password "hunter2";`, "key=value"},
		{"a password that needs quotes", `M required password=hunter2!x;`, "not quoted"},
		{"a password that needs quotes, as a later word", `M required username=u password=hunter2 hunter2;`, "not quoted"},
		{"a secret where a key should be", `M required hunter2=;`, "option (unknown)"},
		{"two modules", `M required; N required;`, "one login module"},
	} {
		t.Run(c.why, func(t *testing.T) {
			_, err := parseJAAS(c.text)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got %v, want an error that says %q", err, c.says)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the password is in the error: %v", err)
			}
		})
	}
}

// FuzzJAAS holds that a user and a password written with quotes come back as they were, and that nothing panics.
func FuzzJAAS(f *testing.F) {
	for _, s := range []string{"", "p", `a"b\c`, "\n", "// /* */", "é\x00;='", `\101`, `M required a="b";`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if m, err := parseJAAS(s); err == nil && m.class == "" && !strings.ContainsAny(s, `"'`) {
			t.Fatal("a module without a class")
		}
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`).Replace(s)
		m, err := parseJAAS(`M required username="` + quoted + `" password='x';`)
		if err != nil || m.options["username"] != s || m.options["password"] != "x" {
			t.Fatalf("user %q came back as %q, %v", s, m.options["username"], err)
		}
	})
}
