package kafkatest

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Clients of three families must join, share, commit to the record and leave, or a test that blames klagtop for
// what they did would be wrong.
func TestClientsShareATopic(t *testing.T) {
	c := kafka.Cluster(t)
	for name, run := range map[string]func(testing.TB, ConsumerOptions) *Client{
		"Java": c.JavaConsumer, "KafkaJS": c.KafkaJSConsumer, "librdkafka": c.LibrdkafkaConsumer,
		"Java, KIP-848": func(t testing.TB, o ConsumerOptions) *Client {
			o.Protocol = "consumer"
			return c.JavaConsumer(t, o)
		},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.HasSuffix(name, "KIP-848") && !c.AtLeast(4, 0) {
				t.Skip("KIP-848 is on by default from Kafka 4.0 on")
			}
			t.Parallel()
			topic, group := Name("shared"), Name("sharers")
			c.CreateTopic(t, topic, 4)
			c.Produce(t, topic, 10, 0, 1, 2, 3)
			a := run(t, ConsumerOptions{Group: group, Topics: []string{topic}, ClientID: "a", Commit: 100 * time.Millisecond, Max: 25})
			a.WaitAssigned(t, 4)
			a.WaitCommitted(t, 25)
			b := run(t, ConsumerOptions{Group: group, Topics: []string{topic}, ClientID: "b", Commit: 100 * time.Millisecond})
			mine, others := a.WaitAssigned(t, 2), b.WaitAssigned(t, 2)
			if all := slices.Sorted(slices.Values(slices.Concat(mine, others))); !slices.Equal(all, []string{topic + "-0", topic + "-1", topic + "-2", topic + "-3"}) {
				t.Errorf("%v and %v do not make up the topic", mine, others)
			}
			b.Close(t)
			a.WaitAssigned(t, 4)
			members, err := ParseMembers(c.ConsumerGroups(t, "--describe", "--members", "--verbose", "--group", group))
			if err != nil {
				t.Fatal(err)
			}
			if len(members) != 1 || members[0].ClientID != "a" || members[0].Partitions != 4 {
				t.Errorf("after b has left the members are %+v, want a with 4 partitions", members)
			}
		})
	}
}
