//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/klagtop/klagtop/internal/document"
	"github.com/klagtop/klagtop/internal/kafkatest"
)

// A broker that is killed, one that hangs, and all that are gone: `serve`, the
// terminal view and `watch`, which know one of the three brokers by address,
// keep what they last read and say how old it is and what is wrong; no group is
// gone and no lag turns 0; and they recover alone.
func TestBrokersThatFail(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a cluster of three, and their failures")
	}
	t.Parallel()
	c := kafkatest.Start(t, kafkatest.Options{Nodes: 3, Properties: map[string]string{
		"broker.session.timeout.ms": "4000", "broker.heartbeat.interval.ms": "500", // 9 s and 2 s by default
	}})
	h := hit(t, c)

	step := func(name string, do func(t *testing.T)) {
		if !t.Failed() { // the next one begins with a cluster that is whole
			t.Run(name, do)
		}
	}
	step("the only broker that is known by address is killed", func(t *testing.T) {
		c.Kill(t, 1)
		h.until(t, "what is on the killed broker is stale, the rest is not", func(d *document.Document) error { return errors.Join(h.halved(d, 1), h.names(d, 1)) })
		h.see(t, "incomplete")
		h.screen.until(t, "what is wrong", func(text string) bool {
			return strings.Contains(text, "broker 1") || strings.Contains(text, "no leader") // once the others have noticed
		})
		h.until(t, "the two others have taken over all that they can", func(d *document.Document) error {
			for _, g := range d.Groups {
				if g.Reason != "" || g.Coordinator == nil || *g.Coordinator == 1 {
					return fmt.Errorf("%s: coordinator %v, reason %q", g.Group, pointed(g.Coordinator), g.Reason)
				}
				for _, p := range g.Partitions {
					if p.Stale != (p.Topic == h.alone && h.leads(1, p.Partition)) {
						return fmt.Errorf("%s %s/%d: stale %v, %s", g.Group, p.Topic, p.Partition, p.Stale, p.Reason)
					}
				}
			}
			return nil
		})
		c.Restart(t, 1)
		h.until(t, "all is read again", h.whole)
	})

	step("a broker hangs", func(t *testing.T) {
		c.Pause(t, 2)
		h.until(t, "what is on the broker that hangs is stale, the rest is not", func(d *document.Document) error { return errors.Join(h.halved(d, 2), h.names(d, 2)) })
		h.see(t, "incomplete")
		h.more(t, 3)
		d := h.until(t, "the numbers of another broker move while it hangs", func(d *document.Document) error {
			if err := h.halved(d, 2); err != nil {
				return err
			}
			for _, p := range group(d, h.groups[0]).Partitions {
				if p.Topic == h.alone && h.leads(3, p.Partition) && *p.Lag == h.lag+10 {
					return nil
				}
			}
			return errors.New("no row has moved")
		})
		if d.PollSeconds >= hangTimeout.Seconds() {
			// The poll that first met the silence may have waited for it, no later one.
			h.until(t, "a poll does not wait for it any more", func(d *document.Document) error {
				if d.PollSeconds >= hangTimeout.Seconds() {
					return fmt.Errorf("the poll took %g s", d.PollSeconds)
				}
				return h.halved(d, 2)
			})
		}
		c.Resume(t, 2)
		h.until(t, "all is read again", h.whole)
	})

	step("all brokers are killed", func(t *testing.T) {
		for id := 1; id <= 3; id++ {
			c.Kill(t, id)
		}
		gone := func(d *document.Document) error {
			if d.Complete || len(d.Problems) == 0 {
				return fmt.Errorf("complete %v, problems %v", d.Complete, d.Problems)
			}
			return h.each(d, func(g *document.Group, p *document.Partition) bool {
				return p.Stale && p.Reason != "" && *p.AsOf < d.TakenAt
			})
		}
		first := h.until(t, "all is stale", gone)
		h.watch.until(t, "the same age in a later poll", func(d *document.Document) bool {
			return d.TakenAt > first.TakenAt && gone(d) == nil && slices.Equal(ages(d), ages(first))
		})
		h.see(t, "not reached", "cluster not reached for", "nothing listens on", fmt.Sprintf("~ %d ", 6*h.lag+10))
		page := h.get(t, "/metrics")
		if !strings.Contains(page, "klagtop_up{kafka_cluster=\"default\"} 0\n") {
			t.Errorf("klagtop_up is not 0 while no broker runs")
		}
		if want := fmt.Sprintf("klagtop_group_lag_records{kafka_cluster=\"default\",group=%q} %d\n", h.groups[0], 6*h.lag+10); !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
		h.get(t, "/-/healthy")
		h.get(t, "/-/ready")
		for id := 1; id <= 3; id++ {
			c.Restart(t, id)
		}
		h.until(t, "all is read again", h.whole)
		h.screen.until(t, "the view has recovered", func(text string) bool {
			return !strings.Contains(text, "not reached") && !strings.Contains(text, "incomplete") && strings.Contains(text, h.groups[0])
		})
		eventually(t, func() error {
			if !strings.Contains(h.get(t, "/metrics"), "klagtop_up{kafka_cluster=\"default\"} 1\n") {
				return errors.New("klagtop_up is not 1 again")
			}
			return nil
		})
	})
	h.never(t)
}

// hangTimeout is the timeout of each poll: what a broker that hangs may cost once.
const hangTimeout = 2 * time.Second

// struck is a cluster that is to fail, and what looks at it meanwhile.
type struck struct {
	c      *kafkatest.Cluster
	live   string   // a group with a member
	groups []string // without; at least one on each broker, each with commits on all partitions of both topics
	both   string   // a topic of three replicas
	alone  string   // a topic without, of a partition on each broker
	leader map[int32]int32
	lag    int64 // of each row

	watch  *watching
	screen *screen
	serve  string // its address
}

// hit prepares a cluster and sets three klagtops on it.
func hit(t *testing.T, c *kafkatest.Cluster) *struck {
	h := &struck{c: c, both: kafkatest.Name("both"), alone: kafkatest.Name("alone"), leader: make(map[int32]int32), lag: 60}
	c.CreateTopic(t, h.both, 3, "replicas=3")
	c.CreateTopic(t, h.alone, 3)
	c.Produce(t, h.both, 100, 0, 1, 2)
	c.Produce(t, h.alone, 100, 0, 1, 2)
	topics, err := kadm.NewClient(c.Client(t)).ListTopics(t.Context(), h.alone)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range topics[h.alone].Partitions {
		h.leader[p.Partition] = p.Leader
	}
	coordinators := make(map[int32]bool)
	for len(coordinators) < 3 {
		name := kafkatest.Name("ticker")
		for _, topic := range []string{h.both, h.alone} {
			c.Commit(t, name, topic, map[int32]int64{0: 40, 1: 40, 2: 40})
		}
		h.groups = append(h.groups, name)
		coordinators[*group(describeJSON(t, c, name), name).Coordinator] = true
	}
	slices.Sort(h.groups)
	h.live = kafkatest.Name("live")
	c.Commit(t, h.live, h.both, map[int32]int64{0: 40, 1: 40, 2: 40})
	c.Client(t, kgo.ConsumerGroup(h.live), kgo.ConsumeTopics(h.both), kgo.DisableAutoCommit())

	common := []string{"--brokers", c.Brokers()[0], "--interval", "300ms", "--timeout", hangTimeout.String()}
	h.serve = freeAddress(t)
	cmd := klagtopCommand(context.WithoutCancel(t.Context()), t, append([]string{"serve", "--listen", h.serve}, common...)...)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Errorf("serve ended with %v: %s", err, said.String())
		}
	})
	h.watch = watch(t, common...)
	view, terminal, s := onScreen(t, common...)
	h.screen = s
	t.Cleanup(func() {
		if _, err := terminal.WriteString("q"); err != nil {
			t.Error(err)
		}
		if err := view.Wait(); err != nil {
			t.Errorf("the view ended with %v", err)
		}
	})
	h.until(t, "all is read", func(d *document.Document) error {
		if g := group(d, h.live); g == nil || g.State != "Stable" {
			return errors.New("the live group is not yet so")
		}
		return h.whole(d)
	})
	h.see(t, h.groups[0])
	return h
}

// until waits until `watch` and `serve` have said what is wanted; it returns watch's document.
func (h *struck) until(t *testing.T, what string, check func(*document.Document) error) *document.Document {
	t.Helper()
	from := len(h.watch.seen())
	i := 0
	found := h.watch.until(t, what, func(d *document.Document) bool {
		i++
		return i > from && check(d) == nil
	})
	eventually(t, func() error {
		d, err := document.Decode(strings.NewReader(h.get(t, "/api/v1/groups")))
		if err != nil {
			t.Fatal(err)
		}
		return check(d)
	})
	return found
}

// see waits for texts on the screen of the terminal view.
func (h *struck) see(t *testing.T, texts ...string) {
	t.Helper()
	h.screen.until(t, fmt.Sprintf("%q", texts), func(text string) bool {
		return !slices.ContainsFunc(texts, func(x string) bool { return !strings.Contains(text, x) })
	})
}

func (h *struck) get(t *testing.T, path string) string {
	t.Helper()
	var body string
	eventually(t, func() error { // serve may not listen yet
		resp, err := http.Get("http://" + h.serve + path)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		body = string(b)
		if err == nil && resp.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %s: %s", path, resp.Status, body)
		}
		return err
	})
	return body
}

func (h *struck) leads(broker, partition int32) bool { return h.leader[partition] == broker }

// each asks for something to be so of every row of every group.
func (h *struck) each(d *document.Document, good func(*document.Group, *document.Partition) bool) error {
	for _, name := range h.groups {
		g := group(d, name)
		if g == nil {
			return fmt.Errorf("%s is not there", name)
		}
		for i, p := range g.Partitions {
			if !good(g, &g.Partitions[i]) {
				row, err := json.Marshal(p)
				return errors.Join(fmt.Errorf("%s, %s: %s", name, g.State, row), err)
			}
		}
	}
	return nil
}

// whole is a document of three brokers that misses nothing.
func (h *struck) whole(d *document.Document) error {
	if !d.Complete || d.Cluster.Brokers == nil || *d.Cluster.Brokers != 3 || len(d.Problems) > 0 {
		return fmt.Errorf("complete %v, brokers %v, problems %v", d.Complete, pointed(d.Cluster.Brokers), d.Problems)
	}
	return h.each(d, func(g *document.Group, p *document.Partition) bool { return !p.Stale && g.Reason == "" })
}

// halved is a document in which the rows on one broker are old ones and those of
// the others are new.
func (h *struck) halved(d *document.Document, down int32) error {
	if d.Complete {
		return errors.New("the document says that it is complete")
	}
	fresh := 0
	err := h.each(d, func(g *document.Group, p *document.Partition) bool {
		if p.Topic != h.alone {
			return true // at some moment another broker takes over
		}
		if h.leads(down, p.Partition) {
			return p.Stale && *p.AsOf < d.TakenAt && slices.Contains([]string{"broker_down", "timeout", "no_leader"}, p.Reason)
		}
		if !p.Stale {
			fresh++
		}
		return true
	})
	if err == nil && fresh == 0 {
		return errors.New("nothing is fresh")
	}
	return err
}

// names asks for a problem that names a broker or, once the others have
// noticed, the partition that they cannot take over.
func (h *struck) names(d *document.Document, broker int32) error {
	named := func(p document.Problem) bool {
		return p.Broker != nil && *p.Broker == broker || p.Topic == h.alone && h.leads(broker, *p.Partition)
	}
	if !slices.ContainsFunc(d.Problems, named) {
		return fmt.Errorf("no problem names broker %d: %v", broker, d.Problems)
	}
	return nil
}

// more writes ten records to the partition that only one broker has, by way of
// that broker alone: the others may hang.
func (h *struck) more(t *testing.T, broker int) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(h.c.Brokers()[broker-1]), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.DisableIdempotentWrite())
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for p, leader := range h.leader {
		for i := 0; i < 10 && leader == int32(broker); i++ {
			if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: h.alone, Partition: p, Value: []byte("tick")}).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// ages are when the rows were read.
func ages(d *document.Document) (list []string) {
	for _, g := range d.Groups {
		for _, p := range g.Partitions {
			list = append(list, *p.AsOf)
		}
	}
	return list
}

// never looks back on every poll: what must not have been so at any time.
func (h *struck) never(t *testing.T) {
	began := false
	for _, d := range h.watch.seen() {
		if began = began || h.whole(d) == nil; !began {
			continue
		}
		err := h.each(d, func(g *document.Group, p *document.Partition) bool {
			return g.State == "Empty" && p.Lag != nil && *p.Lag >= h.lag && *p.Lag <= h.lag+10 && p.Status == "ok" && *p.AsOf <= d.TakenAt
		})
		if g := group(d, h.live); g == nil || slices.Contains([]string{"", "Dead", "Empty", "Unknown"}, g.State) || *g.Lag.Records != 3*h.lag {
			err = errors.Join(err, fmt.Errorf("the group with a member: %+v", g))
		}
		if err != nil {
			t.Errorf("at %s, with the problems %v: %v", d.TakenAt, d.Problems, err)
			return
		}
	}
	var events []document.Event
	if err := json.Unmarshal([]byte(h.get(t, "/api/v1/events")), &events); err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.Group != h.live && e.Kind != "group" || strings.Contains(e.Text, "gone") {
			t.Errorf("an event of what has not happened: %s: %s", e.Kind, e.Text)
		}
	}
	t.Logf("%d polls, %d events", len(h.watch.seen()), len(events))
}
