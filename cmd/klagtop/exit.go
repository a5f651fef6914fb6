package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/klagtop/klagtop/collect/kafka"
	"github.com/klagtop/klagtop/internal/config"
	"github.com/klagtop/klagtop/internal/report"
)

// The exit codes.
const (
	exitFine     = 0
	exitFailed   = 1 // an error, or data that is not complete
	exitUsage    = 2
	exitExceeded = 3
	exitHangup   = 129 // as a shell reports a process that SIGHUP ended
)

// failure ends a command with an exit code. err is nil where all has been said.
type failure struct {
	code int
	err  error
	hint string
}

func (f *failure) Error() string {
	if f.err == nil {
		return fmt.Sprintf("exit code %d", f.code)
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

func usage(hint, format string, args ...any) error {
	return &failure{code: exitUsage, err: fmt.Errorf(format, args...), hint: hint}
}

// finish says what a command ended with and gives the exit code for it.
func (p *program) finish(ctx context.Context, err error) int {
	switch {
	case hungUp(ctx):
		return exitHangup
	case err == nil:
		return exitFine
	case errors.Is(err, syscall.EPIPE): // the reader has what it wanted
		return exitFine
	}
	if f, ok := errors.AsType[*failure](err); ok {
		if f.err != nil {
			p.complain(f.err.Error(), f.hint)
		}
		return f.code
	}
	if ce, ok := errors.AsType[*config.Error](err); ok {
		p.complain(ce.Error(), ce.Hint)
		return exitUsage
	}
	if c, ok := errors.AsType[*crash](err); ok {
		p.complain(c.Error(), "this is a bug of klagtop: please report it with what follows")
		_, _ = p.stderr.Write(c.stack)
		return exitFailed
	}
	message, hint := kafka.Explain(err)
	p.complain(message, hint)
	return exitFailed
}

// complain writes an error and, where there is one, its hint.
func (p *program) complain(message, hint string) {
	p.tell("error", message)
	if hint != "" {
		p.hint(hint)
	}
}

func (p *program) hint(text string) { p.tell("hint", text) }

// tell writes a line for people. Messages may hold names and errors of other
// machines: no control byte of theirs reaches the terminal.
func (p *program) tell(kind, text string) {
	_, _ = io.WriteString(p.stderr, "klagtop: "+kind+": "+report.Printable(text)+"\n") // nowhere left to say it
}
