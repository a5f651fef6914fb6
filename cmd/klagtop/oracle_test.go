package main

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klagtop/klagtop/internal/document"
	"github.com/klagtop/klagtop/internal/kafkatest"
)

// TestOracle compares `klagtop describe -o json` with what Kafka's own
// kafka-consumer-groups says, every row of every kind of group, while they run
// and after they have stopped.
func TestOracle(t *testing.T) {
	t.Parallel()
	c := realKafka.Cluster(t)
	oracle(t, c, c.AtLeast(4, 0))
}

// TestOracleOnAnEarlyNewCoordinator does so on those versions that have KIP-848
// groups, but not by default: their new coordinator answers otherwise than their old one.
func TestOracleOnAnEarlyNewCoordinator(t *testing.T) {
	if c := realKafka.Cluster(t); c.AtLeast(4, 0) || !c.AtLeast(3, 8) {
		t.Skipf("Kafka %s has no other coordinator than the one that TestOracle has", c.Version())
	}
	oracle(t, kafkatest.Start(t, kafkatest.Options{Properties: map[string]string{"group.coordinator.rebalance.protocols": "classic,consumer"}}), true)
}

func oracle(t *testing.T, c *kafkatest.Cluster, kip848 bool) {
	if testing.Short() {
		t.Skip("it takes a dozen JVMs")
	}
	b := newBed(t, c, kip848)
	if !t.Run("running", func(t *testing.T) { b.compare(t, b.running()) }) {
		return // the stopped ones would only say it again
	}
	b.stop(t)
	t.Run("stopped", func(t *testing.T) { b.compare(t, b.stopped()) })
}

// place is a row's identity.
type place struct {
	group, topic string
	partition    int32
}

// A purpose is a difference between klagtop and the tool that is meant.
type purpose struct {
	name string
	// tool is the row that the tool prints, nil for none.
	holds func(tool *kafkatest.Row, ours document.Partition) bool
}

// The differences that are meant, and no others. In all of them topic,
// partition, log end, commit and owner are the same, where the tool has a row at all.
var (
	countsDeleted = &purpose{"the tool counts records that retention took; klagtop counts what is left and says what is lost", func(tool *kafkatest.Row, o document.Partition) bool {
		return *tool.Lag == *o.LogEnd-*o.Committed && o.Status == "lost" && *o.Lag == *o.LogEnd-*o.LogStart && *o.LostRecords == *o.LogStart-*o.Committed && *o.Lag < *tool.Lag
	}}
	belowZero = &purpose{"the tool prints a negative lag; klagtop prints 0 and how far the commit is ahead", func(tool *kafkatest.Row, o document.Partition) bool {
		return *tool.Lag < 0 && o.Status == "ahead" && *o.Lag == 0 && *o.AheadRecords == -*tool.Lag
	}}
	dash = &purpose{"the tool prints - without a commit; klagtop counts from the log start", func(tool *kafkatest.Row, o document.Partition) bool {
		return tool.Committed == nil && tool.Lag == nil && o.Status == "no_commit" && *o.Lag == *o.LogEnd-*o.LogStart
	}}
	leftOut = &purpose{"the tool leaves out partitions of a group's topics that have neither owner nor commit", func(tool *kafkatest.Row, o document.Partition) bool {
		return tool == nil && o.Status == "no_commit" && o.MemberID == "" && *o.Lag == *o.LogEnd-*o.LogStart
	}}
)

// compare reads klagtop, the tool and klagtop again, until nothing moved in between.
func (b *bed) compare(t *testing.T, meant map[place]*purpose) {
	for range 10 {
		before := describeJSON(t, b.c, b.groups...)
		said := b.ask(t)
		after := describeJSON(t, b.c, b.groups...)
		if !slices.Equal(b.text(before), b.text(after)) {
			continue
		}
		b.offsets(t, after, said.rows, meant)
		b.members(t, after, said.members)
		b.states(t, after, said.states)
		return
	}
	t.Fatal("the groups do not come to rest")
}

// said is what the tool says of the groups.
type said struct {
	rows    []kafkatest.Row
	members []kafkatest.Member
	states  []kafkatest.State
}

func (b *bed) ask(t *testing.T) (s said) {
	args := []string{"--describe"}
	for _, g := range b.groups {
		args = append(args, "--group", g)
	}
	var errs [3]error
	s.rows, errs[0] = kafkatest.ParseDescribe(b.c.ConsumerGroups(t, args...))
	s.members, errs[1] = kafkatest.ParseMembers(b.c.ConsumerGroups(t, append(args, "--members", "--verbose")...))
	stateArgs := append(slices.Clone(args), "--state")
	if b.c.AtLeast(4, 0) { // with epochs; older tools know no --verbose there
		stateArgs = append(stateArgs, "--verbose")
	}
	s.states, errs[2] = kafkatest.ParseState(b.c.ConsumerGroups(t, stateArgs...))
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// text is all of a document that is compared, for another one to be the same.
func (b *bed) text(d *document.Document) (lines []string) {
	for i := range d.Groups {
		g := &d.Groups[i]
		lines = append(lines, g.Group+" "+ourState(b.c, g))
		for _, m := range g.Members {
			lines = append(lines, g.Group+" "+m.MemberID+" "+ourMember(b.c, &m))
		}
		for _, p := range g.Partitions {
			lines = append(lines, fmt.Sprint(g.Group, p.Topic, p.Partition, ourRow(g, &p)))
		}
	}
	return lines
}

func (b *bed) offsets(t *testing.T, d *document.Document, rows []kafkatest.Row, meant map[place]*purpose) {
	tool := make(map[place]*kafkatest.Row)
	for i, r := range rows {
		if r.Partition >= 0 { // a member that owns nothing has a line without one: members compares those
			tool[place{r.Group, r.Topic, r.Partition}] = &rows[i]
		}
	}
	met := 0
	for i := range d.Groups {
		g := &d.Groups[i]
		for _, p := range g.Partitions {
			at := place{g.Group, p.Topic, p.Partition}
			row := tool[at]
			delete(tool, at)
			ours := ourRow(g, &p)
			switch why := meant[at]; {
			case why != nil && row == nil && why != leftOut, why != nil && !why.holds(row, p):
				t.Errorf("%v: not as meant (%s)\n klagtop %s %s\n tool    %s", at, why.name, p.Status, ours, toolRow(row))
			case why != nil:
				met++
				if row != nil && withoutLag(ours) != withoutLag(toolRow(row)) {
					t.Errorf("%v, of which only the lag may differ:\n klagtop %s\n tool    %s", at, ours, toolRow(row))
				}
			case ours != toolRow(row):
				t.Errorf("%v:\n klagtop %s %s\n tool    %s", at, p.Status, ours, toolRow(row))
			}
		}
	}
	for at, row := range tool {
		t.Errorf("%v: klagtop has no row; the tool has %s", at, toolRow(row))
	}
	if met != len(meant) {
		t.Errorf("%d differences that are meant were met, want %d", met, len(meant))
	}
	t.Logf("%d lines of the tool; differences that are meant: %d", len(rows), met)
}

// ourRow spells a row the way toolRow does.
func ourRow(g *document.Group, p *document.Partition) string {
	var owner document.Member
	for _, m := range g.Members {
		if m.MemberID == p.MemberID {
			owner = m
		}
	}
	if len(p.MemberIDs) > 0 {
		owner.Host = "several owners"
	}
	return rowText(p.Committed, p.LogEnd, p.Lag, p.MemberID, owner.Host, owner.ClientID)
}

func toolRow(r *kafkatest.Row) string {
	if r == nil {
		return "no row"
	}
	return rowText(r.Committed, r.LogEnd, r.Lag, r.MemberID, strings.TrimPrefix(r.Host, "/"), r.ClientID)
}

func rowText(committed, end, lag *int64, member, host, client string) string {
	n := func(v *int64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprint(*v)
	}
	return fmt.Sprintf("committed %s, log end %s, owner %q %q %q, lag %s", n(committed), n(end), member, host, client, n(lag))
}

func withoutLag(row string) string { return row[:strings.LastIndex(row, ", lag ")] }

func (b *bed) members(t *testing.T, d *document.Document, members []kafkatest.Member) {
	tool := make(map[string]string)
	for _, m := range members {
		tool[m.Group+" "+m.MemberID] = toolMember(b.c, &m)
	}
	ours := make(map[string]string)
	for i := range d.Groups {
		for _, m := range d.Groups[i].Members {
			ours[d.Groups[i].Group+" "+m.MemberID] = ourMember(b.c, &m)
		}
	}
	same(t, "member", ours, tool)
}

func ourMember(c *kafkatest.Cluster, m *document.Member) string {
	n := 0
	for _, partitions := range m.Assigned {
		n += len(partitions)
	}
	if !c.AtLeast(4, 0) {
		return fmt.Sprintf("%q %q %q %d %v", m.InstanceID, m.Host, m.ClientID, n, slices.Sorted(maps.Values(listed32(m.Assigned))))
	}
	return fmt.Sprintf("%q %q %q %d %v, epoch %v, target %v", m.InstanceID, m.Host, m.ClientID, n, listed32(m.Assigned), pointed(m.Epoch), listed32(m.Target))
}

// parenthesised is how the tool prints a topic's partitions up to Kafka 3.9,
// some versions without the topic.
var parenthesised = regexp.MustCompile(`\(([0-9,]+)\)`)

func toolMember(c *kafkatest.Cluster, m *kafkatest.Member) string {
	host := strings.TrimPrefix(m.Host, "/")
	if !c.AtLeast(4, 0) {
		var lists []string
		for _, list := range parenthesised.FindAllStringSubmatch(m.AssignmentText, -1) {
			lists = append(lists, list[1])
		}
		slices.Sort(lists)
		return fmt.Sprintf("%q %q %q %d %v", m.Instance, host, m.ClientID, m.Partitions, lists)
	}
	return fmt.Sprintf("%q %q %q %d %v, epoch %v, target %v", m.Instance, host, m.ClientID, m.Partitions, listed32(m.Assignment), pointed(m.Epoch), listed32(m.Target))
}

func pointed[T any](v *T) any {
	if v == nil {
		return "-"
	}
	return *v
}

// listed32 gives each topic's partitions as the tool spells them, in order.
func listed32(assignment map[string][]int32) map[string]string {
	m := make(map[string]string)
	for topic, partitions := range assignment {
		m[topic] = strings.Trim(strings.ReplaceAll(fmt.Sprint(slices.Sorted(slices.Values(partitions))), " ", ","), "[]")
	}
	return m
}

func (b *bed) states(t *testing.T, d *document.Document, states []kafkatest.State) {
	tool, ours := make(map[string]string), make(map[string]string)
	for _, s := range states {
		tool[s.Group] = stateText(s.ID, s.Assignor, s.State, s.Members, s.Epoch, s.TargetEpoch)
	}
	for i := range d.Groups {
		g := &d.Groups[i]
		if g.Coordinator == nil || g.Assignment.Members == nil {
			t.Fatalf("%s: coordinator or members are not known", g.Group)
		}
		ours[g.Group] = ourState(b.c, g)
	}
	same(t, "group", ours, tool)
}

// ourState spells a group the way the tool's is spelled; classic groups have no
// epochs, and tools before 4.0 tell none.
func ourState(c *kafkatest.Cluster, g *document.Group) string {
	var epoch *int64
	target := g.Assignment.Epoch
	if g.Generation != nil && g.Generation.Source == "epoch" {
		epoch = &g.Generation.Value
	}
	if !c.AtLeast(4, 0) {
		epoch, target = nil, nil
	}
	return stateText(*cmp.Or(g.Coordinator, new(int32)), g.Assignor, g.State, len(g.Members), epoch, target)
}

func stateText(coordinator int32, assignor, state string, members int, epoch, target *int64) string {
	return fmt.Sprintf("coordinator %d, assignor %q, %s, epoch %v, target %v, %d members", coordinator, assignor, state, pointed(epoch), pointed(target), members)
}

// same reports what differs between klagtop and the tool.
func same(t *testing.T, what string, ours, tool map[string]string) {
	t.Helper()
	all := make(map[string]bool)
	for name := range ours {
		all[name] = true
	}
	for name := range tool {
		all[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if ours[name] != tool[name] {
			t.Errorf("%s %s:\n klagtop %s\n tool    %s", what, name, cmp.Or(ours[name], "none"), cmp.Or(tool[name], "none"))
		}
	}
}
