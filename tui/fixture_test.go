package tui

import (
	"fmt"
	"sort"
	"time"

	"github.com/klagtop/klagtop/collect"
)

// epoch is when every fixture's poll ends.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A row says what a poll reads of one partition; start and end are the log's.
type row struct {
	p                      int32
	start, committed, end  int64
	unread, commitUnread   collect.Reason
	owner, alsoOwner       string
	produced, consumed     float32
	secondsOld, secondsErr float64
	method                 collect.Method
}

// A groupSpec is a group as a test wants it: rows by topic, members by client id.
type groupSpec struct {
	facts   collect.GroupFacts
	rows    map[string][]row
	members []collect.Member
	commits collect.Reason // why the commits could not be read
	drain   float64
	rebal   int64
	left    []string // topics no member subscribes to
}

func classic(name, state string) collect.GroupFacts {
	return collect.GroupFacts{
		Name: name, Type: collect.TypeClassic, State: state, ProtocolType: "consumer", Assignor: "range", Coordinator: 1,
		Generation: collect.Generation{Value: 3, Source: collect.SourceMemberMetadata}, Described: true, MembersKnown: true,
	}
}

func member(client string) collect.Member {
	return collect.Member{
		ID: client + "-0f3c9a52", ClientID: client, Host: "/10.0.0.7", Epoch: -1, Generation: 3, Subscribed: []string{}, Decode: collect.DecodeEmpty,
	}
}

// snapshot runs a builder over the specs as a source would.
func snapshot(prev *collect.Snapshot, at time.Time, specs ...groupSpec) *collect.Snapshot {
	b := collect.NewBuilder(prev, collect.BuildOptions{ClusterName: "prod", StaleAfter: 5 * time.Minute})
	b.SetCluster(collect.Cluster{ID: "q1Sh-9_dTfKMd1nuDCUmBQ", Controller: 1, Brokers: []collect.Broker{{ID: 1}, {ID: 2}, {ID: 3}}, SeesAllGroups: collect.Yes, SeesAllTopics: collect.Yes})
	b.Reached()
	ends := map[string][]row{}
	for i := range specs {
		for topic, rows := range specs[i].rows {
			ends[topic] = append(ends[topic], rows...)
		}
	}
	for topic, rows := range ends {
		n := int32(0)
		for _, r := range rows {
			n = max(n, r.p+1)
		}
		leaders := make([]int32, n)
		for i := range leaders {
			leaders[i] = int32(i%3) + 1
		}
		b.AddTopic(collect.TopicMeta{Name: topic, ID: [16]byte{byte(len(topic)), topic[0]}, Leaders: leaders})
	}
	for i := range specs {
		specs[i].add(b, at)
	}
	b.Layout()
	for _, need := range b.Needs() {
		for _, r := range ends[need.Topic.Name] {
			b.SetStart(need.Topic, r.p, r.start, at)
			if r.unread != collect.ReasonNone {
				b.EndUnread(need.Topic, r.p, r.unread)
				continue
			}
			b.SetEnd(need.Topic, r.p, r.end, 0, at)
			b.SetStable(need.Topic, r.p, r.end)
		}
	}
	s := b.Finish(at, 120*time.Millisecond)
	for i := range specs {
		specs[i].remember(s)
	}
	return s
}

// add gives the builder the group, its members with what they own, and its commits.
func (g *groupSpec) add(b *collect.Builder, at time.Time) {
	f := g.facts
	f.At = at
	f.Members = append([]collect.Member(nil), g.members...)
	topics := make([]string, 0, len(g.rows))
	for topic := range g.rows {
		topics = append(topics, topic)
	}
	sort.Strings(topics)
	var commits []collect.TopicCommits
	for _, topic := range topics {
		c := collect.TopicCommits{Topic: topic}
		for _, r := range g.rows[topic] {
			for m := range f.Members {
				if id := f.Members[m].ClientID; id != "" && (id == r.owner || id == r.alsoOwner) {
					own(&f.Members[m], topic, r.p)
				}
			}
			c.Partitions, c.Epochs, c.Reasons = append(c.Partitions, r.p), append(c.Epochs, 0), append(c.Reasons, r.commitUnread)
			c.Offsets = append(c.Offsets, r.committed)
		}
		commits = append(commits, c)
		if !contains(g.left, topic) {
			for m := range f.Members {
				f.Members[m].Subscribed = append(f.Members[m].Subscribed, topic)
			}
		}
	}
	b.AddGroup(f)
	if g.commits != collect.ReasonNone {
		b.CommitsUnread(f.Name, g.commits)
		return
	}
	b.AddCommits(f.Name, at, commits)
}

func own(m *collect.Member, topic string, p int32) {
	m.Decode = collect.DecodeOK
	for i := range m.Assigned {
		if m.Assigned[i].Topic == topic {
			m.Assigned[i].Partitions = append(m.Assigned[i].Partitions, p)
			return
		}
	}
	m.Assigned = append(m.Assigned, collect.TopicPartitions{Topic: topic, Partitions: []int32{p}})
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// remember fills in what the tracker would: rates, ages, counters.
func (g *groupSpec) remember(s *collect.Snapshot) {
	group, ok := s.Group(g.facts.Name)
	if !ok {
		return
	}
	if len(group.Topics) > 0 {
		group.Produced, group.Consumed = 0, 0
	}
	group.Counters.Rebalances, group.Counters.RebalancesLower = g.rebal, true
	if g.drain > 0 {
		group.Drain = g.drain
	}
	for _, gt := range group.Topics {
		n := gt.Rows()
		gt.Consumed, gt.Ages, gt.ProgressAt = make([]float32, n), make([]collect.Age, n), make([]int64, n)
		if gt.Topic.Produced == nil {
			gt.Topic.Produced = make([]float32, gt.Topic.Partitions())
		}
		for _, r := range g.rows[gt.Topic.Name] {
			i := gt.RowOf(r.p)
			if i < 0 {
				continue
			}
			gt.Consumed[i], gt.ProgressAt[i] = r.consumed, s.TakenAt.Add(-2*time.Second).UnixNano()
			gt.Topic.Produced[r.p] = r.produced
			gt.Ages[i] = collect.Age{Seconds: r.secondsOld, Error: r.secondsErr, Method: r.method}
			group.Produced += float64(r.produced)
			group.Consumed += float64(r.consumed)
			if !group.Lag.Age.Known() || r.secondsOld > group.Lag.Age.Seconds {
				group.Lag.Age = gt.Ages[i]
			}
		}
	}
}

func aged(s float64) row {
	return row{secondsOld: s, method: collect.MethodExact}
}

// lagging makes n rows that are lag records behind together.
func lagging(n int, lag int64, seconds float64, owners ...string) []row {
	rows := make([]row, n)
	for i := range rows {
		r := aged(seconds)
		r.p, r.end = int32(i), 500_000+int64(i)*1000
		r.committed = r.end - lag/int64(n)
		if i == 0 {
			r.committed -= lag % int64(n)
		}
		r.produced, r.consumed = 40, 38.5
		if len(owners) > 0 {
			r.owner = owners[i*len(owners)/n]
		}
		rows[i] = r
	}
	return rows
}

// street is a cluster with one of everything.
func street() []groupSpec {
	pods := []collect.Member{member("pod-1"), member("pod-2"), member("pod-3")}
	ticker := groupSpec{facts: classic("ticker", collect.StateStable), members: pods, rebal: 2, drain: 372, rows: map[string][]row{
		"market-updates": lagging(6, 12_345, 42, "pod-1", "pod-2", "pod-3"),
		"notifications":  lagging(6, 0, 0, "pod-1", "pod-2", "pod-3"),
	}}
	idle := groupSpec{facts: classic("alerts", collect.StateStable), members: append([]collect.Member{member("spare")}, pods[:2]...), rows: map[string][]row{
		"alarms": lagging(2, 0, 0, "pod-1", "pod-2"),
	}}
	odd := groupSpec{facts: classic("billing.invoices.reconciliation.eu-west-1.consumer", collect.StateStable), members: pods[:1], rebal: 7, rows: map[string][]row{
		"orders": {
			{p: 0, start: 100, committed: 60, end: 400, owner: "pod-1", secondsOld: 11_520, method: collect.MethodAtLeast},
			{p: 1, start: 0, committed: 900, end: 800, owner: "pod-1", method: collect.MethodExact},
			{p: 2, start: 500, committed: -1, end: 2_500, owner: "pod-1", secondsOld: 95, secondsErr: 60, method: collect.MethodInterpolated},
			{p: 3, start: 0, committed: 10, end: 20, unread: collect.ReasonNoLeader},
			{p: 4, start: 0, committed: 10, end: 20, commitUnread: collect.ReasonDenied, owner: "pod-1"},
			{p: 5, start: 0, committed: 7, end: 7, owner: "pod-1", method: collect.MethodExact},
		},
	}}
	moving := groupSpec{facts: classic("payments", collect.StatePreparingRebalance), members: pods, rebal: 4, rows: map[string][]row{
		"payments": lagging(12, 4_200_000, 183_000, "pod-1", "pod-2", "pod-3"),
	}}
	empty := groupSpec{facts: classic("archive", collect.StateEmpty), rows: map[string][]row{"old-orders": {{p: 0, committed: 7, end: 7, method: collect.MethodExact}}}}
	denied := groupSpec{facts: collect.GroupFacts{Name: "secret", Type: collect.TypeClassic, State: collect.StateStable, Coordinator: 2, Reason: collect.ReasonDenied}, commits: collect.ReasonDenied}
	nothing := groupSpec{facts: classic("newborn", collect.StateStable), members: []collect.Member{member("pod-9")}}
	left := groupSpec{facts: classic("mover", collect.StateStable), members: pods[:2], left: []string{"old-prices"}, rows: map[string][]row{
		"prices": lagging(2, 30, 1.5, "pod-1", "pod-2"), "old-prices": lagging(2, 500, 86_000),
	}}
	return []groupSpec{ticker, idle, odd, moving, empty, denied, nothing, left}
}

// update wraps a snapshot as the loop would.
func update(seq uint64, s *collect.Snapshot) *collect.Update {
	return &collect.Update{Boot: "b", Seq: seq, Snapshot: s, Interval: 5 * time.Second, NextPoll: s.TakenAt.Add(5 * time.Second)}
}

// crowd is a snapshot of n groups of one topic each.
func crowd(n int) *collect.Snapshot {
	specs := make([]groupSpec, n)
	for i := range specs {
		name := fmt.Sprintf("team-%02d.service-%05d", i%40, i)
		specs[i] = groupSpec{facts: classic(name, collect.StateStable), members: []collect.Member{member("pod-1")}, rows: map[string][]row{
			fmt.Sprintf("topic-%05d", i): lagging(2, int64(i*7919%100_000), float64(i%977), "pod-1"),
		}}
	}
	return snapshot(nil, epoch, specs...)
}
