package exporter

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/internal/document"
)

func TestHealthy(t *testing.T) {
	for _, c := range []struct {
		why               string
		interval, timeout time.Duration
		silent            time.Duration // of the second cluster
		want              int
	}{
		{"it turns", 5 * time.Second, 10 * time.Second, 0, 200},
		{"ten intervals are the longer", 5 * time.Second, 10 * time.Second, 50 * time.Second, 200},
		{"longer than ten intervals", 5 * time.Second, 10 * time.Second, 51 * time.Second, 503},
		{"two timeouts are the longer", 100 * time.Millisecond, 10 * time.Second, 20 * time.Second, 200},
		{"longer than two timeouts", 100 * time.Millisecond, 10 * time.Second, 21 * time.Second, 503},
	} {
		feed := func(name string, silent time.Duration) Feed {
			return Feed{
				Name: name, Hub: collect.NewHub(1), Timeout: c.timeout, Interval: func() time.Duration { return c.interval },
				Alive: func(now time.Time, limit time.Duration) bool { return now.Equal(noon) && silent <= limit },
			}
		}
		e, err := New(Options{Feeds: []Feed{feed("fine", 0), feed("other", c.silent)}, Now: func() time.Time { return noon }})
		if err != nil {
			t.Fatal(err)
		}
		w := (&serving{Exporter: e}).get(t, "/-/healthy")
		if w.Code != c.want {
			t.Errorf("%s: status %d, want %d", c.why, w.Code, c.want)
		}
		if c.want != 200 && (!strings.Contains(w.Body.String(), `"other"`) || strings.Contains(w.Body.String(), `"fine"`)) {
			t.Errorf("%s: %s", c.why, w.Body)
		}
	}
}

func TestAFeedWithoutALoopIsHealthy(t *testing.T) {
	if w := serve(t, Options{}, nil).get(t, "/-/healthy"); w.Code != 200 {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}

func unreached() *collect.Update {
	s := collect.NewBuilder(nil, collect.BuildOptions{ClusterName: "prod"}).Finish(noon, time.Second)
	return &collect.Update{Snapshot: s}
}

func TestReady(t *testing.T) {
	s := serve(t, Options{}, nil, nil)
	ready := func(step string, want int, says string) {
		t.Helper()
		w := s.get(t, "/-/ready")
		if w.Code != want || !strings.Contains(w.Body.String(), says) {
			t.Errorf("%s: status %d: %s; want %d: %s", step, w.Code, w.Body, want, says)
		}
	}
	ready("no poll has ended", 503, `"prod", "prod-2"`)
	s.hubs[0].Publish(unreached())
	ready("one has", 503, `"prod-2"`)
	s.hubs[1].Publish(unreached())
	ready("both have, without a broker", 503, "No broker")
	s.hubs[1].Publish(everything())
	ready("one reached a broker", 200, "ready")
	s.hubs[1].Publish(unreached())
	ready("a cluster lost later", 200, "ready")
}

// Counting goes on between scrapes: a counter that only a scrape advances would
// count scrapes.
func TestPollsAreCountedWhileNobodyScrapes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, Options{}, everything())
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); s.Run(ctx) }()
		synctest.Wait()
		u := everything()
		s.hubs[0].Publish(u)
		s.hubs[0].Publish(unreached())
		s.hubs[0].Publish(fleet(1))
		synctest.Wait()
		page := s.page(t)
		for _, line := range []string{
			namePolls + `{kafka_cluster="prod",result="partial"} 2`,
			namePolls + `{kafka_cluster="prod",result="failed"} 1`,
			namePolls + `{kafka_cluster="prod",result="complete"} 1`,
			namePollDuration + `_count{kafka_cluster="prod"} 4`,
		} {
			if !strings.Contains(page, line+"\n") {
				t.Errorf("no %s in\n%s", line, own(page))
			}
		}
		cancel()
		<-done
	})
}

// The tracker counts rebalances, whose durations no exporter can miss by being
// slow: it is their newest sum that a page shows.
func TestDurationsOfRebalances(t *testing.T) {
	s := serve(t, Options{}, nil)
	const one, count, sum = nameRebalanceDuration + `_bucket{kafka_cluster="prod",le="1"} `, nameRebalanceDuration + `_count{kafka_cluster="prod"} `, nameRebalanceDuration + `_sum{kafka_cluster="prod"} `
	has := func(why string, lines ...string) {
		t.Helper()
		page := s.page(t)
		for _, line := range lines {
			if !strings.Contains(page, line+"\n") {
				t.Errorf("%s: no %s in\n%s", why, line, own(page))
			}
		}
	}
	has("before the first poll", one+"0", count+"0", sum+"0")
	for range 3 * streamQueue { // nobody takes them
		u := everything()
		u.Snapshot.Rebalances = &collect.Durations{Within: [11]uint64{0, 2, 3, 4, 4, 4, 4, 4, 4, 4, 4}, Count: 5, Sum: 700 * time.Second}
		s.hubs[0].Publish(u)
	}
	has("the newest sum", one+"3", count+"5", sum+"700", nameRebalanceDuration+`_bucket{kafka_cluster="prod",le="+Inf"} 5`)
	s.hubs[0].Publish(unreached())
	if page := s.page(t); strings.Contains(page, count) {
		t.Errorf("nobody counted, and yet:\n%s", own(page))
	}
}

func TestRunEndsWithTheHubs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, Options{}, nil, nil)
		done := make(chan struct{})
		go func() { defer close(done); s.Run(t.Context()) }()
		synctest.Wait()
		for _, h := range s.hubs {
			h.Close()
		}
		<-done
	})
}

func decodeDocument(t *testing.T, s *serving, path string) *document.Document {
	t.Helper()
	w := s.get(t, path)
	if w.Code != 200 || w.Header().Get("Content-Type") != "application/json; charset=utf-8" {
		t.Fatalf("%s: status %d, %s: %s", path, w.Code, w.Header().Get("Content-Type"), w.Body)
	}
	d, err := document.Decode(w.Body)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return d
}

func TestGroupsAreTheDocument(t *testing.T) {
	u := everything()
	s := serve(t, Options{}, u)
	var want bytes.Buffer
	if err := document.Encode(&want, u, nil, document.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := s.get(t, "/api/v1/groups").Body.String(); got != want.String() {
		t.Errorf("got %s\nwant %s", got, want.String())
	}
	if got := decoded(t, s.get(t, "/api/v1/groups?cluster=prod", "Accept-Encoding", "gzip").Result()); got != want.String() {
		t.Errorf("gzip: got %s", got)
	}
	for _, g := range decodeDocument(t, s, "/api/v1/groups?detail=group").Groups {
		if g.Members != nil || g.Partitions != nil {
			t.Errorf("detail=group: %q has members or partitions", g.Group)
		}
	}
	s.now = noon.Add(2 * time.Minute)
	for _, g := range decodeDocument(t, s, "/api/v1/groups").Groups {
		if g.Lag.Records != nil {
			t.Errorf("%q has a lag that nobody reads any more", g.Group)
		}
	}
}

func TestOneGroup(t *testing.T) {
	b := newBed()
	b.topic("t", 1)
	names := []string{"ticker", "", "a/b", "a b", "..", "100%", "市場", "bad-\xff", `bad-\xff`, `q"q`, "a?b#c"}
	for _, n := range names {
		b.empty(n, "t")
	}
	s := serve(t, Options{}, &collect.Update{Snapshot: b.finish()})
	escape := func(n string) string {
		return strings.ReplaceAll(url.PathEscape(n), ".", "%2E") // or a client would make a path of ".."
	}
	for _, n := range names {
		d := decodeDocument(t, s, "/api/v1/groups/"+escape(document.Text(n)))
		if len(d.Groups) != 1 || d.Groups[0].Group != document.Text(n) {
			t.Errorf("%q: got %v", n, d.Groups)
		}
	}
	if d := decodeDocument(t, s, "/api/v1/groups/"+escape("bad-\xff")); len(d.Groups) != 1 || d.Groups[0].Group != `bad-\xff` {
		t.Error("a group is not found by its own bytes")
	}
}

func TestTheAPIOnlyReads(t *testing.T) {
	s := serve(t, Options{}, everything())
	for _, path := range []string{"/api/v1/clusters", "/api/v1/groups", "/api/v1/groups/", "/api/v1/groups/ticker", "/api/v1/events"} {
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
			a := httptest.NewRecorder()
			s.Handler().ServeHTTP(a, httptest.NewRequest(method, path, nil))
			if a.Code != http.StatusMethodNotAllowed || a.Header().Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %d, Allow %q", method, path, a.Code, a.Header().Get("Allow"))
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	one, two, none := serve(t, Options{}, everything()), serve(t, Options{}, everything(), everything()), serve(t, Options{}, nil)
	for _, c := range []struct {
		s    *serving
		path string
		want int
		says string
	}{
		{one, "/api/v1/groups/nobody", 404, "nobody"},
		{one, "/api/v1/groups?detail=row", 400, "detail"},
		{one, "/api/v1/groups?cluster=other", 404, "prod"},
		{two, "/api/v1/groups", 400, `"prod", "prod-2"`},
		{two, "/api/v1/events", 400, `"prod", "prod-2"`},
		{two, "/api/v1/groups/ticker", 400, "prod-2"},
		{none, "/api/v1/groups", 503, "has not ended"},
		{none, "/api/v1/groups/ticker", 503, "has not ended"},
		{one, "/api/v1/events?since=yesterday", 400, "BOOT:SEQ"},
		{one, "/api/v1/events?since=b:x", 400, "BOOT:SEQ"},
		{one, "/api/v1/nothing", 404, "/api/v1/nothing"},
	} {
		w := c.s.get(t, c.path)
		var body map[string]string
		err := json.Unmarshal(w.Body.Bytes(), &body)
		if w.Code != c.want || err != nil || !strings.Contains(body["error"], c.says) {
			t.Errorf("%s: status %d: %s; want %d and an error that says %s", c.path, w.Code, w.Body, c.want, c.says)
		}
	}
	if d := decodeDocument(t, two, "/api/v1/groups?cluster=prod-2"); len(d.Groups) != 5 {
		t.Errorf("%d groups", len(d.Groups))
	}
}

func TestClusters(t *testing.T) {
	var lines []map[string]any
	if err := json.Unmarshal(serve(t, Options{}, everything(), nil).get(t, "/api/v1/clusters").Body.Bytes(), &lines); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%v %v %v %v", lines[0]["cluster"], lines[0]["up"], lines[0]["complete"], lines[0]["taken_at"]); got != "prod true false 2026-03-01T12:00:00.000000000Z" {
		t.Errorf("first cluster: %s", got)
	}
	if fs := lines[0]["findings"].([]any); len(fs) != 1 || fs[0].(map[string]any)["code"] != "partially_denied" {
		t.Errorf("findings %v", fs)
	}
	if got, err := json.Marshal(lines[1]); err != nil || string(got) != `{"cluster":"prod-2","complete":false,"findings":[],"taken_at":null,"up":false}` {
		t.Errorf("a cluster without a poll: %s, %v", got, err)
	}
}

func TestEvents(t *testing.T) {
	s := serve(t, Options{}, nil)
	read := func(query string) string {
		t.Helper()
		var events []document.Event
		if err := json.Unmarshal(s.get(t, "/api/v1/events"+query).Body.Bytes(), &events); err != nil || events == nil {
			t.Fatalf("%s: %v", query, err)
		}
		out := ""
		for _, e := range events {
			out += fmt.Sprint(e.Seq, " ")
		}
		return out
	}
	if got := read(""); got != "" {
		t.Errorf("events before any: %s", got)
	}
	u := everything()
	for i := range 3 {
		u.Events = append(u.Events, collect.Event{Seq: uint64(i + 1), Boot: "b", Group: "ticker", Kind: collect.EventState, At: noon.Add(time.Duration(i) * time.Minute)})
	}
	s.hubs[0].Publish(u)
	for query, want := range map[string]string{
		"":                                   "1 2 3 ",
		"?since=b:1":                         "2 3 ",
		"?since=b:3":                         "",
		"?since=another:2":                   "1 2 3 ",
		"?since=2026-03-01T12:01:00Z":        "2 3 ",
		"?since=2026-03-02T00:00:00%2B01:00": "",
	} {
		if got := read(query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

func TestThePageToRead(t *testing.T) {
	u := everything()
	u.Findings = append(u.Findings, collect.Finding{Group: "pair", Code: "x", Summary: "<script>alert(1)</script>"})
	w := serve(t, Options{}, u, nil).get(t, "/")
	body := w.Body.String()
	if w.Code != 200 || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("status %d, %s", w.Code, w.Header().Get("Content-Type"))
	}
	for _, want := range []string{
		"<h2>prod</h2>", "5 groups", "lag ≥ 3,000,130 records", `href="metrics"`, `href="api/v1/groups?cluster=prod"`,
		`href="api/v1/groups/ticker?cluster=prod"`, "3,000,130", "5 records of market-updates/2 are lost", "&lt;script&gt;", "(empty)",
		"<h2>prod-2</h2>", "The first poll has not ended.",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in\n%s", want, body)
		}
	}
	if strings.Contains(body, "<script>") {
		t.Error("a name from the cluster became markup")
	}
	if w := serve(t, Options{}, nil).get(t, "/elsewhere"); w.Code != 404 {
		t.Errorf("/elsewhere: status %d", w.Code)
	}
}

// A poll that reached nobody has read nothing, however short ago it was.
func TestThePageDoesNotSayThatALostClusterWasRead(t *testing.T) {
	u := everything()
	s := *u.Snapshot
	s.Reached, s.Complete = false, false
	u.Snapshot = &s
	body := serve(t, Options{}, u).get(t, "/").Body.String()
	if !strings.Contains(body, "No broker answered the last poll.") || !strings.Contains(body, "Last tried 1s ago") || strings.Contains(body, "Read 1s ago") {
		t.Errorf("the page says\n%s", body)
	}
}

// start serves on a port of its own until the test ends.
func start(t *testing.T, s *serving, webConfig string) (addr string, stop func() error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l, webConfig) }()
	stopped := false
	stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-done
	}
	t.Cleanup(func() { _ = stop() })
	return l.Addr().String(), stop
}

func TestServeAnswersAtOnceAndStopsWhenTold(t *testing.T) {
	s := serve(t, Options{}, nil)
	addr, stop := start(t, s, "")
	r, err := http.Get("http://" + addr + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	body := readAll(t, r.Body)
	r.Body.Close()
	if !strings.Contains(body, nameUp+`{kafka_cluster="prod"} 0`) {
		t.Errorf("before the first poll: %s", body)
	}
	if err := stop(); err != nil {
		t.Errorf("told to stop: %v", err)
	}
	if c, err := net.Dial("tcp", addr); err == nil {
		c.Close()
		t.Error("it still listens")
	}
}

// Somebody who asked and does not read must not hold the process up.
func TestServeStopsInSpiteOfAStuckClient(t *testing.T) {
	s := serve(t, Options{}, fleet(5000))
	addr, stop := start(t, s, "")
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
	if _, err := c.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Errorf("told to stop: %v", err)
	}
}

func TestServeSaysWhyItCannot(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	err = serve(t, Options{}, nil).Serve(t.Context(), l, filepath.Join(t.TempDir(), "missing.yml"))
	if err == nil || !strings.Contains(err.Error(), "missing.yml") || !strings.Contains(err.Error(), "serve HTTP on") {
		t.Errorf("error: %v", err)
	}
}

func TestTLSAndBasicAuthentication(t *testing.T) {
	dir := t.TempDir()
	writeCertificate(t, dir)
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "web.yml")
	config := "tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\nbasic_auth_users:\n  alice: " + string(hash) + "\n"
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	addr, _ := start(t, serve(t, Options{}, everything()), file)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	for password, want := range map[string]int{"secret": 200, "wrong": 401, "": 401} {
		r, err := http.NewRequest(http.MethodGet, "https://"+addr+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		if password != "" {
			r.SetBasicAuth("alice", password)
		}
		a, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		if a.StatusCode != want {
			t.Errorf("password %q: status %d, want %d", password, a.StatusCode, want)
		}
	}
}
