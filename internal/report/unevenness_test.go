package report

import (
	"testing"

	"github.com/klagtop/klagtop/collect"
)

// What a group's work looks like, and what a person is told of it.
func TestUnevenness(t *testing.T) {
	pod := func(name string, owned ...collect.TopicPartitions) collect.Member {
		return collect.Member{ID: name + "-uuid", ClientID: name, Epoch: -1, Decode: collect.DecodeOK, Assigned: owned, Subscribed: []string{"market-updates", "notifications"}}
	}
	on := func(topic string, ps ...int32) collect.TopicPartitions {
		return collect.TopicPartitions{Topic: topic, Partitions: ps}
	}
	for _, c := range []struct {
		why     string
		topics  map[string]int
		members []collect.Member
		commits []collect.TopicCommits
		want    string
	}{
		{
			"even and co-located: nothing to say",
			map[string]int{"market-updates": 2, "notifications": 2},
			[]collect.Member{pod("pod-1", on("market-updates", 0), on("notifications", 0)), pod("pod-2", on("market-updates", 1), on("notifications", 1))},
			nil, "",
		},
		{
			"two of three indexes are apart",
			map[string]int{"market-updates": 3, "notifications": 3},
			[]collect.Member{pod("pod-1", on("market-updates", 0, 1), on("notifications", 0)), pod("pod-2", on("market-updates", 2), on("notifications", 1))},
			nil, "  co-location: 1 of 3 partitions of market-updates, notifications have one owner; apart: 1, 2\n",
		},
		{
			"counts that differ",
			map[string]int{"market-updates": 6, "notifications": 8},
			[]collect.Member{pod("pod-1", on("market-updates", 0, 1, 2, 3, 4, 5), on("notifications", 0, 1, 2, 3, 4, 5, 6, 7))},
			nil, "  partition counts differ: market-updates 6, notifications 8: indexes 6 to 7 have no pair\n",
		},
		{
			"one member has most partitions and most of the lag",
			map[string]int{"market-updates": 4},
			[]collect.Member{pod("pod-1", on("market-updates", 0, 1, 2)), pod("pod-2", on("market-updates", 3))},
			nil, "  75 % of the lag sits with pod-1, which owns 75 % of the partitions: the assignor gives it more than its share\n",
		},
		{
			"one record of lag that nothing explains is not worth a line",
			map[string]int{"market-updates": 2},
			[]collect.Member{pod("pod-1", on("market-updates", 0)), pod("pod-2", on("market-updates", 1))},
			[]collect.TopicCommits{commitsOn("market-updates", 100, 99)},
			"",
		},
	} {
		t.Run(c.why, func(t *testing.T) {
			b := collect.NewBuilder(nil, collect.BuildOptions{ClusterName: "default"})
			b.Reached()
			for name, n := range c.topics {
				b.AddTopic(collect.TopicMeta{Name: name, Leaders: make([]int32, n)})
			}
			b.AddGroup(collect.GroupFacts{Name: "g", Type: collect.TypeClassic, State: "Stable", ProtocolType: "consumer", Assignor: "range", At: noon, Described: true, MembersKnown: true, Members: c.members})
			b.AddCommits("g", noon, c.commits)
			b.Layout()
			for _, n := range b.Needs() {
				for _, p := range n.Partitions {
					b.SetStart(n.Topic, p, 0, noon)
					b.SetEnd(n.Topic, p, 100, 0, noon)
				}
			}
			if got := unevenness(group(t, b.Finish(noon, 0), "g")); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
