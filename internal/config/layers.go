package config

import (
	"errors"
	"regexp"
	"strings"

	"github.com/spf13/pflag"

	"github.com/klagtop/klagtop/collect/kafka"
)

// layers holds each setting by its flag's name, from the strongest source that has it: a flag, a variable, else
// the Java file. Values of the first two, and the defaults, are in a flag set of its own, so that loading twice
// (a reload) does not change the caller's.
type layers struct {
	values *pflag.FlagSet
	given  map[string]given // by a flag or a variable
	java   javaSettings
	file   string // of the Java settings; "" for none
}

// given says which flag or variable a setting came from. Flags are the stronger ones.
type given struct {
	source string
	byFlag bool
}

// serviceLink is what Kubernetes puts into variables named after a service: a service called klagtop makes
// KLAGTOP_PORT=tcp://10.0.0.1:9308.
var serviceLink = regexp.MustCompile(`^(tcp|udp|sctp)://`)

func newLayers(fs *pflag.FlagSet, environ []string) (*layers, error) {
	l := &layers{values: pflag.NewFlagSet("", pflag.ContinueOnError), given: map[string]given{}}
	Flags(l.values)
	env := variables(environ)
	var failed error
	l.values.VisitAll(func(f *pflag.Flag) {
		if failed != nil {
			return
		}
		if asked := fs.Lookup(f.Name); asked != nil && asked.Changed {
			l.given[f.Name] = given{source: "--" + f.Name, byFlag: true}
			failed = copyValue(f, asked)
			return
		}
		if v := env[Variable(f.Name)]; v != "" {
			l.given[f.Name] = given{source: Variable(f.Name)}
			failed = l.setFromVariable(f, v)
		}
	})
	return l, failed
}

// variables picks this program's own, without the empty ones and Kubernetes' service links.
func variables(environ []string) map[string]string {
	env := map[string]string{}
	for _, kv := range environ {
		k, v, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(k, "KLAGTOP_") && v != "" && !serviceLink.MatchString(v) {
			env[k] = v
		}
	}
	return env
}

func copyValue(to, from *pflag.Flag) error {
	if list, ok := from.Value.(pflag.SliceValue); ok {
		return to.Value.(pflag.SliceValue).Replace(list.GetSlice())
	}
	return to.Value.Set(from.Value.String())
}

func (l *layers) setFromVariable(f *pflag.Flag, value string) error {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.Replace(splitList(value))
	}
	if err := f.Value.Set(value); err != nil {
		return invalidValue(Variable(f.Name), f, value)
	}
	return nil
}

// splitList splits at commas, but not inside a regular expression between slashes.
func splitList(s string) []string {
	parts := strings.Split(s, ",")
	var list []string
	for i := 0; i < len(parts); i++ {
		p := strings.TrimSpace(parts[i])
		if strings.HasPrefix(p, "/") && !closesRegexp(p) {
			for j := i + 1; j < len(parts); j++ {
				if whole := strings.TrimSpace(strings.Join(parts[i:j+1], ",")); closesRegexp(whole) {
					p, i = whole, j
					break
				}
			}
		}
		if p != "" {
			list = append(list, p)
		}
	}
	return list
}

func closesRegexp(s string) bool { return len(s) > 1 && strings.HasSuffix(s, "/") }

// has reports whether a flag or a variable gives the setting.
func (l *layers) has(name string) bool { return l.given[name].source != "" }

// text gives a setting that is a string; the error is the Java file's, where only that has the setting and what
// it says is refused.
func (l *layers) text(name string) (string, error) {
	if !l.has(name) {
		if j, ok := l.java[name]; ok {
			if j.refused != nil {
				return "", j.refused
			}
			return j.text, nil
		}
	}
	return l.plain(name), nil
}

// plain gives a string setting that the Java file cannot have.
func (l *layers) plain(name string) string {
	if f := l.values.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

func (l *layers) list(name string) []string {
	return l.values.Lookup(name).Value.(pflag.SliceValue).GetSlice()
}

// source says where a setting came from, or where it would be set.
func (l *layers) source(name string) string {
	if g := l.given[name]; g.source != "" {
		return g.source
	}
	if j, ok := l.java[name]; ok {
		return j.source
	}
	if key := javaKeyOf[name]; key != "" && l.file != "" {
		return l.file + ": " + key
	}
	return "--" + name
}

// refuse gives the error of a setting. Without a hint it says what the setting is for.
func (l *layers) refuse(name, value, problem, hint string) *Error {
	if f := l.values.Lookup(name); hint == "" && f != nil {
		hint = meaning(f)
	}
	return &Error{Source: l.source(name), Value: value, Problem: problem, Hint: hint}
}

// named turns the refusal of a connection setting into one that says where the setting came from.
func (l *layers) named(err error) error {
	fe, ok := errors.AsType[*kafka.FieldError](err)
	if !ok {
		return err
	}
	return l.refuse(fe.Field, fe.Value, fe.Problem, fe.Hint)
}
