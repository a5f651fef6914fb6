package report

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/klagtop/klagtop/collect"
)

var update = flag.Bool("update", false, "write the golden files anew")

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// golden compares with, or with -update writes, a file of testdata.
func golden(t *testing.T, name string, write func(*bytes.Buffer) error) {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, b.Bytes(), want)
	}
}

func tp(topic string, p ...int32) []collect.TopicPartitions {
	return []collect.TopicPartitions{{Topic: topic, Partitions: p}}
}

func commitsOn(topic string, offsets ...int64) collect.TopicCommits {
	c := collect.TopicCommits{Topic: topic, Offsets: offsets}
	for p := range offsets {
		c.Partitions, c.Epochs = append(c.Partitions, int32(p)), append(c.Epochs, 0)
	}
	return c
}

// cluster has a healthy group, one with every status, one that may not be seen,
// one without a commit, and one with names that attack a terminal.
func cluster(t testing.TB) *collect.Snapshot {
	t.Helper()
	b := collect.NewBuilder(nil, collect.BuildOptions{ClusterName: "default", StaleAfter: time.Minute})
	b.Reached()
	b.SetCluster(collect.Cluster{ID: "abc", Controller: 1, Brokers: []collect.Broker{{ID: 1, Host: "broker-1", Port: 9092}, {ID: 2, Host: "::1", Port: 9092}}})
	b.AddTopic(collect.TopicMeta{Name: "market-updates", Leaders: []int32{1, 2, 1, 2, -1}})
	b.AddTopic(collect.TopicMeta{Name: "notifications", Leaders: []int32{1, 2}})
	none := collect.Generation{Value: collect.Unknown}
	add := func(f collect.GroupFacts, commits ...collect.TopicCommits) {
		f.At, f.Described, f.MembersKnown = noon, true, true
		if f.Type == "" {
			f.Type = collect.TypeClassic
		}
		b.AddGroup(f)
		b.AddCommits(f.Name, noon, commits)
	}
	member := func(id, client string, topic string, p ...int32) collect.Member {
		return collect.Member{ID: id, ClientID: client, Host: "10.0.0.1", Epoch: -1, Decode: collect.DecodeOK, Assigned: tp(topic, p...), Subscribed: []string{topic}, FirstSeenAt: noon}
	}
	idle := collect.Member{ID: "pod-3-c", ClientID: "pod-3", Host: "10.0.0.3", InstanceID: "pod-3", Rack: "a", Epoch: -1, Decode: collect.DecodeEmpty, Subscribed: []string{"market-updates"}}
	strange := collect.Member{ID: "pod-4-d", ClientID: "pod-4", Host: "10.0.0.4", Epoch: 7, Decode: collect.DecodeUndecodable, HasTarget: true, Target: tp("market-updates", 4), Subscribed: []string{"market-updates"}}
	add(collect.GroupFacts{
		Name: "ticker", State: "Stable", ProtocolType: "consumer", Assignor: "range", Coordinator: 1,
		Generation: collect.Generation{Value: 3, Source: collect.SourceMemberMetadata},
		Members:    []collect.Member{member("pod-1-a", "pod-1", "market-updates", 0, 1), member("pod-2-b", "pod-2", "market-updates", 1, 2), idle, strange},
	}, commitsOn("market-updates", 60, 200, 5, -1, 10), commitsOn("gone", 3))
	add(collect.GroupFacts{
		Name: "alerts", Type: collect.TypeConsumer, State: "Stable", ProtocolType: "consumer", Assignor: "uniform", Coordinator: 2,
		Generation: collect.Generation{Value: 12, Exact: true, Source: collect.SourceEpoch},
		Members:    []collect.Member{member("m1", "市場", "notifications", 0), member("m2", "pod-9", "notifications", 1)},
	}, commitsOn("notifications", 100, 99))
	add(collect.GroupFacts{Name: "fresh", State: "Empty", ProtocolType: "consumer", Coordinator: -1, Generation: none}, commitsOn("notifications", 20, -1))
	evil := member("\x1b]0;x\x07", "\u202eevil\nclient\x00", "notifications", 0)
	add(collect.GroupFacts{Name: "a\x1b[2J\xff\u0085", State: "Sta\x1bble", ProtocolType: "consumer", Assignor: "\x1b[31m", Coordinator: 1, Generation: none, Members: []collect.Member{evil}})
	add(collect.GroupFacts{Name: "", State: "Empty", Coordinator: 1, Generation: none}, commitsOn("notifications", 100))
	b.AddGroup(collect.GroupFacts{Name: "hidden", Type: collect.TypeClassic, State: "Stable", Coordinator: 1, Generation: none, Reason: collect.ReasonDenied})
	b.CommitsUnread("hidden", collect.ReasonDenied)

	b.Layout()
	for _, n := range b.Needs() {
		for _, p := range n.Partitions {
			if n.Topic.Name == "market-updates" && p == 4 {
				b.EndUnread(n.Topic, p, collect.ReasonNoLeader)
				continue
			}
			b.SetStart(n.Topic, p, 10, noon)
			b.SetEnd(n.Topic, p, 100, 0, noon)
			b.SetStable(n.Topic, p, 90)
		}
	}
	s := b.Finish(noon.Add(time.Second), time.Second)
	g := group(t, s, "alerts")
	g.Topics[0].Ages = []collect.Age{{}, {Seconds: 3.24, Error: 0.5, Method: collect.MethodInterpolated}}
	g.Topics[0].Consumed = []float32{0, 12.5}
	g.Topics[0].Topic.Produced = []float32{100, 0.02}
	g.Lag.Age, g.Produced, g.Consumed = g.Topics[0].Ages[1], 100.02, 12.5
	g = group(t, s, "ticker")
	g.Lag.Age = collect.Age{Seconds: 7500, Method: collect.MethodAtLeast}
	return s
}

func group(t testing.TB, s *collect.Snapshot, name string) *collect.Group {
	t.Helper()
	g, ok := s.Group(name)
	if !ok {
		t.Fatalf("no group %q", name)
	}
	return g
}

var nan = math.NaN()
