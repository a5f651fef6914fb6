package collect

import (
	"math"
	"time"
)

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
	Truncated                    int64  // records by which the log was cut below the commit since it was made

	Open *OpenTransaction // what holds the last stable offset back for long; nil without

	Age                Age
	Headroom           float64 // seconds; NaN if not known
	Produced, Consumed float64 // records per second; NaN if not known
	ProgressAt         time.Time
	CommittedAt        time.Time // of the commit, by the broker's clock; zero if not known
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
		Headroom: gt.headroom(i, l), Produced: math.NaN(), Consumed: math.NaN(),
		Owner: gt.Owner[i], Owners: gt.MoreOwners[i], Leader: -1, Orphaned: gt.Orphaned,
	}
	if p < len(t.LogEnd) && (t.Reason == ReasonNone || t.Reason.Passing()) {
		r.LogStart, r.LogEnd, r.LastStable, r.Leader = t.LogStart[p], t.LogEnd[p], t.LastStable[p], t.Leader[p]
		if t.EndAt[p] > 0 && gt.commitsAt > 0 {
			r.AsOf = time.Unix(0, min(t.EndAt[p], gt.commitsAt))
		}
		if t.Open != nil {
			r.Open = t.OpenTransaction(r.Partition)
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
	if gt.CommittedAt != nil && gt.CommittedAt[i] > 0 {
		r.CommittedAt = time.Unix(0, gt.CommittedAt[i])
	}
	if at, ok := gt.CutAt[i]; ok {
		r.Truncated = max(0, r.Committed-at)
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
