package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/internal/document"
	"github.com/klagtop/klagtop/internal/kafkatest"
)

// A plan is worth what comes of it: for each assignor, what `whatif` printed
// before a member joined or left is held against who owns what afterwards.
func TestWhatIfIsWhatHappens(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes twenty-one consumers in a JVM, and three of KafkaJS")
	}
	t.Parallel()
	c := realKafka.Cluster(t)
	ta, tb := kafkatest.Name("market-updates"), kafkatest.Name("notifications")
	c.CreateTopic(t, ta, 3)
	c.CreateTopic(t, tb, 3)
	topics := []string{ta, tb}
	team := c.JavaTeam(t)
	w := watch(t, "--brokers", c.Bootstrap(), "--group", "forecast*", "--interval", "200ms")
	start := func(o kafkatest.ConsumerOptions, static bool) func(t *testing.T, group, pod string) func(testing.TB) {
		return func(t *testing.T, group, pod string) func(testing.TB) {
			o := o
			o.Group, o.Topics, o.ClientID = group, topics, pod
			if static {
				o.InstanceID = pod
			}
			name := team.Join(t, o)
			return func(t testing.TB) { team.Leave(t, name) }
		}
	}
	java := func(assignor, protocol string) func(t *testing.T, group, pod string) func(testing.TB) {
		return start(kafkatest.ConsumerOptions{Assignor: assignor, Protocol: protocol}, false)
	}
	const classes = "org.apache.kafka.clients.consumer."
	for _, f := range []forecast{
		{name: "range", exact: "yyy", pair: []int{4, 2}, join: java(classes+"RangeAssignor", "")},
		{name: "roundrobin", exact: "yyy", pair: []int{3, 3}, join: java(classes+"RoundRobinAssignor", "")},
		{name: "sticky", exact: "nnn", pair: []int{3, 3}, join: java(classes+"StickyAssignor", ""), sticks: true},
		{name: "cooperative-sticky", exact: "nnn", pair: []int{3, 3}, join: java(classes+"CooperativeStickyAssignor", ""), sticks: true},
		{name: "uniform", exact: "nnn", pair: []int{3, 3}, join: java("uniform", "consumer"), sticks: true},
		// random ids decide who comes where, until all are there, or instance ids decide
		{name: "range", title: "the broker's range of static members", exact: "yy", pair: []int{4, 2}, join: start(kafkatest.ConsumerOptions{Assignor: "range", Protocol: "consumer"}, true)},
		{name: "range", title: "the broker's range", exact: "nny", pair: []int{4, 2}, join: java("range", "consumer")},
		// with one pod, and with three on topics of three, nothing tells in which order topics are dealt
		{name: "RoundRobinAssigner", exact: "nyn", pair: []int{3, 3}, join: func(t *testing.T, group, pod string) func(testing.TB) {
			client := c.KafkaJSConsumer(t, kafkatest.ConsumerOptions{Group: group, Topics: []string{tb, ta}, ClientID: pod})
			return client.Close
		}},
	} {
		t.Run(cmp.Or(f.title, f.name), func(t *testing.T) {
			t.Parallel()
			f.run(t, c, w)
		})
	}
}

// forecast is one assignor put to the test.
type forecast struct {
	name   string
	title  string // where the name is not enough
	exact  string // y or n for each of the steps; static members do not leave at once, and have no third
	pair   []int  // how two pods share six partitions
	sticks bool   // who stays keeps what it has when another leaves
	join   func(t *testing.T, group, pod string) (leave func(testing.TB))
}

// run has a pod joined by a second and by a third that comes between them, and the
// first of them leave.
func (f *forecast) run(t *testing.T, c *kafkatest.Cluster, w *watching) {
	group := kafkatest.Name("forecast")
	leave := f.join(t, group, "pod-1")
	before := f.settled(t, w, group, "pod-1")
	for i, step := range []struct {
		change string
		pods   []string
		do     func()
	}{
		{"+pod-2", []string{"pod-1", "pod-2"}, func() { f.join(t, group, "pod-2") }},
		{"+pod-15", []string{"pod-1", "pod-15", "pod-2"}, func() { f.join(t, group, "pod-15") }},
		{"-pod-1", []string{"pod-15", "pod-2"}, func() { leave(t) }},
	}[:len(f.exact)] {
		plan := whatIf(t, c, group, f.name, step.change)
		step.do()
		after := f.settled(t, w, group, step.pods...)
		if len(step.pods) == 2 && !slices.Equal(loads(after), f.pair) {
			t.Errorf("%v share %v, want %v", step.pods, loads(after), f.pair)
		}
		f.compare(t, step.change, f.exact[i] == 'y', plan, before, after)
		before = after
	}
}

// compare holds a plan against what came of it: with owners that are promised all
// of it, else how many partitions each has, what is co-located and what moved.
func (f *forecast) compare(t *testing.T, change string, exact bool, plan *document.Plan, before, after *document.Group) {
	t.Helper()
	planned, is, was := map[string][]string{}, holdings(after), holdings(before)
	for _, m := range plan.Members {
		planned[m.ClientID] = owned(m.Assigned)
	}
	moved, kept := changes(was, is)
	t.Logf("%s: planned %v, moved %d; now %v, moved %d", change, planned, plan.Partitions.Moved, is, moved)
	if plan.Exact != exact {
		t.Errorf("%s: exact %v", change, plan.Exact)
	}
	if plan.Exact && !maps.EqualFunc(planned, is, slices.Equal) {
		t.Errorf("%s: planned %v, but it is %v", change, planned, is)
	}
	var sizes []int
	for _, m := range plan.Members {
		sizes = append(sizes, m.Partitions)
	}
	slices.SortFunc(sizes, func(a, b int) int { return b - a })
	if !slices.Equal(sizes, loads(after)) {
		t.Errorf("%s: planned %v partitions, but it is %v", change, sizes, loads(after))
	}
	if (plan.Exact || f.sticks) && (plan.Partitions.Moved != moved || plan.Partitions.Kept != kept) {
		t.Errorf("%s: planned %+v, but %d moved and %d did not", change, plan.Partitions, moved, kept)
	}
	if p, a := plan.Assignment.Colocation, after.Assignment.Colocation; f.name == "range" && (p.Colocated != 3 || a.Colocated != 3) {
		t.Errorf("%s: planned %+v co-located, but it is %+v", change, p, a)
	}
	if f.sticks && change[0] == '-' {
		for pod := range is {
			for _, p := range was[pod] {
				if !slices.Contains(is[pod], p) {
					t.Errorf("%s: %s lost %s", change, pod, p)
				}
			}
		}
	}
}

// settled waits until the group is Stable with these pods and every partition owned.
// No two steps have the same pods, so that no earlier sample passes for a later one.
func (f *forecast) settled(t *testing.T, w *watching, name string, pods ...string) *document.Group {
	t.Helper()
	d := w.until(t, fmt.Sprintf("%s Stable with %v", name, pods), func(d *document.Document) bool {
		g := group(d, name)
		return g != nil && g.State == "Stable" && g.Assignment.Assigned != nil && *g.Assignment.Assigned == 6 &&
			slices.Equal(slices.Sorted(maps.Keys(holdings(g))), pods)
	})
	return group(d, name)
}

// In the middle of a rebalance a broker tells what members owned before it, and
// hides what they subscribe to: the plan goes on from there, and says so.
func TestWhatIfInTheMiddleOfARebalance(t *testing.T) {
	t.Parallel()
	c := realKafka.Cluster(t)
	topic, name := kafkatest.Name("market-updates"), kafkatest.Name("halfway")
	c.CreateTopic(t, topic, 4)
	first := halfMember{group: name, topic: topic, client: c.Client(t, kgo.ClientID("pod-1"))}
	if err := first.join(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := first.sync(t.Context(), 0, 1, 2, 3); err != nil {
		t.Fatal(err)
	}
	// The second waits for the first, which does not come again.
	ctx, cancel := context.WithCancel(t.Context())
	second, waited := halfMember{group: name, topic: topic, client: c.Client(t, kgo.ClientID("pod-2"))}, make(chan error, 1)
	go func() { waited <- second.join(ctx) }()
	defer func() { cancel(); <-waited }()
	watch(t, "--brokers", c.Bootstrap(), "--group", name, "--interval", "200ms").until(t, "a rebalance", func(d *document.Document) bool {
		g := group(d, name)
		return g != nil && g.State == "PreparingRebalance" && len(g.Members) == 2
	})
	o := klagtop(t, "whatif", "-o", "json", "--timeout", "5s", "--brokers", c.Bootstrap(), "--group", name, "--assignor", "range")
	var doc document.WhatIf
	if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil || o.code != 0 || !doc.Stale || doc.State != "PreparingRebalance" {
		t.Fatalf("%v, exit code %d, %s\n%s", err, o.code, o.stderr, o.stdout)
	}
	if s := doc.RatesSeconds; s == nil || *s > 4.5 { // over three polls at most, however long it is waited
		t.Errorf("rates over %v s", pointed(s))
	}
	if m := doc.Now.Members; len(m) != 2 || m[0].Partitions != 4 || m[1].Partitions != 0 {
		t.Errorf("now %+v", m)
	}
	if p := doc.Plans[0]; p.Partitions.Moved != 2 || p.Partitions.Kept != 2 || !p.Exact || !strings.Contains(strings.Join(doc.Notes, " "), "rebalances") {
		t.Errorf("%+v, %q", p, doc.Notes)
	}
}

// halfMember is a member of a group that does by hand only what it is told.
type halfMember struct {
	group, topic string
	client       *kgo.Client
	id           string
	generation   int32
}

// join waits for the other members as any member does.
func (m *halfMember) join(ctx context.Context) error {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.ProtocolType, req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = m.group, "consumer", 60_000, 60_000
	p := kmsg.NewJoinGroupRequestProtocol()
	p.Name, p.Metadata = "range", kgo.RangeBalancer().JoinGroupMetadata([]string{m.topic}, nil, -1)
	req.Protocols = append(req.Protocols, p)
	resp, err := req.RequestWith(ctx, m.client)
	if err == nil && kerr.ErrorForCode(resp.ErrorCode) == kerr.MemberIDRequired {
		req.MemberID = resp.MemberID
		resp, err = req.RequestWith(ctx, m.client)
	}
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	if err != nil {
		return err
	}
	m.id, m.generation = resp.MemberID, resp.Generation
	return nil
}

// sync takes partitions as the leader of a group of one.
func (m *halfMember) sync(ctx context.Context, partitions ...int32) error {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Group, req.Generation, req.MemberID = m.group, m.generation, m.id
	req.ProtocolType, req.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	given := kmsg.NewSyncGroupRequestGroupAssignment()
	given.MemberID = m.id
	given.MemberAssignment = (&kmsg.ConsumerMemberAssignment{Topics: []kmsg.ConsumerMemberAssignmentTopic{{Topic: m.topic, Partitions: partitions}}}).AppendTo(nil)
	req.GroupAssignment = append(req.GroupAssignment, given)
	resp, err := req.RequestWith(ctx, m.client)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(resp.ErrorCode)
}

// whatIf is the one plan that `whatif -o json` prints.
func whatIf(t *testing.T, c *kafkatest.Cluster, group, assignor, change string) *document.Plan {
	t.Helper()
	o := klagtop(t, "whatif", "-o", "json", "--timeout", "1m", "--brokers", c.Bootstrap(), "--group", group, "--assignor", assignor, "--members", change)
	var doc document.WhatIf
	if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil || o.code != 0 || o.stderr != "" || len(doc.Plans) != 1 || doc.Stale {
		t.Fatalf("whatif %s: %v, exit code %d, %s\n%s", change, err, o.code, o.stderr, o.stdout)
	}
	return &doc.Plans[0]
}

// holdings are a group's partitions by client id.
func holdings(g *document.Group) map[string][]string {
	all := make(map[string][]string)
	for _, m := range g.Members {
		all[m.ClientID] = owned(m.Assigned)
	}
	return all
}

func owned(assigned map[string][]int32) []string {
	list := []string{}
	for topic, partitions := range assigned {
		for _, p := range partitions {
			list = append(list, fmt.Sprintf("%s-%d", topic, p))
		}
	}
	slices.Sort(list)
	return list
}

// loads are how many partitions members have, most first.
func loads(g *document.Group) (n []int) {
	for _, list := range holdings(g) {
		n = append(n, len(list))
	}
	slices.SortFunc(n, func(a, b int) int { return b - a })
	return n
}

// changes counts the partitions that changed hands, and those that did not.
func changes(was, is map[string][]string) (moved, kept int64) {
	for pod, list := range was {
		for _, p := range list {
			if slices.Contains(is[pod], p) {
				kept++
			} else {
				moved++
			}
		}
	}
	return moved, kept
}
