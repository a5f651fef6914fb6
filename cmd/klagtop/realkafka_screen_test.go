//go:build unix

package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
)

// drawn is what a person sees of all that was written to the terminal so far.
func (s *screen) drawn() string {
	const w, h = 100, 30
	emu := vt.NewSafeEmulator(w, h)
	go func() { _, _ = io.Copy(io.Discard, emu) }() // what a terminal answers
	if pipe, ok := emu.InputPipe().(io.Closer); ok {
		defer pipe.Close()
	}
	_, _ = emu.Write([]byte(s.String()))
	var b strings.Builder
	for y := range h {
		for x := range w {
			if c := emu.CellAt(x, y); c != nil && c.Content != "" {
				b.WriteString(c.Content)
			} else {
				b.WriteByte(' ')
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// until waits until the screen is as wanted.
func (s *screen) until(t *testing.T, what string, good func(text string) bool) {
	t.Helper()
	limit := time.After(patience)
	for {
		s.mu.Lock()
		more := s.more
		s.mu.Unlock()
		text := s.drawn()
		if good(text) {
			return
		}
		select {
		case <-more:
		case <-limit:
			t.Fatalf("the screen does not come to show %s:\n%s", what, text)
		}
	}
}
