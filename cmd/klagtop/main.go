package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	// A reader that left, as head does, is an answer to a write and not a
	// reason to be killed.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := untilSignal(context.Background())
	defer stop()
	return newProgram(os.Stdout, os.Stderr, os.Environ()).run(ctx, args)
}
