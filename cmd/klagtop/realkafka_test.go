package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/klagtop/klagtop/internal/document"
	"github.com/klagtop/klagtop/internal/kafkatest"
)

// realKafka is the one broker that tests share which need nothing special of
// it and leave it running.
var realKafka kafkatest.Shared

// withKafka runs the tests and then ends that broker.
type withKafka struct{ *testing.M }

func (m withKafka) Run() int { return realKafka.Run(m.M) }

// patience is how long a test waits for what a cluster or a program comes to;
// it is long because machines are busy, and never what a test measures.
const patience = 2 * time.Minute

// outcome is how a run of klagtop ended.
type outcome struct {
	stdout, stderr string
	code           int
}

// klagtop runs the program to its end.
func klagtop(t testing.TB, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := klagtopCommand(ctx, t, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("klagtop %q has not ended within %v", args, patience)
	}
	o := outcome{stdout: stdout.String(), stderr: stderr.String()}
	if ee, ok := errors.AsType[*exec.ExitError](err); ok {
		o.code = ee.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return o
}

func klagtopCommand(ctx context.Context, t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, exe)
	cmd.Args = append([]string{"klagtop"}, args...)
	cmd.Env = []string{"LANG=C.UTF-8", "HOME=" + t.TempDir()}
	return cmd
}

// describeJSON is `describe -o json` of groups, all of which must be there and whole.
func describeJSON(t testing.TB, c *kafkatest.Cluster, groups ...string) *document.Document {
	t.Helper()
	args := []string{"describe", "-o", "json", "--timeout", "1m", "--brokers", c.Bootstrap()}
	for _, g := range groups {
		args = append(args, "--group", g)
	}
	o := klagtop(t, args...)
	if o.code != 0 || o.stderr != "" {
		t.Fatalf("klagtop %q: exit code %d, %s\n%.2000s", args, o.code, o.stderr, o.stdout)
	}
	d, err := document.Decode(strings.NewReader(o.stdout))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// group finds a group in a document.
func group(d *document.Document, name string) *document.Group {
	for i := range d.Groups {
		if d.Groups[i].Group == name {
			return &d.Groups[i]
		}
	}
	return nil
}

// watching is a `watch -o json` that runs.
type watching struct {
	mu     sync.Mutex
	docs   []*document.Document
	more   chan struct{} // closed and replaced with every document
	stderr bytes.Buffer
}

// watch starts `watch -o json`, which ends with the test.
func watch(t *testing.T, args ...string) *watching {
	t.Helper()
	w := &watching{more: make(chan struct{})}
	cmd := klagtopCommand(context.WithoutCancel(t.Context()), t, append([]string{"watch", "-o", "json"}, args...)...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = &w.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() { read <- w.read(stdout) }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := <-read; err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("watch ended with %v: %s", err, w.stderr.String())
		}
		if t.Failed() {
			t.Logf("watch said: %s", w.stderr.String())
		}
	})
	return w
}

func (w *watching) read(stdout interface{ Read([]byte) (int, error) }) error {
	s := bufio.NewScanner(stdout)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		d, err := document.Decode(bytes.NewReader(s.Bytes()))
		if err != nil {
			return err
		}
		w.mu.Lock()
		w.docs = append(w.docs, d)
		close(w.more)
		w.more = make(chan struct{})
		w.mu.Unlock()
	}
	return s.Err()
}

// seen is every document so far.
func (w *watching) seen() []*document.Document {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.docs[:len(w.docs):len(w.docs)]
}

// until waits for a document, among those that came and those that come, that is good.
func (w *watching) until(t *testing.T, what string, good func(*document.Document) bool) *document.Document {
	t.Helper()
	limit := time.After(patience)
	for i := 0; ; {
		w.mu.Lock()
		docs, more := w.docs, w.more
		w.mu.Unlock()
		for ; i < len(docs); i++ {
			if good(docs[i]) {
				return docs[i]
			}
		}
		select {
		case <-more:
		case <-limit:
			t.Fatalf("no document with %s among %d; the last is %+v", what, len(docs), docs[max(0, len(docs)-1):])
		}
	}
}

// eventually waits for what a cluster comes to: check says what is missing.
func eventually(t testing.TB, check func() error) {
	t.Helper()
	limit := time.Now().Add(patience)
	for err := check(); err != nil; err = check() {
		if time.Now().After(limit) {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
