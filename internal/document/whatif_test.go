package document

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/klagtop/klagtop/collect"
)

// What a plan does not know is null, and every key is there.
func TestWhatIfDocument(t *testing.T) {
	s := &collect.Snapshot{Cluster: collect.Cluster{Name: "default", Controller: -1}, TakenAt: noon, Complete: true}
	g := &collect.Group{Name: "bad\xff", Type: collect.TypeClassic, State: collect.StateStable}
	unknown := collect.Plan{
		Protocol: collect.TypeClassic, Own: true, Style: collect.StyleUnknown, Stopped: collect.Unknown, Moved: collect.Unknown, Fewest: collect.Unknown, Most: collect.Unknown,
		Assignment: collect.Assignment{Members: 1, Idle: collect.Unknown, Assigned: collect.Unknown, Unassigned: collect.Unknown, SkewPartitions: math.NaN(), SkewRate: math.NaN(), Colocated: collect.Unknown, Copartitioned: collect.Unknown},
		Members:    []collect.PlannedMember{{MemberRef: collect.MemberRef{MemberID: "a"}, Rate: math.NaN()}},
	}
	known := collect.Plan{
		Assignor: "sticky", Protocol: collect.TypeClassic, Style: collect.StyleEager, Rounds: 1, Stopped: 2, Moved: 1, Kept: 1, Fewest: 1, Most: 1,
		Assignment: collect.Assignment{Members: 2, Assigned: 2, SkewPartitions: 1, SkewRate: 1.5, Colocated: 0, Copartitioned: 1},
		Members: []collect.PlannedMember{{
			MemberRef: collect.MemberRef{MemberID: "a"}, New: true, Rate: 3, Assigned: []collect.TopicPartitions{{Topic: "t", Partitions: []int32{0}}},
			Taken: []collect.TopicPartitions{{Topic: "t", Partitions: []int32{0}}},
		}},
		Moves: []collect.Move{{Topic: "t", Partition: 0, From: "b", To: "a"}},
	}
	what := &collect.WhatIf{
		Now: unknown, Plans: []collect.Plan{known, known}, Topics: []collect.PlannedTopic{{Name: "t", Now: 1, Then: 2}, {Name: "u", Now: 1, Then: 1}},
		Advice: collect.Advice{Assignor: "sticky", Protocol: collect.TypeClassic, Reason: "It is <calm>."},
	}
	var b bytes.Buffer
	if err := EncodeWhatIf(&b, s, g, what, math.NaN()); err != nil {
		t.Fatal(err)
	}
	line := b.String()
	for _, want := range []string{
		`{"schema":"klagtop/whatif/v1","cluster":{"name":"default"`, `"taken_at":"2026-03-01T12:00:00.000000250Z","complete":true,"group":"bad\\xff"`,
		`"change":{"assignor":"","added":[],"removed":[],"partitions":{"t":{"from":1,"to":2}}},"rates_seconds":null`,
		`"now":{"assignor":"","protocol":"classic","own":true,"exact":false,"style":"unknown","rounds":null,"stopped":null,"partitions":null,"assignment":{"members":1,"idle":null,"assigned":null,"unassigned":null,"fewest":null,"most":null,"skew":{"partitions":null,"rate":null},"colocation":null},"members":[{"member_id":"a","client_id":"","host":"","instance_id":"","new":false,"partitions":0,"rate":null,"assigned":{},"taken":{},"given_up":{}}],"moves":[],"notes":[]}`,
		`"rounds":1,"stopped":2,"partitions":{"moved":1,"gained":0,"lost":0,"kept":1}`, `"colocation":{"colocated":0,"total":1}`, `"new":true,"partitions":1,"rate":3,"assigned":{"t":[0]},"taken":{"t":[0]},"given_up":{}`,
		`"moves":[{"topic":"t","partition":0,"from":"b","to":"a"}]`, `"recommendation":{"assignor":"sticky","protocol":"classic","reason":"It is <calm>."},"notes":[]}` + "\n",
	} {
		if !strings.Contains(line, want) {
			t.Errorf("no %s in\n%s", want, line)
		}
	}
	var doc WhatIf
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil || doc.Plans[1].Assignor != "sticky" {
		t.Errorf("%v: %+v", err, doc)
	}
	b.Reset()
	what.Advice, what.Plans = collect.Advice{}, what.Plans[:1]
	if err := EncodeWhatIf(&b, s, g, what, 1); err != nil || !strings.Contains(b.String(), `"recommendation":null`) || !strings.Contains(b.String(), `"change":{"assignor":"sticky"`) || !strings.Contains(b.String(), `"rates_seconds":1,`) {
		t.Errorf("%v: %s", err, b.String())
	}
}
