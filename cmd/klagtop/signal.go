package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// stopped is the cause of a context that a signal ended.
type stopped struct{ signal os.Signal }

func (s stopped) Error() string { return "stopped by signal: " + s.signal.String() }

// untilSignal gives a context that the first of SIGINT, SIGTERM and SIGHUP
// ends. The second one does what it does by default: it kills, should the
// stopping hang.
func untilSignal(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(stopped{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// hungUp reports whether ctx ended because the terminal went away.
func hungUp(ctx context.Context) bool {
	s, ok := errors.AsType[stopped](context.Cause(ctx))
	return ok && s.signal == syscall.SIGHUP
}
