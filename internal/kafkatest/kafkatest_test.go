package kafkatest

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

var kafka = Shared{}

func TestMain(m *testing.M) { os.Exit(kafka.Run(m)) }

// The promise every other test here stands on: records go in, a Java consumer owns and commits them, and
// what is read out of Kafka's own tool is what the consumer committed.
func TestToolAgreesWithJavaConsumer(t *testing.T) {
	c := kafka.Cluster(t)
	topic, group := Name("ticks"), Name("ticker")
	c.CreateTopic(t, topic, 2)
	c.Produce(t, topic, 10, 0, 1)
	java := c.JavaConsumer(t, ConsumerOptions{Group: group, Topics: []string{topic}, ClientID: "pod 1", Commit: 100 * time.Millisecond, Max: 12})
	if got, want := java.WaitAssigned(t, 2), []string{topic + "-0", topic + "-1"}; !slices.Equal(got, want) {
		t.Errorf("assigned %v, want %v", got, want)
	}
	committed := java.WaitCommitted(t, 12)

	rows, err := ParseDescribe(c.ConsumerGroups(t, "--describe", "--group", group))
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 {
		t.Fatalf("the tool printed %d rows, want 2", len(rows))
	}
	for _, r := range rows {
		at := committed[fmt.Sprintf("%s-%d", r.Topic, r.Partition)]
		if r.Topic != topic || r.Committed == nil || *r.Committed != at || *r.LogEnd != 10 || *r.Lag != 10-at {
			t.Errorf("the tool's row %+v, want committed %d of 10", r, at)
		}
		if r.ClientID != "pod 1" || r.Host != "/127.0.0.1" || !strings.HasPrefix(r.MemberID, "pod 1-") {
			t.Errorf("the tool's member %q %q %q", r.MemberID, r.Host, r.ClientID)
		}
	}
}

// The shapes of a partition on which klagtop is compared with the tool, made by the helpers and as the tool prints them.
func TestToolOnCommitsOfAllKinds(t *testing.T) {
	c := kafka.Cluster(t)
	topic, group := Name("kinds"), Name("standalone")
	c.CreateTopic(t, topic, 4, "cleanup.policy=delete")
	c.Produce(t, topic, 100, 0, 1, 2, 3)
	c.Commit(t, group, topic, map[int32]int64{0: 61, 1: 10, 2: 500})
	c.DeleteRecords(t, topic, map[int32]int64{1: 40})
	rows, err := ParseDescribe(c.ConsumerGroups(t, "--describe", "--group", group))
	if err != nil {
		t.Fatal(err)
	}
	lags := make(map[int32]int64)
	for _, r := range rows {
		lags[r.Partition] = *r.Lag
	}
	if want := map[int32]int64{0: 39, 1: 90, 2: -400}; !maps.Equal(lags, want) {
		t.Errorf("the tool's lags %v, want %v: it counts deleted records, goes below zero, and leaves out what has no commit", lags, want)
	}
	states, err := ParseState(c.ConsumerGroups(t, "--describe", "--state", "--group", group))
	if err != nil {
		t.Fatal(err)
	}
	if len(states) != 1 || states[0].State != "Empty" || states[0].Members != 0 {
		t.Errorf("states %+v, want one that is Empty", states)
	}
	if out := c.Topics(t, "--describe", "--topic", topic); !strings.Contains(out, "PartitionCount: 4") || !strings.Contains(out, "cleanup.policy=delete") {
		t.Errorf("kafka-topics printed %q", out)
	}
	if out := c.Configs(t, "--describe", "--entity-type", "topics", "--entity-name", topic); !strings.Contains(out, "cleanup.policy=delete") {
		t.Errorf("kafka-configs printed %q", out)
	}
	if _, err := ParseDescribe(c.ConsumerGroups(t, "--describe", "--group", Name("nosuch"))); err == nil {
		t.Error("the tool's error about an unknown group went unnoticed")
	}
}

// eventually is for what a broker does after it has answered.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for err := check(); err != nil; err = check() {
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
