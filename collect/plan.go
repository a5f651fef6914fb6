package collect

import "fmt"

// A Planner answers what assignors would do with a group.
type Planner interface {
	// Plan works out what would become of g, as s holds it, under a change:
	// with the one assignor that c names, else with each that its members could
	// use, and a recommendation. It reads g and s, keeps neither, and is safe
	// for concurrent use. Its errors are a *ChangeError where c does not fit,
	// and a *NoPlanError where no plan can be made of such a group.
	Plan(g *Group, s *Snapshot, c Change) (*WhatIf, error)
}

// Change is a what-if: another assignor, other members, other partitions. The
// zero Change leaves everything as it is.
type Change struct {
	Assignor   string // "" for each that applies
	Members    MembersChange
	Partitions map[string]int32 // new partition counts by topic
}

// MembersChange says how a group's membership changes.
type MembersChange struct {
	// To is how many members there shall be in all; 0 asks for no number.
	To int
	// Add is how many members are added of whom nothing is known.
	Add int
	// Join are identities that are added: instance ids in a group whose
	// members are all static, else client ids.
	Join []string
	// Drop is how many members leave that nobody named: those that come last
	// in the assignors' order.
	Drop int
	// Leave are members that leave: member ids, instance ids or client ids.
	Leave []string
}

// WhatIf is a group as it is, and as it would be.
type WhatIf struct {
	Now   Plan   // as it is: the group's own assignor, no movement
	Plans []Plan // one for each assignor that was asked for

	Topics  []PlannedTopic // that are dealt out, by name
	Added   []MemberRef    // in the order of the change
	Removed []MemberRef

	// Stale is true where Now is what was so before a rebalance that is under
	// way: the plans go on from there.
	Stale bool
	Notes []string // what all plans rest on, one sentence each
	// Advice is the recommendation; its Assignor is "" where only one assignor
	// was asked for, or nothing can be said.
	Advice Advice
}

// PlannedTopic is a topic with its partition counts now and under the change.
type PlannedTopic struct {
	Name      string
	Now, Then int32
}

// Advice is which assignor to use, and why.
type Advice struct {
	Assignor string
	Protocol GroupType
	Reason   string // sentences, in the terms of the trade-off
}

// A Plan is what one assignor would do.
type Plan struct {
	Assignor string
	// Protocol is whose assignor it is: TypeClassic, where a member deals, or
	// TypeConsumer, where the broker does (KIP-848).
	Protocol GroupType
	Own      bool // it is the group's own assignor
	// Exact is true where the owners are promised. Otherwise only balance,
	// idle members and, as far as Notes does not say otherwise, movement are.
	Exact   bool
	Members []PlannedMember // by client id, then member id

	// Counts and skews are formed as those of a real group; SkewLag is NaN.
	// SkewRate is max / mean of what is produced on members' partitions.
	Assignment  Assignment
	Fewest      int64 // partitions of the member that has fewest; Unknown without members
	Most        int64
	Style       Style // how the rebalance is carried out
	Rounds      int   // join rounds until it is reached; 0 where there are none (KIP-848), or nothing is planned
	Stopped     int64 // partitions that nobody reads while it lasts; Unknown where the present owners cannot be read
	Moved, Kept int64 // has another owner, has the same; Unknown likewise
	Gained      int64 // had no owner
	Lost        int64 // has none after
	Moves       []Move
	Notes       []string // what holds for this plan only, one sentence each
}

// PlannedMember is one member's share in a plan.
type PlannedMember struct {
	MemberRef
	New      bool // not a member now; its MemberID is then a name for it
	Assigned []TopicPartitions
	// Taken are those of Assigned that it does not own now, GivenUp what it
	// owns now and would not.
	Taken, GivenUp []TopicPartitions
	Rate           float64 // records per second produced on its partitions; NaN if not known
}

// Partitions is how many partitions the member would own.
func (m *PlannedMember) Partitions() int {
	n := 0
	for _, tp := range m.Assigned {
		n += len(tp.Partitions)
	}
	return n
}

// ChangePart is a part of a Change.
type ChangePart string

// The parts.
const (
	ChangeAssignor   ChangePart = "assignor"
	ChangeMembers    ChangePart = "members"
	ChangePartitions ChangePart = "partitions"
)

// ChangeError says which part of a change cannot be, and why.
type ChangeError struct {
	Part    ChangePart
	Value   string // as it was asked for
	Problem string
	Hint    string // what there is instead
}

func (e *ChangeError) Error() string { return fmt.Sprintf("%s %q: %s", e.Part, e.Value, e.Problem) }

// NoPlanError says why nothing can be planned for a group at all.
type NoPlanError struct{ Reason, Hint string }

func (e *NoPlanError) Error() string { return e.Reason }

// Pretend counts an assignment that is not there as that of g would be counted:
// members with what they would own, on topics that are dealt out as a whole, and
// rates, one element a member, of which NaN is not known.
func (g *Group) Pretend(members []Member, topics []PlannedTopic, rates []float64) Assignment {
	p := &Group{Type: g.Type, ProtocolType: "consumer", Assignor: g.Assignor, MembersKnown: true, Members: members}
	index := make(map[string]*GroupTopic, len(topics))
	for _, t := range topics {
		gt := &GroupTopic{Topic: &Topic{Name: t.Name}, Committed: make([]int64, t.Then), Owner: make([]int32, t.Then), Subscribed: true}
		for i := range gt.Owner {
			gt.Owner[i] = -1
		}
		index[t.Name] = gt
		p.Topics = append(p.Topics, gt)
	}
	for m := range members {
		for _, tp := range members[m].Assigned {
			for _, part := range tp.Partitions {
				if gt := index[tp.Topic]; gt != nil && int(part) < gt.Rows() {
					gt.Owner[part] = int32(m)
				}
			}
		}
	}
	a := p.assignment(make([]float64, len(members)))
	a.SkewRate = p.rateSkew(rates)
	return a
}
