package document

import (
	"encoding/json"
	"io"

	"github.com/klagtop/klagtop/collect"
)

// WhatIfSchema names the shape of what-if documents.
const WhatIfSchema = "klagtop/whatif/v1"

// WhatIf is a group as it is, and as assignors would have it.
type WhatIf struct {
	Schema         string          `json:"schema"`
	Cluster        Cluster         `json:"cluster"`
	TakenAt        string          `json:"taken_at"`
	Complete       bool            `json:"complete"`
	Group          string          `json:"group"`
	Type           string          `json:"type"`
	State          string          `json:"state"`
	Stale          bool            `json:"stale"` // now is what was so before a rebalance that is under way
	Change         WhatIfChange    `json:"change"`
	RatesSeconds   *float64        `json:"rates_seconds"` // over which rates were measured
	Now            Plan            `json:"now"`
	Plans          []Plan          `json:"plans"`
	Recommendation *Recommendation `json:"recommendation"`
	Notes          []string        `json:"notes"`
}

// WhatIfChange is what was asked for. Assignor is empty for every one that applies.
type WhatIfChange struct {
	Assignor   string                      `json:"assignor"`
	Added      []MemberRef                 `json:"added"`
	Removed    []MemberRef                 `json:"removed"`
	Partitions map[string]PartitionsChange `json:"partitions"` // topics whose count changes
}

// PartitionsChange is a topic's partition count now and then.
type PartitionsChange struct {
	From int32 `json:"from"`
	To   int32 `json:"to"`
}

// Recommendation is the assignor to use, and why.
type Recommendation struct {
	Assignor string `json:"assignor"`
	Protocol string `json:"protocol"`
	Reason   string `json:"reason"`
}

// Plan is what one assignor would do. Of Now, whatever counts a movement is null.
type Plan struct {
	Assignor   string           `json:"assignor"`
	Protocol   string           `json:"protocol"` // classic: a member deals; consumer: the broker does
	Own        bool             `json:"own"`      // the group's present assignor
	Exact      bool             `json:"exact"`    // the owners are promised, not only balance and movement
	Style      string           `json:"style"`
	Rounds     *int             `json:"rounds"`  // null where there are none, as with KIP-848
	Stopped    *int64           `json:"stopped"` // partitions that nobody reads meanwhile
	Partitions *PartitionCounts `json:"partitions"`
	Assignment PlanAssignment   `json:"assignment"`
	Members    []PlanMember     `json:"members"`
	Moves      []Move           `json:"moves"`
	Notes      []string         `json:"notes"`
}

// PlanAssignment is what a plan comes to.
type PlanAssignment struct {
	Members    *int64      `json:"members"`
	Idle       *int64      `json:"idle"`
	Assigned   *int64      `json:"assigned"`
	Unassigned *int64      `json:"unassigned"`
	Fewest     *int64      `json:"fewest"` // partitions of the member with fewest
	Most       *int64      `json:"most"`
	Skew       PlanSkew    `json:"skew"`
	Colocation *Colocation `json:"colocation"`
}

// PlanSkew is max / mean over members: by partitions, and by what is produced on them.
type PlanSkew struct {
	Partitions *float64 `json:"partitions"`
	Rate       *float64 `json:"rate"`
}

// PlanMember is one member's share.
type PlanMember struct {
	MemberRef
	New        bool               `json:"new"`
	Partitions int                `json:"partitions"`
	Rate       *float64           `json:"rate"`
	Assigned   map[string][]int32 `json:"assigned"`
	Taken      map[string][]int32 `json:"taken"`
	GivenUp    map[string][]int32 `json:"given_up"`
}

// EncodeWhatIf writes one what-if document as one line that ends in a newline. s
// is the look that g is of, and seconds over what time its rates were measured,
// NaN where they were not. The only error is one of w's.
func EncodeWhatIf(w io.Writer, s *collect.Snapshot, g *collect.Group, what *collect.WhatIf, seconds float64) error {
	doc := WhatIf{
		Schema: WhatIfSchema, Cluster: cluster(&s.Cluster), TakenAt: timestamp(s.TakenAt), Complete: s.Complete,
		Group: Text(g.Name), Type: string(g.Type), State: Text(g.State), Stale: what.Stale,
		Change:       WhatIfChange{Added: memberRefs(what.Added), Removed: memberRefs(what.Removed), Partitions: map[string]PartitionsChange{}},
		RatesSeconds: float(seconds), Now: plan(&what.Now), Plans: make([]Plan, len(what.Plans)), Notes: texts(what.Notes),
	}
	for _, t := range what.Topics {
		if t.Now != t.Then {
			doc.Change.Partitions[Text(t.Name)] = PartitionsChange{From: t.Now, To: t.Then}
		}
	}
	for i := range what.Plans {
		doc.Plans[i] = plan(&what.Plans[i])
	}
	if len(what.Plans) == 1 {
		doc.Change.Assignor = what.Plans[0].Assignor
	}
	if a := what.Advice; a.Assignor != "" {
		doc.Recommendation = &Recommendation{Assignor: a.Assignor, Protocol: string(a.Protocol), Reason: Text(a.Reason)}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}

func plan(p *collect.Plan) Plan {
	a := &p.Assignment
	out := Plan{
		Assignor: Text(p.Assignor), Protocol: string(p.Protocol), Own: p.Own, Exact: p.Exact, Style: string(p.Style), Stopped: count(p.Stopped),
		Assignment: PlanAssignment{
			Members: count(a.Members), Idle: count(a.Idle), Assigned: count(a.Assigned), Unassigned: count(a.Unassigned),
			Fewest: count(p.Fewest), Most: count(p.Most), Skew: PlanSkew{Partitions: float(a.SkewPartitions), Rate: float(a.SkewRate)},
		},
		Members: make([]PlanMember, len(p.Members)), Moves: moves(p.Moves), Notes: texts(p.Notes),
	}
	if a.Copartitioned >= 0 {
		out.Assignment.Colocation = &Colocation{Colocated: a.Colocated, Total: a.Copartitioned}
	}
	if p.Rounds > 0 {
		out.Rounds = &p.Rounds
	}
	if p.Moved >= 0 {
		out.Partitions = &PartitionCounts{Moved: p.Moved, Gained: p.Gained, Lost: p.Lost, Kept: p.Kept}
	}
	for i := range p.Members {
		m := &p.Members[i]
		out.Members[i] = PlanMember{
			MemberRef: memberRefs([]collect.MemberRef{m.MemberRef})[0], New: m.New, Partitions: m.Partitions(), Rate: float(m.Rate),
			Assigned: partitionsByTopic(m.Assigned), Taken: partitionsByTopic(m.Taken), GivenUp: partitionsByTopic(m.GivenUp),
		}
	}
	return out
}
