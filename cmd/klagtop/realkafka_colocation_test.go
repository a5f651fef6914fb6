package main

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/klagtop/klagtop/internal/document"
	"github.com/klagtop/klagtop/internal/kafkatest"
)

// symbols are the ten whose ticks and notifications the pods join by key.
var symbols = []string{"BBCA", "BBRI", "BMRI", "BBNI", "ANTM", "ASII", "GOTO", "ICBP", "UNVR", "TLKM"}

// What is written of each symbol.
const ticksEach, notesEach = 5, 3

// Four KafkaJS pods join notifications with the market updates of their symbol.
// What klagtop says of co-location foretells the local joins that the pods
// count: all 30 under an assigner that deals by index, none under KafkaJS' own
// round robin, which deals the second topic on from where the first ended.
func TestColocationForetellsLocalJoins(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes eight pods")
	}
	t.Parallel()
	kafka := realKafka.Cluster(t)
	for _, c := range []struct {
		assignor       string
		colocated, met int
	}{{"CoPartitionAssigner", 6, 30}, {"RoundRobinAssigner", 0, 0}} {
		t.Run(c.assignor, func(t *testing.T) {
			t.Parallel()
			updates, notes, name := kafkatest.Name("market-updates"), kafkatest.Name("notifications"), kafkatest.Name("ticker")
			kafka.CreateTopic(t, updates, 6)
			kafka.CreateTopic(t, notes, 6)
			pods := map[string]*kafkatest.Client{}
			for i := range 4 {
				id := fmt.Sprintf("pod-%d", i+1)
				pods[id] = kafka.KafkaJSConsumer(t, kafkatest.ConsumerOptions{
					Group: name, Topics: []string{updates, notes}, ClientID: id, Assignor: c.assignor, Commit: 100 * time.Millisecond, Join: []string{updates, notes},
				})
			}
			w := watch(t, "--brokers", kafka.Bootstrap(), "--group", name, "--interval", "200ms")
			g := group(w.until(t, "what the four pods say that they own", func(d *document.Document) bool {
				return d.Complete && podsAgree(t, group(d, name), pods)
			}), name)
			if g.Assignor != c.assignor || g.Assignment.Colocation == nil || g.Assignment.Colocation.Colocated != int64(c.colocated) || g.Assignment.Colocation.Total != 6 {
				t.Fatalf("assignor %s, co-location %+v, want %d of 6", g.Assignor, g.Assignment.Colocation, c.colocated)
			}
			foretold := produceSymbols(t, kafka, updates, notes, g)
			local, all := 0, 0
			w.until(t, "that the pods have read all", func(d *document.Document) bool {
				local, all = 0, 0
				for _, p := range pods {
					l, n := p.Joined()
					local, all = local+l, all+n
				}
				return all == 30 && committedBy(group(d, name)) == int64(len(symbols))*(ticksEach+notesEach)
			})
			t.Logf("%s: co-location %d of 6; %d of %d local joins foretold, %d counted by the pods", c.assignor, g.Assignment.Colocation.Colocated, foretold, all, local)
			if local != c.met || local != foretold {
				t.Errorf("%d of 30 notifications were joined locally, %d foretold, want %d", local, foretold, c.met)
			}
		})
	}
}

// committedBy is up to where a group has read, all its partitions together.
func committedBy(g *document.Group) (n int64) {
	if g != nil {
		for _, p := range g.Partitions {
			if p.Committed != nil {
				n += *p.Committed
			}
		}
	}
	return n
}

// podsAgree reports whether klagtop shows what the pods say that they own.
func podsAgree(t *testing.T, g *document.Group, pods map[string]*kafkatest.Client) bool {
	if g == nil || g.State != "Stable" || len(g.Members) != len(pods) {
		return false
	}
	shown, said := map[string][]string{}, map[string][]string{}
	for _, m := range g.Members {
		for topic, ps := range m.Assigned {
			for _, p := range ps {
				shown[m.ClientID] = append(shown[m.ClientID], fmt.Sprintf("%s-%d", topic, p))
			}
		}
		slices.Sort(shown[m.ClientID])
		said[m.ClientID] = pods[m.ClientID].WaitAssigned(t, -1)
	}
	return maps.EqualFunc(shown, said, slices.Equal)
}

// produceSymbols writes ticks and notifications of each symbol, by key, and returns how many notifications lie on an index that is co-located.
func produceSymbols(t *testing.T, c *kafkatest.Cluster, updates, notes string, g *document.Group) (local int) {
	t.Helper()
	owners := map[string]map[int32]string{updates: {}, notes: {}}
	for _, p := range g.Partitions {
		owners[p.Topic][p.Partition] = p.MemberID
	}
	cl := c.Client(t, kgo.ProducerBatchCompression(kgo.NoCompression())) // keyed records are dealt as Java and KafkaJS deal them
	var records []*kgo.Record
	for _, s := range symbols {
		for range ticksEach {
			records = append(records, &kgo.Record{Topic: updates, Key: []byte(s), Value: []byte("tick")})
		}
		for range notesEach {
			records = append(records, &kgo.Record{Topic: notes, Key: []byte(s), Value: []byte("note")})
		}
	}
	if err := cl.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if r.Topic == notes && owners[notes][r.Partition] == owners[updates][r.Partition] {
			local++
		}
	}
	return local
}
