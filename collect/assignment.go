package collect

import (
	"math"
	"slices"
)

// Assignment is who owns what, counted. Every count is Unknown where the
// members could not be read.
type Assignment struct {
	Members    int64
	Idle       int64
	Assigned   int64 // partitions with an owner
	Unassigned int64 // rows without one, orphaned ones aside; Unknown for standalone committers too
	Pending    int64 // unassigned rows that some member's target holds
	Orphaned   int64 // rows on topics that no member subscribes to
	Conflicts  int64 // partitions with two owners; never counted for share groups

	// Skew is max / mean over all members; NaN at mean 0, without members, or
	// where one's share is not known.
	SkewPartitions, SkewLag, SkewRate float64

	// Colocated of Copartitioned partition indexes of topics with equal
	// partition counts have one owner on every topic; both Unknown where the
	// question makes no sense.
	Colocated, Copartitioned int64
}

func unknownAssignment() Assignment {
	return Assignment{
		Members: Unknown, Idle: Unknown, Assigned: Unknown, Unassigned: Unknown, Pending: Unknown, Orphaned: Unknown, Conflicts: Unknown,
		SkewPartitions: math.NaN(), SkewLag: math.NaN(), SkewRate: math.NaN(), Colocated: Unknown, Copartitioned: Unknown,
	}
}

// assignment counts a group's members and owners; lags are the members'.
func (g *Group) assignment(lags []float64) Assignment {
	a := unknownAssignment()
	if !g.MembersKnown {
		return a
	}
	a.Members, a.Idle, a.Assigned, a.Conflicts = int64(len(g.Members)), 0, 0, 0
	counts := make([]float64, len(g.Members))
	for i := range g.Members {
		m := &g.Members[i]
		if m.Idle() && !g.AssignmentStale {
			a.Idle++
		}
		counts[i] = float64(m.Partitions())
	}
	a.Orphaned, a.Unassigned, a.Pending = 0, 0, 0
	var targets map[topicPartition]bool
	for _, gt := range g.Topics {
		if gt.Orphaned {
			a.Orphaned += int64(gt.Rows())
			continue
		}
		if g.Type != TypeShare {
			a.Conflicts += int64(len(gt.MoreOwners))
		}
		for i, o := range gt.Owner {
			if o >= 0 {
				a.Assigned++
				continue
			}
			a.Unassigned++
			if targets == nil {
				targets = g.targets()
			}
			if targets[topicPartition{gt.Topic.Name, gt.Partition(i)}] {
				a.Pending++
			}
		}
	}
	g.countRowless(&a)
	if g.ProtocolType == "" && g.Type == TypeClassic {
		a.Unassigned = Unknown
	}
	if g.hidesOwners() {
		a.Assigned, a.Unassigned, a.Pending, a.Idle = Unknown, Unknown, Unknown, Unknown
		return a
	}
	if g.conceals() {
		return a
	}
	a.SkewPartitions = skew(counts)
	a.SkewLag = skew(lags)
	a.Colocated, a.Copartitioned = g.colocation()
	return a
}

// countRowless counts what members own on topics without rows: a topic filter
// removes rows, and leaves the assignment whole.
func (g *Group) countRowless(a *Assignment) {
	var first map[topicPartition]int
	shared := map[topicPartition]bool{}
	for i := range g.Members {
		for _, tp := range g.Members[i].Assigned {
			if _, ok := g.Topic(tp.Topic); ok {
				continue
			}
			if first == nil {
				first = map[topicPartition]int{}
			}
			for _, p := range tp.Partitions {
				at := topicPartition{tp.Topic, p}
				if o, owned := first[at]; !owned {
					first[at] = i
				} else if o != i {
					shared[at] = true
				}
			}
		}
	}
	a.Assigned += int64(len(first))
	if g.Type != TypeShare {
		a.Conflicts += int64(len(shared))
	}
}

// hidesOwners reports whether nothing is known of who owns what: brokers hide
// assignments during a rebalance, and none was seen before it.
func (g *Group) hidesOwners() bool {
	if !g.AssignmentStale || len(g.Members) == 0 {
		return false
	}
	for i := range g.Members {
		if len(g.Members[i].Assigned) > 0 || g.Members[i].HasTarget {
			return false
		}
	}
	return true
}

// conceals reports whether rows without an owner may have one: what some member
// owns cannot be read.
func (g *Group) conceals() bool {
	if !g.undecoded() {
		return false
	}
	for _, gt := range g.Topics {
		if !gt.Orphaned && slices.Contains(gt.Owner, -1) {
			return true
		}
	}
	return false
}

// undecoded reports whether what some member owns cannot be read.
func (g *Group) undecoded() bool {
	for i := range g.Members {
		if d := g.Members[i].Decode; d != DecodeOK && d != DecodeEmpty {
			return true
		}
	}
	return false
}

type topicPartition struct {
	topic     string
	partition int32
}

func (g *Group) targets() map[topicPartition]bool {
	out := map[topicPartition]bool{}
	for i := range g.Members {
		for _, tp := range g.Members[i].Target {
			for _, p := range tp.Partitions {
				out[topicPartition{tp.Topic, p}] = true
			}
		}
	}
	return out
}

// rateSkew is skew by consume rate, NaN while a member with partitions has
// none that is known, or may have partitions that cannot be seen.
func (g *Group) rateSkew(rates []float64) float64 {
	if g.conceals() {
		return math.NaN()
	}
	for i, r := range rates {
		if math.IsNaN(r) {
			if g.Members[i].Partitions() > 0 {
				return math.NaN()
			}
			rates[i] = 0
		}
	}
	return skew(rates)
}

// skew is max / mean: 1 is even, len(v) is all on one. NaN at mean 0, and where
// one is NaN.
func skew(v []float64) float64 {
	var sum, most float64
	for _, x := range v {
		sum += x
		most = max(most, x)
	}
	if sum == 0 {
		return math.NaN()
	}
	return most / (sum / float64(len(v)))
}
