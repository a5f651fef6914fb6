package exporter

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/internal/document"
)

//go:embed landing.html
var landingHTML string

// landing is what the page at / shows.
type landing struct {
	Version  string
	Clusters []landingCluster
}

type landingCluster struct {
	Name     string
	Query    template.URL // of this cluster's JSON links
	Polled   bool
	Up       bool
	Complete bool
	Age      string // since the last poll
	Groups   int
	Lag      string
	Findings int
	Worst    []landingGroup
}

type landingGroup struct {
	Name, State, Lag, Seconds, Finding string
	Link                               template.URL
}

// worstGroups is how many groups the page lists of each cluster.
const worstGroups = 10

// servePage answers with a page that a person can read.
func (e *Exporter) servePage(w http.ResponseWriter, _ *http.Request) {
	now := e.opts.Now()
	l := landing{Version: e.opts.Version}
	for _, c := range e.current(now).clusters {
		l.Clusters = append(l.Clusters, c.landing(now))
	}
	var page bytes.Buffer
	if err := e.landing.Execute(&page, l); err != nil {
		e.log.Error("could not draw the page at /", "error", err)
		http.Error(w, "the page could not be drawn", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(page.Bytes()) // a client that left
}

func (c *cluster) landing(now time.Time) landingCluster {
	query := template.URL("cluster=" + url.QueryEscape(c.name))
	l := landingCluster{Name: spell(c.name), Query: query}
	if c.snap == nil {
		return l
	}
	l.Polled, l.Up, l.Complete = true, c.snap.Reached, c.snap.Complete
	l.Age = max(0, now.Sub(c.snap.TakenAt)).Truncate(time.Second).String()
	l.Groups, l.Lag, l.Findings = len(c.groups), c.lag(), len(c.update.Findings)
	for _, g := range c.worst(worstGroups) {
		l.Worst = append(l.Worst, c.landingGroup(g, query))
	}
	return l
}

func (c *cluster) landingGroup(g *group, query template.URL) landingGroup {
	out := landingGroup{
		Name: spell(g.Name), State: g.State, Lag: records(g.Lag.Records, g.Lag.Unknown, g.Lag.Stale), Seconds: "?",
		Link: template.URL("api/v1/groups/"+url.PathEscape(document.Text(g.Name))) + "?" + query,
	}
	if g.Name == "" {
		out.Name = "(empty)"
	}
	if a := g.Lag.Age; a.Known() {
		out.Seconds = time.Duration(a.Seconds * float64(time.Second)).Round(time.Second).String()
		if a.Method == collect.MethodAtLeast {
			out.Seconds = "≥ " + out.Seconds
		}
	}
	if fs := c.findings[g.Name]; len(fs) > 0 {
		out.Finding = fs[0].Summary
	}
	return out
}

// worst are the n groups with the most lag, most first.
func (c *cluster) worst(n int) []*group {
	var out []*group
	for i := range c.groups {
		g, k := &c.groups[i], len(out)
		for k > 0 && out[k-1].Lag.Records < g.Lag.Records {
			k--
		}
		if k >= n {
			continue
		}
		out = append(out, nil)
		copy(out[k+1:], out[k:])
		out[k] = g
		out = out[:min(n, len(out))]
	}
	return out
}

// lag is what the cluster's groups lag together.
func (c *cluster) lag() string {
	sum, unknown, stale, known := int64(0), 0, 0, len(c.groups) == 0
	for i := range c.groups {
		t := &c.groups[i].Lag
		unknown, stale = unknown+t.Unknown, stale+t.Stale
		if t.Records < 0 {
			unknown++
			continue
		}
		sum, known = sum+t.Records, true
	}
	if !known {
		sum = collect.Unknown
	}
	return records(sum, unknown, stale)
}

// records spells a sum of lags: ≥ with unknown rows in it, ~ with stale ones.
func records(n int64, unknown, stale int) string {
	switch s := thousands(n); {
	case n < 0:
		return "?"
	case unknown > 0:
		return "≥ " + s
	case stale > 0:
		return "~ " + s
	default:
		return s
	}
}

func thousands(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
