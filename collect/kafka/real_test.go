package kafka

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/internal/kafkatest"
)

// What the fake cannot show: brokers that die, freeze and wake with the past in
// their heads, and coordinators that move.
func TestRealBrokersComeAndGo(t *testing.T) {
	k := kafkatest.Start(t, kafkatest.Options{Nodes: 3, Properties: map[string]string{
		"offsets.topic.replication.factor": "3", "offsets.topic.num.partitions": "6", "group.initial.rebalance.delay.ms": "0", "broker.session.timeout.ms": "4000", "broker.heartbeat.interval.ms": "500",
	}})
	b := &bed{T: t, timeout: 2 * time.Second}
	src, err := New(Config{Brokers: k.Brokers()}, Options{})
	b.must(err)
	t.Cleanup(src.Close)
	b.src = src

	s := b.poll() // of a cluster without an offsets topic
	b.wantProblems(s, "")
	if len(s.Groups) != 0 || !s.Complete {
		t.Errorf("fresh cluster: %d groups, complete %v", len(s.Groups), s.Complete)
	}
	k.CreateTopic(t, "market-updates", 6, "replicas=3")
	k.Produce(t, "market-updates", 100, 0, 1, 2, 3, 4, 5)
	groups := map[string]string{} // name: what it must read like
	for i := range 6 {
		name := fmt.Sprintf("solo-%d", i)
		k.Commit(t, name, "market-updates", map[int32]int64{0: 40, 1: 100, 5: 10})
		groups[name] = "classic Empty  members=0 lag=150/3 unknown=0 stale=0"
	}
	classic := k.JavaConsumer(t, kafkatest.ConsumerOptions{Group: "ticker", Topics: []string{"market-updates"}, ClientID: "pod-1", Max: 1})
	classic.WaitAssigned(t, 6)
	groups["ticker"] = "classic Stable  members=1"
	if k.AtLeast(4, 0) {
		k.JavaConsumer(t, kafkatest.ConsumerOptions{Group: "quotes", Topics: []string{"market-updates"}, ClientID: "pod-2", Protocol: "consumer", Max: 1}).WaitAssigned(t, 6)
		groups["quotes"] = "consumer Stable  members=1"
	}
	if k.AtLeast(4, 2) {
		k.Configs(t, "--alter", "--entity-type", "groups", "--entity-name", "queue", "--add-config", "share.auto.offset.reset=earliest")
		k.CreateTopic(t, "tasks", 1, "replicas=3")
		k.Produce(t, "tasks", 30, 0)
		share := k.JavaShareConsumer(t, kafkatest.ConsumerOptions{Group: "queue", Topics: []string{"tasks"}, ClientID: "pod-3"})
		if n := share.Poll(t, time.Minute); n != 30 {
			t.Fatalf("the share consumer holds %d records", n)
		}
		share.Accept(t, 4)
		groups["queue"] = "share Stable  members=1 lag=26/1 unknown=0 stale=0"
	}
	// all is the state in which every group is read whole; within, no group may be gone
	all := func(s *collect.Snapshot) bool {
		for name, want := range groups {
			if !strings.HasPrefix(groupText(s, name), want) {
				return false
			}
		}
		return s.Complete
	}
	none := func(s *collect.Snapshot) string {
		for name := range groups {
			g, ok := s.Group(name)
			if !ok || g.State == collect.StateDead {
				return name
			}
		}
		return ""
	}
	await := func(what string, ok func(*collect.Snapshot) bool) *collect.Snapshot {
		t.Helper()
		var s *collect.Snapshot
		for end := time.Now().Add(40 * time.Second); time.Now().Before(end); {
			began := time.Now()
			s = b.poll()
			if took := time.Since(began); took > b.timeout {
				t.Errorf("%s: a poll took %v of %v", what, took, b.timeout)
			}
			if lost := none(s); lost != "" && what != "all groups there" {
				t.Fatalf("%s: group %s is gone or dead", what, lost)
			}
			if g, ok := s.Group("queue"); ok && g.Lag.Records != 26 && (g.Lag.Records >= 0 || g.Lag.Complete) && what != "all groups there" {
				t.Errorf("%s: share group %s", what, groupText(s, "queue"))
			}
			if ok(s) {
				return s
			}
			time.Sleep(50 * time.Millisecond)
		}
		for name := range groups {
			t.Log(name, groupText(s, name))
		}
		t.Fatalf("%s: not within 40 s\nproblems: %s", what, problemText(s))
		return nil
	}
	s = await("all groups there", all)
	for _, name := range []string{"ticker", "quotes"} {
		if g, ok := s.Group(name); ok {
			if g.Lag.Records < 500 || g.Lag.Known != 6 || strings.Contains(ownersText(s, name), "none") {
				t.Errorf("%s: %s, %s", name, groupText(s, name), ownersText(s, name))
			}
		}
	}

	k.Pause(t, 2)
	stale := func(s *collect.Snapshot) bool { return !s.Complete && s.Reached }
	await("one frozen", stale)
	await("one frozen, its work taken over", func(s *collect.Snapshot) bool {
		for name := range groups {
			if g, _ := s.Group(name); g.Reason != collect.ReasonNone || g.CommitsReason != collect.ReasonNone || g.Lag.Stale > 0 || g.Lag.Unknown > 0 {
				return false
			}
		}
		return len(s.Cluster.Brokers) == 2
	})
	k.Resume(t, 2)
	await("awake again", func(s *collect.Snapshot) bool { return all(s) && len(s.Cluster.Brokers) == 3 })

	victim := 3
	if g, ok := b.prev.Group("queue"); ok {
		victim = int(g.Coordinator) // share groups' offsets have a connection of their own
	}
	k.Kill(t, victim)
	await("one killed", stale)
	await("one killed, its work taken over", all)
	k.Restart(t, victim)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	b.must(k.Ready(ctx))
	await("restarted", all)

	req := kmsg.NewPtrDeleteGroupsRequest()
	req.Groups = []string{"solo-0"}
	_, err = req.RequestWith(t.Context(), k.Client(t))
	b.must(err)
	delete(groups, "solo-0")
	await("one deleted", func(s *collect.Snapshot) bool { _, ok := s.Group("solo-0"); return !ok && all(s) })
}
