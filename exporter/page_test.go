package exporter

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/klagtop/klagtop/collect"
)

func TestWhatIsNotKnownHasNoSample(t *testing.T) {
	page := serve(t, Options{Members: true}, everything()).page(t)
	for _, line := range []string{
		`klagtop_group_lag_records{kafka_cluster="prod",group="hidden"`,                                                     // denied
		`klagtop_group_members{kafka_cluster="prod",group="hidden"`,                                                         // its members too
		`klagtop_group_coordinator_id{kafka_cluster="prod",group="hidden"`,                                                  // no broker listed it
		`klagtop_group_lag_seconds{kafka_cluster="prod",group="hidden"`,                                                     //
		`klagtop_group_lost_records{kafka_cluster="prod",group="hidden"`,                                                    // a sum over nothing known
		`klagtop_group_lag_records{kafka_cluster="prod",group=""`,                                                           // its one topic is gone
		`klagtop_group_unassigned_partitions{kafka_cluster="prod",group=""`,                                                 // nobody assigns for it
		`klagtop_group_generation{kafka_cluster="prod",group=""`,                                                            // none told
		`klagtop_group_partition_lag_records{kafka_cluster="prod",group="alerts",topic="notifications",partition="1"`,       // log end not read
		`klagtop_group_partition_lag_seconds{kafka_cluster="prod",group="alerts",topic="notifications",partition="1"`,       //
		`klagtop_group_partition_lag_seconds{kafka_cluster="prod",group="ticker",topic="market-updates",partition="2"`,      // no age found yet
		`klagtop_group_partition_committed_offset{kafka_cluster="prod",group="ticker",topic="market-updates",partition="3"`, // no commit
		`klagtop_group_partition_lost_records{kafka_cluster="prod",group="ticker",topic="market-updates",partition="0"`,     // nothing lost
		`klagtop_partition_log_end_offset{kafka_cluster="prod",topic="notifications",partition="1"`,                         // not read
		`klagtop_partition_last_stable_offset{kafka_cluster="prod",topic="market-updates",partition="1"`,                    // not asked for
		`klagtop_topic_partitions{kafka_cluster="prod",topic="gone"`,                                                        //
		`klagtop_group_member_lag_records{kafka_cluster="prod",group="ticker",member_id="pod-4-d"`,                          // undecodable
		`klagtop_group_member_partitions{kafka_cluster="prod",group="ticker",member_id="pod-4-d"`,                           //
	} {
		if strings.Contains(page, line) {
			t.Errorf("a sample of what is not known: %s", line)
		}
	}
	for _, s := range []string{"NaN", "Inf\n", "} -"} {
		for line := range strings.Lines(page) {
			if strings.HasPrefix(line, "klagtop_") && strings.Contains(line, s) {
				t.Errorf("%q is no number to serve: %s", s, line)
			}
		}
	}
}

// Findings of the cluster name no group; a group may have no name either.
func TestTheNamelessGroupHasNotTheClustersFindings(t *testing.T) {
	page := serve(t, Options{}, everything()).page(t)
	if got := samplesOf(page, "klagtop_group_finding"); len(got) != 2 {
		t.Errorf("findings of groups: %q, want two of ticker", got)
	}
	if got := samplesOf(page, nameClusterFinding); len(got) != 1 {
		t.Errorf("findings of the cluster: %q, want one", got)
	}
}

func TestBeforeTheFirstPollAClusterIsDownAndNothingElse(t *testing.T) {
	page := own(serve(t, Options{}, nil).page(t))
	if !strings.Contains(page, nameUp+`{kafka_cluster="prod"} 0`) {
		t.Errorf("klagtop_up is not 0:\n%s", page)
	}
	for _, name := range []string{namePollComplete, nameSnapshotTime, nameClusterInfo, nameSeesAll, nameDenied, "klagtop_group_members"} {
		if strings.Contains(page, name+"{") {
			t.Errorf("%s has a sample before the first poll", name)
		}
	}
}

func TestLevels(t *testing.T) {
	levels := map[string]Level{}
	for _, m := range Metrics() {
		levels[m.Name] = m.Level
	}
	for _, c := range []struct {
		o    Options
		want []Level
	}{
		{Options{}, []Level{LevelGroup, LevelPartition, LevelSelf, LevelTopic}},
		{Options{Level: LevelPartition}, []Level{LevelGroup, LevelPartition, LevelSelf, LevelTopic}},
		{Options{Level: LevelTopic}, []Level{LevelGroup, LevelSelf, LevelTopic}},
		{Options{Level: LevelGroup}, []Level{LevelGroup, LevelSelf}},
		{Options{Level: LevelGroup, Members: true}, []Level{LevelGroup, LevelMember, LevelSelf}},
	} {
		got := map[Level]bool{}
		for name := range parse(t, own(serve(t, c.o, everything()).page(t))) {
			got[levels[name]] = true
		}
		var names []Level
		for l := range got {
			names = append(names, l)
		}
		if slices.Sort(names); !slices.Equal(names, c.want) {
			t.Errorf("level %q, members %v: page has %v, want %v", c.o.Level, c.o.Members, names, c.want)
		}
	}
}

// fleet is a cluster of so many groups with one partition each.
func fleet(groups int) *collect.Update {
	b := newBed()
	b.topic("t", 1)
	for i := range groups {
		b.empty(fmt.Sprintf("g-%03d", i), "t")
	}
	return &collect.Update{Snapshot: b.finish()}
}

// countSamples counts the samples of a page.
func countSamples(page string) int {
	n := 0
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "#") {
			n++
		}
	}
	return n
}

func TestALimitDropsWholeLevelsAndSaysSo(t *testing.T) {
	full := serve(t, Options{Members: true}, everything()).page(t)
	count := func(l Level) (n int) {
		for _, m := range Metrics() {
			if m.Level == l {
				n += len(samplesOf(full, m.Name))
			}
		}
		return n
	}
	all, members, partitions, topics := countSamples(full), count(LevelMember), count(LevelPartition), count(LevelTopic)
	slack := 3 // klagtop's own samples may differ by a few from page to page
	for _, c := range []struct {
		why                       string
		limit                     int
		member, partition, topics int
	}{
		{"no limit", 0, 0, 0, 0},
		{"it fits", all + slack, 0, 0, 0},
		{"members go first", all - slack, members, 0, 0},
		{"then partitions", all - members - slack, members, partitions, 0},
		{"then topics", all - members - partitions - slack, members, partitions, topics},
		{"groups and self never", 1, members, partitions, topics},
	} {
		page := serve(t, Options{Members: true, MaxSeries: c.limit}, everything()).page(t)
		for level, want := range map[Level]int{LevelMember: c.member, LevelPartition: c.partition, LevelTopic: c.topics} {
			line := fmt.Sprintf("%s{kafka_cluster=\"prod\",level=%q} %d\n", nameDropped, level, want)
			if !strings.Contains(page, line) {
				t.Errorf("%s, limit %d: want %s, page has %q", c.why, c.limit, line, samplesOf(page, nameDropped))
			}
		}
		if got, want := countSamples(page), all-c.member-c.partition-c.topics; got < want-slack || got > want+slack {
			t.Errorf("%s, limit %d: %d samples, want %d", c.why, c.limit, got, want)
		}
		if len(samplesOf(page, "klagtop_group_members")) == 0 || len(samplesOf(page, nameUp)) == 0 {
			t.Errorf("%s: group or self metrics are gone", c.why)
		}
	}
}

// A level must not come and go with each group that does.
func TestADroppedLevelComesBackOnlyWellBelowTheLimit(t *testing.T) {
	size := countSamples(serve(t, Options{}, fleet(100)).page(t))
	s := serve(t, Options{MaxSeries: size}, fleet(110))
	dropped := func() bool { return len(samplesOf(s.page(t), "klagtop_group_partition_lag_records")) == 0 }
	if !dropped() {
		t.Fatal("a page above its limit has all levels")
	}
	s.hubs[0].Publish(fleet(96))
	if !dropped() {
		t.Error("the level is back just below the limit")
	}
	s.hubs[0].Publish(fleet(80))
	if dropped() {
		t.Error("the level is not back far below the limit")
	}
	s.hubs[0].Publish(fleet(96))
	if dropped() {
		t.Error("the level is gone although the page is within its limit")
	}
}

func TestASeriesEndsWithItsObject(t *testing.T) {
	s := serve(t, Options{Members: true}, everything())
	if !strings.Contains(s.page(t), `group="ticker"`) {
		t.Fatal("no series of the group")
	}
	s.hubs[0].Publish(fleet(1))
	if page := s.page(t); strings.Contains(page, `group="ticker"`) || strings.Contains(page, `topic="market-updates"`) {
		t.Error("series of a group or topic that is gone")
	}
}

// A poll that hangs must not leave a frozen number that looks healthy, even on
// a page that is kept.
func TestNumbersThatNobodyReadsAgainEnd(t *testing.T) {
	for _, coding := range []string{"identity", "gzip"} {
		s := serve(t, Options{}, everything())
		if page := decoded(t, s.get(t, "/metrics", "Accept-Encoding", coding).Result()); len(samplesOf(page, "klagtop_group_lag_records")) != 3 {
			t.Fatalf("%s: no lags: %q", coding, samplesOf(page, "klagtop_group_lag_records"))
		}
		s.now = noon.Add(2 * time.Minute)
		page := decoded(t, s.get(t, "/metrics", "Accept-Encoding", coding).Result())
		for _, name := range []string{"klagtop_group_lag_records", "klagtop_group_partition_lag_records", "klagtop_partition_log_end_offset", "klagtop_group_drain_seconds", "klagtop_group_lag_seconds"} {
			if got := samplesOf(page, name); len(got) > 0 {
				t.Errorf("%s: %s still has %q", coding, name, got)
			}
		}
		if got := samplesOf(page, nameUp); len(got) != 1 {
			t.Errorf("%s: klagtop_up is %q", coding, got)
		}
	}
}

// decoded is the text of an answer, whatever its coding.
func decoded(t testing.TB, r *http.Response) string {
	t.Helper()
	switch c := r.Header.Get("Content-Encoding"); c {
	case "":
		return readAll(t, r.Body)
	case "gzip":
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		z.Multistream(false) // as clients that read one member only
		text := readAll(t, z)
		if rest := readAll(t, r.Body); rest != "" {
			t.Errorf("%d bytes follow the gzip member", len(rest))
		}
		return text
	case "zstd":
		z, err := zstd.NewReader(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		return readAll(t, z)
	default:
		t.Fatalf("content coding %q", c)
		return ""
	}
}

func TestEveryFormSaysTheSame(t *testing.T) {
	s := serve(t, Options{Members: true}, fleet(300))
	plain := own(s.page(t))
	for range 2 { // made, then kept
		for _, coding := range []string{"gzip", "zstd"} {
			r := s.get(t, "/metrics", "Accept-Encoding", coding).Result()
			if got := r.Header.Get("Content-Encoding"); got != coding {
				t.Errorf("asked for %s, got %q", coding, got)
			}
			if text := own(decoded(t, r)); text != plain {
				t.Errorf("%s: %d bytes, plain %d", coding, len(text), len(plain))
			}
		}
	}
	const om = "application/openmetrics-text;version=1.0.0"
	r := s.get(t, "/metrics", "Accept", om, "Accept-Encoding", "gzip").Result()
	if got := r.Header.Get("Content-Type"); !strings.HasPrefix(got, "application/openmetrics-text; version=1.0.0") {
		t.Errorf("content type %q", got)
	}
	text := decoded(t, r)
	if !strings.HasSuffix(text, "# EOF\n") || strings.Count(text, "# EOF") != 1 {
		t.Errorf("OpenMetrics ends in %q", text[len(text)-20:])
	}
	for _, line := range []string{"# TYPE klagtop_group_rebalances counter\n", "# TYPE klagtop_polls counter\n", "klagtop_group_rebalances_total{"} {
		if !strings.Contains(text, line) {
			t.Errorf("OpenMetrics has no %q", line)
		}
	}
	if !slices.Equal(samplesOf(text, "klagtop_group_lag_records"), samplesOf(plain, "klagtop_group_lag_records")) {
		t.Error("OpenMetrics has other samples than plain text")
	}
}

func TestContentType(t *testing.T) {
	s := serve(t, Options{}, everything())
	for accept, want := range map[string]string{
		"":                             "text/plain; version=0.0.4",
		"application/openmetrics-text": "application/openmetrics-text; version=0.0.1",
		"text/plain;version=0.0.4":     "text/plain; version=0.0.4",
		"application/json":             "text/plain; version=0.0.4",
		"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,text/plain;version=0.0.4;q=0.3": "text/plain; version=0.0.4",
	} {
		if got := s.get(t, "/metrics", "Accept", accept).Header().Get("Content-Type"); !strings.HasPrefix(got, want) {
			t.Errorf("Accept %q: %q, want %q", accept, got, want)
		}
	}
}

func TestAcceptEncoding(t *testing.T) {
	for header, want := range map[string]coding{
		"":                             identity,
		"gzip":                         gzipped,
		"zstd":                         zstded,
		"gzip, zstd":                   gzipped,
		"zstd, gzip;q=0.5":             zstded,
		"gzip;q=0":                     identity,
		"gzip; q=0.0, zstd;q=0":        identity,
		"*":                            gzipped,
		"gzip;q=0, *":                  zstded,
		"identity, gzip;q=0.5":         identity,
		"identity;q=0.5, gzip;q=0.5":   gzipped,
		"br, deflate":                  identity,
		"GZIP":                         gzipped,
		"gzip;q=nonsense":              identity,
		"deflate, gzip;q=1.0, *;q=0.5": gzipped,
	} {
		if got := acceptedCoding(http.Header{"Accept-Encoding": {header}}); got != want {
			t.Errorf("%q: %s, want %s", header, got, want)
		}
	}
}

// The compressed page is made once a poll, however many scrape it.
func TestThePageIsKeptUntilTheNextPoll(t *testing.T) {
	s := serve(t, Options{}, everything())
	get := func() { s.get(t, "/metrics", "Accept-Encoding", "gzip") }
	get()
	kept := s.Exporter.page
	body := kept.bodies[form{coding: gzipped}]
	if body == nil {
		t.Fatal("nothing is kept")
	}
	get()
	if s.Exporter.page != kept || kept.bodies[form{coding: gzipped}] != body {
		t.Error("the page was made anew without a poll")
	}
	s.hubs[0].Publish(everything())
	get()
	if s.Exporter.page == kept {
		t.Error("the page is that of the poll before")
	}
}

// Own metrics on a kept page are those of the scrape, not of the poll.
func TestOwnMetricsAreFreshOnAKeptPage(t *testing.T) {
	s := serve(t, Options{}, everything())
	n := prometheus.NewCounter(prometheus.CounterOpts{Name: "scrapes_total", Help: "Of this test."})
	s.Registry().MustRegister(n)
	for i := range 3 {
		page := decoded(t, s.get(t, "/metrics", "Accept-Encoding", "gzip").Result())
		if want := fmt.Sprintf("\nscrapes_total %d\n", i); !strings.Contains(page, want) {
			t.Errorf("scrape %d: page has no %q", i+1, want)
		}
		n.Inc()
	}
}

// A metric that is registered beside ours under one of our names would make
// the page have a family twice.
func TestARegisteredMetricCannotRepeatAFamily(t *testing.T) {
	s := serve(t, Options{}, everything())
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: "klagtop_group_members", Help: "An impostor."})
	s.Registry().MustRegister(g)
	if page := s.page(t); strings.Count(page, "# TYPE klagtop_group_members ") != 1 {
		t.Error("klagtop_group_members is there twice")
	}
}

func TestScrapesAtOnceWhilePollsGoOn(t *testing.T) {
	s := serve(t, Options{Members: true, MaxSeries: 10_000}, fleet(200), everything())
	done := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 4 {
		coding := []string{"gzip", "identity", "zstd", "gzip"}[i]
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					text := decoded(t, s.get(t, "/metrics", "Accept-Encoding", coding).Result())
					if n := len(samplesOf(text, "klagtop_group_lag_records")); n < 103 {
						t.Errorf("%s: %d groups", coding, n)
						return
					}
				}
			}
		})
	}
	for i := range 20 {
		s.hubs[0].Publish(fleet(100 + i))
	}
	close(done)
	wg.Wait()
}

func TestAClientThatLeavesCostsNothing(t *testing.T) {
	s := serve(t, Options{}, fleet(300))
	enc := &encoder{out: failing{}}
	s.write(enc, s.current(s.now))
	if enc.err == nil {
		t.Error("the error is lost")
	}
	if _, err := s.coders.begin(gzipped, func(io.Writer) error { return io.ErrClosedPipe }); err != io.ErrClosedPipe {
		t.Errorf("error %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
