package collect

import (
	"math"
	"time"
)

// Status is where a row's committed offset lies against its log.
type Status uint8

// The rows of the lag table.
const (
	StatusUnknown  Status = iota // log end, log start or commit could not be read
	StatusOK                     // log start <= commit <= log end: lag is end - commit
	StatusNoCommit               // no commit: lag is what the log still holds, end - start
	StatusLost                   // commit < log start: lag is end - start, the rest is lost
	StatusAhead                  // commit > log end: lag 0; topic recreated, truncated, or commit set by hand
)

var statusNames = [...]string{"unknown", "ok", "no_commit", "lost", "ahead"}

// String is the status as documents spell it.
func (s Status) String() string { return statusNames[s] }

// ParseStatus is the inverse of String.
func ParseStatus(w string) (Status, bool) {
	for i, n := range statusNames {
		if n == w {
			return Status(i), true
		}
	}
	return StatusUnknown, false
}

// lagged is a row's lag and nothing else: what totals are made of.
type lagged struct {
	lag     int64 // Unknown if not known
	lost    int64
	ahead   int64
	status  Status
	stale   bool
	reason  Reason // why unknown or stale
	started bool   // the group has a commit here
}

// lagAt applies the lag table to row i.
//
// The order in which the three offsets were read matters: start, commit, end.
// An end older than the commit would call a healthy row ahead, a start newer
// than the commit would call a purge that followed the commit a loss.
func (gt *GroupTopic) lagAt(i int) lagged {
	t, p, c := gt.Topic, i, gt.Committed[i]
	if gt.Parts != nil {
		p = int(gt.Parts[i])
	}
	// nearly every row: read as a whole, and within its log
	if p < len(t.LogEnd) && t.Reason == ReasonNone && gt.stale == ReasonNone && t.EndReason == nil && gt.CommitReason == nil {
		if s, e := t.LogStart[p], t.LogEnd[p]; s >= 0 && s <= c && c <= e {
			return lagged{lag: e - c, status: StatusOK, started: true}
		}
	}
	return gt.lagOf(p, i, c)
}

// lagOf is the lag table with all its cases.
func (gt *GroupTopic) lagOf(p, i int, c int64) lagged {
	t := gt.Topic
	r := lagged{lag: Unknown, started: c >= 0}
	if t.Reason != ReasonNone && !t.Reason.Passing() {
		r.reason = t.Reason
		return r
	}
	if p >= len(t.LogEnd) {
		switch {
		case t.Reason != ReasonNone:
			r.reason = t.Reason
		case gt.stale != ReasonNone: // kept beside a topic that has grown since
			r.reason = gt.stale
		default:
			r.reason = ReasonTopicMissing
		}
		return r
	}
	r.reason = gt.commitReason(i)
	if r.reason == ReasonNone {
		if r.reason = t.endReason(p); r.reason == ReasonNone {
			r.reason = t.Reason
		}
	}
	s, e := t.LogStart[p], t.LogEnd[p]
	if e < 0 || c == Unknown || s < 0 {
		if r.reason == ReasonNone {
			if r.reason = t.startReason(p); r.reason == ReasonNone {
				r.reason = ReasonTimeout
			}
		}
		return r
	}
	if r.reason == ReasonNone && (c == NoCommit || c < s) { // counted from the log start
		r.reason = t.startReason(p)
	}
	r.stale = r.reason != ReasonNone
	switch {
	case c == NoCommit:
		r.status, r.lag = StatusNoCommit, max(0, e-s)
	case c > e:
		r.status, r.lag, r.ahead = StatusAhead, 0, c-e
	case c < s:
		r.status, r.lag, r.lost = StatusLost, max(0, e-s), s-c
	default:
		r.status, r.lag = StatusOK, e-c
	}
	return r
}

func (gt *GroupTopic) commitReason(i int) Reason {
	if gt.stale != ReasonNone {
		return gt.stale
	}
	return reasonAt(gt.CommitReason, i)
}

// stableLag is the lag below the last stable offset: what a read_committed
// consumer could read now. Unknown where lag is positive and the last stable
// offset was not asked for.
func (gt *GroupTopic) stableLag(i int, l lagged) int64 {
	if l.lag <= 0 {
		return l.lag
	}
	p := int(gt.Partition(i))
	lso := gt.Topic.LastStable[p]
	if lso < 0 {
		return Unknown
	}
	return min(l.lag, max(0, lso-gt.position(i, p)))
}

// position is the offset of the first record the group has yet to read and
// still can: its commit, or the log start where that is later or there is none.
func (gt *GroupTopic) position(i, p int) int64 {
	return max(gt.Committed[i], gt.Topic.LogStart[p])
}

// Lag is the lag of row i in records, Unknown if not known: what Row says of
// it, without the rest.
func (gt *GroupTopic) Lag(i int) int64 { return gt.lagAt(i).lag }

// Age is the time lag of row i, as Row gives it.
func (gt *GroupTopic) Age(i int) Age { return gt.age(i, gt.lagAt(i)) }

// A Row is one partition of a group with everything known of it.
type Row struct {
	Topic     string
	Partition int32

	LogStart, LogEnd, LastStable int64 // Unknown if not read
	Committed                    int64 // NoCommit or Unknown
	CommitEpoch                  int32 // -1 if not told
	Lag, LagStable               int64 // records; Unknown if not known
	Status                       Status
	Stale                        bool
	Reason                       Reason // why unknown or stale
	Lost, Ahead                  int64  // records

	Age                Age
	Headroom           float64 // seconds; NaN if not known
	Produced, Consumed float64 // records per second; NaN if not known
	ProgressAt         time.Time
	AsOf               time.Time // zero if never read
	Owner              int32     // index into Group.Members, -1 without one
	Owners             []int32   // all of them, where there are several
	Leader             int32     // broker id, -1 without one
	Orphaned           bool
}

// Row works out row i.
func (gt *GroupTopic) Row(i int) Row {
	t, p := gt.Topic, int(gt.Partition(i))
	l := gt.lagAt(i)
	r := Row{
		Topic: t.Name, Partition: int32(p),
		LogStart: Unknown, LogEnd: Unknown, LastStable: Unknown, LagStable: Unknown,
		Committed: gt.Committed[i], CommitEpoch: gt.CommitEpoch[i],
		Lag: l.lag, Status: l.status, Stale: l.stale, Reason: l.reason, Lost: l.lost, Ahead: l.ahead,
		Headroom: math.NaN(), Produced: math.NaN(), Consumed: math.NaN(),
		Owner: gt.Owner[i], Owners: gt.MoreOwners[i], Leader: -1, Orphaned: gt.Orphaned,
	}
	if p < len(t.LogEnd) && (t.Reason == ReasonNone || t.Reason.Passing()) {
		r.LogStart, r.LogEnd, r.LastStable, r.Leader = t.LogStart[p], t.LogEnd[p], t.LastStable[p], t.Leader[p]
		if t.EndAt[p] > 0 && gt.commitsAt > 0 {
			r.AsOf = time.Unix(0, min(t.EndAt[p], gt.commitsAt))
		}
		r.Produced = gt.produced(p)
		if l.lag >= 0 {
			r.LagStable = gt.stableLag(i, l)
		}
	}
	if gt.Consumed != nil {
		r.Consumed = float64(gt.Consumed[i])
	}
	if gt.ProgressAt != nil && gt.ProgressAt[i] > 0 {
		r.ProgressAt = time.Unix(0, gt.ProgressAt[i])
	}
	r.Age = gt.age(i, l)
	return r
}

// produced is what is appended to a partition, in records per second; NaN if
// not known. The rate of an earlier poll is none of this one.
func (gt *GroupTopic) produced(p int) float64 {
	if gt.apart || p >= len(gt.Topic.Produced) {
		return math.NaN()
	}
	return float64(gt.Topic.Produced[p])
}

// age is the time lag of row i: 0 where there is no lag, else the age of the
// first unread record as far as it is known.
func (gt *GroupTopic) age(i int, l lagged) Age {
	switch {
	case l.lag == 0:
		return Age{Method: MethodExact}
	case l.lag > 0 && gt.Ages != nil:
		return gt.Ages[i]
	case l.lag > 0 && gt.ages != nil:
		return gt.ages[i].age()
	case l.lag < 0:
		return unknownAge(SecondsReason(l.reason.String()))
	}
	return unknownAge("")
}
