package exporter

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"sort"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/klagtop/klagtop/collect"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// bed is a small cluster that a test fills. Every log runs from 0 to 100
// unless the test says otherwise.
type bed struct {
	*collect.Builder
	starts, ends map[string]int64 // by topic/partition; an end of -1 is not read
	stables      map[string]int64
}

func newBed() *bed {
	b := &bed{
		Builder: collect.NewBuilder(nil, collect.BuildOptions{ClusterName: "prod", StaleAfter: time.Minute}),
		starts:  map[string]int64{}, ends: map[string]int64{}, stables: map[string]int64{},
	}
	b.Reached()
	b.SetCluster(collect.Cluster{ID: "abc", Controller: 1, SeesAllGroups: collect.Yes, SeesAllTopics: collect.No, TransactionState: true})
	return b
}

func (b *bed) topic(name string, partitions int) {
	b.AddTopic(collect.TopicMeta{Name: name, Leaders: make([]int32, partitions)})
}

func (b *bed) group(f collect.GroupFacts, commits ...collect.TopicCommits) {
	f.At, f.Described, f.MembersKnown = noon, f.Reason == collect.ReasonNone, f.Reason == collect.ReasonNone
	if f.Type == "" {
		f.Type = collect.TypeClassic
	}
	b.AddGroup(f)
	if f.Reason != collect.ReasonNone {
		b.CommitsUnread(f.Name, f.Reason)
		return
	}
	b.AddCommits(f.Name, noon, commits)
}

// empty adds a group without members that committed offset 40 on a topic.
func (b *bed) empty(name, topic string) {
	b.group(collect.GroupFacts{Name: name, State: collect.StateEmpty, Coordinator: 1, Generation: collect.Generation{Value: -1}}, commitsOn(topic, 40))
}

func (b *bed) finish() *collect.Snapshot {
	b.Layout()
	for _, n := range b.Needs() {
		for _, p := range n.Partitions {
			key := fmt.Sprintf("%s/%d", n.Topic.Name, p)
			end, set := b.ends[key]
			if !set {
				end = 100
			}
			if end < 0 {
				b.EndUnread(n.Topic, p, collect.ReasonNoLeader)
				continue
			}
			b.SetStart(n.Topic, p, b.starts[key], noon)
			b.SetEnd(n.Topic, p, end, 0, noon)
			if stable, ok := b.stables[key]; ok {
				b.SetStable(n.Topic, p, stable)
			}
		}
	}
	return b.Finish(noon, 120*time.Millisecond)
}

func commitsOn(topic string, offsets ...int64) collect.TopicCommits {
	c := collect.TopicCommits{Topic: topic, Offsets: offsets}
	for p := range offsets {
		c.Partitions, c.Epochs = append(c.Partitions, int32(p)), append(c.Epochs, 0)
	}
	return c
}

func owns(topic string, ps ...int32) []collect.TopicPartitions {
	return []collect.TopicPartitions{{Topic: topic, Partitions: ps}}
}

// everything is a cluster with something of each kind in it.
func everything() *collect.Update {
	b := newBed()
	b.topic("market-updates", 4)
	b.topic("notifications", 2)
	b.topic("quotes", 2)
	b.starts["market-updates/2"], b.ends["market-updates/3"] = 10, 3_000_000
	b.stables["market-updates/0"], b.stables["market-updates/2"], b.stables["market-updates/3"] = 80, 100, 3_000_000
	b.ends["notifications/1"] = -1
	subscribed := []string{"market-updates"}
	b.group(collect.GroupFacts{
		Name: "ticker", State: collect.StateStable, ProtocolType: "consumer", Assignor: "range", Coordinator: 2,
		Generation: collect.Generation{Value: 3, Source: collect.SourceMemberMetadata},
		Members: []collect.Member{
			{ID: "pod-1-a", ClientID: "pod-1", Host: "10.0.0.1", Epoch: -1, Decode: collect.DecodeOK, Subscribed: subscribed, Assigned: owns("market-updates", 0, 1)},
			{ID: "pod-2-b", ClientID: `pod-"2"`, Host: "10.0.0.2", InstanceID: "two", Epoch: -1, Decode: collect.DecodeOK, Subscribed: subscribed, Assigned: owns("market-updates", 1, 2)},
			{ID: "pod-3-c", ClientID: "pod-3", Host: "10.0.0.3", Epoch: -1, Decode: collect.DecodeEmpty, Subscribed: subscribed},
			{ID: "pod-4-d", ClientID: "pod-4", Host: "10.0.0.4", Epoch: -1, Decode: collect.DecodeUndecodable, Subscribed: subscribed},
		},
	}, commitsOn("market-updates", 60, 200, 5), commitsOn("notifications", 100))
	b.group(collect.GroupFacts{
		Name: "alerts", Type: collect.TypeConsumer, State: "Bewildered", ProtocolType: "consumer", Assignor: "uniform", Coordinator: 1,
		Generation: collect.Generation{Value: 7, Exact: true, Source: collect.SourceEpoch},
		Members:    []collect.Member{{ID: "m", ClientID: "alerter", Host: "10.0.0.9", Decode: collect.DecodeOK, HasTarget: true, Subscribed: []string{"notifications"}, Assigned: owns("notifications", 0), Target: owns("notifications", 0, 1)}},
	}, commitsOn("notifications", 100, 5))
	b.group(collect.GroupFacts{Name: "hidden", State: collect.StateStable, Coordinator: -1, Generation: collect.Generation{Value: -1}, Reason: collect.ReasonDenied})
	both := append(owns("notifications", 0), owns("quotes", 0, 1)...)
	b.group(collect.GroupFacts{
		Name: "pair", State: collect.StateStable, ProtocolType: "consumer", Assignor: "sticky", Coordinator: 1, Generation: collect.Generation{Value: -1},
		Members: []collect.Member{{ID: "p", ClientID: "p", Host: "10.0.0.8", Epoch: -1, Decode: collect.DecodeOK, Subscribed: []string{"notifications", "quotes"}, Assigned: both}},
	}, commitsOn("quotes", 100, 100), commitsOn("notifications", 100))
	b.empty("", "gone")
	b.Problem(collect.Problem{Stage: collect.StageDescribe, Broker: 2, Group: "hidden", Partition: -1, Reason: collect.ReasonDenied})
	b.Problem(collect.Problem{Stage: collect.StageCommits, Broker: 2, Group: "hidden", Partition: -1, Reason: collect.ReasonDenied})
	b.Problem(collect.Problem{Stage: collect.StageCommits, Broker: 2, Group: "other", Partition: -1, Reason: collect.ReasonDenied})
	s := b.finish()
	track(s)
	return &collect.Update{Boot: "b", Seq: 1, Snapshot: s, Findings: []collect.Finding{
		{Cluster: true, Code: "partially_denied", Severity: collect.Info, Primary: true},
		{Group: "ticker", Code: "data_lost", Severity: collect.Critical, Primary: true, Summary: "5 records of market-updates/2 are lost"},
		{Group: "ticker", Code: "idle_members", Severity: collect.Info},
		{Group: "ticker", Code: "idle_members", Severity: collect.Info},
	}}
}

// track gives a snapshot what only the loop's memory can.
func track(s *collect.Snapshot) {
	s.Rebalances = &collect.Durations{}
	g, _ := s.Group("ticker")
	g.Drain, g.ProgressAt = 12.5, noon.Add(-1500*time.Millisecond)
	g.Lag.Age = collect.Age{Seconds: 3.25, Error: 0.5, Method: collect.MethodInterpolated}
	g.Lag.Headroom = 86400
	g.Counters = collect.GroupCounters{
		Rebalances: 4, RebalanceTime: 1500 * time.Millisecond, RebalanceEvents: 3, LastRebalanceAt: noon.Add(-time.Hour), Moved: 9,
		Produced: 1_234_567, Consumed: 1_234_000, Overtaken: 5, JumpsBack: 1, JumpsForward: 2,
	}
	gt, _ := g.Topic("market-updates")
	for range gt.Committed {
		gt.Ages = append(gt.Ages, collect.Age{Seconds: math.NaN()})
	}
	gt.Ages[0] = collect.Age{Seconds: 3.25, Error: 0.5, Method: collect.MethodInterpolated}
	t, _ := s.Topic("market-updates")
	t.ProducedTotal = 42
	t.Open = []collect.OpenTransaction{
		{Partition: 0, Start: 80, Age: collect.Age{Seconds: 90.5, Method: collect.MethodAtLeast}, TransactionAnswer: collect.Nobody(collect.ReasonNotReported)},
		{Partition: 2, Start: 70, Age: collect.Age{Seconds: 600, Method: collect.MethodExact}}, // over since
	}
}

// serving is an exporter on some clusters; the first is named prod.
type serving struct {
	*Exporter
	hubs []*collect.Hub
	now  time.Time
}

func serve(t testing.TB, o Options, updates ...*collect.Update) *serving {
	t.Helper()
	s := &serving{now: noon.Add(time.Second)}
	for i, u := range updates {
		name := "prod"
		if i > 0 {
			name = fmt.Sprintf("prod-%d", i+1)
		}
		hub := collect.NewHub(10)
		if u != nil {
			hub.Publish(u)
		}
		s.hubs = append(s.hubs, hub)
		o.Feeds = append(o.Feeds, Feed{Name: name, Hub: hub})
	}
	o.Version, o.Revision = "1.2.3", "abcdef"
	o.Now = func() time.Time { return s.now }
	var err error
	if s.Exporter, err = New(o); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *serving) get(t testing.TB, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

// page is the metrics page as text.
func (s *serving) page(t testing.TB) string {
	t.Helper()
	w := s.get(t, "/metrics")
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// families parses a page.
func parse(t testing.TB, page string) map[string]*dto.MetricFamily {
	t.Helper()
	p := expfmt.NewTextParser(model.UTF8Validation)
	fs, err := p.TextToMetricFamilies(strings.NewReader(page))
	if err != nil {
		t.Fatalf("the page does not parse: %v", err)
	}
	return fs
}

// canonical is a family with its samples in one order, whoever made it.
func canonical(t testing.TB, mf *dto.MetricFamily) string {
	t.Helper()
	for _, m := range mf.Metric {
		sort.Slice(m.Label, func(i, j int) bool { return m.Label[i].GetName() < m.Label[j].GetName() })
	}
	sort.Slice(mf.Metric, func(i, j int) bool { return fmt.Sprint(mf.Metric[i].Label) < fmt.Sprint(mf.Metric[j].Label) })
	var out bytes.Buffer
	if _, err := expfmt.MetricFamilyToText(&out, mf); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// samplesOf are the lines of a page's family: what follows the name.
func samplesOf(page, name string) []string {
	var out []string
	for line := range strings.Lines(page) {
		if rest, ok := strings.CutPrefix(line, name+"{"); ok {
			out = append(out, "{"+strings.TrimSuffix(rest, "\n"))
		}
	}
	return out
}

func readAll(t testing.TB, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
