package collect

import (
	"fmt"
	"testing"
)

// The pairs that break a co-location are named, not only counted.
func TestJoinSetsNameWhatIsApart(t *testing.T) {
	w := newWorld()
	for _, name := range []string{"market-updates", "notifications"} {
		w.topic(name, even(6, 0, 10)...)
	}
	w.topic("orders", even(2, 0, 10)...)
	w.topic("trades", even(2, 0, 10)...)
	w.topic("rates", even(3, 0, 10)...)
	w.group("g",
		member("pod-1", on("market-updates", 0, 1, 2), on("notifications", 0, 1, 3), on("orders", 0), on("trades", 0), on("rates", 0, 1, 2)),
		member("pod-2", on("market-updates", 3, 4), on("notifications", 2, 4, 5), on("orders", 1), on("trades", 1)))
	got := ""
	for _, s := range mustGroup(t, w.poll(), "g").JoinSets() {
		for _, gt := range s.Topics {
			got += gt.Topic.Name + " "
		}
		got += fmt.Sprintln(s.Partitions, "apart", s.Apart)
	}
	want := "orders trades 2 apart []\nmarket-updates notifications 6 apart [2 3 5]\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// Of a group that is seen first in the middle of a rebalance brokers tell no
// owner: that is no proof that topics are not co-located.
func TestNoJoinSetsWhereOwnersAreHidden(t *testing.T) {
	w := newWorld()
	hidden := Member{ID: "pod-1-uuid", ClientID: "pod-1", Epoch: -1, Generation: -1, Decode: DecodeEmpty}
	g := w.group("g", hidden)
	g.facts.State = StatePreparingRebalance
	for _, name := range []string{"market-updates", "notifications"} {
		w.topic(name, even(2, 0, 10)...)
		g.commit(name, 0, 5).commit(name, 1, 5)
	}
	got := mustGroup(t, w.poll(), "g")
	if sets := got.JoinSets(); sets != nil || got.Assignment.Copartitioned != Unknown {
		t.Errorf("%d join sets, %d co-partitioned; want none and unknown", len(sets), got.Assignment.Copartitioned)
	}
}

func TestPartitionCountsThatDiffer(t *testing.T) {
	for _, c := range []struct {
		why    string
		counts map[string]int
		want   string
	}{
		{"6 and 8: two of the eight have no pair", map[string]int{"market-updates": 6, "notifications": 8}, "market-updates 6 notifications 8 "},
		{"equal", map[string]int{"market-updates": 6, "notifications": 6}, ""},
		{"a topic of one partition is broadcast, not joined", map[string]int{"market-updates": 6, "holidays": 1}, ""},
		{"two pairs that fit do not fit each other", map[string]int{"a": 2, "b": 2, "c": 4}, "a 2 b 2 c 4 "},
		{"one topic", map[string]int{"market-updates": 6}, ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := newWorld()
			var all []TopicPartitions
			for name, n := range c.counts {
				w.topic(name, even(n, 0, 10)...)
				all = append(all, on(name, 0))
			}
			w.group("g", member("pod-1", all...))
			got := ""
			for _, gt := range mustGroup(t, w.poll(), "g").PartitionCounts() {
				got += fmt.Sprint(gt.Topic.Name, " ", gt.Rows(), " ")
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
