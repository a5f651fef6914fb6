package config

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
)

// Error is a setting that is refused. Commands end with exit code 2 on it.
type Error struct {
	Source  string // where the setting came from: "--interval", "KLAGTOP_INTERVAL", "client.properties:4: ssl.keystore.type"
	Value   string // as given; empty for secrets and where there is none
	Problem string // what is wrong with it
	Hint    string // what to do about it; empty only where Problem says so
}

func (e *Error) Error() string {
	if e.Value == "" {
		return e.Source + ": " + e.Problem
	}
	return fmt.Sprintf("%s %q: %s", e.Source, e.Value, e.Problem)
}

// FlagError turns what pflag says about a command line into an *Error in this program's words, with a hint.
// Another error is given back as it is.
func FlagError(err error) error {
	if iv, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		name := iv.GetFlag().Name
		return invalidValue("--"+name, iv.GetFlag(), iv.GetValue())
	}
	return err
}

func invalidValue(source string, f *pflag.Flag, value string) *Error {
	e := &Error{Source: source, Value: value}
	if isSecret(f.Name) {
		e.Value = ""
	}
	switch f.Value.Type() {
	case "duration":
		e.Problem, e.Hint = "not a duration", "write a number with its unit: 500ms, 5s, 1m"
	case "int":
		e.Problem, e.Hint = "not a whole number", meaning(f)
	case "bool":
		e.Problem, e.Hint = "neither true nor false", meaning(f)
	default:
		e.Problem, e.Hint = "not a "+f.Value.Type(), meaning(f)
	}
	return e
}

// meaning says what a flag is for: the hint where there is no better one.
func meaning(f *pflag.Flag) string {
	_, usage := pflag.UnquoteUsage(f)
	text := "--" + f.Name + ": " + usage
	if f.DefValue != "" && f.DefValue != "[]" && f.DefValue != "0" && f.DefValue != "false" && !isSecret(f.Name) {
		text += " (default " + f.DefValue + ")"
	}
	return text
}
