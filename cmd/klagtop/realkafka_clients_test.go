package main

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/klagtop/klagtop/internal/document"
	"github.com/klagtop/klagtop/internal/kafkatest"
)

// starter starts a consumer of some kind.
type starter func(testing.TB, kafkatest.ConsumerOptions) *kafkatest.Client

// Java, KafkaJS and librdkafka write subscriptions, assignments and commits each
// in their own way. What klagtop shows of them, all at work at once, is held
// against what they themselves say that they own and have committed.
func TestThreeKindsOfClientsAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes eight consumers")
	}
	t.Parallel()
	c := realKafka.Cluster(t)
	topic := kafkatest.Name("market-updates")
	c.CreateTopic(t, topic, 4)
	c.Produce(t, topic, 10, 0, 1, 2, 3)

	by := func(start starter, assignor string) starter {
		return func(t testing.TB, o kafkatest.ConsumerOptions) *kafkatest.Client {
			o.Assignor = assignor
			return start(t, o)
		}
	}
	java, librdkafka := by(c.JavaConsumer, "org.apache.kafka.clients.consumer.RangeAssignor"), by(c.LibrdkafkaConsumer, "range")
	teams := []*team{
		{kind: "Java", assignor: "range", kinds: [2]starter{java, java}},
		{kind: "KafkaJS", assignor: "RoundRobinAssigner", kinds: [2]starter{c.KafkaJSConsumer, c.KafkaJSConsumer}},
		{kind: "librdkafka", assignor: "range", kinds: [2]starter{librdkafka, librdkafka}},
		{kind: "Java and librdkafka in one group", assignor: "range", kinds: [2]starter{java, librdkafka}}, // KafkaJS has no assignor in common with the others
	}
	for _, g := range teams {
		g.group = kafkatest.Name("team")
		// The first stops in the middle, so that there is a lag; the second has no limit.
		g.first = g.kinds[0](t, kafkatest.ConsumerOptions{Group: g.group, Topics: []string{topic}, ClientID: "pod-1", Commit: 200 * time.Millisecond, Max: 25})
	}
	for _, g := range teams {
		g.first.WaitAssigned(t, 4)
		g.first.WaitCommitted(t, 25)
		g.second = g.kinds[1](t, kafkatest.ConsumerOptions{Group: g.group, Topics: []string{topic}, ClientID: "pod-2", Commit: 200 * time.Millisecond})
	}
	for _, g := range teams {
		t.Run(g.kind, func(t *testing.T) {
			owned := map[string][]string{"pod-1": g.first.WaitAssigned(t, 2), "pod-2": g.second.WaitAssigned(t, 2)}
			committed := g.first.WaitCommitted(t, 25)
			for _, name := range owned["pod-2"] {
				committed[name] = 10
			}
			eventually(t, func() error { return g.differs(describeJSON(t, c, g.group), owned, committed) })
		})
	}
}

// team is a group of two consumers.
type team struct {
	kind, group, assignor string
	kinds                 [2]starter
	first, second         *kafkatest.Client
}

// differs says what klagtop shows otherwise than the clients: by client id what
// they own, and by partition what is committed of its ten records.
func (g *team) differs(d *document.Document, owned map[string][]string, committed map[string]int64) error {
	doc := group(d, g.group)
	if doc.State != "Stable" || doc.Assignor != g.assignor || doc.Type != "classic" || doc.ProtocolType != "consumer" {
		return fmt.Errorf("the group is %s, %s, %s, %s", doc.State, doc.Assignor, doc.Type, doc.ProtocolType)
	}
	clients := make(map[string]string)
	shown := make(map[string][]string)
	for _, m := range doc.Members {
		clients[m.MemberID] = m.ClientID
		if m.Host != "127.0.0.1" || m.Decode != "ok" {
			return fmt.Errorf("member %s is on %q, its assignment %s", m.ClientID, m.Host, m.Decode)
		}
		for topic, partitions := range m.Assigned {
			for _, p := range partitions {
				shown[m.ClientID] = append(shown[m.ClientID], fmt.Sprintf("%s-%d", topic, p))
			}
		}
	}
	if !maps.EqualFunc(shown, owned, slices.Equal) || len(doc.Members) != 2 {
		return fmt.Errorf("klagtop's members %v, the clients' %v", shown, owned)
	}
	if len(doc.Partitions) != 4 {
		return fmt.Errorf("%d rows, want 4", len(doc.Partitions))
	}
	var total int64
	for _, p := range doc.Partitions {
		name := fmt.Sprintf("%s-%d", p.Topic, p.Partition)
		if !slices.Contains(owned[clients[p.MemberID]], name) {
			return fmt.Errorf("%s is %s's", name, clients[p.MemberID])
		}
		at, any := committed[name]
		if any && (p.Committed == nil || *p.Committed != at) || *p.Lag != 10-at {
			return fmt.Errorf("%s: committed %v, lag %d; the clients have committed %d", name, pointed(p.Committed), *p.Lag, at)
		}
		total += *p.Lag
	}
	if total != *doc.Lag.Records || total != *doc.Lag.AssignedRecords {
		return fmt.Errorf("the rows' lag is %d, the group's %d, of it assigned %d", total, *doc.Lag.Records, *doc.Lag.AssignedRecords)
	}
	return nil
}
