package main

import (
	"context"
	"errors"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// fullRun is every command of the program that talks to brokers, in the ways
// that ask for different things. A command that is new must be added here, or
// to those that ask nothing.
type fullRun struct {
	once    map[string][][]string // end by themselves
	running map[string][]string   // run until they are stopped
	asking  []string              // ask no broker, or only their own
}

func everyCommand(group string) fullRun {
	return fullRun{
		once: map[string][][]string{
			"describe": {{"--state", "--members", "--offsets"}, {"-o=json", "--group=" + group}, {"-o=prom", "--metrics.members"}, {"-o=csv", "--topic=*"}},
			"list":     {{"--sort=lag"}},
			"check":    {{"--group=" + group, "--max-lag=1000000"}, {"--group=" + group, "--max-lag=1000000", "--for=1s", "--interval=200ms"}},
			"whatif":   {{"--group=" + group, "--members=3", "-o=json"}},
			"doctor":   {{}, {"-o=json", "--group=" + group}},
		},
		running: map[string][]string{
			"watch":  {"-o=json", "--interval=200ms"},
			"events": {"-o=json", "--interval=200ms"},
			"serve":  {"--interval=200ms", "--listen=127.0.0.1:0"},
			"":       {"--interval=200ms"}, // the terminal view
		},
		asking: []string{"demo", "version", "completion", "help"},
	}
}

// holds fails for commands of the program that are not in it.
func (f fullRun) holds(t *testing.T) {
	t.Helper()
	for _, c := range newProgram(io.Discard, io.Discard, nil).root().Commands() {
		_, once := f.once[c.Name()]
		_, running := f.running[c.Name()]
		if !once && !running && !slices.Contains(f.asking, c.Name()) {
			t.Errorf("klagtop %s is in no test of what klagtop asks brokers for", c.Name())
		}
	}
}

// run runs them all but those left out. Each that runs until it is stopped gets
// as long as some polls take.
func (f fullRun) run(t *testing.T, common []string, leaveOut ...string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(f.once)) {
		if slices.Contains(leaveOut, name) {
			continue
		}
		for _, args := range f.once[name] {
			args = slices.Concat([]string{name}, args, common)
			if o := klagtop(t, args...); o.code != 0 {
				t.Errorf("klagtop %q: exit code %d: %s", args, o.code, o.stderr)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.running)) {
		args := slices.Concat(f.running[name], common)
		if name == "" {
			cmd, terminal, s := onScreen(t, args...)
			s.await(t, "every ") // the header of a view that has polled
			time.Sleep(someTime)
			_, _ = terminal.WriteString("q")
			wellEnded(t, args, cmd.Wait())
			continue
		}
		args = append([]string{name}, args...)
		wellEnded(t, args, runFor(t, args))
	}
}

// runFor runs a command for some time and gives how it ended. One that the
// signal found before it had begun to listen for signals gets longer.
func runFor(t *testing.T, args []string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for length := someTime; ; length *= 2 {
		cmd := klagtopCommand(ctx, t, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(length)
		_ = cmd.Process.Signal(syscall.SIGTERM)
		err := cmd.Wait()
		if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !s.Signaled() || s.Signal() != syscall.SIGTERM || ctx.Err() != nil {
			return err
		}
	}
}

// someTime is what a running command gets for what it may be tempted to do: a
// program's start and some polls. What it did by then is what is judged.
const someTime = 2 * time.Second

func wellEnded(t *testing.T, args []string, err error) {
	t.Helper()
	if ee, ok := errors.AsType[*exec.ExitError](err); ok {
		t.Errorf("klagtop %q ended with %d", args, ee.ExitCode())
	} else if err != nil {
		t.Fatal(err)
	}
}

// readOnly are all requests that klagtop may ever send. None of them writes,
// creates or joins; FindCoordinator is not among them: it makes
// __consumer_offsets on a fresh cluster.
func readOnly() map[kmsg.Key]bool {
	out := map[kmsg.Key]bool{}
	for _, k := range []kmsg.Key{
		kmsg.ApiVersions, kmsg.SASLHandshake, kmsg.SASLAuthenticate,
		kmsg.Metadata, kmsg.ListGroups, kmsg.DescribeGroups, kmsg.ConsumerGroupDescribe, kmsg.ShareGroupDescribe, kmsg.StreamsGroupDescribe,
		kmsg.OffsetFetch, kmsg.ListOffsets, kmsg.DescribeShareGroupOffsets, kmsg.OffsetForLeaderEpoch,
		kmsg.DescribeConfigs, kmsg.DescribeProducers, kmsg.ListTransactions, kmsg.DescribeTransactions,
	} {
		out[k] = true
	}
	return out
}

// onlyDoctor are those that ask what this user may do.
func onlyDoctor() []kmsg.Key { return []kmsg.Key{kmsg.DescribeCluster} }

// Nothing that any command asks for changes a cluster, joins a group or makes a
// topic; records are read only where a flag says so.
func TestWhatTheProgramAsksBrokersFor(t *testing.T) {
	t.Parallel()
	c := embedded(t, kfake.NumBrokers(2), kfake.SeedTopics(2, "market-updates"))
	cl := client(t, c)
	produce(t, cl, "market-updates", 0, 10)
	commitAt(t, cl, "ticker", "market-updates", map[int32]int64{0: 4, 1: 0})
	cl.Close()
	w := observe(t, c)
	commands := everyCommand("ticker")
	commands.holds(t)

	brokers := []string{"--brokers=" + bootstrap(c)}
	allowed := readOnly()
	commands.run(t, brokers, "doctor")
	w.judge(t, allowed)
	for _, k := range onlyDoctor() {
		allowed[k] = true
	}
	for _, args := range commands.once["doctor"] {
		klagtop(t, slices.Concat([]string{"doctor"}, args, brokers)...)
	}
	w.judge(t, allowed)
	allowed[kmsg.Fetch] = true
	klagtop(t, append([]string{"describe", "--offsets-topic"}, brokers...)...)
	w.judge(t, allowed)
}

// observer notes what a cluster is asked for.
type observer struct {
	mu    sync.Mutex
	keys  map[kmsg.Key]int
	wrong []string
}

func observe(t *testing.T, c *kfake.Cluster) *observer {
	t.Helper()
	w := &observer{keys: map[kmsg.Key]int{}}
	for k := range int16(kmsg.MaxKey + 1) {
		if kmsg.RequestForKey(k) == nil {
			continue
		}
		c.ControlKey(k, func(r kmsg.Request) (kmsg.Response, error, bool) {
			c.KeepControl()
			w.mu.Lock()
			defer w.mu.Unlock()
			w.keys[kmsg.Key(r.Key())]++
			if m, ok := r.(*kmsg.MetadataRequest); ok && m.AllowAutoTopicCreation {
				w.wrong = append(w.wrong, "a Metadata request that may create topics")
			}
			return nil, nil, false
		})
	}
	return w
}

func (w *observer) judge(t *testing.T, allowed map[kmsg.Key]bool) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.keys[kmsg.Metadata] == 0 || w.keys[kmsg.OffsetFetch] == 0 {
		t.Errorf("nothing was observed: %v", w.keys)
	}
	for k, n := range w.keys {
		if !allowed[k] {
			t.Errorf("%s was asked for %d times", k.Name(), n)
		}
	}
	if len(w.wrong) > 0 {
		t.Errorf("%s", strings.Join(w.wrong, ", "))
	}
	w.keys = map[kmsg.Key]int{kmsg.Metadata: w.keys[kmsg.Metadata], kmsg.OffsetFetch: w.keys[kmsg.OffsetFetch]}
}
