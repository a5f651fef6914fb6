package exporter

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/klagtop/klagtop/collect"
)

// million is 2,000 groups with 500 rows each, over 100 topics.
func million() *collect.Update {
	const partitions = 500
	b := newBed()
	offsets := make([]int64, partitions)
	for i := range offsets {
		offsets[i] = int64(1_000_000 + 37*i)
	}
	for t := range 100 {
		name := fmt.Sprintf("team-%02d.market-updates.v1", t)
		b.topic(name, partitions)
		for p := range partitions {
			b.ends[fmt.Sprintf("%s/%d", name, p)] = int64(1_020_000 + 41*p)
		}
	}
	for g := range 2000 {
		b.group(collect.GroupFacts{
			Name: fmt.Sprintf("team-%02d.consumer-%04d", g%100, g), State: collect.StateEmpty, ProtocolType: "consumer", Coordinator: 1, Generation: collect.Generation{Value: -1},
		}, commitsOn(fmt.Sprintf("team-%02d.market-updates.v1", g%100), offsets...))
	}
	return &collect.Update{Snapshot: b.finish()}
}

// discard is a client that reads everything and keeps nothing.
type discard struct {
	header http.Header
	n      int64
}

func (d *discard) Header() http.Header { return d.header }
func (d *discard) WriteHeader(int)     {}
func (d *discard) Write(p []byte) (int, error) {
	d.n += int64(len(p))
	return len(p), nil
}

// BenchmarkScrape is a whole scrape of a page of some two million samples: the
// first after a poll in each form, and one more of the same page.
func BenchmarkScrape(b *testing.B) {
	u := million()
	for _, c := range []struct {
		name, coding string
		limit        int
		fresh        bool
	}{{"plain", "identity", 0, true}, {"gzip", "gzip", 0, true}, {"zstd", "zstd", 0, true}, {"gzip-limited", "gzip", 1 << 30, true}, {"gzip-again", "gzip", 0, false}} {
		b.Run(c.name, func(b *testing.B) {
			s := serve(b, Options{MaxSeries: c.limit}, u)
			r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
			r.Header.Set("Accept-Encoding", c.coding)
			enc := &encoder{out: io.Discard}
			s.write(enc, s.current(s.now))
			h, n := s.Handler(), int64(0)
			h.ServeHTTP(&discard{header: http.Header{}}, r)
			b.ReportAllocs()
			b.ResetTimer()
			cpu := cpuTime()
			for b.Loop() {
				if c.fresh {
					again := *u
					s.hubs[0].Publish(&again)
				}
				d := &discard{header: http.Header{}}
				h.ServeHTTP(d, r)
				n = d.n
			}
			used := cpuTime() - cpu
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(enc.samples), "ns/sample")
			b.ReportMetric(float64(used.Nanoseconds())/float64(b.N)/float64(enc.samples), "cpu-ns/sample")
			b.ReportMetric(float64(enc.samples), "samples")
			b.ReportMetric(float64(n), "B/page")
		})
	}
}
