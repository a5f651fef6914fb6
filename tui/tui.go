package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/klagtop/klagtop/collect"
)

// ErrHangup is returned by Run when the terminal went away (SIGHUP). The
// terminal is restored by then; the exit code for it is 129.
var ErrHangup = errors.New("the terminal hung up")

// Wishes is what the screen may ask of the poll loop; *collect.Collector has it.
type Wishes interface {
	Focus(group string) // the group on screen, "" for none
	Refresh()
	SetInterval(time.Duration)
	Interval() time.Duration
}

// Options are what the screen shows and where.
type Options struct {
	// Hub brings the updates.
	Hub *collect.Hub
	// Wishes go to the poll loop; nil where there is none, and the keys for
	// them are then not there.
	Wishes Wishes
	// Group opens that group's view at once, whether it exists yet or not;
	// "" opens Groups.
	Group string
	// Brokers is the address to show while nothing was reached.
	Brokers string
	// Filter is what the user narrowed the groups or topics to, in words; "".
	Filter string

	// Input and Output are the terminal; os.Stdin and os.Stdout if nil.
	Input  io.Reader
	Output io.Writer
	// Environ is the process's environment; os.Environ() if nil. It decides
	// colours (NO_COLOR, COLORTERM, COLORFGBG, TERM) and ASCII (LC_ALL,
	// LC_CTYPE, LANG).
	Environ []string
	// Now is the clock; time.Now if nil.
	Now func() time.Time
}

// Run shows updates until the user leaves, ctx ends, or the terminal hangs up
// (SIGHUP, which Run catches itself: ErrHangup). It returns nil after q, ctrl-c
// and the end of ctx; it waits for no poll, and leaves the terminal as it found
// it.
func Run(ctx context.Context, o Options) error {
	o = o.complete()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	env := environment(o.Environ)
	m := newModel(o, newLook(o.Environ, env.background(o.Output), env.profile(o.Output)))
	m.next = func(after *collect.Update) tea.Cmd { return waitForUpdate(ctx, o.Hub, after) }
	options := []tea.ProgramOption{tea.WithAltScreen(), tea.WithoutSignalHandler(), tea.WithOutput(o.Output)}
	if o.Input != nil {
		options = append(options, tea.WithInput(o.Input))
	}
	p := tea.NewProgram(m, options...)

	var hungUp atomic.Bool
	over, watched := make(chan struct{}), make(chan struct{})
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	go func() {
		defer close(watched)
		select {
		case <-hup:
			hungUp.Store(true)
			p.Quit()
		case <-ctx.Done():
			p.Quit()
		case <-over:
		}
	}()
	_, err := p.Run()
	close(over)
	<-watched
	if o.Wishes != nil {
		o.Wishes.Focus("")
	}
	switch {
	case hungUp.Load():
		return ErrHangup
	case err != nil:
		return fmt.Errorf("show the terminal view: %w", err)
	}
	return nil
}

func (o Options) complete() Options {
	if o.Output == nil {
		o.Output = os.Stdout
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// updateMsg brings the newest update; endedMsg says that none will follow.
type (
	updateMsg struct{ *collect.Update }
	endedMsg  struct{}
	tickMsg   struct{}
)

// waitForUpdate is the one thing that waits for data, beside the screen.
func waitForUpdate(ctx context.Context, h *collect.Hub, after *collect.Update) tea.Cmd {
	return func() tea.Msg {
		if u, ok := h.Next(ctx, after); ok {
			return updateMsg{u}
		}
		return endedMsg{}
	}
}

// tick makes the ages on the screen go on.
func tick() tea.Cmd {
	return tea.Tick(time.Second, func(time.Time) tea.Msg { return tickMsg{} })
}
