package report

import (
	"bytes"
	"testing"

	"github.com/klagtop/klagtop/collect"
)

// What a thread keeps copies for is told apart from what it owns, and a topic
// that is missing is named.
func TestStreamsGroup(t *testing.T) {
	b := collect.NewBuilder(nil, collect.BuildOptions{ClusterName: "default"})
	b.Reached()
	b.AddTopic(collect.TopicMeta{Name: "orders", Leaders: []int32{1, 1}})
	b.TopicUnread("rates\x1b[2J", collect.ReasonTopicMissing)
	thread := func(id string, s collect.StreamsMember, active ...int32) collect.Member {
		return collect.Member{ID: id, ClientID: id + "-StreamThread-1", Epoch: 5, Decode: collect.DecodeOK, Assigned: tp("orders", active...), Target: tp("orders", active...), HasTarget: true, Streams: &s, Subscribed: []string{"orders"}}
	}
	b.AddGroup(collect.GroupFacts{
		Name: "shop", Type: collect.TypeStreams, State: "NotReady", ProtocolType: "streams", Coordinator: 1, Described: true, At: noon, MembersKnown: true,
		Topology: &collect.Topology{Subtopologies: []collect.Subtopology{{ID: "0", Sources: []string{"orders", "rates\x1b[2J"}}}},
		Members: []collect.Member{
			thread("m1", collect.StreamsMember{ProcessID: "p1", Standby: tp("orders", 1)}, 0),
			thread("m2", collect.StreamsMember{ProcessID: "p2", Standby: tp("orders", 0), Warmup: tp("orders", 0, 1)}, 1),
		},
	})
	b.AddCommits("shop", noon, []collect.TopicCommits{commitsOn("orders", 60, 100)})
	b.Layout()
	for _, n := range b.Needs() {
		for _, p := range n.Partitions {
			b.SetStart(n.Topic, p, 0, noon)
			b.SetEnd(n.Topic, p, 100, 0, noon)
		}
	}
	s := b.Finish(noon, 0)
	golden(t, "streams-members", func(b *bytes.Buffer) error { return Members(b, s.Groups, Options{}) })
	golden(t, "streams-members-wide", func(b *bytes.Buffer) error { return Members(b, s.Groups, Options{Wide: true}) })
	golden(t, "streams-members-csv", func(b *bytes.Buffer) error { return MembersCSV(b, s.Groups, Options{}) })
}
