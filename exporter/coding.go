package exporter

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
)

// coding is an HTTP content coding.
type coding string

const (
	identity coding = "identity"
	gzipped  coding = "gzip"
	zstded   coding = "zstd"
)

// acceptedCoding picks the coding that a client likes best; gzip, which costs
// us least, where it likes several alike.
func acceptedCoding(h http.Header) coding {
	q := map[string]float64{}
	for _, item := range strings.Split(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		name, params, _ := strings.Cut(item, ";")
		weight := 1.0
		if v, ok := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q="); ok {
			var err error
			if weight, err = strconv.ParseFloat(v, 64); err != nil {
				continue
			}
		}
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" {
			q[name] = weight
		}
	}
	best, most := identity, q[string(identity)]
	for _, c := range []coding{gzipped, zstded} {
		weight, named := q[string(c)]
		if !named {
			weight = q["*"]
		}
		if weight > 0 && (weight > most || best == identity && weight == most) {
			best, most = c, weight
		}
	}
	return best
}

// A body is the compressed beginning of an answer. The answer's end is made
// anew each time and goes into the same gzip member: several members are legal,
// but some clients read only the first.
type body struct {
	chunks [][]byte
	length int    // of the chunks together
	crc    uint32 // of the text
	size   uint32 // of the text, as gzip counts it: modulo 2^32
}

// Write takes compressed bytes. Blocks of a fixed size spare the page the
// copying and the page faults of a slice that grows.
func (b *body) Write(p []byte) (int, error) {
	n := len(p)
	b.length += n
	for len(p) > 0 {
		last := len(b.chunks) - 1
		if last < 0 || len(b.chunks[last]) == cap(b.chunks[last]) {
			b.chunks = append(b.chunks, make([]byte, 0, bodyBlock))
			last++
		}
		c := b.chunks[last]
		k := copy(c[len(c):cap(c)], p)
		b.chunks[last], p = c[:len(c)+k], p[k:]
	}
	return n, nil
}

const bodyBlock = 64 << 10

// sum is a writer that keeps a body's checksum of what passes through.
type sum struct {
	body *body
	to   io.Writer
}

func (s sum) Write(p []byte) (int, error) {
	s.body.crc = crc32.Update(s.body.crc, crc32.IEEETable, p)
	s.body.size += uint32(len(p))
	return s.to.Write(p)
}

// coders are compressors to use again: a new one costs a megabyte.
type coders struct{ flate, zstd *sync.Pool }

func newCoders() coders {
	return coders{
		flate: &sync.Pool{New: func() any {
			w, _ := flate.NewWriter(io.Discard, flate.BestSpeed) // fails only for a level that is none
			return w
		}},
		zstd: &sync.Pool{New: func() any {
			w, _ := zstd.NewWriter(io.Discard, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1)) // fails only for bad options
			return w
		}},
	}
}

// gzipHeader is that of a member without a name or a time, made by an unknown
// system.
const gzipHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

// begin compresses what fill writes into the beginning of an answer.
func (cs coders) begin(c coding, fill func(w io.Writer) error) (*body, error) {
	b := &body{}
	if c == zstded {
		w := cs.zstd.Get().(*zstd.Encoder)
		defer cs.zstd.Put(w)
		w.Reset(b)
		if err := fill(w); err != nil {
			return nil, err
		}
		return b, w.Close()
	}
	w := cs.flate.Get().(*flate.Writer)
	defer cs.flate.Put(w)
	_, _ = io.WriteString(b, gzipHeader)
	w.Reset(b)
	if err := fill(sum{b, w}); err != nil {
		return nil, err
	}
	return b, w.Flush() // ends on a whole byte, so that another stream can follow
}

// end compresses the end of an answer that begins with b.
func (cs coders) end(c coding, b *body, text []byte) (*body, error) {
	tail := &body{crc: b.crc, size: b.size}
	if c == zstded {
		w := cs.zstd.Get().(*zstd.Encoder)
		defer cs.zstd.Put(w)
		w.Reset(tail)
		if _, err := w.Write(text); err != nil {
			return nil, err
		}
		return tail, w.Close()
	}
	w := cs.flate.Get().(*flate.Writer)
	defer cs.flate.Put(w)
	w.Reset(tail)
	if _, err := (sum{tail, w}).Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	trailer := binary.LittleEndian.AppendUint32(nil, tail.crc)
	_, err := tail.Write(binary.LittleEndian.AppendUint32(trailer, tail.size))
	return tail, err
}
