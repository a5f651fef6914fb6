package tui

import (
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// environment is a process's, as os.Environ gives it.
type environment []string

// Environ and Getenv make it a termenv.Environ.
func (e environment) Environ() []string { return e }

// Getenv is the last value of a variable, "" without one.
func (e environment) Getenv(name string) string {
	for i := len(e) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(e[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// utf8 reports whether the locale's characters are UTF-8. The first variable
// that is set decides, as in POSIX; with none set the locale is C.
func (e environment) utf8() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(e.Getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

func (e environment) noColor() bool { return e.Getenv("NO_COLOR") != "" }

// profile is how many colours the terminal has, by its own word.
func (e environment) profile(w io.Writer) termenv.Profile {
	return termenv.NewOutput(w, termenv.WithEnvironment(e), termenv.WithTTY(true)).EnvColorProfile()
}

// background tells light from dark without a question to the terminal. On
// standard output the toolkit has asked before main began, and keeps the
// answer; a multiplexer answers nothing, and then nothing is known.
func (e environment) background(w io.Writer) background {
	if i := strings.LastIndexByte(e.Getenv("COLORFGBG"), ';'); i >= 0 {
		if n, err := strconv.Atoi(e.Getenv("COLORFGBG")[i+1:]); err == nil {
			if n == 7 || n == 15 {
				return groundLight
			}
			return groundDark
		}
	}
	term := e.Getenv("TERM")
	if w != io.Writer(os.Stdout) || strings.HasPrefix(term, "tmux") || strings.HasPrefix(term, "screen") {
		return groundUnknown
	}
	if lipgloss.HasDarkBackground() {
		return groundDark
	}
	return groundLight
}
