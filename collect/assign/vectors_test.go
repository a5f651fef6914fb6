package assign

import (
	"slices"
	"testing"

	"github.com/klagtop/klagtop/collect"
)

// What Kafka's own tests hold its assignors to (Apache Kafka 4.0:
// RangeAssignorTest, RoundRobinAssignorTest, AbstractStickyAssignorTest of the
// clients, RangeAssignorTest and OptimizedUniformAssignmentBuilderTest of the
// group coordinator), without racks.

func TestRangeAsKafkaTestsIt(t *testing.T) {
	for reason, c := range map[string]struct {
		bed  *bed
		want map[string]string
	}{
		"one consumer, one topic":   {classic(rangeName, "topic1:3").member("consumer1", "", ""), map[string]string{"consumer1": "topic1:0,1,2"}},
		"a topic nobody wants":      {classic(rangeName, "other:3 topic1:3").member("consumer1", "topic1", ""), map[string]string{"consumer1": "topic1:0,1,2"}},
		"a topic that is not there": {classic(rangeName, "topic1:3").member("consumer1", "topic1 nowhere", ""), map[string]string{"consumer1": "topic1:0,1,2"}},
		"one consumer, two topics":  {classic(rangeName, "topic1:1 topic2:2").member("consumer1", "", ""), map[string]string{"consumer1": "topic1:0 topic2:0,1"}},
		"more consumers than partitions": {
			classic(rangeName, "topic1:1").member("consumer1", "", "").member("consumer2", "", ""), map[string]string{"consumer1": "topic1:0", "consumer2": ""},
		},
		"a partition each": {
			classic(rangeName, "topic1:2").member("consumer1", "", "").member("consumer2", "", ""), map[string]string{"consumer1": "topic1:0", "consumer2": "topic1:1"},
		},
		"mixed subscriptions": {
			classic(rangeName, "topic1:3 topic2:2").member("consumer1", "topic1", "").member("consumer2", "topic1 topic2", "").member("consumer3", "topic1", ""),
			map[string]string{"consumer1": "topic1:0", "consumer2": "topic1:1 topic2:0,1", "consumer3": "topic1:2"},
		},
		"two topics of three: 4 and 2": {
			classic(rangeName, "topic1:3 topic2:3").member("consumer1", "", "").member("consumer2", "", ""),
			map[string]string{"consumer1": "topic1:0,1 topic2:0,1", "consumer2": "topic1:2 topic2:2"},
		},
		"instance ids decide, not member ids": {
			classic(rangeName, "topic1:3 topic2:3").member("consumer-b@instance1", "", "").member("consumer-a@instance2", "", ""),
			map[string]string{"consumer-b": "topic1:0,1 topic2:0,1", "consumer-a": "topic1:2 topic2:2"},
		},
		"static members come first": {
			classic(rangeName, "topic1:3 topic2:3").member("consumer-b@instance1", "", "").member("consumer-a", "", ""),
			map[string]string{"consumer-b": "topic1:0,1 topic2:0,1", "consumer-a": "topic1:2 topic2:2"},
		},
		"three static members and a dynamic one": {
			classic(rangeName, "topic1:5 topic2:4").member("consumer1@instance1", "", "").member("consumer2@instance2", "", "").member("consumer3@instance3", "", "").member("consumer4", "", ""),
			map[string]string{"consumer1": "topic1:0,1 topic2:0", "consumer2": "topic1:2 topic2:1", "consumer3": "topic1:3 topic2:2", "consumer4": "topic1:4 topic2:3"},
		},
		"static members under new member ids": {
			classic(rangeName, "topic1:5 topic2:5").member("consumer1@instance1", "", "").member("consumer5@instance2", "", "").member("consumer4@instance3", "", ""),
			map[string]string{"consumer1": "topic1:0,1 topic2:0,1", "consumer5": "topic1:2,3 topic2:2,3", "consumer4": "topic1:4 topic2:4"},
		},
		"three topics of 6, 7 and 2": {
			classic(rangeName, "t1:6 t2:7 t3:2").member("c1", "", "").member("c2", "", "").member("c3", "", ""),
			map[string]string{"c1": "t1:0,1 t2:0,1,2 t3:0", "c2": "t1:2,3 t2:3,4 t3:1", "c3": "t1:4,5 t2:5,6"},
		},
		"the same, and one that leaves t2 out": {
			classic(rangeName, "t1:6 t2:7 t3:2").member("c1", "", "").member("c2", "", "").member("c3", "t1 t3", ""),
			map[string]string{"c1": "t1:0,1 t2:0,1,2,3 t3:0", "c2": "t1:2,3 t2:4,5,6 t3:1", "c3": "t1:4,5"},
		},
		"two pairs of topics, two pairs of consumers": {
			classic(rangeName, "t1:6 t2:6 t3:2 t4:2").member("c1", "t1 t2", "").member("c2", "t1 t2", "").member("c3", "t3 t4", "").member("c4", "t3 t4", ""),
			map[string]string{"c1": "t1:0,1,2 t2:0,1,2", "c2": "t1:3,4,5 t2:3,4,5", "c3": "t3:0 t4:0", "c4": "t3:1 t4:1"},
		},
		"three pairs of topics": {
			classic(rangeName, "t1:6 t2:6 t3:2 t4:2 t5:4 t6:4").member("c1", "", "").member("c2", "", "").member("c3", "", ""),
			map[string]string{"c1": "t1:0,1 t2:0,1 t3:0 t4:0 t5:0,1 t6:0,1", "c2": "t1:2,3 t2:2,3 t3:1 t4:1 t5:2 t6:2", "c3": "t1:4,5 t2:4,5 t5:3 t6:3"},
		},
		"the broker's: two topics of 3 and 2": {
			server(rangeName, "topic1:3 topic3:2").member("A", "", "").member("B", "", ""),
			map[string]string{"A": "topic1:0,1 topic3:0", "B": "topic1:2 topic3:1"},
		},
		"the broker's: different subscriptions": {
			server(rangeName, "topic1:3 topic2:3 topic3:2").member("A", "topic1 topic2", "").member("B", "topic3", "").member("C", "topic2 topic3", ""),
			map[string]string{"A": "topic1:0,1,2 topic2:0,1", "B": "topic3:0", "C": "topic2:2 topic3:1"},
		},
		"the broker's: more members than partitions of a topic": {
			server(rangeName, "topic1:3 topic3:2").member("A", "", "").member("B", "", "").member("C", "", ""),
			map[string]string{"A": "topic1:0 topic3:0", "B": "topic1:1 topic3:1", "C": "topic1:2"},
		},
		"the broker's: a member comes too many": {
			server(rangeName, "topic1:2 topic2:2").member("A", "", "topic1:0 topic2:0").member("B", "", "topic1:1 topic2:1").member("C", "", ""),
			map[string]string{"A": "topic1:0 topic2:0", "B": "topic1:1 topic2:1", "C": ""},
		},
		"the broker's: a partition is added to both topics": {
			server(rangeName, "topic1:4 topic2:4").member("A", "", "topic1:0,1 topic2:0,1").member("B", "", "topic1:2 topic2:2"),
			map[string]string{"A": "topic1:0,1 topic2:0,1", "B": "topic1:2,3 topic2:2,3"},
		},
		"the broker's: it is not sticky": {
			server(rangeName, "topic1:3 topic2:3").member("A", "", "topic1:0,1 topic2:0,1").member("B", "", "topic1:2 topic2:2").member("C", "", ""),
			map[string]string{"A": "topic1:0 topic2:0", "B": "topic1:1 topic2:1", "C": "topic1:2 topic2:2"},
		},
		"the broker's: a partition and a member that wants one topic": {
			server(rangeName, "topic1:4 topic2:3").member("A", "", "topic1:0,1 topic2:0,1").member("B", "", "topic1:2 topic2:2").member("C", "topic1", ""),
			map[string]string{"A": "topic1:0,1 topic2:0,1", "B": "topic1:2 topic2:2", "C": "topic1:3"},
		},
		"the broker's: static members keep theirs under new ids": {
			server(rangeName, "topic1:5").member("A1@instanceA", "", "").member("B", "", "").member("C@instanceC", "", ""),
			map[string]string{"A1": "topic1:0,1", "B": "topic1:4", "C": "topic1:2,3"},
		},
	} {
		t.Run(reason, func(t *testing.T) {
			p := c.bed.plan(t, rangeName)
			wantShares(t, p, c.want)
			if p.Protocol != c.bed.group.Type || !p.Exact || !p.Own {
				t.Errorf("protocol %s, exact %v, own %v", p.Protocol, p.Exact, p.Own)
			}
		})
	}
}

func TestRoundRobinAsKafkaTestsIt(t *testing.T) {
	for reason, c := range map[string]struct {
		bed  *bed
		want map[string]string
	}{
		"one consumer, one topic": {classic(roundRobin, "topic:3").member("consumer", "", ""), map[string]string{"consumer": "topic:0,1,2"}},
		"a topic nobody wants":    {classic(roundRobin, "other:3 topic:3").member("consumer", "topic", ""), map[string]string{"consumer": "topic:0,1,2"}},
		"one partition, two consumers": {
			classic(roundRobin, "topic:1").member("consumer1", "", "").member("consumer2", "", ""), map[string]string{"consumer1": "topic:0", "consumer2": ""},
		},
		"mixed subscriptions": {
			classic(roundRobin, "topic1:3 topic2:2").member("consumer1", "topic1", "").member("consumer2", "topic1 topic2", "").member("consumer3", "topic1", ""),
			map[string]string{"consumer1": "topic1:0", "consumer2": "topic1:1 topic2:0,1", "consumer3": "topic1:2"},
		},
		"two topics of three: 3 and 3": {
			classic(roundRobin, "topic1:3 topic2:3").member("consumer1", "", "").member("consumer2", "", ""),
			map[string]string{"consumer1": "topic1:0,2 topic2:1", "consumer2": "topic1:1 topic2:0,2"},
		},
		"instance ids decide": {
			classic(roundRobin, "topic1:3 topic2:3").member("consumer-b@instance1", "", "").member("consumer-a@instance2", "", ""),
			map[string]string{"consumer-b": "topic1:0,2 topic2:1", "consumer-a": "topic1:1 topic2:0,2"},
		},
		"static members come first": {
			classic(roundRobin, "topic1:3 topic2:3").member("consumer-b@instance1", "", "").member("consumer-a", "", ""),
			map[string]string{"consumer-b": "topic1:0,2 topic2:1", "consumer-a": "topic1:1 topic2:0,2"},
		},
		"three static members and a dynamic one": {
			classic(roundRobin, "topic1:3 topic2:3").member("consumer1@instance1", "", "").member("consumer2@instance2", "", "").member("consumer3@instance3", "", "").member("consumer5", "", ""),
			map[string]string{"consumer1": "topic1:0 topic2:1", "consumer2": "topic1:1 topic2:2", "consumer3": "topic1:2", "consumer5": "topic2:0"},
		},
		"static members under new member ids": {
			classic(roundRobin, "topic1:5 topic2:5").member("consumer1@instance1", "", "").member("consumer5@instance2", "", "").member("consumer4@instance3", "", ""),
			map[string]string{"consumer1": "topic1:0,3 topic2:1,4", "consumer5": "topic1:1,4 topic2:2", "consumer4": "topic1:2 topic2:0,3"},
		},
		"the scenario it is poor at": {
			classic(roundRobin, "topic1:2 topic2:1 topic3:2 topic4:1 topic5:2").member("consumer1", "", "").member("consumer2", "topic1 topic3 topic5", "").member("consumer3", "topic1 topic3 topic5", "").member("consumer4", "", ""),
			map[string]string{"consumer1": "topic1:0 topic3:0 topic5:0", "consumer2": "topic1:1 topic3:1 topic5:1", "consumer3": "", "consumer4": "topic2:0 topic4:0"},
		},
	} {
		t.Run(reason, func(t *testing.T) {
			p := c.bed.plan(t, roundRobin)
			wantShares(t, p, c.want)
			if !p.Exact {
				t.Error("not exact")
			}
		})
	}
}

// The sticky family is held to balance and to what it must not move.
func TestStickyAsKafkaTestsIt(t *testing.T) {
	for reason, c := range map[string]struct {
		bed   *bed
		sizes []int
		moved int64
		// rounds of the cooperative one
		rounds int
	}{
		"one consumer, two topics":             {classic(sticky, "topic1:1 topic2:2").member("consumer1", "", ""), []int{3}, 0, 1},
		"one partition, two consumers":         {classic(sticky, "topic:1").member("consumer1", "", "").member("consumer2", "", ""), []int{1, 0}, 0, 1},
		"two topics of three":                  {classic(sticky, "topic1:3 topic2:3").member("consumer1", "", "").member("consumer2", "", ""), []int{3, 3}, 0, 1},
		"mixed subscriptions":                  {classic(sticky, "topic1:3 topic2:2").member("consumer1", "topic1", "").member("consumer2", "", "").member("consumer3", "topic1", ""), []int{2, 2, 1}, 0, 1},
		"the scenario round robin is poor at":  {classic(sticky, "topic1:2 topic2:1 topic3:2 topic4:1 topic5:2").member("consumer1", "", "").member("consumer2", "topic1 topic3 topic5", "").member("consumer3", "topic1 topic3 topic5", "").member("consumer4", "", ""), []int{2, 2, 2, 2}, 0, 1},
		"who owned the least gets the rest":    {classic(sticky, "topic1:2 topic2:3").member("consumer1", "", "topic1:0 topic2:1").member("consumer2", "", "topic1:1 topic2:2"), []int{3, 2}, 0, 1},
		"two own the most that three may":      {classic(sticky, "topic1:2 topic2:2").member("consumer1", "", "topic1:0 topic2:0").member("consumer2", "", "topic1:1 topic2:1").member("consumer3", "", ""), []int{2, 1, 1}, 1, 2},
		"all own less than they shall":         {classic(sticky, "topic1:2 topic2:3").member("consumer1", "", "topic1:0").member("consumer2", "", "topic1:1").member("consumer3", "", ""), []int{2, 2, 1}, 0, 1},
		"a consumer joins":                     {classic(sticky, "topic:3").member("consumer1", "", "topic:0,1,2").member("consumer2", "", ""), []int{2, 1}, 1, 2},
		"two consumers join, two topics":       {classic(sticky, "topic1:3 topic2:4").member("consumer1", "", "topic1:0,2 topic2:1,3").member("consumer2", "", "topic1:1 topic2:0,2").member("consumer3", "", "").member("consumer4", "", ""), []int{2, 2, 2, 1}, 3, 2},
		"two consumers are gone: theirs only":  {classic(sticky, "topic1:3 topic2:4").member("consumer3", "", "topic1:2 topic2:3").member("consumer4", "", "topic2:2"), []int{4, 3}, 0, 1},
		"a topic is added":                     {classic(sticky, "topic1:3 topic2:3").member("consumer1", "", "topic1:0,1").member("consumer2", "", "topic1:2"), []int{3, 3}, 0, 1},
		"what nobody wants any more is let go": {classic(sticky, "topic1:2").member("consumer1", "", "topic1:0,1 gone:0,1"), []int{2}, 0, 1},
	} {
		t.Run(reason, func(t *testing.T) {
			for _, name := range []string{sticky, cooperative} {
				w := c.bed.what(t, collect.Change{Assignor: name})
				p := &w.Plans[0]
				whole(t, c.bed, w, p)
				if !slices.Equal(sizes(p), c.sizes) || p.Moved != c.moved || p.Exact {
					t.Errorf("%s: %v, %d moved, exact %v; want %v, %d", name, shares(p), p.Moved, p.Exact, c.sizes, c.moved)
				}
				if name == cooperative && p.Rounds != c.rounds || name == sticky && p.Rounds != 1 {
					t.Errorf("%s: %d rounds, want %d", name, p.Rounds, c.rounds)
				}
			}
		})
	}
}

func TestUniformAsKafkaTestsIt(t *testing.T) {
	for reason, c := range map[string]struct {
		bed   *bed
		sizes []int
		moved int64
		kept  map[string]string // what is certain of it; Kafka's tests go through topics in an order of theirs
	}{
		"two topics of 3 and 2":        {server(uniform, "topic1:3 topic3:2").member("A", "", "").member("B", "", ""), []int{3, 2}, 0, nil},
		"more members than partitions": {server(uniform, "topic3:2").member("A", "", "").member("B", "", "").member("C", "", ""), []int{1, 1, 0}, 0, nil},
		"an assignment that is uneven": {
			server(uniform, "topic1:3 topic2:3").member("A", "", "topic1:0,1 topic2:0,1").member("B", "", "topic1:2 topic2:2"),
			[]int{3, 3},
			1,
			map[string]string{"A": "topic1:0,1 topic2:0", "B": "topic1:2 topic2:1,2"},
		},
		"partitions are added": {
			server(uniform, "topic1:6 topic2:5").member("A", "", "topic1:0,2 topic2:0").member("B", "", "topic1:1 topic2:1,2"), []int{6, 5}, 0, nil,
		},
		"a member joins": {
			server(uniform, "topic1:3 topic2:3").member("A", "", "topic1:0,2 topic2:0").member("B", "", "topic1:1 topic2:1,2").member("C", "", ""),
			[]int{2, 2, 2},
			2,
			map[string]string{"A": "topic1:0,2", "B": "topic1:1 topic2:1", "C": "topic2:0,2"},
		},
		"a member leaves": {
			server(uniform, "topic1:3 topic2:3").member("A", "", "topic1:0 topic2:0").member("B", "", "topic1:1 topic2:1"), []int{3, 3}, 0, nil,
		},
		"two topics, two members: whole topics": {
			server(uniform, "ta:3 tb:3").member("A", "", "").member("B", "", ""),
			[]int{3, 3},
			0,
			map[string]string{"A": "ta:0,1,2", "B": "tb:0,1,2"},
		},
	} {
		t.Run(reason, func(t *testing.T) {
			w := c.bed.what(t, collect.Change{Assignor: uniform})
			p := &w.Plans[0]
			whole(t, c.bed, w, p)
			if !slices.Equal(sizes(p), c.sizes) || p.Moved != c.moved || p.Exact || p.Rounds != 0 || p.Style != collect.StyleReconcile || p.Stopped != c.moved {
				t.Errorf("%v, %+v", shares(p), p)
			}
			if c.kept != nil {
				wantShares(t, p, c.kept)
			}
		})
	}
}

// KafkaJS deals over all topics in turn; by index is what joins ask for. The
// numbers are those of the experiment that klagtop was made for.
func TestWhatIsNotKafkas(t *testing.T) {
	pods := func(assignor string) *bed {
		b := classic(assignor, "market-updates:6 notifications:6")
		for _, id := range []string{"pod1-u", "pod2-u", "pod3-u", "pod4-u"} {
			b.member(id, "", "")
		}
		return b
	}
	p := pods(kafkaJS).plan(t, kafkaJS)
	wantShares(t, p, map[string]string{
		"pod1-u": "market-updates:0,4 notifications:2", "pod2-u": "market-updates:1,5 notifications:3",
		"pod3-u": "market-updates:2 notifications:0,4", "pod4-u": "market-updates:3 notifications:1,5",
	})
	if a := p.Assignment; a.Colocated != 0 || a.Copartitioned != 6 || p.Exact {
		t.Errorf("co-located %d of %d, exact %v though the order of topics is not known", a.Colocated, a.Copartitioned, p.Exact)
	}
	// where the present assignment proves the order of topics, it is exact
	b := pods(kafkaJS).as(p)
	if w := b.what(t, collect.Change{Assignor: kafkaJS, Members: collect.MembersChange{Leave: []string{"pod2"}}}); !w.Plans[0].Exact || w.Plans[0].Style != collect.StyleEager || w.Plans[0].Stopped != 12 {
		t.Errorf("%+v", w.Plans[0])
	}
	p = pods("CoPartitionAssigner").plan(t, byIndex)
	wantShares(t, p, map[string]string{
		"pod1-u": "market-updates:0,4 notifications:0,4", "pod2-u": "market-updates:1,5 notifications:1,5",
		"pod3-u": "market-updates:2 notifications:2", "pod4-u": "market-updates:3 notifications:3",
	})
	if a := p.Assignment; a.Colocated != 6 || a.Copartitioned != 6 || p.Own {
		t.Errorf("co-located %d of %d, own %v though nothing was dealt by it yet", a.Colocated, a.Copartitioned, p.Own)
	}
	if p := pods("CoPartitionAssigner").as(p).plan(t, byIndex); !p.Own || !p.Exact || p.Moved != 0 {
		t.Errorf("a hand-written assignor that dealt by index is not known by it: %+v", p)
	}
	if p := pods("join-by-key").as(p).plan(t, byIndex); !p.Own {
		t.Error("a hand-written assignor is not known by what it did")
	}
	pair := classic("own", "t:2").member("A", "", "t:0").member("B", "", "t:1")
	if w := pair.what(t, collect.Change{}); slices.ContainsFunc(w.Plans, func(p collect.Plan) bool { return p.Own }) {
		t.Error("what any assignor does is taken for proof of one")
	}
	for _, c := range []struct {
		assignor  string
		colocated int64
		sizes     []int
	}{{rangeName, 3, []int{4, 2}}, {uniform, 0, []int{3, 3}}} {
		p := server(uniform, "ta:3 tb:3").member("A", "", "").member("B", "", "").plan(t, c.assignor)
		if p.Assignment.Colocated != c.colocated || p.Assignment.Copartitioned != 3 || !slices.Equal(sizes(p), c.sizes) {
			t.Errorf("the broker's %s: %v, %d of %d", c.assignor, shares(p), p.Assignment.Colocated, p.Assignment.Copartitioned)
		}
	}
}
