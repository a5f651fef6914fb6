package kafkatest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// process is a child that is waited for exactly once, by the goroutine that started it.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the child has ended and been reaped
}

// startProcess starts cmd so that it dies with this process. The goroutine stays on the thread that
// started the child: Linux sends the parent-death signal when that thread ends, not when the process does.
func startProcess(cmd *exec.Cmd) (*process, error) {
	dieWithParent(cmd)
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in cmd.ProcessState
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return p, nil
}

func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// signal is silent about a process that has ended: every caller then waits for done.
func (p *process) signal(s os.Signal) { _ = p.cmd.Process.Signal(s) }

// kill ends the process without giving it a chance to say goodbye, paused or not.
func (p *process) kill() {
	p.signal(os.Kill)
	<-p.done
}

// lastLines returns the last n lines of text, for messages about a child that failed.
func lastLines(text []byte, n int) string {
	lines := strings.Split(string(bytes.TrimSpace(text)), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n")
}
