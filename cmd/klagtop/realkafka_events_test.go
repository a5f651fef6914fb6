package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/klagtop/klagtop/internal/document"
	"github.com/klagtop/klagtop/internal/kafkatest"
)

// following is an `events -o json` that runs.
type following struct {
	mu     sync.Mutex
	events []document.Event
	more   chan struct{} // closed and replaced with every event
	stderr bytes.Buffer

	cluster *kafkatest.Cluster
	topic   string
	prefix  string
	marks   int
}

// follow starts `events -o json` of the groups whose names begin with prefix,
// and returns when its first look is over. It ends with the test, by SIGINT.
func follow(t *testing.T, c *kafkatest.Cluster, topic, prefix string, args ...string) *following {
	t.Helper()
	f := &following{more: make(chan struct{}), cluster: c, topic: topic, prefix: prefix}
	cmd := klagtopCommand(context.WithoutCancel(t.Context()), t, append([]string{"events", "-o", "json", "--brokers", c.Bootstrap(), "--group", prefix + "*"}, args...)...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = &f.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		lines := bufio.NewScanner(stdout)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var e document.Event
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				read <- err
				return
			}
			f.mu.Lock()
			f.events = append(f.events, e)
			close(f.more)
			f.more = make(chan struct{})
			f.mu.Unlock()
		}
		read <- lines.Err()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		if err := <-read; err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("events ended with %v: %s", err, f.stderr.String())
		}
		if t.Failed() {
			for _, e := range f.seen("") {
				t.Logf("%s %s %s: %s", e.At, e.Kind, e.Cause, e.Text)
			}
		}
	})
	f.mark(t)
	return f
}

// seen is every event of a group so far, of all for "".
func (f *following) seen(group string) (out []document.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.events {
		if (group == "" || e.Group == group) && !strings.HasPrefix(e.Group, f.prefix+"mark-") {
			out = append(out, e)
		}
	}
	return out
}

// rebalances are the rebalance events of a group so far.
func (f *following) rebalances(group string) []document.Event {
	return slices.DeleteFunc(f.seen(group), func(e document.Event) bool { return e.Kind != "rebalance" })
}

// mark returns when klagtop has polled twice since: a group that it sees first
// is an event, and a poll's events come in order.
func (f *following) mark(t *testing.T) {
	t.Helper()
	limit := time.After(patience)
	for range 2 {
		for seen := false; !seen; {
			f.marks++
			name := kafkatest.Name(f.prefix + "mark-")
			f.cluster.Commit(t, name, f.topic, map[int32]int64{0: 0})
			wait := time.After(2 * time.Second) // one that came before the first look is no event
			for waiting := true; waiting && !seen; {
				f.mu.Lock()
				seen = slices.ContainsFunc(f.events, func(e document.Event) bool { return e.Group == name })
				more := f.more
				f.mu.Unlock()
				if seen {
					break
				}
				select {
				case <-more:
				case <-wait:
					waiting = false
				case <-limit:
					t.Fatal("klagtop sees no new group")
				}
			}
		}
	}
}

// A second member joins and leaves again. That the eager one stops everybody,
// and the cooperative one does not, is seen and not taken from the name; what
// moved and what stayed is what the clients say, and the times are theirs.
func TestRebalancesOfJavaClients(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes six consumers")
	}
	t.Parallel()
	c := realKafka.Cluster(t)
	topic, prefix := kafkatest.Name("market-updates"), kafkatest.Name("team")+"-"
	c.CreateTopic(t, topic, 6)
	c.Produce(t, topic, 10, 0, 1, 2, 3, 4, 5)
	const assignors = "org.apache.kafka.clients.consumer."
	teams := []struct {
		name, style string
		o           kafkatest.ConsumerOptions
		pods        [2]*kafkatest.Client
	}{
		{name: "eager", style: "eager", o: kafkatest.ConsumerOptions{Assignor: assignors + "RangeAssignor"}},
		{name: "cooperative", style: "cooperative", o: kafkatest.ConsumerOptions{Assignor: assignors + "CooperativeStickyAssignor"}},
		{name: "reconcile", style: "reconcile", o: kafkatest.ConsumerOptions{Protocol: "consumer"}},
	}
	start := func(i, pod int) {
		o := teams[i].o
		o.Group, o.Topics, o.ClientID, o.Commit = prefix+teams[i].name, []string{topic}, []string{"pod-1", "pod-2"}[pod], 200*time.Millisecond
		teams[i].pods[pod] = c.JavaConsumer(t, o)
	}
	for i := range teams {
		start(i, 0)
	}
	for i := range teams {
		teams[i].pods[0].WaitAssigned(t, 6)
	}
	const interval = 200 * time.Millisecond
	f := follow(t, c, topic, prefix, "--interval", interval.String())
	for i := range teams {
		start(i, 1)
	}
	for i := range teams {
		teams[i].pods[0].WaitAssigned(t, 3)
		teams[i].pods[1].WaitAssigned(t, 3)
	}
	f.mark(t)
	type told struct{ from, to time.Time }
	joins := make([]told, len(teams))
	for i := range teams {
		last := func(pod int, what string) (at time.Time) {
			if times := teams[i].pods[pod].Told(what); len(times) > 0 {
				at = times[len(times)-1]
			}
			return at
		}
		joins[i] = told{last(0, "taken"), last(1, "given")}
	}
	for i := range teams {
		teams[i].pods[1].Close(t)
	}
	for i := range teams {
		teams[i].pods[0].WaitAssigned(t, 6)
	}
	f.mark(t)
	for i := range teams {
		t.Run(teams[i].name, func(t *testing.T) {
			es := f.rebalances(prefix + teams[i].name)
			if len(es) != 2 {
				t.Fatalf("%d rebalances, want 2: %+v", len(es), es)
			}
			join, leave := es[0], es[1]
			if join.Cause != "member_joined" || join.Style != teams[i].style || len(join.Joined) != 1 || join.Joined[0].ClientID != "pod-2" || len(join.Left) != 0 {
				t.Errorf("joining: cause %s, style %s, joined %v, left %v: %s", join.Cause, join.Style, join.Joined, join.Left, join.Text)
			}
			if leave.Cause != "member_left" || leave.Style != teams[i].style || len(leave.Left) != 1 || leave.Left[0].ClientID != "pod-2" || len(leave.Joined) != 0 {
				t.Errorf("leaving: cause %s, style %s, joined %v, left %v: %s", leave.Cause, leave.Style, leave.Joined, leave.Left, leave.Text)
			}
			want := document.PartitionCounts{Moved: 3, Kept: 3}
			if join.Partitions != want || leave.Partitions != want || len(join.Moves) != 3 {
				t.Errorf("partitions %+v and %+v, want twice %+v", join.Partitions, leave.Partitions, want)
			}
			if teams[i].style == "reconcile" && (!join.Generation.Exact || join.Count != *join.Generation.To-*join.Generation.From) {
				t.Errorf("counted %d: %+v", join.Count, join.Generation)
			}
			// The first member's subscription tells its generation only from its
			// second join on, so that the first difference is not known.
			t.Logf("joining: %s; count %d; generation %s", join.Text, join.Count, describeRange(join.Generation))
			t.Logf("leaving: %s; count %d; generation %s", leave.Text, leave.Count, describeRange(leave.Generation))
			if join.StartedAt == nil || join.Seconds == nil {
				return // too fast for the polls of a busy machine
			}
			from, err1 := time.Parse(time.RFC3339Nano, *join.StartedAt)
			to, err2 := time.Parse(time.RFC3339Nano, join.At)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			t.Logf("seen from %+d ms of the first that was taken, to %+d ms of the last that was given (a poll is %v)", from.Sub(joins[i].from).Milliseconds(), to.Sub(joins[i].to).Milliseconds(), interval)
			if from.After(joins[i].to) || to.Before(joins[i].from) {
				t.Errorf("seen from %v to %v; the clients were told from %v to %v", from, to, joins[i].from, joins[i].to)
			}
		})
	}
}

func describeRange(g *document.GenerationRange) string {
	if g == nil {
		return "not known"
	}
	b, _ := json.Marshal(g)
	return string(b)
}
