package exporter

import (
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/klagtop/klagtop/collect"
)

// chunk is how much text is gathered before it goes to the stream. Growing one
// buffer for a whole page costs seconds in page faults.
const chunk = 64 << 10

// An encoder writes samples in the text format, which OpenMetrics shares but
// for the comments. It keeps the first error and writes nothing after it.
type encoder struct {
	out         io.Writer // nil to count samples and write none
	openMetrics bool

	buf     []byte
	scratch []byte
	samples int
	err     error

	metric  *Metric
	started bool // the family's comments are written
}

// begin starts a family. Its comments are written with its first sample, so
// that a family without one leaves no trace.
func (e *encoder) begin(m *Metric) { e.metric, e.started = m, false }

// next counts a sample, and reports whether to write it.
func (e *encoder) next() bool {
	e.samples++
	if e.out == nil {
		return false
	}
	if !e.started {
		e.started = true
		e.comments()
	}
	return true
}

func (e *encoder) comments() {
	name := e.metric.Name
	if e.openMetrics && e.metric.Type == Counter {
		name = strings.TrimSuffix(name, "_total")
	}
	e.buf = append(e.buf, "# HELP "+name+" "+e.metric.Help+"\n# TYPE "+name+" "+string(e.metric.Type)+"\n"...)
}

// sample writes one sample unless its value is not known.
func (e *encoder) sample(labels []byte, v float64) { e.suffixed("", labels, v) }

// suffixed is sample for a part of a summary.
func (e *encoder) suffixed(suffix string, labels []byte, v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) || !e.next() {
		return
	}
	b := append(e.buf, e.metric.Name...)
	b = append(b, suffix...)
	b = append(b, '{')
	b = append(b, labels...)
	b = append(b, '}', ' ')
	e.end(appendValue(b, v))
}

// labelled is sample with one more label, or several.
func (e *encoder) labelled(labels []byte, v float64, pairs ...string) {
	if math.IsNaN(v) {
		return
	}
	e.scratch = append(e.scratch[:0], labels...)
	for i := 0; i+1 < len(pairs); i += 2 {
		e.scratch = appendLabel(e.scratch, pairs[i], pairs[i+1])
	}
	e.sample(e.scratch, v)
}

// rows prepares the samples of one topic's partitions: what they have in common
// up to the partition's number.
func (e *encoder) rows(labels []byte) {
	if e.out == nil {
		return
	}
	b := append(e.scratch[:0], e.metric.Name...)
	b = append(b, '{')
	b = append(b, labels...)
	e.scratch = append(b, `,partition="`...)
}

// row writes the sample of a partition of what rows was called for.
func (e *encoder) row(partition int32, v int64) {
	if !e.next() {
		return
	}
	b := append(e.buf, e.scratch...)
	b = strconv.AppendInt(b, int64(partition), 10)
	b = append(b, '"', '}', ' ')
	e.end(strconv.AppendInt(b, v, 10))
}

// rowSeconds is row for a value that is not a count.
func (e *encoder) rowSeconds(partition int32, v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) || !e.next() {
		return
	}
	b := append(e.buf, e.scratch...)
	b = strconv.AppendInt(b, int64(partition), 10)
	b = append(b, '"', '}', ' ')
	e.end(appendValue(b, v))
}

// end takes the buffer back with a finished line but for its line feed.
func (e *encoder) end(b []byte) {
	e.buf = append(b, '\n')
	if len(e.buf) >= chunk {
		e.flush()
	}
}

func (e *encoder) flush() {
	if e.err == nil && len(e.buf) > 0 {
		_, e.err = e.out.Write(e.buf)
	}
	e.buf = e.buf[:0]
}

// appendValue writes a number without an exponent where people can read it: an
// offset is not 1.234567e+06, nor a time 1.77e+09.
func appendValue(b []byte, v float64) []byte {
	switch a := math.Abs(v); {
	case v == math.Trunc(v) && a < 1<<53:
		return strconv.AppendInt(b, int64(v), 10)
	case a > 1e-6 && a < 1e15:
		return strconv.AppendFloat(b, v, 'f', -1, 64)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

// count is a count that may be not known.
func count(n int64) float64 {
	if n < 0 {
		return math.NaN()
	}
	return float64(n)
}

// part is a part of the group's lag: not known where the whole is not.
func part(g *collect.Group, n int64) float64 {
	if g.Lag.Records < 0 || n < 0 {
		return math.NaN()
	}
	return float64(n)
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
