package exporter

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	dto "github.com/prometheus/client_model/go"

	"github.com/klagtop/klagtop/collect"
)

// Names of klagtop's own metrics.
const (
	nameUp                = "klagtop_up"
	nameClusterInfo       = "klagtop_cluster_info"
	nameSeesAll           = "klagtop_sees_all"
	nameDenied            = "klagtop_denied_objects"
	nameClusterFinding    = "klagtop_cluster_finding"
	namePollComplete      = "klagtop_poll_complete"
	nameSnapshotTime      = "klagtop_snapshot_timestamp_seconds"
	nameCommitsAge        = "klagtop_commits_age_seconds"
	namePollDuration      = "klagtop_poll_duration_seconds"
	nameRebalanceDuration = "klagtop_rebalance_duration_seconds"
	namePolls             = "klagtop_polls_total"
	nameProblems          = "klagtop_problems"
	nameDropped           = "klagtop_series_dropped"
	nameBuildInfo         = "klagtop_build_info"
)

// countedMetrics are kept by counters; the other self metrics are read off the
// newest updates.
var countedMetrics = []string{namePollDuration, namePolls, nameBuildInfo}

// describe makes the descriptions of what is read off the updates.
func describe(clusterLabel string) map[string]*prometheus.Desc {
	out := map[string]*prometheus.Desc{}
	for _, m := range selfMetrics() {
		if !slices.Contains(countedMetrics, m.Name) {
			out[m.Name] = prometheus.NewDesc(m.Name, m.Help, append([]string{clusterLabel}, m.Labels...), nil)
		}
	}
	return out
}

// gather collects klagtop's own metrics as they are now, beside a page. What
// cannot be gathered is left out and logged; so is a family with a name that
// the page has already, as a page with a family twice is refused whole.
func (e *Exporter) gather(p *page) []*dto.MetricFamily {
	state := prometheus.NewRegistry()
	if err := state.Register(&pageState{e.descs, p}); err != nil {
		e.log.Error("could not register klagtop's own metrics", "error", err)
	}
	families, err := prometheus.Gatherers{e.process, state}.Gather()
	if err != nil {
		e.log.Error("could not gather some of klagtop's own metrics", "error", err)
	}
	return slices.DeleteFunc(families, func(mf *dto.MetricFamily) bool {
		return slices.ContainsFunc(e.families, func(f family) bool { return f.Name == mf.GetName() })
	})
}

// pageState collects what is read off the updates of a page.
type pageState struct {
	descs map[string]*prometheus.Desc
	page  *page
}

// Describe implements prometheus.Collector.
func (s *pageState) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range s.descs {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (s *pageState) Collect(ch chan<- prometheus.Metric) {
	for i, c := range s.page.clusters {
		put := func(name string, v float64, labels ...string) {
			labels = append([]string{c.name}, labels...)
			for k := range labels {
				labels[k] = spell(labels[k])
			}
			ch <- prometheus.MustNewConstMetric(s.descs[name], prometheus.GaugeValue, v, labels...)
		}
		for _, l := range dropOrder {
			put(nameDropped, float64(s.page.dropped[i][l]), string(l))
		}
		put(nameUp, truth(c.snap != nil && c.snap.Reached))
		switch {
		case c.snap == nil: // a rate needs the 0 before the first poll
			ch <- s.durations(c.name, &collect.Durations{})
		case c.snap.Rebalances != nil:
			ch <- s.durations(c.name, c.snap.Rebalances)
		}
		if c.snap != nil {
			c.describeSelf(put)
		}
	}
}

// durations is the histogram of how long rebalances took. The tracker counts
// them: a scrape that comes late, or never, misses none.
func (s *pageState) durations(cluster string, d *collect.Durations) prometheus.Metric {
	buckets := make(map[float64]uint64, len(d.Within))
	for i, bound := range collect.DurationBounds() {
		buckets[bound] = d.Within[i]
	}
	return prometheus.MustNewConstHistogram(s.descs[nameRebalanceDuration], d.Count, d.Sum.Seconds(), buckets, spell(cluster))
}

// describeSelf puts what a cluster's newest update says of itself.
func (c *cluster) describeSelf(put func(name string, v float64, labels ...string)) {
	put(namePollComplete, truth(c.snap.Complete))
	put(nameSnapshotTime, unix(c.snap.TakenAt))
	put(nameCommitsAge, c.snap.CommitsEvery.Seconds())
	if c.snap.Cluster.ID != "" {
		put(nameClusterInfo, 1, c.snap.Cluster.ID)
	}
	if all := c.snap.Cluster.SeesAllGroups; all != collect.Maybe {
		put(nameSeesAll, truth(all == collect.Yes), "groups")
	}
	if all := c.snap.Cluster.SeesAllTopics; all != collect.Maybe {
		put(nameSeesAll, truth(all == collect.Yes), "topics")
	}
	groups, topics := c.denied()
	put(nameDenied, float64(groups), "groups")
	put(nameDenied, float64(topics), "topics")
	for _, k := range findingKinds(c.raised) {
		put(nameClusterFinding, 1, k.code, k.severity)
	}
	type kind struct{ stage, reason string }
	problems := map[kind]int{}
	for _, p := range c.snap.Problems {
		problems[kind{string(p.Stage), p.Reason.String()}]++
	}
	for k, n := range problems {
		put(nameProblems, float64(n), k.stage, k.reason)
	}
}

// denied counts the groups and topics of which the brokers said no.
func (c *cluster) denied() (groups, topics int) {
	for i := range c.groups {
		if g := &c.groups[i]; g.Reason == collect.ReasonDenied || g.CommitsReason == collect.ReasonDenied {
			groups++
		}
	}
	for i := range c.topics {
		if c.topics[i].Reason == collect.ReasonDenied {
			topics++
		}
	}
	return groups, topics
}

// counters are what every poll adds to, whether it is scraped or not.
type counters struct {
	polls       *prometheus.CounterVec
	pollSeconds *prometheus.HistogramVec
}

func newCounters(r *prometheus.Registry, o Options) (*counters, error) {
	help := map[string]string{}
	for _, m := range selfMetrics() {
		help[m.Name] = m.Help
	}
	c := &counters{
		polls: prometheus.NewCounterVec(prometheus.CounterOpts{Name: namePolls, Help: help[namePolls]}, []string{o.ClusterLabel, "result"}),
		pollSeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: namePollDuration, Help: help[namePollDuration], Buckets: []float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30},
		}, []string{o.ClusterLabel}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: nameBuildInfo, Help: help[nameBuildInfo],
		ConstLabels: prometheus.Labels{"version": spell(o.Version), "revision": spell(o.Revision), "goversion": runtime.Version()},
	})
	build.Set(1)
	for _, m := range []prometheus.Collector{
		c.polls, c.pollSeconds, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	} {
		if err := r.Register(m); err != nil {
			return nil, fmt.Errorf("register klagtop's own metrics: %w", err)
		}
	}
	for _, f := range o.Feeds { // a rate needs the 0 before the first poll
		name := spell(f.Name)
		for _, result := range []string{"complete", "partial", "failed"} {
			c.polls.WithLabelValues(name, result)
		}
		c.pollSeconds.WithLabelValues(name)
	}
	return c, nil
}
