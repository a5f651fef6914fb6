package collect

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
	if p < len(t.LogEnd) && t.Reason == ReasonNone && gt.stale == ReasonNone && t.EndReason == nil && gt.CommitReason == nil && gt.Reported == nil {
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
	if t.Reason.final() {
		r.reason = t.Reason
		return r
	}
	if p >= len(t.LogEnd) {
		switch {
		case t.Reason != ReasonNone:
			r.reason = t.Reason
		case gt.stale != ReasonNone: // kept beside a topic that has grown since
			r.reason = gt.stale
		case gt.apart: // likewise, without need
			r.reason = ReasonTimeout
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
	if e < 0 || c == Unknown || s < 0 || gt.Reported != nil && gt.Reported[i] < 0 {
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
	case gt.Reported != nil:
		gt.shareLag(&r, i, c, s, e)
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
	if gt.Reported != nil {
		return gt.shareStable(i, p, l.lag, lso)
	}
	return min(l.lag, max(0, lso-gt.position(i, p)))
}

// position is the offset of the first record the group has yet to read and
// still can: its commit, or the log start where that is later or there is none.
func (gt *GroupTopic) position(i, p int) int64 {
	return max(gt.Committed[i], gt.Topic.LogStart[p], gt.floor(i))
}
