package kafkatest

import (
	"fmt"
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
