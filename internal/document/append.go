package document

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/klagtop/klagtop/collect"
)

// Partitions are the many part of a document: a million of them through
// reflection would take longer than reading them from Kafka. What follows
// writes them as encoding/json would; a test holds the two equal.

const timeLayout = "2006-01-02T15:04:05.000000000Z07:00"

func timestamp(t time.Time) string { return t.UTC().Format(timeLayout) }

// appendString quotes s as encoding/json does without HTML escaping.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	s = Text(s)
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == '\u2028' || r == '\u2029' { // ends a line in JavaScript
				b = append(append(b, s[from:i]...), `\u202`...)
				b = append(b, hex[r&15])
				from = i + n
			}
			i += n
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\b':
			b = append(b, `\b`...)
		case '\f':
			b = append(b, `\f`...)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		from = i
	}
	return append(append(b, s[from:]...), '"')
}

// appendCount writes a number of which negative values say that it is not known.
func appendCount(b []byte, n int64) []byte {
	if n < 0 {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, n, 10)
}

// appendFloat writes a number that is null where it is not known.
func appendFloat(b []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(b, "null"...)
	}
	f = rounded(f)
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	n := len(b)
	b = strconv.AppendFloat(b, f, format, -1, 64)
	if format == 'e' {
		if k := len(b); k-n >= 4 && b[k-4] == 'e' && b[k-3] == '-' && b[k-2] == '0' { // e-09 is e-9
			b[k-2] = b[k-1]
			b = b[:k-1]
		}
	}
	return b
}

// rounded drops what lies below a millionth: rates are kept in 32 bits, whose
// further digits say nothing.
func rounded(f float64) float64 {
	if math.Abs(f) > 1e9 {
		return f
	}
	return math.Round(f*1e6)/1e6 + 0 // + 0: never -0
}

// rowEncoder writes the rows of one group-topic.
type rowEncoder struct {
	topic   []byte   // quoted
	members [][]byte // quoted ids

	// Rows of a topic mostly carry the same two times.
	asOf, progress     time.Time
	asOfText, progText []byte
}

func (e *rowEncoder) append(b []byte, r *collect.Row) []byte {
	b = append(append(b, `{"topic":`...), e.topic...)
	b = strconv.AppendInt(append(b, `,"partition":`...), int64(r.Partition), 10)
	b = appendCount(append(b, `,"log_start":`...), r.LogStart)
	b = appendCount(append(b, `,"log_end":`...), r.LogEnd)
	b = appendCount(append(b, `,"last_stable":`...), r.LastStable)
	b = appendCount(append(b, `,"committed":`...), r.Committed)
	b = appendCount(append(b, `,"leader_epoch":`...), int64(r.CommitEpoch))
	b = appendCount(append(b, `,"lag":`...), r.Lag)
	b = appendCount(append(b, `,"lag_stable":`...), r.LagStable)
	b = append(append(b, `,"status":"`...), r.Status.String()...)
	b = strconv.AppendBool(append(b, `","stale":`...), r.Stale)
	b = append(append(b, `,"reason":"`...), r.Reason.String()...)
	lost, ahead := apart(r)
	b = appendCount(append(b, `","lost_records":`...), lost)
	b = appendCount(append(b, `,"ahead_records":`...), ahead)
	if r.Truncated > 0 {
		b = appendCount(append(b, `,"truncated_records":`...), r.Truncated)
	}
	seconds, bound := ageNumbers(r.Age)
	b = appendFloat(append(b, `,"seconds":`...), seconds)
	b = append(append(b, `,"seconds_method":"`...), ageMethod(r.Age).String()...)
	b = appendFloat(append(b, `","seconds_error":`...), bound)
	b = appendString(append(b, `,"seconds_reason":`...), string(r.Age.Reason))
	b = appendFloat(append(b, `,"headroom_seconds":`...), r.Headroom)
	b = appendFloat(append(b, `,"rates":{"produced":`...), r.Produced)
	b = appendFloat(append(b, `,"consumed":`...), r.Consumed)
	b = append(b, `},"progress_at":`...)
	b = appendTime(b, r.ProgressAt, &e.progress, &e.progText)
	if !r.CommittedAt.IsZero() {
		b = appendString(append(b, `,"committed_at":`...), timestamp(r.CommittedAt))
	}
	b = e.appendOwners(append(b, `,"member_id":`...), r)
	b = appendCount(append(b, `,"leader":`...), int64(r.Leader))
	b = append(b, `,"as_of":`...)
	b = appendTime(b, r.AsOf, &e.asOf, &e.asOfText)
	if r.Open != nil {
		b = appendTransaction(append(b, `,"open_transaction":`...), r.Open)
	}
	return append(b, '}')
}

// appendTransaction writes one of a few, so that it may take its time.
func appendTransaction(b []byte, o *collect.OpenTransaction) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(openTransaction(o)) // never fails: numbers and text
	return append(b, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}

func (e *rowEncoder) appendOwners(b []byte, r *collect.Row) []byte {
	if r.Owner < 0 || int(r.Owner) >= len(e.members) {
		return append(b, `""`...)
	}
	b = append(b, e.members[r.Owner]...)
	if len(r.Owners) < 2 {
		return b
	}
	b = append(b, `,"member_ids":[`...)
	for i, o := range r.Owners {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, e.members[o]...)
	}
	return append(b, ']')
}

// appendTime writes a time, null for the zero one; last and text remember the
// one before.
func appendTime(b []byte, t time.Time, last *time.Time, text *[]byte) []byte {
	if t.IsZero() {
		return append(b, "null"...)
	}
	if *text == nil || !t.Equal(*last) {
		*last = t
		*text = append(t.UTC().AppendFormat(append((*text)[:0], '"'), timeLayout), '"')
	}
	return append(b, *text...)
}

// apart is by how much a row's commit lies outside its log: not known where the
// row is not.
func apart(r *collect.Row) (lost, ahead int64) {
	if r.Status == collect.StatusUnknown {
		return collect.Unknown, collect.Unknown
	}
	return r.Lost, r.Ahead
}

// ageNumbers are an age's seconds and error bound, NaN where they are not known.
func ageNumbers(a collect.Age) (seconds, bound float64) {
	if ageMethod(a) == collect.MethodUnknown {
		return math.NaN(), math.NaN()
	}
	return a.Seconds, a.Error
}

// ageMethod never names a method for seconds that are none.
func ageMethod(a collect.Age) collect.Method {
	if math.IsNaN(a.Seconds) || math.IsInf(a.Seconds, 0) {
		return collect.MethodUnknown
	}
	return a.Method
}
