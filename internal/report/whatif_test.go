package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/klagtop/klagtop/collect"
)

// supposed is a group of two pods, one of which leaves as two join, and what two
// assignors make of it.
func supposed() (*collect.Group, *collect.WhatIf) {
	ref := func(id string) collect.MemberRef {
		client, _, _ := strings.Cut(id, "-")
		return collect.MemberRef{MemberID: id, ClientID: client}
	}
	joins := []collect.MemberRef{{MemberID: "new-1", ClientID: "new-1"}, {MemberID: "evil\x1b[2J", ClientID: "evil\x1b[2J"}}
	now := collect.Plan{
		Assignor: "range", Protocol: collect.TypeClassic, Own: true, Exact: true, Fewest: 2, Most: 4, Moved: collect.Unknown, Stopped: collect.Unknown,
		Assignment: collect.Assignment{Members: 2, Assigned: 6, SkewPartitions: 4.0 / 3, SkewRate: 1.5, Colocated: 3, Copartitioned: 3},
		Members: []collect.PlannedMember{
			{MemberRef: ref("pod1-a"), Assigned: []collect.TopicPartitions{{Topic: "t", Partitions: []int32{0, 1}}, {Topic: "u", Partitions: []int32{0, 1}}}, Rate: 30},
			{MemberRef: ref("pod2-b"), Assigned: []collect.TopicPartitions{{Topic: "t", Partitions: []int32{2}}, {Topic: "u", Partitions: []int32{2}}}, Rate: 10},
		},
	}
	then := collect.Plan{
		Assignor: "sticky", Protocol: collect.TypeClassic, Style: collect.StyleEager, Rounds: 1, Stopped: 6, Moved: 3, Kept: 3, Gained: 2, Fewest: 2, Most: 3,
		Assignment: collect.Assignment{Members: 3, Idle: 0, Assigned: 8, SkewPartitions: 1.125, SkewRate: math.NaN(), Colocated: collect.Unknown, Copartitioned: collect.Unknown},
		Members: []collect.PlannedMember{
			{
				MemberRef: ref("pod1-a"), Assigned: []collect.TopicPartitions{{Topic: "t", Partitions: []int32{0, 1, 4}}},
				Taken: []collect.TopicPartitions{{Topic: "t", Partitions: []int32{4}}}, GivenUp: []collect.TopicPartitions{{Topic: "u", Partitions: []int32{0, 1}}}, Rate: math.NaN(),
			},
			{MemberRef: joins[0], New: true, Assigned: []collect.TopicPartitions{{Topic: "t", Partitions: []int32{2, 3}}}, Taken: []collect.TopicPartitions{{Topic: "t", Partitions: []int32{2, 3}}}, Rate: 0},
			{MemberRef: joins[1], New: true, Rate: 0},
		},
		Notes: []string{"Shared by two.", "Of sticky alone."},
	}
	other := then
	other.Assignor, other.Protocol, other.Style, other.Rounds, other.Exact, other.Notes = "range", collect.TypeConsumer, collect.StyleReconcile, 0, true, []string{"Shared by two."}
	g := &collect.Group{Name: "ticker\n", Type: collect.TypeClassic, State: collect.StatePreparingRebalance, Assignor: "range"}
	return g, &collect.WhatIf{
		Now: now, Plans: []collect.Plan{then, other}, Stale: true, Added: joins, Removed: []collect.MemberRef{ref("pod2-b")},
		Topics: []collect.PlannedTopic{{Name: "t", Now: 3, Then: 5}, {Name: "u", Now: 3, Then: 3}},
		Notes:  []string{"What all rest on."}, Advice: collect.Advice{Assignor: "sticky", Protocol: collect.TypeClassic, Reason: "It moves least."},
	}
}

func TestWhatIf(t *testing.T) {
	g, what := supposed()
	golden(t, "whatif", func(b *bytes.Buffer) error { return WhatIf(b, g, what, 1.04) })
	what.Plans, what.Advice, what.Stale = what.Plans[:1], collect.Advice{}, false
	golden(t, "whatif-detail", func(b *bytes.Buffer) error { return WhatIf(b, g, what, math.NaN()) })
	var b bytes.Buffer
	if err := WhatIf(&b, g, what, 1); err != nil || strings.ContainsRune(b.String(), '\x1b') {
		t.Errorf("%v: %q", err, b.String())
	}
	// what is not known is ?, and nobody is nobody
	what.Now.Members, what.Plans[0].Moved, what.Plans[0].Most = nil, collect.Unknown, collect.Unknown
	b.Reset()
	if err := WhatIf(&b, g, what, math.NaN()); err != nil || strings.Contains(b.String(), "now (") || !strings.Contains(b.String(), "0 members, 6 partitions (t 3, u 3)") {
		t.Errorf("%v: %s", err, b.String())
	}
}

func TestManyThatJoinAreCounted(t *testing.T) {
	g, what := supposed()
	for i := range 40 {
		what.Added = append(what.Added, collect.MemberRef{MemberID: fmt.Sprint("new-", i)})
	}
	if head := whatIfHead(g, what); !strings.Contains(head, "and 30 more join, pod2 leaves, t has 5 partitions") {
		t.Error(head)
	}
}
