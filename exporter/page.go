package exporter

import (
	"sync"
	"time"

	"github.com/klagtop/klagtop/collect"
)

// A page is the metrics of one moment's updates. What is kept of it are the
// compressed samples of the clusters' objects, one body for each form that was
// asked for.
type page struct {
	clusters []*cluster
	off      map[Level]bool  // levels left off, wanted or not
	dropped  []map[Level]int // by cluster: samples that the limit costs

	mu     sync.Mutex
	bodies map[form]*body
}

// form is how a page is asked for.
type form struct {
	openMetrics bool
	coding      coding
}

// current is the page of the newest updates as they may be shown now: the one
// there is while nothing changed.
func (e *Exporter) current(now time.Time) *page {
	e.mu.Lock()
	defer e.mu.Unlock()
	clusters, changed := make([]*cluster, len(e.opts.Feeds)), e.page == nil
	for i, f := range e.opts.Feeds {
		var before *cluster
		if e.page != nil {
			before = e.page.clusters[i]
		}
		clusters[i] = e.look(f, before, now)
		changed = changed || clusters[i] != before
	}
	if changed {
		p := &page{clusters: clusters, bodies: map[form]*body{}}
		e.fit(p)
		e.page = p
	}
	return e.page
}

// look takes a feed's newest update; it is before where that is the same.
func (e *Exporter) look(f Feed, before *cluster, now time.Time) *cluster {
	u := f.Hub.Latest()
	var s *collect.Snapshot
	switch {
	case u == nil:
	case before != nil && before.update == u:
		s = before.snap.At(now)
	default:
		s = u.Snapshot.At(now)
	}
	if before != nil && before.update == u && before.snap == s {
		return before
	}
	return newCluster(e.opts.ClusterLabel, f.Name, u, s)
}

// write writes the families of a page that are not left off, whole: a family
// may not come twice, so every cluster's samples of it stand together.
func (e *Exporter) write(enc *encoder, p *page) {
	for i := range e.families {
		f := &e.families[i]
		if p.off[f.Level] {
			continue
		}
		enc.begin(&f.Metric)
		for _, c := range p.clusters {
			if c.snap != nil && enc.err == nil {
				f.write(enc, c)
			}
		}
	}
	if enc.out != nil {
		enc.flush()
	}
}

// dropOrder is what goes first when a page is too large.
var dropOrder = [...]Level{LevelMember, LevelPartition, LevelTopic}

// fit decides which levels the page has. It leaves whole levels off until the
// page is within its limit. A level that was left off comes back only when the
// page would be a tenth below the limit with it: it must not come and go with
// each group that does.
func (e *Exporter) fit(p *page) {
	p.off, p.dropped = map[Level]bool{}, make([]map[Level]int, len(p.clusters))
	for _, l := range dropOrder {
		p.off[l] = !e.enabled(l)
	}
	if e.opts.MaxSeries == 0 {
		return
	}
	sizes := e.sizes(p)
	total := e.countSelf(p)
	for _, byLevel := range sizes {
		for _, n := range byLevel {
			total += n
		}
	}
	drop := 0
	for ; drop < len(dropOrder); drop++ {
		limit := e.opts.MaxSeries
		if drop < e.dropped {
			limit -= limit / 10
		}
		if total <= limit {
			break
		}
		for _, byLevel := range sizes {
			total -= byLevel[dropOrder[drop]]
		}
	}
	e.dropped = drop
	for _, l := range dropOrder[:drop] {
		p.off[l] = true
		for i := range sizes {
			if p.dropped[i] == nil {
				p.dropped[i] = map[Level]int{}
			}
			p.dropped[i][l] = sizes[i][l]
		}
	}
}

// sizes counts each cluster's samples of each level that is asked for.
func (e *Exporter) sizes(p *page) []map[Level]int {
	out := make([]map[Level]int, len(p.clusters))
	for i, c := range p.clusters {
		out[i] = map[Level]int{}
		if c.snap == nil {
			continue
		}
		for k := range e.families {
			if f := &e.families[k]; !p.off[f.Level] {
				enc := encoder{metric: &f.Metric}
				f.write(&enc, c)
				out[i][f.Level] += enc.samples
			}
		}
	}
	return out
}
