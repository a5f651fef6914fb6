package collect

// Reason says why a number is not known, or why the one shown is an old one.
// It is one closed list, shared by rows, groups, problems and metrics.
type Reason uint8

// The reasons. Passing ones let the last number stand for a while; the others
// are answers, and what they are about is unknown at once.
const (
	ReasonNone         Reason = iota
	ReasonDenied              // this principal may not see it
	ReasonNoLeader            // no broker leads the partition now
	ReasonTopicMissing        // the topic, or this partition of it, does not exist
	ReasonBrokerDown          // the broker that would know cannot be reached
	ReasonLoading             // the coordinator is still reading its offsets
	ReasonTimeout             // no answer within the poll's deadline
	ReasonUnsupported         // the broker does not know the request, or has the feature switched off
	ReasonNotReported         // the broker answers, but gives no number
	ReasonError               // any other error; the problem's text has it
)

var reasonNames = [...]string{"", "denied", "no_leader", "topic_missing", "broker_down", "loading", "timeout", "unsupported", "not_reported", "error"}

// String is the reason as documents and labels spell it; "" for ReasonNone.
func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return "error"
}

// ParseReason is the inverse of String; ok is false for a word that is none.
func ParseReason(s string) (r Reason, ok bool) {
	for i, n := range reasonNames {
		if n == s {
			return Reason(i), true
		}
	}
	return ReasonError, false
}

// Passing reports whether the reason may be over by the next poll, so that the
// last number read stands meanwhile, marked stale.
func (r Reason) Passing() bool {
	switch r {
	case ReasonNoLeader, ReasonBrokerDown, ReasonLoading, ReasonTimeout, ReasonError:
		return true
	}
	return false
}

// final reports whether the reason forbids to show a number from before: what
// it is about is unknown at once.
func (r Reason) final() bool { return r != ReasonNone && !r.Passing() }

// Answers reports whether the reason is an answer about the object itself that
// a complete document may contain: nothing was missed.
func (r Reason) Answers() bool {
	switch r {
	case ReasonNotReported, ReasonUnsupported, ReasonTopicMissing:
		return true
	}
	return false
}
