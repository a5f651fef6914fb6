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
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/internal/document"
	"github.com/klagtop/klagtop/internal/kafkatest"
)

// server is a `serve` that runs.
type server struct{ address string }

// serveIt starts `serve`, which ends with the test.
func serveIt(t *testing.T, args ...string) *server {
	t.Helper()
	s := &server{freeAddress(t)}
	cmd := klagtopCommand(context.WithoutCancel(t.Context()), t, append([]string{"serve", "--listen", s.address}, args...)...)
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
	return s
}

func (s *server) get(path string) (string, error) {
	resp, err := http.Get("http://" + s.address + path)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", path, resp.Status, b)
	}
	return string(b), err
}

// rows are a group's partitions in the newest document.
func (s *server) rows(name string) ([]document.Partition, *document.Group, error) {
	body, err := s.get("/api/v1/groups")
	if err != nil {
		return nil, nil, err
	}
	d, err := document.Decode(strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	g := group(d, name)
	if g == nil {
		return nil, nil, errors.New("the group is not there")
	}
	return g.Partitions, g, nil
}

// changes are the offsets and topic events of a group, in words.
func (s *server) changes(name string) ([]string, error) {
	body, err := s.get("/api/v1/events")
	if err != nil {
		return nil, err
	}
	var events []document.Event
	if err := json.Unmarshal([]byte(body), &events); err != nil {
		return nil, err
	}
	var out []string
	for _, e := range events {
		switch {
		case e.Group != name:
		case e.Kind == "topic":
			out = append(out, e.Cause)
		case e.Kind == "offsets":
			line := e.Cause
			for _, o := range e.Offsets {
				line += fmt.Sprintf(" %d:%v>%v", o.Partition, pointed(o.From), pointed(o.To))
			}
			out = append(out, line)
		}
	}
	return out, nil
}

// tells waits until a group's changes are the ones wanted, and no others.
func (s *server) tells(t *testing.T, name string, want ...string) {
	t.Helper()
	var got []string
	eventually(t, func() (err error) {
		if got, err = s.changes(name); err != nil {
			return err
		}
		if len(got) < len(want) {
			return fmt.Errorf("told %q, want %q", got, want)
		}
		return nil
	})
	if !slices.Equal(got, want) {
		t.Fatalf("told %q, want %q", got, want)
	}
}

// settled waits for some polls from now on.
func (s *server) settled(t *testing.T, name string, check func([]document.Partition, *document.Group) error) {
	t.Helper()
	var first string
	polls := 0
	eventually(t, func() error {
		rows, g, err := s.rows(name)
		if err == nil {
			err = check(rows, g)
		}
		if err != nil {
			first, polls = "", 0
			return err
		}
		if g.DescribedAt != nil && *g.DescribedAt != first {
			first = *g.DescribedAt
			polls++
		}
		if polls < 4 {
			return errors.New("too few polls")
		}
		return nil
	})
}

// Commits that Kafka's own tool moves in a group without members, that a member
// moves by hand, and those of a topic made anew: each is told once, with from
// and to, and nothing else is.
func TestCommitsThatMoveOtherThanByConsuming(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a real Kafka")
	}
	t.Parallel()
	c := realKafka.Cluster(t)
	topic, left, live := kafkatest.Name("market-updates"), kafkatest.Name("left"), kafkatest.Name("live")
	c.CreateTopic(t, topic, 2)
	c.Produce(t, topic, 100, 0, 1)
	join := func(name string) *kgo.Client {
		cl := c.Client(t, kgo.ConsumerGroup(name), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit(), kgo.SessionTimeout(10*time.Second),
			kgo.MaxVersions(upTo(kmsg.OffsetCommit, 9))) // by the topic's name, as Java consumers do
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cl.PollFetches(ctx)
		return cl
	}
	commit := func(cl *kgo.Client, at int64) {
		t.Helper()
		var failed error
		offset := kgo.EpochOffset{Epoch: 0, Offset: at}
		cl.CommitOffsetsSync(t.Context(), map[string]map[int32]kgo.EpochOffset{topic: {0: offset, 1: offset}}, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, r *kmsg.OffsetCommitResponse, err error) {
			failed = err
			for i := 0; r != nil && i < len(r.Topics); i++ {
				for _, p := range r.Topics[i].Partitions {
					failed = errors.Join(failed, kerr.ErrorForCode(p.ErrorCode))
				}
			}
		})
		if failed != nil {
			t.Fatal(failed)
		}
	}
	cl := join(left)
	commit(cl, 40)
	cl.Close()
	member := join(live)
	commit(member, 80)

	s := serveIt(t, "--brokers", c.Bootstrap(), "--group", left, "--group", live, "--interval", "200ms")
	s.settled(t, left, func(rows []document.Partition, g *document.Group) error {
		if g.State != "Empty" || len(rows) != 2 {
			return fmt.Errorf("%s, %d rows", g.State, len(rows))
		}
		return nil
	})
	tool := func(args ...string) {
		t.Helper()
		c.ConsumerGroups(t, append([]string{"--group", left, "--topic", topic}, args...)...)
	}
	tool("--reset-offsets", "--to-latest", "--execute")
	s.tells(t, left, "skipped 0:40>100 1:40>100")
	tool("--reset-offsets", "--to-earliest", "--execute")
	s.tells(t, left, "skipped 0:40>100 1:40>100", "reset 0:100>0 1:100>0")
	commit(member, 100) // consumed
	s.settled(t, live, func(rows []document.Partition, _ *document.Group) error {
		for _, r := range rows {
			if r.Committed == nil || *r.Committed != 100 {
				return fmt.Errorf("row %+v", r)
			}
		}
		return nil
	})
	commit(member, 10)
	s.tells(t, live, "reset 0:100>10 1:100>10")
	tool("--delete-offsets")
	s.tells(t, left, "skipped 0:40>100 1:40>100", "reset 0:100>0 1:100>0", "reset 0:0>- 1:0>-")
	page, err := s.get("/metrics")
	if err != nil {
		t.Fatal(err)
	}
	for direction, n := range map[string]int{"back": 2, "forward": 2} {
		if want := fmt.Sprintf("klagtop_group_offset_jumps_total{kafka_cluster=\"default\",group=%q,direction=%q} %d\n", left, direction, n); !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}

	c.DeleteTopic(t, topic)
	eventually(t, func() error { // until the name is free
		_, err := kadm.NewClient(c.Client(t)).CreateTopic(t.Context(), 2, 1, nil, topic)
		return err
	})
	c.Produce(t, topic, 3, 0, 1)
	commit(member, 10) // it goes on with its old position, beyond the new end
	s.settled(t, live, func(rows []document.Partition, _ *document.Group) error {
		for _, r := range rows {
			if r.AheadRecords == nil || *r.AheadRecords != 7 || *r.Lag != 0 {
				return fmt.Errorf("row %+v", r)
			}
		}
		return nil
	})
	commit(member, 3)
	s.settled(t, live, func(rows []document.Partition, _ *document.Group) error {
		for _, r := range rows {
			if r.Status != "ok" || *r.Lag != 0 || r.Rates.Consumed != nil && *r.Rates.Consumed < 0 || r.Rates.Produced != nil && *r.Rates.Produced < 0 {
				return fmt.Errorf("row %+v", r)
			}
		}
		return nil
	})
	got, err := s.changes(live)
	if err != nil {
		t.Fatal(err)
	}
	got = slices.DeleteFunc(got, func(e string) bool { return e == "deleted" }) // if a poll fell in between
	if !slices.Equal(got, []string{"reset 0:100>10 1:100>10", "recreated"}) {
		t.Errorf("told %q", got)
	}
}
