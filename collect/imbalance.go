package collect

import "math"

// Thresholds of Imbalance, as ratios of a member's share to the mean share.
const (
	unevenLag   = 1.5  // max / mean of lag below it is not worth a cause
	unevenShare = 1.25 // a share this much above the mean explains a lag
	keepingUp   = 0.95 // consumed / produced of members that keep up
	falling     = 0.9  // of one that does not
)

// ImbalanceCause says what an uneven lag comes from.
type ImbalanceCause string

// The causes. They differ in what would help: another assignor, other keys or
// more partitions, or that one member.
const (
	ImbalanceNone     ImbalanceCause = ""         // the lag is shared evenly, or there is none
	ImbalanceAssignor ImbalanceCause = "assignor" // the member owns more partitions than its share
	ImbalanceKeys     ImbalanceCause = "keys"     // as many as others, but more is produced on them
	ImbalanceMember   ImbalanceCause = "member"   // as many, as much, and it reads slower than others
	ImbalanceUnknown  ImbalanceCause = "unknown"  // uneven, and nothing measured explains it
)

// An Imbalance is the member with most of a group's lag, and why it has it.
// Shares are of the group's whole: 0 to 1; NaN if not known.
type Imbalance struct {
	Cause      ImbalanceCause
	Member     int // index into Group.Members; -1 where Cause is ImbalanceNone
	Lag        float64
	Partitions float64
	Produced   float64 // of the records that are produced on the group's partitions
}

// Imbalance tells which of the three skews explains an uneven lag. It looks at
// the member with the largest lag, if that is unevenLag times the mean or more:
// the first of partitions, produced records per partition and consumed records
// that is out of proportion is the cause, in this order, since each of them
// brings the next along. A member that owns no more than the partitions divided
// by the members, rounded up, has its share: two partitions make two of four
// members busy. Where what would decide was not measured, or some member's
// assignment cannot be read, the cause is unknown. Not judged for share groups,
// whose members take what they can.
func (g *Group) Imbalance() Imbalance {
	none := Imbalance{Member: -1, Lag: math.NaN(), Partitions: math.NaN(), Produced: math.NaN()}
	if !(g.Assignment.SkewLag >= unevenLag) || len(g.Members) < 2 || g.Type == TypeShare || g.AssignmentStale {
		return none
	}
	w := g.workloads()
	most := 0
	for i := range w {
		if w[i].lag > w[most].lag {
			most = i
		}
	}
	all := workload{}
	for i := range w {
		all = all.plus(w[i])
	}
	m := w[most]
	im := Imbalance{
		Member: most, Cause: ImbalanceUnknown,
		Lag: m.lag / all.lag, Partitions: m.partitions / all.partitions, Produced: share(m.produced, all.produced),
	}
	members := float64(len(w))
	rest := workload{partitions: all.partitions - m.partitions, produced: all.produced - m.produced, consumed: all.consumed - m.consumed}
	switch perPartition := im.Produced / im.Partitions; {
	case g.undecoded():
	case im.Partitions*members >= unevenShare && m.partitions > math.Ceil(all.partitions/members):
		im.Cause = ImbalanceAssignor
	case perPartition >= unevenShare:
		im.Cause = ImbalanceKeys
	case m.consumed < falling*m.produced && rest.consumed >= keepingUp*rest.produced:
		im.Cause = ImbalanceMember
	}
	return im
}

func share(part, whole float64) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return part / whole
}

// workload is what lies on one member: NaN rates where one of a row's is not
// known, since the rest of them is no measure of the whole.
type workload struct{ partitions, lag, produced, consumed float64 }

func (w workload) plus(o workload) workload {
	return workload{w.partitions + o.partitions, w.lag + o.lag, w.produced + o.produced, w.consumed + o.consumed}
}

func (g *Group) workloads() []workload {
	out := make([]workload, len(g.Members))
	for _, gt := range g.Topics {
		for i := range gt.Committed {
			w := workload{partitions: 1, lag: max(0, float64(gt.Lag(i))), produced: gt.produced(int(gt.Partition(i))), consumed: math.NaN()}
			if gt.Consumed != nil {
				w.consumed = float64(gt.Consumed[i])
			}
			for _, o := range gt.owners(i) {
				out[o] = out[o].plus(w)
			}
		}
	}
	return out
}
