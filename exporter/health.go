package exporter

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// serveHealthy answers 200 while every loop turns: none has been silent for ten
// intervals or two timeouts, whichever is longer.
func (e *Exporter) serveHealthy(w http.ResponseWriter, _ *http.Request) {
	now := e.opts.Now()
	var silent []string
	for _, f := range e.opts.Feeds {
		if f.Alive != nil && !f.Alive(now, f.patience()) {
			silent = append(silent, fmt.Sprintf("The poll loop of cluster %q has been silent for more than %v.", f.Name, f.patience()))
		}
	}
	answer(w, strings.Join(silent, "\n"), "klagtop is healthy.")
}

func (f Feed) patience() time.Duration {
	limit := 2 * f.Timeout
	if f.Interval != nil {
		limit = max(limit, 10*f.Interval())
	}
	return limit
}

// serveReady answers 200 when every cluster's first poll has ended, whatever
// its result, and one of them has reached a broker. It never turns back: a
// cluster that is lost later is a metric's business, not a reason to take the
// numbers of the others away.
func (e *Exporter) serveReady(w http.ResponseWriter, _ *http.Request) {
	answer(w, e.unready(), "klagtop is ready.")
}

func (e *Exporter) unready() string {
	var waiting []string
	for _, f := range e.opts.Feeds {
		u := f.Hub.Latest()
		if u == nil {
			waiting = append(waiting, strconv.Quote(f.Name))
		} else if u.Snapshot.Reached {
			e.reached.Store(true)
		}
	}
	switch {
	case len(waiting) == 1:
		return "The first poll of cluster " + waiting[0] + " has not ended."
	case len(waiting) > 1:
		return "The first polls of clusters " + strings.Join(waiting, ", ") + " have not ended."
	case !e.reached.Load():
		return "No broker of any cluster has answered yet."
	}
	return ""
}

// answer says what is wrong with 503, or that all is well with 200.
func answer(w http.ResponseWriter, wrong, well string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	if wrong != "" {
		w.WriteHeader(http.StatusServiceUnavailable)
		well = wrong
	}
	_, _ = fmt.Fprintln(w, well) // a client that left
}
