package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/internal/config"
)

// brittle is a source that breaks.
type brittle struct{ collect.Source }

func (brittle) Poll(context.Context, collect.Ask) *collect.Snapshot { panic("index out of range") }

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
