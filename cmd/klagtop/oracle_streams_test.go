package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klagtop/klagtop/internal/document"
	"github.com/klagtop/klagtop/internal/kafkatest"
)

// TestOracleOfStreams compares klagtop with kafka-streams-groups, every column,
// and with what the application's threads say of themselves.
func TestOracleOfStreams(t *testing.T) {
	t.Parallel()
	c := realKafka.Cluster(t)
	if testing.Short() {
		t.Skip("it takes half a dozen JVMs")
	}
	if !c.AtLeast(4, 2) {
		t.Skipf("Kafka %s has no streams groups", c.Version())
	}
	b := newStreamsBed(t, c)
	t.Run("threads", b.threads)
	t.Run("tool", b.tool)
	t.Run("time", b.time)
	t.Run("missing source topic", b.missing)
	t.Run("classic protocol", b.classic)
}

// streamsBed is an application of two processes that lags by 30 records on one
// partition, and has never had a record on another.
type streamsBed struct {
	c             *kafkatest.Cluster
	app, topic    string
	processes     []*kafkatest.StreamsApp
	lost, old     string // applications without a source topic, and on the classic protocol
	oldProcess    *kafkatest.StreamsApp
	missingTopics []string
}

func newStreamsBed(t *testing.T, c *kafkatest.Cluster) *streamsBed {
	b := &streamsBed{c: c, app: kafkatest.Name("shop"), topic: kafkatest.Name("orders"), lost: kafkatest.Name("lost"), old: kafkatest.Name("old"), missingTopics: []string{kafkatest.Name("nowhere")}}
	c.CreateTopic(t, b.topic, 3)
	c.Produce(t, b.topic, 100, 0, 1)
	c.ConfigureGroup(t, b.app, map[string]string{"streams.num.standby.replicas": "1", "streams.initial.rebalance.delay.ms": "0"})
	c.ConfigureGroup(t, b.lost, map[string]string{"streams.initial.rebalance.delay.ms": "0"})
	run := func(app, client string, threads int, protocol string, topics ...string) *kafkatest.StreamsApp {
		return c.JavaStreams(t, kafkatest.StreamsOptions{App: app, ClientID: client, Threads: threads, Protocol: protocol, Topics: topics})
	}
	b.processes = []*kafkatest.StreamsApp{run(b.app, "pod-1", 1, "streams", b.topic), run(b.app, "pod-2", 2, "streams", b.topic)}
	b.oldProcess = run(b.old, "pod-3", 1, "", b.topic)
	run(b.lost, "pod-4", 1, "streams", b.topic, b.missingTopics[0])
	all := append(slices.Clone(b.processes), b.oldProcess)
	for _, p := range all {
		p.WaitState(t, "RUNNING")
	}
	eventually(t, func() error {
		d := describeJSON(t, c, b.app, b.old)
		for name, members := range map[string]int{b.app: 3, b.old: 1} {
			g := group(d, name)
			if g == nil || g.State != "Stable" || len(g.Members) != members || g.Lag.Records == nil || *g.Lag.Records != 0 || g.Lag.NoCommit > 2 || *g.Assignment.Unassigned != 0 {
				return fmt.Errorf("%s has not come to rest: %+v", name, g)
			}
		}
		standby := 0
		for _, m := range group(d, b.app).Members {
			for _, partitions := range m.Standby {
				standby += len(partitions)
			}
		}
		if standby != 3 {
			return fmt.Errorf("%d of 3 standby tasks", standby)
		}
		return nil
	})
	for _, p := range all {
		p.Pause(t)
	}
	c.Produce(t, b.topic, 30, 0)
	return b
}

func (b *streamsBed) group(t *testing.T, name string) *document.Group {
	t.Helper()
	g := group(describeJSON(t, b.c, name), name)
	if g == nil {
		t.Fatalf("%s is not there", name)
	}
	return g
}

// threads compares owners with what KafkaStreams.metadataForLocalThreads says.
func (b *streamsBed) threads(t *testing.T) {
	eventually(t, func() error {
		g, tool, ours := b.group(t, b.app), make(map[string]string), make(map[string]string)
		for _, p := range b.processes {
			for thread, tasks := range p.Tasks() {
				tool[thread] = fmt.Sprint(tasks.Active, tasks.Standby)
			}
		}
		for i := range g.Members {
			m := &g.Members[i]
			ours[m.ClientID] = fmt.Sprint(placesOf(m.Assigned), placesOf(m.Standby))
		}
		if !maps.Equal(ours, tool) {
			return fmt.Errorf("klagtop %v\nthreads %v", ours, tool)
		}
		return nil
	})
}

func placesOf(assignment map[string][]int32) []string {
	out := []string{}
	for topic, partitions := range assignment {
		for _, p := range partitions {
			out = append(out, topic+"-"+strconv.Itoa(int(p)))
		}
	}
	slices.Sort(out)
	return out
}

// tool compares every column of kafka-streams-groups.
func (b *streamsBed) tool(t *testing.T) {
	args := []string{"--describe", "--verbose", "--group", b.app}
	rows, err := kafkatest.ParseStreamsOffsets(b.c.StreamsGroups(t, append(args, "--offsets")...))
	members, errMembers := kafkatest.ParseStreamsMembers(b.c.StreamsGroups(t, append(args, "--members")...))
	states, errStates := kafkatest.ParseStreamsState(b.c.StreamsGroups(t, append(args, "--state")...))
	if err := errors.Join(err, errMembers, errStates); err != nil {
		t.Fatal(err)
	}
	g := b.group(t, b.app)
	ours, tool := make(map[string]string), make(map[string]string)
	for _, p := range g.Partitions {
		epoch := p.LeaderEpoch
		ours[fmt.Sprint(p.Topic, " ", p.Partition)] = streamsRow(p.Committed, pointer64(epoch), p.LogEnd, p.Lag)
	}
	for _, r := range rows {
		tool[fmt.Sprint(r.Topic, " ", r.Partition)] = streamsRow(r.Committed, r.LeaderEpoch, r.LogEnd, r.Lag)
	}
	same(t, "row", ours, tool)
	ours, tool = make(map[string]string), make(map[string]string)
	for _, m := range g.Members {
		if m.StreamsMember == nil {
			t.Fatalf("member %s has nothing of a streams member", m.MemberID)
		}
		ours[m.MemberID] = fmt.Sprintf("%q %q protocol streams, epochs: member %v target %v topology %v, active %v standby %v warmup %v target %v %v %v", m.ClientID, m.ProcessID,
			pointed(m.Epoch), pointed(g.Assignment.Epoch), m.TopologyEpoch, placesOf(m.Assigned), placesOf(m.Standby), placesOf(m.Warmup), placesOf(m.Target), placesOf(m.TargetStandby), placesOf(m.TargetWarmup))
	}
	for _, m := range members {
		read := func(kind string) []string { return placesOf(readBy(g.Topology, m.Tasks[kind])) }
		tool[m.MemberID] = fmt.Sprintf("%q %q protocol %s, epochs: member %v target %v topology %v, active %v standby %v warmup %v target %v %v %v", m.ClientID, m.Process, m.Protocol,
			pointed(m.Epoch), pointed(m.TargetEpoch), pointed(m.TopologyEpoch), read("ACTIVE"), read("STANDBY"), read("WARMUP"), read("TARGET-ACTIVE"), read("TARGET-STANDBY"), read("TARGET-WARMUP"))
	}
	same(t, "member", ours, tool)
	ours, tool = make(map[string]string), make(map[string]string)
	ours[g.Group] = fmt.Sprintf("coordinator %d, assignor %q, %s, epochs %d %v, %d members", *g.Coordinator, g.Assignor, g.State, g.Generation.Value, pointed(g.Assignment.Epoch), *g.Assignment.Members)
	for _, s := range states {
		tool[s.Group] = fmt.Sprintf("coordinator %d, assignor %q, %s, epochs %v %v, %d members", s.ID, s.Assignor, s.State, pointed(s.Epoch), pointed(s.TargetEpoch), s.Members)
	}
	same(t, "group", ours, tool)
	if len(rows) != 6 || len(members) != 3 || len(states) != 1 {
		t.Errorf("the tool has %d rows, %d members, %d groups; want 6, 3, 1", len(rows), len(members), len(states))
	}
	a := g.Assignment
	if *a.Assigned != 6 || *a.Unassigned != 0 || *a.Conflicts != 0 || *a.Idle != 0 || a.Colocation != nil || *g.Lag.Records != 30 {
		t.Errorf("assigned %d, unassigned %d, conflicts %d, idle %d, co-location %v, lag %d", *a.Assigned, *a.Unassigned, *a.Conflicts, *a.Idle, a.Colocation, *g.Lag.Records)
	}
}

func streamsRow(committed, epoch, end, lag *int64) string {
	return fmt.Sprintf("committed %v, leader epoch %v, log end %v, lag %v", pointed(committed), pointed(epoch), pointed(end), pointed(lag))
}

func pointer64(p *int32) *int64 {
	if p == nil {
		return nil
	}
	n := int64(*p)
	return &n
}

// readBy gives the partitions that tasks read.
func readBy(top *document.Topology, tasks map[string][]int32) map[string][]int32 {
	out := make(map[string][]int32)
	for _, s := range top.Subtopologies {
		for _, topic := range slices.Concat(s.Sources, s.Repartition) {
			out[topic] = append(out[topic], tasks[s.ID]...)
		}
	}
	return out
}

// time: the record that a thread would read next is found with its own timestamp.
func (b *streamsBed) time(t *testing.T) {
	for _, name := range []string{b.app, b.old} {
		for _, p := range b.group(t, name).Partitions {
			if p.Topic == b.topic && p.Partition == 0 && (p.SecondsMethod != "exact" || *p.Seconds <= 0) {
				t.Errorf("%s: %s %v, want an exact age", name, p.SecondsMethod, pointed(p.Seconds))
			}
		}
	}
}

func (b *streamsBed) missing(t *testing.T) {
	eventually(t, func() error {
		o := klagtop(t, "describe", "-o", "json", "--brokers", b.c.Bootstrap(), "--group", b.lost)
		d, err := document.Decode(strings.NewReader(o.stdout))
		if err != nil {
			t.Fatal(err)
		}
		g := group(d, b.lost)
		if g == nil || g.Topology == nil {
			return errors.New("the application has not joined yet")
		}
		if !slices.Equal(g.Topology.Missing, b.missingTopics) || g.State != "NotReady" && g.State != "Empty" {
			return fmt.Errorf("%s, missing %q", g.State, g.Topology.Missing)
		}
		for _, p := range d.Problems {
			if p.Group == b.lost && p.Topic == b.missingTopics[0] && p.Reason == "topic_missing" {
				return nil
			}
		}
		return fmt.Errorf("no problem names it: %+v", d.Problems)
	})
	o := klagtop(t, "describe", "--brokers", b.c.Bootstrap(), "--group", b.lost)
	if !strings.Contains(o.stdout, "source topic "+b.missingTopics[0]+" does not exist") {
		t.Errorf("describe says\n%s%s", o.stdout, o.stderr)
	}
}

// classic: a group like any other, that deals out tasks and not topics.
func (b *streamsBed) classic(t *testing.T) {
	g := b.group(t, b.old)
	if g.Type != "classic" || g.Assignor != "stream" || g.Assignment.Colocation != nil || g.Topology != nil || *g.Lag.Records != 30 || *g.Assignment.Assigned != 6 {
		t.Errorf("%s, assignor %q, co-location %v, topology %v, lag %d, %d assigned", g.Type, g.Assignor, g.Assignment.Colocation, g.Topology, *g.Lag.Records, *g.Assignment.Assigned)
	}
	rows, err := kafkatest.ParseDescribe(b.c.ConsumerGroups(t, "--describe", "--group", b.old))
	if err != nil {
		t.Fatal(err)
	}
	ours, tool := make(map[string]string), make(map[string]string)
	for _, p := range g.Partitions {
		ours[fmt.Sprint(p.Topic, " ", p.Partition)] = cmp.Or(ourRow(g, &p))
	}
	for _, r := range rows {
		tool[fmt.Sprint(r.Topic, " ", r.Partition)] = toolRow(&r)
	}
	for at, row := range tool {
		if strings.Contains(row, "lag -") { // no commit: the tool counts nothing
			ours[at] = withoutLag(ours[at]) + ", lag -"
		}
	}
	same(t, "row", ours, tool)
}
