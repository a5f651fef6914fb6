package exporter

import (
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/klagtop/klagtop/collect"
)

// DefaultClusterLabel is the label that carries a cluster's name. "cluster" is
// often taken, by Kubernetes or by the deduplication of replicas.
const DefaultClusterLabel = "kafka_cluster"

// Options are what an Exporter is made with.
type Options struct {
	// Feeds are the clusters to serve, at least one, in the order in which
	// they are shown.
	Feeds []Feed
	// Level is the finest level with series of its own: LevelGroup,
	// LevelTopic, or LevelPartition, which is also what "" means.
	Level Level
	// Members adds series of members and owners. Their ids do not end: each
	// restart of a client makes new ones.
	Members bool
	// MaxSeries is the most samples a page may have; 0 for no limit.
	MaxSeries int
	// ClusterLabel is the label that carries a cluster's name;
	// DefaultClusterLabel if "".
	ClusterLabel string
	// Version and Revision say which klagtop this is.
	Version, Revision string
	// Logger is told what goes wrong while serving; nothing if nil.
	Logger *slog.Logger
	// Now is the clock; time.Now if nil.
	Now func() time.Time
}

// A Feed is one cluster: where its updates come from and how to tell that its
// loop still turns.
type Feed struct {
	Name string // unique among the feeds
	Hub  *collect.Hub
	// Alive reports whether the loop has not been silent for longer than
	// limit; nil for a feed without a loop, such as a replay.
	Alive func(now time.Time, limit time.Duration) bool
	// Interval is the time between polls as it is now; nil with Alive.
	Interval func() time.Duration
	Timeout  time.Duration // of one poll
}

// An Exporter answers HTTP requests from the newest updates of its feeds.
type Exporter struct {
	opts     Options
	log      *slog.Logger
	families []family
	process  *prometheus.Registry
	counts   *counters
	descs    map[string]*prometheus.Desc
	coders   coders
	landing  *template.Template
	reached  atomic.Bool // some poll of some cluster reached a broker

	mu      sync.Mutex
	page    *page // of the newest updates; nil before the first scrape
	dropped int   // how many of dropOrder are left off the page
}

// New makes an exporter. It starts nothing.
func New(o Options) (*Exporter, error) {
	if o.Level == "" {
		o.Level = LevelPartition
	}
	if o.ClusterLabel == "" {
		o.ClusterLabel = DefaultClusterLabel
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	e := &Exporter{opts: o, log: o.Logger, families: families(), process: prometheus.NewRegistry(), coders: newCoders()}
	e.descs = describe(o.ClusterLabel)
	var err error
	if e.landing, err = template.New("landing").Parse(landingHTML); err != nil {
		return nil, fmt.Errorf("parse the page at /: %w", err)
	}
	if e.counts, err = newCounters(e.process, o); err != nil {
		return nil, err
	}
	return e, nil
}

var errNoFeed = errors.New("no cluster to serve")

func (o *Options) check() error {
	if len(o.Feeds) == 0 {
		return errNoFeed
	}
	seen := map[string]bool{}
	for _, f := range o.Feeds {
		if seen[f.Name] {
			return fmt.Errorf("two clusters are named %q", f.Name)
		}
		seen[f.Name] = true
	}
	if !slices.Contains([]Level{LevelGroup, LevelTopic, LevelPartition}, o.Level) {
		return fmt.Errorf("metrics level %q: want group, topic or partition", o.Level)
	}
	if o.MaxSeries < 0 {
		return fmt.Errorf("limit of %d series: want 0 or more", o.MaxSeries)
	}
	return checkLabel(o.ClusterLabel)
}

// checkLabel refuses a name for the cluster's label that Prometheus refuses or
// that some family has already.
func checkLabel(name string) error {
	if !regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`).MatchString(name) || strings.HasPrefix(name, "__") {
		return fmt.Errorf("cluster label %q is not a Prometheus label name", name)
	}
	for _, reserved := range []string{"le", "quantile", "job", "instance"} {
		if name == reserved {
			return fmt.Errorf("cluster label %q has another meaning in Prometheus", name)
		}
	}
	for _, m := range Metrics() {
		if slices.Contains(m.Labels, name) {
			return fmt.Errorf("cluster label %q is a label of %s already", name, m.Name)
		}
	}
	return nil
}

// Registry is where metrics of the process go: what is registered there is on
// the page too.
func (e *Exporter) Registry() *prometheus.Registry { return e.process }

// Handler answers every path; it needs no Serve, but counts polls only while
// Serve or Run does.
func (e *Exporter) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", e.serveMetrics)
	mux.HandleFunc("GET /-/healthy", e.serveHealthy)
	mux.HandleFunc("GET /-/ready", e.serveReady)
	mux.HandleFunc("GET /{$}", e.servePage)
	e.routeAPI(mux)
	return mux
}

// enabled reports whether the options ask for a level.
func (e *Exporter) enabled(l Level) bool {
	switch l {
	case LevelTopic:
		return e.opts.Level != LevelGroup
	case LevelPartition:
		return e.opts.Level == LevelPartition
	case LevelMember:
		return e.opts.Members
	}
	return true
}
