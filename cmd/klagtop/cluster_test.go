package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/internal/config"
)

// brittle is a source that breaks.
type brittle struct{ collect.Source }

func (brittle) Poll(context.Context, collect.Ask) *collect.Snapshot { panic("index out of range") }

func TestADemoWhoseStoryFailsSaysWhy(t *testing.T) {
	broken := errors.New("the topic is gone")
	closed := make(chan struct{})
	for name, c := range map[string]struct {
		ended func() error
		show  func(context.Context) error
		want  error
	}{
		"the story fails":        {func() error { return broken }, func(ctx context.Context) error { <-ctx.Done(); return nil }, broken},
		"the show is over":       {func() error { <-closed; return nil }, func(context.Context) error { return nil }, nil},
		"the show ends in error": {func() error { <-closed; return nil }, func(context.Context) error { return io.EOF }, io.EOF},
	} {
		closed = make(chan struct{})
		if err := besideStory(t.Context(), func() { close(closed) }, c.ended, c.show); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// Whoever reads beside the poll loop, as the view does that has the terminal in
// its hands, is ended properly when the loop breaks.
func TestALoopThatBreaksEndsItsReaderFirst(t *testing.T) {
	var stderr bytes.Buffer
	p := newProgram(&bytes.Buffer{}, &stderr, nil)
	cfg := config.Config{Timeout: time.Second}
	cfg.Kafka.Brokers = []string{"127.0.0.1:1"}
	c, err := p.open(cfg, quiet(cfg, &stderr))
	if err != nil {
		t.Fatal(err)
	}
	c.collector = collect.New(brittle{}, collect.Options{Interval: time.Second, Timeout: time.Second})
	restored := false
	err = c.follow(t.Context(), func(ctx context.Context) error {
		<-ctx.Done()
		restored = true
		return nil
	})
	if code := p.finish(t.Context(), err); code != exitFailed || !restored {
		t.Errorf("exit code %d, restored %v", code, restored)
	}
	for _, want := range []string{"error: the poll loop broke: index out of range", "hint: this is a bug", "brittle.Poll"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("standard error has no %q: %s", want, stderr.String())
		}
	}
}
