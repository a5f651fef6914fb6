package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/twmb/franz-go/pkg/kfake"
)

// screen is what a program writes to its terminal.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{} // closed and replaced at each write
}

func (s *screen) follow(r io.Reader) {
	b := make([]byte, 4096)
	for {
		n, err := r.Read(b)
		s.mu.Lock()
		s.text.Write(b[:n])
		close(s.more)
		s.more = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// await waits until the program has written some text.
func (s *screen) await(t *testing.T, text string) {
	t.Helper()
	limit := time.After(time.Minute)
	for {
		s.mu.Lock()
		more, have := s.more, strings.Contains(s.text.String(), text)
		s.mu.Unlock()
		if have {
			return
		}
		select {
		case <-more:
		case <-limit:
			t.Fatalf("%q is not on the screen: %q", text, s.String())
		}
	}
}

// onScreen starts klagtop on a terminal of its own.
func onScreen(t *testing.T, args ...string) (*exec.Cmd, *os.File, *screen) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The toolkit asks an xterm for its colours and waits long for an answer,
	// which nobody gives here; a tmux it asks nothing.
	cmd := &exec.Cmd{Path: exe, Args: append([]string{"klagtop"}, args...), Env: []string{"TERM=tmux-256color", "LANG=C.UTF-8", "HOME=" + t.TempDir()}}
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 30, Cols: 100})
	if err != nil {
		t.Skipf("no pseudo terminal here: %v", err)
	}
	s := &screen{more: make(chan struct{})}
	go s.follow(terminal)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = terminal.Close()
	})
	return cmd, terminal, s
}

func TestTheViewEndsAsItIsTold(t *testing.T) {
	c := embedded(t, kfake.NumBrokers(1), kfake.SeedTopics(1, "market-updates"))
	cl := client(t, c)
	produce(t, cl, "market-updates", 0, 10)
	commitAt(t, cl, "ticker", "market-updates", map[int32]int64{0: 4})
	for name, x := range map[string]struct {
		end  func(cmd *exec.Cmd, terminal *os.File)
		code int
	}{
		"q":       {func(_ *exec.Cmd, terminal *os.File) { _, _ = terminal.WriteString("q") }, 0},
		"ctrl-c":  {func(_ *exec.Cmd, terminal *os.File) { _, _ = terminal.WriteString("\x03") }, 0},
		"SIGTERM": {func(cmd *exec.Cmd, _ *os.File) { _ = cmd.Process.Signal(syscall.SIGTERM) }, 0},
		"SIGHUP":  {func(cmd *exec.Cmd, _ *os.File) { _ = cmd.Process.Signal(syscall.SIGHUP) }, 129},
	} {
		t.Run(name, func(t *testing.T) {
			address := freeAddress(t)
			cmd, terminal, s := onScreen(t, "--brokers", bootstrap(c), "--interval", "200ms", "--listen", address)
			s.await(t, "ticker")
			resp, err := http.Get("http://" + address + "/-/healthy")
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Errorf("the view does not serve beside itself: %v", err)
			}
			x.end(cmd, terminal)
			err = cmd.Wait()
			code := 0
			if ee, ok := errors.AsType[*exec.ExitError](err); ok {
				code = ee.ExitCode()
			}
			if code != x.code {
				t.Errorf("exit code %d, want %d: %q", code, x.code, s.String())
			}
			s.await(t, "\x1b[?1049l") // the other screen is left
		})
	}
}

// Any client may choose a name that a terminal would obey.
func TestCSVOnATerminalCarriesNoControlByte(t *testing.T) {
	c := embedded(t, kfake.NumBrokers(1), kfake.SeedTopics(1, "market-updates"))
	commitAt(t, client(t, c), "evil\x1b[2J", "market-updates", map[int32]int64{0: 0})
	for _, part := range []string{"--offsets", "--members", "--state"} {
		cmd, _, s := onScreen(t, "describe", "--brokers", bootstrap(c), "-o", "csv", part)
		s.await(t, "group,")
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", part, err)
		}
		if part != "--members" { // it has none
			s.await(t, `evil\x1b[2J,`)
		}
		if strings.Contains(s.String(), "\x1b") {
			t.Errorf("%s: %q", part, s.String())
		}
	}
}

func TestTheDemoSaysItsAddressBeforeTheViewOpens(t *testing.T) {
	_, terminal, s := onScreen(t, "demo")
	s.await(t, "\x1b[?1049h")
	before, _, _ := strings.Cut(s.String(), "\x1b[?1049h")
	if !strings.Contains(before, "bootstrap: 127.0.0.1:") {
		t.Errorf("written before the view opens: %q", before)
	}
	s.await(t, "ticker")
	_, _ = terminal.WriteString("q")
}
