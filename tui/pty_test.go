//go:build linux

package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"github.com/klagtop/klagtop/collect"
	"golang.org/x/sys/unix"
)

// patience is how long a wait may last before a test calls it a hang.
const patience = 30 * time.Second

// child is the program that these tests run on a terminal of its own: one
// update, and then a poll that never ends.
func child() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	hub := collect.NewHub(10)
	hub.Publish(update(1, snapshot(nil, time.Now(), street()...)))
	err := Run(ctx, Options{Hub: hub, Wishes: explosive{}})
	switch {
	case errors.Is(err, ErrHangup):
		os.Exit(129)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// explosive is a poll loop that fails when it is asked for a poll.
type explosive struct{}

func (explosive) Focus(string)              {}
func (explosive) Refresh()                  { panic("asked for a poll") }
func (explosive) SetInterval(time.Duration) {}
func (explosive) Interval() time.Duration   { return time.Second }

func TestMain(m *testing.M) {
	if os.Getenv("KLAGTOP_TUI_CHILD") != "" {
		child()
	}
	os.Exit(m.Run())
}

// terminal is the child on a pseudo terminal that an emulator draws.
type terminal struct {
	t         *testing.T
	cmd       *exec.Cmd
	ptmx, tty *os.File
	before    *unix.Termios
	done      chan error

	mu      sync.Mutex
	emu     *vt.SafeEmulator
	raw     strings.Builder
	changed chan struct{}
}

func startTerminal(t *testing.T, w, h int) *terminal {
	t.Helper()
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminal here: %v", err)
	}
	check(t, pty.Setsize(ptmx, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)}))
	before, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	check(t, err)
	tm := &terminal{t: t, ptmx: ptmx, tty: tty, before: before, emu: vt.NewSafeEmulator(w, h), done: make(chan error, 1), changed: make(chan struct{}, 1)}
	tm.cmd = exec.Command(os.Args[0])
	tm.cmd.Env = append(os.Environ(), "KLAGTOP_TUI_CHILD=1", "TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=", "NO_COLOR=", "CI=")
	tm.cmd.Stdin, tm.cmd.Stdout, tm.cmd.Stderr = tty, tty, tty
	tm.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	check(t, tm.cmd.Start())
	go func() { tm.done <- tm.cmd.Wait() }()
	go func() { _, _ = io.Copy(ptmx, tm.emu) }() // what a terminal answers
	go tm.read()
	t.Cleanup(func() {
		_ = tm.cmd.Process.Kill()
		if pipe, ok := tm.emu.InputPipe().(io.Closer); ok { // ends the copy; Close would race with it
			_ = pipe.Close()
		}
		_ = tty.Close()
		_ = ptmx.Close()
	})
	return tm
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (tm *terminal) read() {
	buf := make([]byte, 32<<10)
	for {
		n, err := tm.ptmx.Read(buf)
		tm.mu.Lock()
		tm.raw.Write(buf[:n])
		_, _ = tm.emu.Write(buf[:n])
		tm.mu.Unlock()
		select {
		case tm.changed <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (tm *terminal) text() string {
	tm.mu.Lock() // the emulator's cells are its own, safe or not
	defer tm.mu.Unlock()
	var b strings.Builder
	for y := range tm.emu.Height() {
		for x := range tm.emu.Width() {
			if c := tm.emu.CellAt(x, y); c != nil && c.Content != "" {
				b.WriteString(c.Content)
			} else {
				b.WriteByte(' ')
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// until waits for the screen to be as wanted.
func (tm *terminal) until(what string, ok func(screen string) bool) {
	tm.t.Helper()
	deadline := time.After(patience)
	for !ok(tm.text()) {
		select {
		case <-tm.changed:
		case err := <-tm.done:
			tm.done <- err
			tm.t.Fatalf("%s: the program ended (%v):\n%s", what, err, tm.text())
		case <-deadline:
			tm.t.Fatalf("%s: not seen:\n%s", what, tm.text())
		}
	}
}

func (tm *terminal) has(text string) {
	tm.t.Helper()
	tm.until(text, func(s string) bool { return strings.Contains(s, text) })
}

func (tm *terminal) hasNot(text string) {
	tm.t.Helper()
	tm.until("no "+text, func(s string) bool { return !strings.Contains(s, text) })
}

func (tm *terminal) send(keys string) { _, _ = tm.ptmx.WriteString(keys) }

// ends checks the exit code and that the terminal is as it was.
func (tm *terminal) ends(code int) {
	tm.t.Helper()
	select {
	case <-tm.done:
	case <-time.After(patience):
		tm.t.Fatalf("the program goes on:\n%s", tm.text())
	}
	if got := tm.cmd.ProcessState.ExitCode(); got != code {
		tm.t.Errorf("exit code %d, want %d:\n%s", got, code, tm.text())
	}
	after, err := unix.IoctlGetTermios(int(tm.tty.Fd()), unix.TCGETS)
	check(tm.t, err)
	if *after != *tm.before {
		tm.t.Errorf("terminal modes are %+v, were %+v", after, tm.before)
	}
	tm.until("cursor and screen back", func(string) bool {
		tm.mu.Lock()
		defer tm.mu.Unlock()
		out := tm.raw.String()
		for _, mode := range []string{"?25", "?1049"} { // cursor, alternate screen
			on, off := strings.LastIndex(out, "\x1b["+mode+"h"), strings.LastIndex(out, "\x1b["+mode+"l")
			if shown := mode == "?25"; shown != (on > off) {
				return false
			}
		}
		for _, mode := range []string{"?1002", "?1006", "?2004"} { // mouse, bracketed paste
			if strings.LastIndex(out, "\x1b["+mode+"h") > strings.LastIndex(out, "\x1b["+mode+"l") {
				return false
			}
		}
		return true
	})
}

func TestFlowOnATerminal(t *testing.T) {
	tm := startTerminal(t, 80, 24)
	tm.has("ticker")
	tm.send("/pay")
	tm.hasNot("ticker")
	tm.send("\r\r")
	tm.has("[Partitions 12]")
	tm.send("\t")
	tm.has("[Members 3]")
	tm.send("m?")
	tm.has("keys in Group")
	tm.send("\x1b")
	tm.hasNot("keys in Group")
	tm.send("q")
	tm.has("/pay")
	tm.send("q")
	tm.ends(0)
}

func TestTerminalIsGivenBack(t *testing.T) {
	for _, x := range []struct {
		name   string
		signal syscall.Signal
		keys   string
		code   int
	}{
		{"ctrl-c while a poll hangs", 0, "\x03", 0},
		{"SIGTERM while a poll hangs", syscall.SIGTERM, "", 0},
		{"SIGINT while a poll hangs", syscall.SIGINT, "", 0},
		{"SIGHUP while a poll hangs", syscall.SIGHUP, "", 129},
		{"a panic", 0, "mr", 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			tm := startTerminal(t, 100, 30)
			tm.has("ticker")
			tm.send(x.keys)
			if x.signal != 0 {
				check(t, tm.cmd.Process.Signal(x.signal))
			}
			tm.ends(x.code)
		})
	}
}
