package collect

import "math"

// Age is a time lag: how long ago the first unread record was produced.
type Age struct {
	Seconds float64 // NaN if not known
	Error   float64 // bound of the error in seconds
	Method  Method
	Reason  SecondsReason // why not known
}

// Known reports whether there is a number.
func (a Age) Known() bool { return a.Method != MethodUnknown }

// rowAge is an Age as a snapshot holds a million of: small, without pointers.
type rowAge struct {
	seconds float64
	error   float32
	method  Method
	reason  uint8 // index into secondsReasons
}

// secondsReasons are what a history says of itself.
var secondsReasons = [...]SecondsReason{"", SecondsBudget, SecondsClockSkew, SecondsControlRecords, SecondsNotReported}

func compactAge(a Age) rowAge {
	r := rowAge{seconds: a.Seconds, error: float32(a.Error * 1.0000002), method: a.Method} // a bound may only grow by rounding
	if a.Method != MethodUnknown {
		return r
	}
	for i, why := range secondsReasons {
		if why == a.Reason {
			r.reason = uint8(i)
		}
	}
	return r
}

func (r rowAge) age() Age {
	if r.method == MethodUnknown {
		return unknownAge(secondsReasons[r.reason])
	}
	return Age{Seconds: r.seconds, Error: float64(r.error), Method: r.method}
}

func unknownAge(why SecondsReason) Age { return Age{Seconds: math.NaN(), Reason: why} }

// Method says how an age was found.
type Method uint8

// The methods.
const (
	MethodUnknown      Method = iota
	MethodExact               // the record's own timestamp, or nothing to read
	MethodInterpolated        // between two known points, within Error
	MethodAtLeast             // older than what was asked for so far
)

var methodNames = [...]string{"unknown", "exact", "interpolated", "at_least"}

// String is the method as documents spell it.
func (m Method) String() string { return methodNames[m] }

// SecondsReason is why seconds are not known: a Reason's word, or one of these.
type SecondsReason string

// The reasons that only seconds can have, and one they share.
const (
	SecondsControlRecords SecondsReason = "control_records" // what is unread may be transaction markers only
	SecondsClockSkew      SecondsReason = "clock_skew"      // timestamps lie in the future
	SecondsBudget         SecondsReason = "budget"          // the search has not come to it yet
	SecondsNotReported    SecondsReason = "not_reported"    // which record is the first unread one is not told
)

// worstAge finds the largest age of the judged rows. Where some judged row
// with lag has no known age, the largest known one is only a lower limit.
type worstAge struct {
	worst   Age
	missing bool          // some judged row with lag has none
	gap     SecondsReason // why
}

func (w *worstAge) add(gt *GroupTopic, i int, l lagged) {
	switch {
	case l.lag <= 0: // nothing to read, or not known what
	case gt.Ages == nil && gt.ages == nil: // nobody has dated the rows yet
		w.missing = true
	case gt.Ages == nil && gt.ages[i].method != MethodUnknown && w.worst.Known() && gt.ages[i].seconds <= w.worst.Seconds:
		// nearly every row
	default:
		w.take(gt.age(i, l))
	}
}

// take takes the age of a row with lag.
func (w *worstAge) take(a Age) {
	switch {
	case a.Known():
		if a.Seconds > w.worst.Seconds || !w.worst.Known() {
			w.worst = a
		}
	case a.Reason != SecondsControlRecords:
		w.missing, w.gap = true, a.Reason
	}
}

// merge adds rows that were added to another one.
func (w *worstAge) merge(o *worstAge) {
	if o.worst.Known() {
		w.take(o.worst)
	}
	if o.missing {
		w.missing, w.gap = true, o.gap
	}
}

// age is the group's; known is how many of its rows have a lag.
func (w *worstAge) age(g *Group, known int) Age {
	missing := w.missing || g.Reason == ReasonDenied || known == 0 && (len(g.Topics) > 0 || g.CommitsReason != ReasonNone || g.veiled())
	a := w.worst
	switch {
	case missing && a.Seconds > 0:
		a.Method = MethodAtLeast
	case missing:
		return unknownAge(w.gap)
	case a.Method == MethodUnknown: // no row has lag, those aside that may have markers only unread
		a.Method = MethodExact
	}
	return a
}
