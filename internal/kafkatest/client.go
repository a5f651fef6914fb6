package kafkatest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// clientTimeout bounds every wait for a client: its start, its group's rebalances, its answers. Busy machines need it.
const clientTimeout = 2 * time.Minute

// Client is a process with a Kafka client in it. It prints a line for what it did ("assigned …",
// "committed …"), obeys the lines of its standard input and leaves when that ends. It dies with the test.
type Client struct {
	name    string
	process *process
	stdin   io.WriteCloser

	mu     sync.Mutex
	lines  []string      // of its standard output
	change chan struct{} // closed and replaced with every line, and closed at the end
	ended  bool
	stderr bytes.Buffer // read only after the process has ended
}

func startClient(t testing.TB, name string, cmd *exec.Cmd) *Client {
	t.Helper()
	c := &Client{name: name, change: make(chan struct{})}
	cmd.Stderr = &c.stderr
	stdin, err := cmd.StdinPipe()
	settle(t, err)
	// A pipe of our own: that of StdoutPipe is closed by the wait that startProcess does, with lines unread.
	stdout, w := io.Pipe()
	cmd.Stdout = w
	c.stdin = stdin
	c.process, err = startProcess(cmd)
	settle(t, err)
	go func() {
		<-c.process.done
		w.Close()
	}()
	go c.read(stdout)
	t.Cleanup(func() {
		c.process.kill()
		if t.Failed() {
			t.Logf("%s said:\n%s\n%s", name, strings.Join(c.said(), "\n"), lastLines(c.stderr.Bytes(), 20))
		}
	})
	return c
}

func (c *Client) read(r io.Reader) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20) // an assignment of a thousand partitions is one line
	for s.Scan() {
		c.mu.Lock()
		c.lines = append(c.lines, s.Text())
		close(c.change)
		c.change = make(chan struct{})
		c.mu.Unlock()
	}
	_, _ = io.Copy(io.Discard, r) // so that a line too long does not block the client
	c.mu.Lock()
	c.ended = true
	close(c.change)
	c.mu.Unlock()
}

func (c *Client) said() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.lines)
}

// wait returns when good says so of the lines so far; it fails the test when the client ends first or takes too long.
func (c *Client) wait(t testing.TB, what string, good func(lines []string) bool) {
	t.Helper()
	deadline := time.After(clientTimeout)
	for {
		c.mu.Lock()
		lines, change, ended := c.lines, c.change, c.ended
		c.mu.Unlock()
		if good(lines) {
			return
		}
		if ended {
			t.Fatalf("%s ended before it %s; it said %q", c.name, what, lines)
		}
		select {
		case <-change:
		case <-deadline:
			t.Fatalf("%s has not %s within %v; it said %q", c.name, what, clientTimeout, lines)
		}
	}
}

// last returns what followed word in the last line that begins with it.
func last(lines []string, word string) (rest string, ok bool) {
	for _, line := range slices.Backward(lines) {
		if head, rest, _ := strings.Cut(line, " "); head == word {
			return rest, true
		}
	}
	return "", false
}

// WaitAssigned waits until the client has an assignment of n partitions, or any (also none) for n = -1,
// and returns it as topic-partition, sorted as text.
func (c *Client) WaitAssigned(t testing.TB, n int) []string {
	t.Helper()
	what := fmt.Sprintf("was assigned %d partitions", n)
	if n < 0 {
		what = "was assigned anything"
	}
	var got []string
	c.wait(t, what, func(lines []string) bool {
		rest, ok := last(lines, "assigned")
		got = strings.FieldsFunc(rest, func(r rune) bool { return r == ',' })
		return ok && (n < 0 || len(got) == n)
	})
	return got
}

// Told is when a Java consumer's listener was told of partitions it was "given", or that were "taken" from it.
func (c *Client) Told(what string) (times []time.Time) {
	for _, line := range c.said() {
		head, rest, _ := strings.Cut(line, " ")
		at, _, _ := strings.Cut(rest, " ")
		if ms, err := strconv.ParseInt(at, 10, 64); head == what && err == nil {
			times = append(times, time.UnixMilli(ms))
		}
	}
	return times
}

// WaitCommitted waits until the newest offsets that the client committed add up to total, and returns them by
// topic-partition. With records produced from offset 0 the total is how many it has read.
func (c *Client) WaitCommitted(t testing.TB, total int64) map[string]int64 {
	t.Helper()
	var offsets map[string]int64
	c.wait(t, fmt.Sprintf("committed offsets that add up to %d", total), func(lines []string) bool {
		offsets = committed(lines)
		var sum int64
		for _, at := range offsets {
			sum += at
		}
		return sum == total
	})
	return offsets
}

func committed(lines []string) map[string]int64 {
	offsets := make(map[string]int64)
	for _, line := range lines {
		rest, ok := strings.CutPrefix(line, "committed ")
		if !ok {
			continue
		}
		for pair := range strings.SplitSeq(rest, ",") {
			name, at, _ := strings.Cut(pair, "=")
			if n, err := strconv.ParseInt(at, 10, 64); err == nil {
				offsets[name] = n
			}
		}
	}
	return offsets
}

// Joined is, of the records that a pod has read of the second topic of its join, how many found their key among those
// that it has read of the first; 0, 0 as long as it has read nothing.
func (c *Client) Joined() (local, all int) {
	rest, _ := last(c.said(), "joined")
	_, _ = fmt.Sscanf(rest, "%d/%d", &local, &all)
	return local, all
}

// Close has the client commit and leave, and waits for its end.
func (c *Client) Close(t testing.TB) {
	t.Helper()
	c.stdin.Close()
	select {
	case <-c.process.done:
	case <-time.After(clientTimeout):
		t.Fatalf("%s has not left within %v", c.name, clientTimeout)
	}
}

// Kill ends the client without a farewell: its group waits for the session timeout.
func (c *Client) Kill() { c.process.kill() }
