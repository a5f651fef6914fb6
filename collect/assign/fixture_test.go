package assign

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/klagtop/klagtop/collect"
)

// bed is a group under construction.
type bed struct {
	group    *collect.Group
	snapshot *collect.Snapshot
}

// classic is a group of the classic protocol on topics written as "t1:3 t2:2".
func classic(assignor, topics string) *bed {
	b := &bed{
		group: &collect.Group{
			Name: "ticker", Type: collect.TypeClassic, State: collect.StateStable, ProtocolType: "consumer", Assignor: assignor, MembersKnown: true,
		},
		snapshot: &collect.Snapshot{Cluster: collect.Cluster{SeesAllTopics: collect.Yes}},
	}
	for _, word := range strings.Fields(topics) {
		name, n, _ := strings.Cut(word, ":")
		b.topic(name, int(number(n)))
	}
	return b
}

// server is a group of KIP-848.
func server(assignor, topics string) *bed {
	b := classic(assignor, topics)
	b.group.Type = collect.TypeConsumer
	return b
}

func (b *bed) topic(name string, n int) {
	t := &collect.Topic{Name: name, LogEnd: make([]int64, n)}
	gt := &collect.GroupTopic{Topic: t, Committed: make([]int64, n), Owner: make([]int32, n), Subscribed: true}
	b.group.Topics = append(b.group.Topics, gt)
}

// member adds one that subscribes to topics ("" for all of the group) and owns
// partitions, as in "t1:0,2 t2:1". An id such as "b@i1" is a static member's.
func (b *bed) member(id, subscribed, owned string) *bed {
	m := collect.Member{ClientID: id, Decode: collect.DecodeEmpty, Subscribed: strings.Fields(subscribed), Generation: -1, Epoch: -1}
	m.ID, m.InstanceID, _ = strings.Cut(id, "@")
	m.ClientID, _, _ = strings.Cut(m.ID, "-")
	if subscribed == "" {
		for _, gt := range b.group.Topics {
			m.Subscribed = append(m.Subscribed, gt.Topic.Name)
		}
	}
	sort.Strings(m.Subscribed)
	m.Assigned = parse(owned)
	if m.Assigned != nil {
		m.Decode = collect.DecodeOK
	}
	if b.group.Type == collect.TypeConsumer {
		m.HasTarget, m.Target = true, m.Assigned
	}
	b.group.Members = append(b.group.Members, m)
	return b
}

// rates sets what is produced on a topic.
func (b *bed) rates(topic string, perSecond ...float32) *bed {
	gt, _ := b.group.Topic(topic)
	gt.Topic.Produced = perSecond
	return b
}

func (b *bed) what(t testing.TB, c collect.Change) *collect.WhatIf {
	t.Helper()
	w, err := Planner{}.Plan(b.group, b.snapshot, c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// plan asks for one assignor.
func (b *bed) plan(t testing.TB, assignor string) *collect.Plan {
	t.Helper()
	return &b.what(t, collect.Change{Assignor: assignor}).Plans[0]
}

// as makes a plan the present of the same group, for the next step of a story.
func (b *bed) as(p *collect.Plan) *bed {
	for i := range b.group.Members {
		m := &b.group.Members[i]
		for k := range p.Members {
			if p.Members[k].MemberID == m.ID {
				m.Assigned, m.Decode = p.Members[k].Assigned, collect.DecodeOK
				if m.HasTarget {
					m.Target = m.Assigned
				}
			}
		}
	}
	return b
}

func number(s string) (n int32) {
	if _, err := fmt.Sscan(s, &n); err != nil {
		panic(s)
	}
	return n
}

// parse reads "t1:0,2 t2:1".
func parse(s string) (tps []collect.TopicPartitions) {
	for _, word := range strings.Fields(s) {
		name, list, _ := strings.Cut(word, ":")
		tp := collect.TopicPartitions{Topic: name}
		for _, p := range strings.Split(list, ",") {
			tp.Partitions = append(tp.Partitions, number(p))
		}
		tps = append(tps, tp)
	}
	return tps
}

func spell(tps []collect.TopicPartitions) string {
	var words []string
	for _, tp := range tps {
		list := make([]string, len(tp.Partitions))
		for i, p := range tp.Partitions {
			list[i] = fmt.Sprint(p)
		}
		words = append(words, tp.Topic+":"+strings.Join(list, ","))
	}
	return strings.Join(words, " ")
}

// shares spells who gets what, by member id.
func shares(p *collect.Plan) map[string]string {
	out := map[string]string{}
	for i := range p.Members {
		out[p.Members[i].MemberID] = spell(p.Members[i].Assigned)
	}
	return out
}

func wantShares(t *testing.T, p *collect.Plan, want map[string]string) {
	t.Helper()
	got := shares(p)
	for id, w := range want {
		if got[id] != w {
			t.Errorf("%s: %s gets %q, want %q", p.Assignor, id, got[id], w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: members %v, want %v", p.Assignor, got, want)
	}
}

// sizes are how many partitions members get, most first.
func sizes(p *collect.Plan) (n []int) {
	for i := range p.Members {
		n = append(n, p.Members[i].Partitions())
	}
	slices.SortFunc(n, func(a, b int) int { return b - a })
	return n
}

// whole fails unless every partition is given to exactly one member that reads
// it, and the sums are those of the shares.
func whole(t testing.TB, b *bed, w *collect.WhatIf, p *collect.Plan) {
	t.Helper()
	owners := map[string]map[int32]string{}
	var total, idle int64
	for _, m := range p.Members {
		if m.Partitions() == 0 {
			idle++
		}
		for _, tp := range m.Assigned {
			if owners[tp.Topic] == nil {
				owners[tp.Topic] = map[int32]string{}
			}
			for _, part := range tp.Partitions {
				if o, ok := owners[tp.Topic][part]; ok {
					t.Errorf("%s: %s/%d is given to %s and to %s", p.Assignor, tp.Topic, part, o, m.MemberID)
				}
				owners[tp.Topic][part] = m.MemberID
				total++
			}
		}
	}
	for _, tp := range w.Topics {
		if n := len(owners[tp.Name]); n != 0 && n != int(tp.Then) {
			t.Errorf("%s: %d of the %d partitions of %s are given away", p.Assignor, n, tp.Then, tp.Name)
		}
		for part := range owners[tp.Name] {
			if part < 0 || part >= tp.Then {
				t.Errorf("%s: %s has no partition %d", p.Assignor, tp.Name, part)
			}
		}
	}
	if p.Assignment.Idle != idle || p.Assignment.Assigned != total || p.Moved+p.Kept+p.Gained != total && p.Moved >= 0 {
		t.Errorf("%s: %d idle, %d assigned, but %+v and moved %d, kept %d, gained %d", p.Assignor, idle, total, p.Assignment, p.Moved, p.Kept, p.Gained)
	}
	if n := int64(len(p.Moves)); p.Moved >= 0 && n != p.Moved+p.Gained+p.Lost {
		t.Errorf("%s: %d moves of %d, %d, %d", p.Assignor, n, p.Moved, p.Gained, p.Lost)
	}
}

func same(a, b float64) bool { return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) < 1e-9 }
