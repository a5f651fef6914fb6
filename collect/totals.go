package collect

import "math"

// Totals is what a group's rows add up to, with how the sums were formed.
type Totals struct {
	Records int64 // sum of known lags; Unknown when rows exist and none is known
	Max     int64 // largest known lag; Unknown likewise
	Stable  int64 // sum of lags below the last stable offset; Unknown if a row with lag lacks it

	Known    int // rows with a lag; NoCommitRows is a part of it
	Unknown  int // rows without
	NoCommit int // rows without a commit, counted from the log start
	Stale    int // rows whose numbers are kept from an earlier poll

	AssignedRecords int64 // on rows with an owner; Unknown where nothing is known of members
	OrphanedRecords int64 // on topics no member subscribes to any more
	NoCommitRecords int64
	LostRecords     int64

	Complete bool // neither stale nor unknown rows, the commits were read, and nothing is denied

	Age      Age     // of the worst judged row
	Headroom float64 // seconds, the smallest of the judged rows; NaN if not known
}

// totals adds the group's rows up. A group whose commits were never read and
// that has no rows is not at 0: nothing is known of it. The lags are added to
// loads by owner; NaN of who owns a row without one.
func (g *Group) totals(loads []float64) Totals {
	t := Totals{Complete: true, Headroom: math.NaN()}
	committed, worst := g.committed(), worstAge{}
	for _, gt := range g.Topics {
		for i := range gt.Committed {
			l := gt.lagAt(i)
			t.add(gt, i, l)
			if gt.judged(i, committed) {
				worst.add(gt, i, l)
			}
			if o := gt.Owner[i]; o >= 0 && l.lag != 0 {
				load := float64(l.lag)
				if l.lag < 0 {
					load = math.NaN()
				}
				if gt.MoreOwners == nil {
					loads[o] += load
					continue
				}
				for _, o := range gt.owners(i) {
					loads[o] += load
				}
			}
		}
	}
	// A group may be denied over a topic that some member has: nobody says which
	// rows it lacks then.
	veiled := g.veiled() || g.Reason == ReasonDenied
	if t.Known == 0 && (t.Unknown > 0 || g.CommitsReason != ReasonNone || veiled) {
		t.Records, t.Max, t.Stable = Unknown, Unknown, Unknown
	}
	if t.Unknown > 0 || t.Stale > 0 || g.CommitsReason != ReasonNone || veiled {
		t.Complete = false
	}
	if !g.MembersKnown {
		t.AssignedRecords = Unknown
	}
	t.Age, t.Headroom = worst.age(g, t.Known), g.headroom(committed)
	return t
}

// veiled reports whether the group has no rows only because brokers hide what
// its members subscribe to while it rebalances: a group seen first in that
// moment, without commits, has a lag that nobody knows, and not lag 0.
func (g *Group) veiled() bool {
	if len(g.Topics) > 0 || len(g.Members) == 0 || !g.Rebalancing() || !g.consumes() {
		return false
	}
	for i := range g.Members {
		if g.Members[i].Subscribed == nil && g.Members[i].Regex == "" {
			return true
		}
	}
	return false
}

// sum works out everything that is counted over the group's rows.
func (g *Group) sum() {
	loads := make([]float64, len(g.Members))
	g.Lag = g.totals(loads)
	g.Assignment = g.assignment(loads)
}

// committed reports whether the group has a commit at all.
func (g *Group) committed() bool {
	for _, gt := range g.Topics {
		for _, c := range gt.Committed {
			if c >= 0 {
				return true
			}
		}
	}
	return false
}

func (t *Totals) add(gt *GroupTopic, i int, l lagged) {
	if l.stale {
		t.Stale++
	}
	if l.lag < 0 {
		t.Unknown++
		return
	}
	t.Known++
	t.Records += l.lag
	t.Max = max(t.Max, l.lag)
	t.LostRecords += l.lost
	if l.status == StatusNoCommit {
		t.NoCommit++
		t.NoCommitRecords += l.lag
	}
	if gt.Owner[i] >= 0 {
		t.AssignedRecords += l.lag
	}
	if gt.Orphaned {
		t.OrphanedRecords += l.lag
	}
	if t.Stable >= 0 {
		if s := gt.stableLag(i, l); s >= 0 {
			t.Stable += s
		} else {
			t.Stable = Unknown
		}
	}
}

// judged reports whether findings, group seconds and drain time count row i:
// an orphaned row is nobody's work, and a row without a commit is a guess
// while others have one.
func (gt *GroupTopic) judged(i int, groupCommitted bool) bool {
	return !gt.Orphaned && (gt.Committed[i] >= 0 || !groupCommitted)
}

// TopicTotals is what a group's rows on one topic add up to.
func (gt *GroupTopic) TopicTotals() Totals {
	t := Totals{Complete: true, Headroom: math.NaN()}
	for i := range gt.Committed {
		t.add(gt, i, gt.lagAt(i))
	}
	if t.Known == 0 && t.Unknown > 0 {
		t.Records, t.Max, t.Stable = Unknown, Unknown, Unknown
	}
	t.Complete = t.Unknown == 0 && t.Stale == 0
	return t
}

// MemberTotals is what one member's rows add up to.
type MemberTotals struct {
	Lag                int64   // Unknown when none of its rows is known
	Unknown            int     // rows without a lag
	Stale              int     // rows whose numbers are kept from an earlier poll
	Produced, Consumed float64 // records per second, as those of a Group; NaN if not known
	ProgressAt         int64   // Unix nanoseconds; 0 if not seen since the member is there
}

// MemberTotals adds the rows up by owner, one element a member. A row with
// several owners counts for each.
func (g *Group) MemberTotals() []MemberTotals {
	out := make([]MemberTotals, len(g.Members))
	known, rates := make([]int, len(g.Members)), make([]rateSum, len(g.Members))
	for i := range rates {
		rates[i] = noRates()
	}
	for _, gt := range g.Topics {
		for i := range gt.Committed {
			if gt.Owner[i] < 0 {
				continue
			}
			for _, m := range gt.owners(i) {
				l := gt.lagAt(i)
				known[m] += out[m].add(l)
				rates[m].add(gt.rowRates(i, int(gt.Partition(i)), l))
				// an earlier advance was the one of who had the partition before
				if gt.ProgressAt != nil && gt.ProgressAt[i] >= g.Members[m].FirstSeenAt.UnixNano() {
					out[m].ProgressAt = max(out[m].ProgressAt, gt.ProgressAt[i])
				}
			}
		}
	}
	for i := range out {
		out[i].Produced, out[i].Consumed = rates[i].rates()
		if known[i] == 0 && (out[i].Unknown > 0 || g.hidesWork(&g.Members[i])) {
			out[i].Lag = Unknown
		}
	}
	return out
}

// hidesWork reports whether a member may own partitions that cannot be seen: it
// is not at lag 0 for that.
func (g *Group) hidesWork(m *Member) bool {
	switch m.Decode {
	case DecodeUndecodable, DecodeNotConsumer:
		return true
	}
	return g.AssignmentStale && len(m.Assigned) == 0
}

func (m *MemberTotals) add(l lagged) (known int) {
	if l.stale {
		m.Stale++
	}
	if l.lag < 0 {
		m.Unknown++
		return 0
	}
	m.Lag += l.lag
	return 1
}
