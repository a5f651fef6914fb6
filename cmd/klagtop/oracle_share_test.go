package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klagtop/klagtop/internal/document"
	"github.com/klagtop/klagtop/internal/kafkatest"
)

// TestShareOracle compares `klagtop describe -o json` with what Kafka's own
// kafka-share-groups says of share groups, every column, while members run and
// after they have left.
func TestShareOracle(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes half a dozen JVMs")
	}
	c := realKafka.Cluster(t)
	if !c.AtLeast(4, 2) {
		t.Skipf("Kafka %s has no share groups", c.Version())
	}
	b := &shareBed{c: c}
	b.work(t)
	b.crowd(t)
	eventually(t, func() error { return b.ready(describeJSON(t, c, b.groups...)) })
	if !t.Run("running", b.compare) {
		return // the stopped ones would only say it again
	}
	for _, m := range b.members {
		m.Close(t)
	}
	eventually(t, func() error {
		for _, g := range describeJSON(t, c, b.groups...).Groups {
			if g.State != "Empty" {
				return fmt.Errorf("%s is %s after its members have left", g.Group, g.State)
			}
		}
		return nil
	})
	t.Run("stopped", b.compare)
}

type shareBed struct {
	c       *kafkatest.Cluster
	groups  []string
	members []*kafkatest.ShareConsumer

	crowded, trimmed string
}

// join adds a member to a group that begins at the start of its logs.
func (b *shareBed) join(t *testing.T, group, id string, topics ...string) *kafkatest.ShareConsumer {
	if !slices.Contains(b.groups, group) {
		b.groups = append(b.groups, group)
		b.c.Configs(t, "--alter", "--entity-type", "groups", "--entity-name", group, "--add-config", "share.auto.offset.reset=earliest")
	}
	m := b.c.JavaShareConsumer(t, kafkatest.ConsumerOptions{Group: group, Topics: topics, ClientID: id})
	b.members = append(b.members, m)
	return m
}

// work is a group of one member that has accepted, released, refused and holds
// records, on three partitions, of which it has acknowledged one's, whose log is
// then trimmed.
func (b *shareBed) work(t *testing.T) {
	name := kafkatest.Name("shwork")
	b.trimmed = name
	b.c.CreateTopic(t, name, 3)
	b.c.Produce(t, name, 50, 1)
	m := b.join(t, name, "pod 1", name)
	if n := m.Poll(t, patience); n != 50 {
		t.Fatalf("%d records in a fetch", n)
	}
	m.Accept(t, 5)
	m.Release(t, 2)
	m.Reject(t, 3)
	b.c.Produce(t, name, 20, 0)
	b.c.DeleteRecords(t, name, map[int32]int64{1: 30})
}

// crowd is a group of three members on one partition, none of which has acknowledged
// anything.
func (b *shareBed) crowd(t *testing.T) {
	b.crowded = kafkatest.Name("shcrowd")
	b.c.CreateTopic(t, b.crowded, 1)
	for i := range 3 {
		b.join(t, b.crowded, fmt.Sprintf("many-%d", i), b.crowded).Poll(t, time.Second)
	}
}

// ready reports what the groups still wait for.
func (b *shareBed) ready(d *document.Document) error {
	g := group(d, b.crowded)
	if len(g.Partitions) != 1 || len(g.Partitions[0].MemberIDs) != 3 || *g.Assignment.Conflicts != 0 {
		return fmt.Errorf("partitions of %s: %+v", b.crowded, g.Partitions)
	}
	if w := group(d, b.trimmed); len(w.Partitions) != 3 {
		return fmt.Errorf("%d partitions of %s", len(w.Partitions), b.trimmed)
	}
	return nil
}

// compare reads klagtop, the tool and klagtop again, until nothing moved in between.
func (b *shareBed) compare(t *testing.T) {
	for range 10 {
		before := describeJSON(t, b.c, b.groups...)
		rows, members, states := b.ask(t)
		after := describeJSON(t, b.c, b.groups...)
		if !slices.Equal(b.text(before), b.text(after)) {
			continue
		}
		b.offsets(t, after, rows)
		b.shares(t, after, members, states)
		return
	}
	t.Fatal("the groups do not come to rest")
}

func (b *shareBed) ask(t *testing.T) (rows []kafkatest.ShareRow, members []kafkatest.Member, states []kafkatest.State) {
	args := []string{"--describe", "--verbose"}
	for _, g := range b.groups {
		args = append(args, "--group", g)
	}
	var errs [3]error
	rows, errs[0] = kafkatest.ParseShareOffsets(b.c.ShareGroups(t, append(args, "--offsets")...))
	members, errs[1] = kafkatest.ParseShareMembers(b.c.ShareGroups(t, append(args, "--members")...))
	states, errs[2] = kafkatest.ParseShareState(b.c.ShareGroups(t, append(args, "--state")...))
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return rows, members, states
}

func (b *shareBed) text(d *document.Document) (lines []string) {
	for i := range d.Groups {
		g := &d.Groups[i]
		lines = append(lines, g.Group+" "+ourShareState(g))
		for _, m := range g.Members {
			lines = append(lines, g.Group+" "+ourShareMember(&m))
		}
		for _, p := range g.Partitions {
			lines = append(lines, fmt.Sprint(g.Group, p.Topic, p.Partition, p.Status, ourShareRow(&p), pointed(p.LogStart), pointed(p.LogEnd)))
		}
	}
	return lines
}

// offsets compares rows. The tool does not look at the log start: where it lies
// beyond the start offset, klagtop counts what is left and says what may be lost.
func (b *shareBed) offsets(t *testing.T, d *document.Document, rows []kafkatest.ShareRow) {
	tool, ours := map[string]string{}, map[string]string{}
	lags := map[string]*int64{}
	for _, r := range rows {
		at := fmt.Sprintf("%s %s/%d", r.Group, r.Topic, r.Partition)
		epoch := pointed(r.LeaderEpoch)
		if r.Start == nil {
			epoch = "-" // of nothing
		}
		tool[at], lags[at] = fmt.Sprintf("start %v, epoch %v, lag %v", pointed(r.Start), epoch, pointed(r.Lag)), r.Lag
	}
	capped := 0
	for i := range d.Groups {
		for _, p := range d.Groups[i].Partitions {
			at := fmt.Sprintf("%s %s/%d", d.Groups[i].Group, p.Topic, p.Partition)
			ours[at] = ourShareRow(&p)
			if p.Status != "lost" {
				continue
			}
			capped++
			want := fmt.Sprintf("%s, lag %d", ours[at][:strings.LastIndex(ours[at], ", lag ")], *lags[at])
			if *lags[at] <= *p.Lag || *p.Lag != *p.LogEnd-*p.LogStart || *p.LostRecords != *p.LogStart-*p.Committed {
				t.Errorf("%s: %s beside the tool's lag %d, lost %d, log %d..%d", at, ours[at], *lags[at], *p.LostRecords, *p.LogStart, *p.LogEnd)
			}
			ours[at] = want
		}
	}
	if capped != 1 {
		t.Errorf("%d rows have lost records, want 1", capped)
	}
	same(t, "offset", ours, tool)
}

func ourShareRow(p *document.Partition) string {
	return fmt.Sprintf("start %v, epoch %v, lag %v", pointed(p.Committed), pointed(p.LeaderEpoch), pointed(p.Lag))
}

func (b *shareBed) shares(t *testing.T, d *document.Document, members []kafkatest.Member, states []kafkatest.State) {
	tool, ours := map[string]string{}, map[string]string{}
	for _, m := range members {
		tool[m.Group+" "+m.MemberID] = fmt.Sprintf("%q %q %d %v, epoch %v", strings.TrimPrefix(m.Host, "/"), m.ClientID, m.Partitions, listed32(m.Assignment), pointed(m.Epoch))
	}
	for _, s := range states {
		tool[s.Group] = fmt.Sprintf("coordinator %d, %s, epoch %v, of the assignment %v, %d members", s.ID, s.State, pointed(s.Epoch), pointed(s.TargetEpoch), s.Members)
	}
	for i := range d.Groups {
		g := &d.Groups[i]
		ours[g.Group] = ourShareState(g)
		for _, m := range g.Members {
			ours[g.Group+" "+m.MemberID] = ourShareMember(&m)
		}
	}
	same(t, "member or group", ours, tool)
}

func ourShareMember(m *document.Member) string {
	n := 0
	for _, partitions := range m.Assigned {
		n += len(partitions)
	}
	return fmt.Sprintf("%q %q %d %v, epoch %v", m.Host, m.ClientID, n, listed32(m.Assigned), pointed(m.Epoch))
}

func ourShareState(g *document.Group) string {
	return fmt.Sprintf("coordinator %d, %s, epoch %v, of the assignment %v, %d members", *cmp.Or(g.Coordinator, new(int32)), g.State, g.Generation.Value, pointed(g.Assignment.Epoch), len(g.Members))
}
