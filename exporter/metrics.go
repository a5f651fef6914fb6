package exporter

import (
	"bytes"
	"io"
	"net/http"
	"strconv"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// serveMetrics answers a scrape. The samples of the clusters' objects are those
// of the kept body; klagtop's own are gathered now and follow.
func (e *Exporter) serveMetrics(w http.ResponseWriter, r *http.Request) {
	format := expfmt.NegotiateAccept(r.Header, expfmt.FmtOpenMetrics_1_0_0, expfmt.FmtOpenMetrics_0_0_1, expfmt.FmtText)
	f := form{format.FormatType() == expfmt.TypeOpenMetrics, acceptedCoding(r.Header)}
	h := w.Header()
	h.Set("Content-Type", string(format))
	h.Set("Vary", "Accept, Accept-Encoding")
	if r.Method == http.MethodHead {
		return
	}
	p := e.current(e.opts.Now())
	self := e.selfText(p, format)
	if f.coding == identity {
		enc := &encoder{out: w, openMetrics: f.openMetrics}
		e.write(enc, p)
		if enc.err == nil {
			_, _ = w.Write(self) // a client that left
		}
		return
	}
	begin, err := e.body(p, f)
	var end *body
	if err == nil {
		end, err = e.coders.end(f.coding, begin, self)
	}
	if err != nil {
		e.log.Error("could not compress the metrics page", "error", err)
		http.Error(w, "the metrics page could not be compressed", http.StatusInternalServerError)
		return
	}
	h.Set("Content-Encoding", string(f.coding))
	h.Set("Content-Length", strconv.Itoa(begin.length+end.length))
	for _, b := range []*body{begin, end} {
		for _, c := range b.chunks {
			if _, err := w.Write(c); err != nil {
				return // the client left
			}
		}
	}
}

// body is the page's compressed samples in a form, made by whoever asks first.
func (e *Exporter) body(p *page, f form) (*body, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.bodies[f]; b != nil {
		return b, nil
	}
	b, err := e.coders.begin(f.coding, func(w io.Writer) error {
		enc := &encoder{out: w, openMetrics: f.openMetrics}
		e.write(enc, p)
		return enc.err
	})
	if err == nil {
		p.bodies[f] = b
	}
	return b, err
}

// selfText is klagtop's own metrics in a format, with what ends the page. A
// family that cannot be gathered or written costs nothing but itself.
func (e *Exporter) selfText(p *page, format expfmt.Format) []byte {
	var out bytes.Buffer
	enc := expfmt.NewEncoder(&out, format)
	for _, mf := range e.gather(p) {
		kept := out.Len()
		if err := enc.Encode(mf); err != nil {
			out.Truncate(kept)
			e.log.Error("could not write a metric", "metric", mf.GetName(), "error", err)
		}
	}
	if c, ok := enc.(expfmt.Closer); ok {
		_ = c.Close() // writes to memory
	}
	return out.Bytes()
}

// countSelf counts the samples of klagtop's own metrics.
func (e *Exporter) countSelf(p *page) (n int) {
	for _, mf := range e.gather(p) {
		for _, m := range mf.GetMetric() {
			n += samples(m)
		}
	}
	return n
}

func samples(m *dto.Metric) int {
	switch {
	case m.Histogram != nil:
		return len(m.Histogram.GetBucket()) + 3 // with +Inf, sum and count
	case m.Summary != nil:
		return len(m.Summary.GetQuantile()) + 2
	}
	return 1
}
