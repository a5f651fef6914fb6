//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klagtop/klagtop/internal/document"
	"github.com/klagtop/klagtop/internal/kafkatest"
)

// chaosTimeout is the timeout of each poll, and chaosInterval the time between them.
const (
	chaosTimeout  = 3 * time.Second
	chaosInterval = 500 * time.Millisecond
)

// Twenty groups of mixed clients consume from a cluster of three while each
// broker is killed in turn, and with that the coordinator of every group, the
// leader of every partition and the controller, and one is paused. No poll
// shows a number that could not have been so while it ran: those of groups
// whose clients are ours are held against what was committed and produced at
// each moment; the others' against what always holds. At rest all are held
// against Kafka's own tool.
func TestTwentyGroupsWhileBrokersFail(t *testing.T) {
	if os.Getenv("KLAGTOP_TEST_CHAOS") == "" {
		t.Skip("no chaos: KLAGTOP_TEST_CHAOS is not set")
	}
	c := kafkatest.Start(t, kafkatest.Options{Nodes: 3, Properties: map[string]string{
		"broker.session.timeout.ms": "4000", "broker.heartbeat.interval.ms": "500",
		"min.insync.replicas": "2", // of the offsets topic, too: what was acknowledged outlives a broker
	}})
	l := startLoad(t, c)
	w := watch(t, "--brokers", c.Bootstrap(), "--interval", chaosInterval.String(), "--timeout", chaosTimeout.String(), "--group", l.prefix+"*")
	whole := func(when string) {
		t.Helper()
		from := len(w.seen())
		i := 0
		w.until(t, "everything, "+when, func(d *document.Document) bool {
			i++
			return i > from && d.Complete && len(d.Groups) == len(l.groups) && *d.Cluster.Brokers == 3 && len(d.Problems) == 0
		})
	}
	whole("at the start")
	began := len(w.seen())
	for id := 1; id <= 3; id++ {
		c.Kill(t, id)
		l.run(t, 10*time.Second)
		c.Restart(t, id)
		whole(fmt.Sprintf("after broker %d was killed and has come back", id))
	}
	c.Pause(t, 2)
	l.run(t, 10*time.Second)
	c.Resume(t, 2)
	whole("after broker 2 was paused")
	l.finish(t)
	w.until(t, "lag 0 of every group", func(d *document.Document) bool {
		return d.Complete && len(d.Groups) == len(l.groups) && !slices.ContainsFunc(d.Groups, func(g document.Group) bool { return g.Lag.Records == nil || *g.Lag.Records != 0 || g.State != "Stable" })
	})
	docs := w.seen()[began:]
	l.judge(t, docs)
	l.compare(t, c)
	stale := 0
	for _, d := range docs {
		if !d.Complete {
			stale++
		}
	}
	t.Logf("%d polls, %d of them incomplete; %d records, %d commits of our clients", len(docs), stale, l.truth.records(), l.truth.commits())
}

// judge looks back on every poll.
func (l *load) judge(t *testing.T, docs []*document.Document) {
	last := map[place]document.Partition{}
	wrong := 0
	tell := func(d *document.Document, format string, args ...any) {
		if wrong++; wrong <= 20 {
			t.Errorf("at %s (poll of %.3f s): %s; problems %v", d.TakenAt, d.PollSeconds, fmt.Sprintf(format, args...), d.Problems)
		}
	}
	var before time.Time
	for _, d := range docs {
		at := moment(t, d.TakenAt)
		if gap := at.Sub(before); !before.IsZero() && gap > chaosTimeout+2*chaosInterval {
			tell(d, "the poll before ended %v ago", gap)
		}
		before = at
		if d.PollSeconds > chaosTimeout.Seconds() {
			tell(d, "the poll took longer than its timeout")
		}
		for _, name := range l.groups {
			g := group(d, name)
			if g == nil {
				tell(d, "%s is not there", name)
				continue
			}
			// KafkaJS' consumer leaves by itself when its coordinator fails, and comes back.
			if slices.Contains([]string{"Dead", ""}, g.State) || g.State == "Empty" && !strings.HasSuffix(name, "kafkajs") {
				tell(d, "%s is %q: its members never left", name, g.State)
			}
			sum := int64(0)
			for _, p := range g.Partitions {
				if p.Lag != nil {
					sum += *p.Lag
				}
				key := place{name, p.Topic, p.Partition}
				if err := l.row(t, d, at, key, p, last[key]); err != nil {
					tell(d, "%s %s/%d: %v", name, p.Topic, p.Partition, err)
				}
				last[key] = p
			}
			if g.Lag.Records != nil && *g.Lag.Records != sum {
				tell(d, "%s: the rows add up to %d, the group has %d", name, sum, *g.Lag.Records)
			}
		}
	}
	if wrong > 20 {
		t.Errorf("and %d more", wrong-20)
	}
}

// row says what of a row cannot have been so.
func (l *load) row(t *testing.T, d *document.Document, at time.Time, key place, p, before document.Partition) error {
	if p.Status == "unknown" {
		if p.Reason == "" || slices.Contains([]string{"denied", "topic_missing", "unsupported", "not_reported"}, p.Reason) {
			return fmt.Errorf("unknown, %q", p.Reason)
		}
		return nil
	}
	if p.LogEnd == nil || p.Lag == nil || p.LogStart == nil || *p.LogStart != 0 {
		return fmt.Errorf("log start %v, log end %v, lag %v", pointed(p.LogStart), pointed(p.LogEnd), pointed(p.Lag))
	}
	c := int64(0)
	switch {
	case p.Status == "ok" && p.Committed != nil:
		c = *p.Committed
	case p.Status != "no_commit" || p.Committed != nil:
		return fmt.Errorf("%s, committed %v, log end %d", p.Status, pointed(p.Committed), *p.LogEnd)
	}
	if *p.Lag != *p.LogEnd-c {
		return fmt.Errorf("log end %d, committed %d, lag %d", *p.LogEnd, c, *p.Lag)
	}
	if p.Stale {
		if p.Reason == "" || before.AsOf != nil && (*p.LogEnd != *before.LogEnd || *p.Lag != *before.Lag) {
			return fmt.Errorf("stale, %q, as of %s: %d of %d, not what was read last, as of %s: %d of %d", p.Reason, *p.AsOf, *p.Lag, *p.LogEnd, *before.AsOf, *before.Lag, *before.LogEnd)
		}
		return nil
	}
	from := at.Add(-time.Duration(d.PollSeconds * float64(time.Second)))
	return errors.Join(l.truth.end(key, *p.LogEnd, from, at), l.truth.commit(key, p.Committed, from, at))
}

// compare holds all groups at rest against Kafka's own tool.
func (l *load) compare(t *testing.T, c *kafkatest.Cluster) {
	args := []string{"--describe"}
	for _, g := range l.groups {
		args = append(args, "--group", g)
	}
	tool, err := kafkatest.ParseDescribe(c.ConsumerGroups(t, args...))
	if err != nil {
		t.Fatal(err)
	}
	d := describeJSON(t, c, l.groups...)
	ours := map[place]document.Partition{}
	for _, g := range d.Groups {
		for _, p := range g.Partitions {
			ours[place{g.Group, p.Topic, p.Partition}] = p
		}
	}
	if len(tool) != len(ours) {
		t.Errorf("the tool has %d rows, klagtop %d", len(tool), len(ours))
	}
	for _, row := range tool {
		p, ok := ours[place{row.Group, row.Topic, row.Partition}]
		if !ok || p.Committed == nil || row.Committed == nil || *p.Committed != *row.Committed || *p.LogEnd != *row.LogEnd || *p.Lag != *row.Lag || p.MemberID != row.MemberID {
			t.Errorf("the tool has %+v, klagtop %+v", row, p)
		}
	}
}

func moment(t *testing.T, s string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// run lets the load work for a while: what happens meanwhile is the test.
func (l *load) run(t *testing.T, d time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	<-ctx.Done()
}
