package document

import (
	"fmt"
	"testing"
	"time"

	"github.com/klagtop/klagtop/collect"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 250, time.UTC)

// bed is a small cluster that a test fills.
type bed struct{ *collect.Builder }

func newBed(o collect.BuildOptions) *bed {
	if o.ClusterName == "" {
		o.ClusterName = "default"
	}
	if o.StaleAfter == 0 {
		o.StaleAfter = time.Minute
	}
	b := &bed{Builder: collect.NewBuilder(nil, o)}
	b.Reached()
	b.SetCluster(collect.Cluster{ID: "abc", Controller: 1, Brokers: []collect.Broker{{ID: 1}, {ID: 2}, {ID: 3}}, SeesAllGroups: collect.Yes})
	return b
}

func (b *bed) topic(name string, partitions int) {
	leaders := make([]int32, partitions)
	for i := range leaders {
		leaders[i] = int32(i%3) + 1
	}
	b.AddTopic(collect.TopicMeta{Name: name, Leaders: leaders})
}

func (b *bed) group(f collect.GroupFacts, commits ...collect.TopicCommits) {
	f.At, f.Described, f.MembersKnown = noon, f.Reason == collect.ReasonNone, f.Reason == collect.ReasonNone
	if f.Type == "" {
		f.Type = collect.TypeClassic
	}
	b.AddGroup(f)
	if f.Reason == collect.ReasonDenied {
		b.CommitsUnread(f.Name, f.Reason)
		return
	}
	b.AddCommits(f.Name, noon, commits)
}

// update reads every log as 0 to 100.
func (b *bed) update() *collect.Update {
	b.Layout()
	for _, n := range b.Needs() {
		for _, p := range n.Partitions {
			b.SetStart(n.Topic, p, 0, noon)
			b.SetEnd(n.Topic, p, 100, 0, noon)
		}
	}
	s := b.Finish(noon, 120*time.Millisecond)
	return &collect.Update{Boot: "b", Seq: 1, Snapshot: s}
}

func commitsOn(topic string, offsets ...int64) collect.TopicCommits {
	c := collect.TopicCommits{Topic: topic, Offsets: offsets}
	for p := range offsets {
		c.Partitions, c.Epochs = append(c.Partitions, int32(p)), append(c.Epochs, 0)
	}
	return c
}

func tickerMembers() []collect.Member {
	tp := func(p ...int32) []collect.TopicPartitions {
		return []collect.TopicPartitions{{Topic: "market-updates", Partitions: p}}
	}
	return []collect.Member{
		{ID: "pod-1-a", ClientID: "pod-1", Host: "10.0.0.1", Epoch: -1, Decode: collect.DecodeOK, Assigned: tp(0, 1), Subscribed: []string{"market-updates"}},
		{ID: "pod-2-b", ClientID: "pod-2", Host: "10.0.0.2", Epoch: -1, Decode: collect.DecodeOK, Assigned: tp(1, 2), Subscribed: []string{"market-updates"}},
		{ID: "pod-3-c", ClientID: "pod-3", Host: "10.0.0.3", Epoch: 4, Decode: collect.DecodeEmpty, HasTarget: true, Subscribed: []string{"market-updates"}},
		{ID: "pod-4-d", ClientID: "pod-4", Host: "10.0.0.4", Epoch: -1, Decode: collect.DecodeUndecodable, Subscribed: []string{"market-updates"}},
	}
}

// everything is a cluster with something of each kind in it.
func everything(t testing.TB) *collect.Update {
	t.Helper()
	b := newBed(collect.BuildOptions{})
	b.topic("market-updates", 4)
	b.topic(`a "quoted" <topic> & more`, 1)
	b.Problem(collect.Problem{Stage: collect.StageDescribe, Broker: 2, Group: "hidden", Partition: -1, Reason: collect.ReasonDenied, Error: "GROUP_AUTHORIZATION_FAILED"})
	b.group(collect.GroupFacts{
		Name: "ticker", State: "Stable", ProtocolType: "consumer", Assignor: "range", Coordinator: 1,
		Generation: collect.Generation{Value: 3, Source: collect.SourceMemberMetadata}, Members: tickerMembers(),
	}, commitsOn("market-updates", 60, 200, 100))
	b.group(collect.GroupFacts{Name: "hidden", State: "Stable", Coordinator: 2, Generation: collect.Generation{Value: -1}, Reason: collect.ReasonDenied})
	for _, n := range []string{"", `alerts "eu"`, `alerts\eu`, "alerts\neu", "alerts-\xff", "alerts-\xfe", "市場-alerts", "alerts\x1b[2Jeu", "line\u2028\u2029end", "nul\x00del\x7f"} {
		b.group(collect.GroupFacts{Name: n, State: "Empty", Coordinator: -1, Generation: collect.Generation{Value: -1}},
			commitsOn(`a "quoted" <topic> & more`, 40), commitsOn("gone", 7))
	}
	u := b.update()
	u.Findings = []collect.Finding{
		{Cluster: true, Code: "partially_denied", Since: noon, Summary: "1 group cannot be seen"},
		{
			Group: "ticker", Code: "falling_behind", Severity: collect.Warning, Primary: true, Since: noon, Summary: "behind by \xff",
			Where:    collect.Where{Topics: []string{"market-updates"}, Partitions: []collect.PartitionRef{{Topic: "market-updates", Partition: 1}}, Members: []string{"pod-1-a"}},
			Evidence: []collect.Evidence{{Name: "produced", Value: 100.5}, {Name: "ratio", Value: nan}, {Name: "who", Value: "\xfe"}, {Name: "n", Value: int64(3)}},
		},
	}
	return u
}

// many is a cluster of groups that each read a topic of so many partitions.
func many(groups, partitions int) *collect.Update {
	b := newBed(collect.BuildOptions{})
	b.topic("market-updates", partitions)
	offsets := make([]int64, partitions)
	for i := range offsets {
		offsets[i] = int64(i % 100)
	}
	for i := range groups {
		b.group(collect.GroupFacts{Name: fmt.Sprintf("group-%05d", i), State: "Empty", ProtocolType: "consumer", Coordinator: 1, Generation: collect.Generation{Value: -1}},
			commitsOn("market-updates", offsets...))
	}
	return b.update()
}
