package assign

import (
	"strings"
	"testing"

	"github.com/klagtop/klagtop/collect"
)

func TestRecommendations(t *testing.T) {
	pods := func(b *bed, n int, owned ...string) *bed {
		for i := range n {
			o := ""
			if i < len(owned) {
				o = owned[i]
			}
			b.member(string(rune('a'+i))+"-1", "", o)
		}
		return b
	}
	for _, c := range []struct {
		reason string
		bed    *bed
		change collect.Change
		want   string
		says   []string
		never  string
	}{
		{
			"one topic: nothing but movement and pause decides", pods(classic(rangeName, "t:6"), 3, "t:0,1", "t:2,3", "t:4,5"), members("-a"), cooperative,
			[]string{"One topic", "alike", "3 partitions a member", "Cooperative-sticky moves 2 (range 3)", "only what moves stops", "eager"},
			"joined",
		},
		{
			"one topic under KIP-848", pods(server(rangeName, "t:6"), 3, "t:0,1", "t:2,3", "t:4,5"),
			collect.Change{},
			uniform,
			[]string{"One topic", "2 partitions a member", "as always under this protocol"},
			"eager",
		},
		{
			"what it has already", pods(classic(cooperative, "t:6"), 2, "t:0,1,2", "t:3,4,5"),
			collect.Change{},
			cooperative,
			[]string{"It is what the group has."},
			"idle",
		},
		{
			"two topics made for each other, apart today", pods(classic(roundRobin, "a:6 b:6"), 4, "a:0,4 b:2", "a:1,5 b:3", "a:2 b:0,4", "a:3 b:1,5"),
			collect.Change{},
			rangeName,
			[]string{"The 2 topics have equal partition counts", "range puts 6 of 6", "(now 0 of 6)", "The price is balance: 2 to 4 partitions a member, where cooperative-sticky gives 3 partitions a member", "all 12 partitions stop", "If nothing is joined, take cooperative-sticky"},
			"has.",
		},
		{
			"the same at no price", pods(classic(sticky, "a:6 b:6"), 2, "a:0,1,2,3,4,5", "b:0,1,2,3,4,5"),
			collect.Change{},
			rangeName,
			[]string{"at no price in balance: 6 partitions a member", "(now 0 of 6)"},
			"price is",
		},
		{
			"the same with KafkaJS, which has no range", pods(classic(kafkaJS, "a:6 b:6"), 4, "a:0,4 b:2", "a:1,5 b:3", "a:2 b:0,4", "a:3 b:1,5"),
			collect.Change{},
			byIndex,
			[]string{"dealing by index (copartition) puts 6 of 6", "(now 0 of 6)", "where RoundRobinAssigner gives 3 partitions a member"},
			"cooperative",
		},
		{
			"the same under KIP-848", pods(server(uniform, "a:3 b:3"), 2, "a:0,1,2", "b:0,1,2"),
			collect.Change{},
			rangeName,
			[]string{"range puts 3 of 3", "(now 0 of 3)", "2 to 4 partitions a member, where uniform gives 3", "take uniform"},
			"eager",
		},
		{
			"many topics: range adds its unevenness up", pods(classic(rangeName, "a:4 b:4 c:4 d:4 e:4 f:4"), 3, "a:0,1 b:0 c:0,1 d:0,1 e:0,1 f:0,1", "a:2 b:1,2 c:2 d:2 e:2 f:2", "a:3 b:3 c:3 d:3 e:3 f:3"),
			collect.Change{},
			cooperative,
			[]string{"Range begins each of the 6 topics with the same members, 6 to 12 partitions a member", "cooperative-sticky gives 8 partitions a member", "Where the application joins topics by key, range is the one: 4 of 4"},
			"has.",
		},
		{
			"many topics, all co-located today: it may rely on that", pods(classic(rangeName, "a:4 b:4 c:4 d:4"), 2, "a:0,1 b:0,1 c:0,1 d:0,1", "a:2,3 b:2,3 c:2,3 d:2,3"), members("+1"), rangeName,
			[]string{"range puts 4 of 4", "(now 4 of 4)", "4 to 8 partitions a member"},
			"sticky moves",
		},
		{
			"topics without a pair", pods(classic(rangeName, "a:3 b:5 c:7"), 2, "a:0,1 b:0,1,2 c:0,1,2,3", "a:2 b:3,4 c:4,5,6"),
			collect.Change{},
			cooperative,
			[]string{"Range begins each of the 3 topics", "6 to 9 partitions a member", "cooperative-sticky gives 7 to 8"},
			"joins",
		},
		{
			"topics without a pair, KafkaJS", pods(classic(kafkaJS, "a:3 b:5"), 2), collect.Change{}, kafkaJS, []string{"RoundRobinAssigner deals 4 partitions a member", "eager"}, "range",
		},
		{
			"different subscriptions", classic(rangeName, "a:2 b:1 c:2").member("x", "a b c", "").member("y", "a c", "").member("z", "c", ""),
			collect.Change{},
			cooperative,
			[]string{"subscribe to different topics", "weighs them all together"},
			"begins",
		},
		{
			"a topic's partitions are the ceiling of range", pods(classic(rangeName, "a:2 b:2"), 2, "a:0 b:0", "a:1 b:1"), members("+1"), rangeName,
			[]string{"1 member of 3 stays idle: it gives no more members work than the largest topic has partitions, 2", "The price is balance: 0 to 2"},
			"any assignor",
		},
		{
			"one member", pods(classic(rangeName, "a:6 b:6"), 1, "a:0,1,2,3,4,5 b:0,1,2,3,4,5"),
			collect.Change{},
			cooperative,
			[]string{"One member gets everything"},
			"joined",
		},
		{
			"a group that is empty", classic("", "t:6"), members("2"), cooperative, []string{"keeps what members have"}, "moves 0",
		},
		{
			"a partition that no assignor can divide", pods(classic(cooperative, "t:3"), 3, "t:0", "t:1", "t:2").rates("t", 10, 190, 0),
			collect.Change{},
			cooperative,
			[]string{"t/1 alone gets 95 % of the records: no assignor divides a partition"},
			"idle",
		},
		{
			"slow topics measured for a moment say nothing", pods(classic(cooperative, "t:3"), 3, "t:0", "t:1", "t:2").rates("t", 0, 2, 0), collect.Change{}, cooperative, nil, "alone",
		},
		{
			"nor do rates that are not all known", pods(classic(cooperative, "t:3"), 3, "t:0", "t:1", "t:2").rates("t", 0, 2000), collect.Change{}, cooperative, nil, "alone",
		},
	} {
		w := c.bed.what(t, c.change)
		a := w.Advice
		if a.Assignor != c.want || a.Protocol != c.bed.group.Type {
			t.Errorf("%s: %s of %s, want %s: %s", c.reason, a.Assignor, a.Protocol, c.want, a.Reason)
		}
		for _, s := range c.says {
			if !strings.Contains(a.Reason, s) {
				t.Errorf("%s: %q has no %q", c.reason, a.Reason, s)
			}
		}
		if strings.Contains(a.Reason, c.never) {
			t.Errorf("%s: %q speaks of %q", c.reason, a.Reason, c.never)
		}
	}
}
