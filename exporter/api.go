package exporter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/internal/document"
)

// routeAPI adds the JSON paths. A group whose name is empty is the path that
// ends in a slash.
func (e *Exporter) routeAPI(mux *http.ServeMux) {
	compress, err := gzhttp.NewWrapper(gzhttp.CompressionLevel(1))
	if err != nil {
		e.log.Error("the JSON API will not be compressed", "error", err)
		compress = func(h http.Handler) http.HandlerFunc { return h.ServeHTTP }
	}
	handle := func(pattern string, f http.HandlerFunc) {
		mux.Handle("GET "+pattern, compress(f))
		// without this, the pattern for all other paths would say that there is no such path
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Allow", "GET, HEAD")
			refuse(w, http.StatusMethodNotAllowed, "klagtop only reads: want GET or HEAD")
		})
	}
	handle("/api/v1/clusters", e.serveClusters)
	handle("/api/v1/groups", e.serveGroups)
	handle("/api/v1/groups/{$}", e.serveGroup)
	handle("/api/v1/groups/{group}", e.serveGroup)
	handle("/api/v1/events", e.serveEvents)
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, fmt.Sprintf("no such path: %s", r.URL.Path))
	})
}

// clusterLine is one element of /api/v1/clusters.
type clusterLine struct {
	Cluster  string             `json:"cluster"`
	TakenAt  *string            `json:"taken_at"` // null before the first poll
	Complete bool               `json:"complete"`
	Up       bool               `json:"up"`
	Findings []document.Finding `json:"findings"`
}

func (e *Exporter) serveClusters(w http.ResponseWriter, _ *http.Request) {
	lines := make([]clusterLine, 0, len(e.opts.Feeds))
	for _, f := range e.opts.Feeds {
		line, err := e.line(f)
		if err != nil {
			e.log.Error("could not describe a cluster", "cluster", f.Name, "error", err)
			refuse(w, http.StatusInternalServerError, "the clusters could not be described")
			return
		}
		lines = append(lines, line)
	}
	jsonHeaders(w)
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	_ = out.Encode(lines) // a client that left
}

// line reads a cluster's line off the head of its document, so that the two
// say the same in the same words.
func (e *Exporter) line(f Feed) (clusterLine, error) {
	line := clusterLine{Cluster: document.Text(f.Name), Findings: []document.Finding{}}
	u, s := e.newest(f)
	if u == nil {
		return line, nil
	}
	var head bytes.Buffer
	if err := document.Encode(&head, u, s, document.Options{Groups: func(*collect.Group) bool { return false }}); err != nil {
		return line, err
	}
	d, err := document.Decode(&head)
	if err != nil {
		return line, err
	}
	line.TakenAt, line.Complete, line.Up, line.Findings = &d.TakenAt, d.Complete, s.Reached, d.Findings
	return line, nil
}

// newest is a feed's newest update and its snapshot as it may be shown now;
// nil before the first.
func (e *Exporter) newest(f Feed) (*collect.Update, *collect.Snapshot) {
	u := f.Hub.Latest()
	if u == nil {
		return nil, nil
	}
	return u, u.Snapshot.At(e.opts.Now())
}

func (e *Exporter) serveGroups(w http.ResponseWriter, r *http.Request) {
	o := document.Options{}
	switch detail := r.URL.Query().Get("detail"); detail {
	case "", "all":
	case "group":
		o.GroupLevel = true
	default:
		refuse(w, http.StatusBadRequest, fmt.Sprintf("detail=%s: want group, or no detail", detail))
		return
	}
	e.serveDocument(w, r, func(*collect.Snapshot) document.Options { return o })
}

// serveGroup answers with one group's document, found by the text that
// documents give its id or, where that finds none, by the id itself.
func (e *Exporter) serveGroup(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("group")
	e.serveDocument(w, r, func(s *collect.Snapshot) document.Options {
		spelled := func(g *collect.Group) bool { return document.Text(g.Name) == name }
		if anyGroup(s, spelled) {
			return document.Options{Groups: spelled}
		}
		return document.Options{Groups: func(g *collect.Group) bool { return g.Name == name }}
	})
}

// serveDocument streams what is chosen of the cluster that is asked for. A
// selection of groups that selects none is a 404.
func (e *Exporter) serveDocument(w http.ResponseWriter, r *http.Request, choose func(*collect.Snapshot) document.Options) {
	f, ok := e.feed(w, r)
	if !ok {
		return
	}
	u, s := e.newest(f)
	if u == nil {
		refuse(w, http.StatusServiceUnavailable, fmt.Sprintf("the first poll of cluster %q has not ended", f.Name))
		return
	}
	o := choose(s)
	if o.Groups != nil && !anyGroup(s, o.Groups) {
		refuse(w, http.StatusNotFound, fmt.Sprintf("no group %q in cluster %q", r.PathValue("group"), f.Name))
		return
	}
	jsonHeaders(w)
	if err := document.Encode(w, u, s, o); err != nil {
		e.log.Debug("a client left before its document's end", "error", err)
	}
}

func anyGroup(s *collect.Snapshot, selected func(*collect.Group) bool) bool {
	for _, g := range s.Groups {
		if selected(g) {
			return true
		}
	}
	return false
}

// feed is the cluster that a request names; with one cluster it need not. It
// answers the request itself where there is no such cluster.
func (e *Exporter) feed(w http.ResponseWriter, r *http.Request) (Feed, bool) {
	names := make([]string, len(e.opts.Feeds))
	asked, given := r.URL.Query()["cluster"]
	for i, f := range e.opts.Feeds {
		if given && f.Name == asked[0] || !given && len(names) == 1 {
			return f, true
		}
		names[i] = strconv.Quote(f.Name)
	}
	if given {
		refuse(w, http.StatusNotFound, fmt.Sprintf("no cluster %q; there are %s", asked[0], strings.Join(names, ", ")))
	} else {
		refuse(w, http.StatusBadRequest, "which cluster? Add cluster=NAME, one of "+strings.Join(names, ", "))
	}
	return Feed{}, false
}

// serveEvents answers with the kept events, oldest first. With since, a time or
// the cursor BOOT:SEQ of the last event read, only with later ones; a cursor of
// another boot asks for all, as this process has none that its reader knows.
func (e *Exporter) serveEvents(w http.ResponseWriter, r *http.Request) {
	f, ok := e.feed(w, r)
	if !ok {
		return
	}
	after, err := parseSince(r.URL.Query().Get("since"))
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	cursor := uint64(0)
	if u := f.Hub.Latest(); u != nil && u.Boot == after.boot {
		cursor = after.seq
	}
	events, _ := f.Hub.Events(cursor)
	jsonHeaders(w)
	separator := "["
	for _, ev := range events {
		if ev.At.Before(after.at) {
			continue
		}
		if _, err := fmt.Fprint(w, separator); err != nil {
			return // the client left
		}
		if err := document.EncodeEvent(w, ev); err != nil {
			return
		}
		separator = ","
	}
	if separator == "[" {
		_, _ = fmt.Fprint(w, "[")
	}
	_, _ = fmt.Fprintln(w, "]")
}

// position is how far a reader of events has come.
type position struct {
	boot string
	seq  uint64
	at   time.Time
}

var errSince = errors.New("since: want a time such as 2026-01-02T15:04:05Z, or BOOT:SEQ of an event")

func parseSince(s string) (position, error) {
	if s == "" {
		return position{}, nil
	}
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return position{at: at}, nil
	}
	boot, number, ok := strings.Cut(s, ":")
	seq, err := strconv.ParseUint(number, 10, 64)
	if !ok || boot == "" || err != nil {
		return position{}, errSince
	}
	return position{boot: boot, seq: seq}, nil
}

func jsonHeaders(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
}

// refuse answers with an error as JSON.
func refuse(w http.ResponseWriter, status int, why string) {
	jsonHeaders(w)
	w.WriteHeader(status)
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	_ = out.Encode(map[string]string{"error": document.Text(why)}) // a client that left
}
