package collect

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"
)

// epoch is when the clusters of these tests begin. It is far from 1970, where
// a zero time could pass for a real one, and has no meaning else.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// part is what a leader answers for one partition: log start and log end.
type part struct{ start, end int64 }

// fakeTopic is a topic of a pretended cluster.
type fakeTopic struct {
	id    byte
	parts []part
	// why the ends of the topic's partitions cannot be read, by partition
	endUnread map[int32]Reason
	epoch     int32
	stable    map[int32]int64
	unread    Reason // nothing of the topic can be read
}

// fakeGroup is a group of a pretended cluster.
type fakeGroup struct {
	facts         GroupFacts
	commits       map[string]map[int32]int64
	commitsUnread Reason
	told          []TopicCommits            // last
	undue         bool                      // it is not the turn of the group
	epochs        map[topicPartition]int32  // of commits; 0 where not named
	shares        map[string]map[int32]told // of a share group
	clue          int64                     // beside each commit, as Kafka Streams does it; 0 without
}

// world is a pretended cluster: a test changes it and polls again.
type world struct {
	opts   BuildOptions
	topics map[string]*fakeTopic
	groups map[string]*fakeGroup
	now    time.Time
	prev   *Snapshot

	cluster *Cluster
	// keepTopics stands for a poll without Metadata.
	keepTopics *Reason
	problems   []Problem
}

func newWorld() *world {
	return &world{
		opts:   BuildOptions{ClusterName: "default", StaleAfter: 5 * time.Minute},
		topics: map[string]*fakeTopic{}, groups: map[string]*fakeGroup{}, now: epoch,
	}
}

// topic sets a topic's partitions.
func (w *world) topic(name string, parts ...part) *fakeTopic {
	t := w.topics[name]
	if t == nil {
		t = &fakeTopic{id: 1, endUnread: map[int32]Reason{}, stable: map[int32]int64{}}
		w.topics[name] = t
	}
	t.parts = parts
	return t
}

// even is n partitions alike.
func even(n int, start, end int64) []part {
	ps := make([]part, n)
	for i := range ps {
		ps[i] = part{start, end}
	}
	return ps
}

// group adds a Stable classic consumer group.
func (w *world) group(name string, members ...Member) *fakeGroup {
	g := &fakeGroup{
		facts: GroupFacts{
			Name: name, Type: TypeClassic, State: StateStable, ProtocolType: "consumer", Assignor: "range", Coordinator: 1,
			Generation: Generation{Value: Unknown}, Described: true, MembersKnown: true, Members: members,
		},
		commits: map[string]map[int32]int64{},
	}
	if len(members) == 0 {
		g.facts.State, g.facts.Assignor = StateEmpty, ""
	}
	w.groups[name] = g
	return g
}

// solo adds a standalone committer.
func (w *world) solo(name string) *fakeGroup {
	g := w.group(name)
	g.facts.ProtocolType = ""
	return g
}

func (g *fakeGroup) commit(topic string, p int32, offset int64) *fakeGroup {
	if g.commits[topic] == nil {
		g.commits[topic] = map[int32]int64{}
	}
	g.commits[topic][p] = offset
	return g
}

// set commits as an administrator does: without a leader epoch.
func (g *fakeGroup) set(topic string, p int32, offset int64) *fakeGroup {
	return g.commitIn(-1, topic, p, offset)
}

// commitIn commits with a leader epoch.
func (g *fakeGroup) commitIn(epoch int32, topic string, p int32, offset int64) *fakeGroup {
	if g.epochs == nil {
		g.epochs = map[topicPartition]int32{}
	}
	g.epochs[topicPartition{topic, p}] = epoch
	return g.commit(topic, p, offset)
}

// member is a classic member that subscribes to what it is assigned.
func member(client string, assigned ...TopicPartitions) Member {
	m := Member{ID: client + "-uuid", ClientID: client, Host: "/10.0.0.1", Epoch: -1, Generation: -1, Assigned: assigned, Decode: DecodeOK, Subscribed: []string{}}
	for _, tp := range assigned {
		m.Subscribed = append(m.Subscribed, tp.Topic)
	}
	if len(assigned) == 0 {
		m.Decode = DecodeEmpty
	}
	return m
}

// to adds topics to a member's subscription.
func (m Member) to(topics ...string) Member {
	m.Subscribed = append(append([]string(nil), m.Subscribed...), topics...)
	return m
}

func on(topic string, partitions ...int32) TopicPartitions {
	return TopicPartitions{Topic: topic, Partitions: partitions}
}

// builder fills a builder with everything that comes before Layout.
func (w *world) builder() *Builder {
	b := NewBuilder(w.prev, w.opts)
	w.fill(b)
	return b
}

// fill fills a builder with everything up to Layout.
func (w *world) fill(b *Builder) {
	c := Cluster{ID: "id", Controller: 1, SeesAllGroups: Yes, SeesAllTopics: Yes}
	if w.cluster != nil {
		c = *w.cluster
	}
	b.SetCluster(c)
	b.Reached()
	for _, p := range w.problems {
		b.Problem(p)
	}
	if w.keepTopics != nil {
		b.KeepTopics(*w.keepTopics)
	} else {
		for name, t := range w.topics {
			if t.unread != ReasonNone {
				b.TopicUnread(name, t.unread)
				continue
			}
			leaders := make([]int32, len(t.parts))
			for i := range leaders {
				leaders[i] = 1
			}
			b.AddTopic(TopicMeta{Name: name, ID: [16]byte{t.id}, Leaders: leaders})
		}
	}
	for _, g := range w.groups {
		f := g.facts
		f.Members = append([]Member(nil), f.Members...)
		if f.Described {
			f.At = w.now
		}
		b.AddGroup(f)
	}
	for name, g := range w.groups {
		w.giveCommits(b, name, g)
	}
	for _, name := range b.MissingTopics() {
		if w.keepTopics == nil {
			b.TopicUnread(name, ReasonTopicMissing)
		}
	}
	b.Layout()
}

func (w *world) giveCommits(b *Builder, name string, g *fakeGroup) {
	if g.commitsUnread != ReasonNone {
		b.CommitsUnread(name, g.commitsUnread)
		return
	}
	if g.undue && b.CommitsUndue(name) {
		return
	}
	cs := g.shareCommits()
	for _, topic := range slices.Sorted(maps.Keys(g.commits)) {
		c := TopicCommits{Topic: topic}
		for _, p := range slices.Sorted(maps.Keys(g.commits[topic])) {
			c.Partitions, c.Offsets = append(c.Partitions, p), append(c.Offsets, g.commits[topic][p])
			c.Epochs = append(c.Epochs, g.epochs[topicPartition{topic, p}])
		}
		if g.clue != 0 {
			c.Clues = slices.Repeat([]int64{g.clue}, len(c.Offsets))
		}
		for _, last := range g.told { // as a source does: what has not moved is the same slice
			if reflect.DeepEqual(last, c) {
				c = last
			}
		}
		cs = append(cs, c)
	}
	g.told = cs
	b.AddCommits(name, w.now, cs)
}

// offsets answers what the builder needs.
func (w *world) offsets(b *Builder) {
	for _, n := range b.Needs() {
		t := w.topics[n.Topic.Name]
		for _, p := range n.Partitions {
			if why := t.endUnread[p]; why != ReasonNone {
				b.EndUnread(n.Topic, p, why)
				continue
			}
			b.SetStart(n.Topic, p, t.parts[p].start, w.now)
			b.SetEnd(n.Topic, p, t.parts[p].end, t.epoch, w.now)
			if s, ok := t.stable[p]; ok {
				b.SetStable(n.Topic, p, s)
			}
		}
	}
}

// poll reads the world as it is.
func (w *world) poll() *Snapshot {
	b := w.builder()
	w.offsets(b)
	w.prev = b.Finish(w.now, time.Millisecond)
	return w.prev
}

// after lets time pass.
func (w *world) after(d time.Duration) *world {
	w.now = w.now.Add(d)
	return w
}

// rowsOf prints a group's rows, one a line, for comparison.
func rowsOf(g *Group) (out []string) {
	for _, gt := range g.Topics {
		for i := range gt.Committed {
			out = append(out, rowText(gt.Row(i)))
		}
	}
	return out
}

// rowText is a row in one line. ? is unknown, - is no commit.
func rowText(r Row) string {
	num := func(n int64) string {
		switch n {
		case Unknown:
			return "?"
		case NoCommit:
			return "-"
		}
		return fmt.Sprint(n)
	}
	s := fmt.Sprintf("%s/%d %s..%s at %s lag %s %s", r.Topic, r.Partition, num(r.LogStart), num(r.LogEnd), num(r.Committed), num(r.Lag), r.Status)
	if r.Lost > 0 {
		s += fmt.Sprintf(" lost %d", r.Lost)
	}
	if r.Ahead > 0 {
		s += fmt.Sprintf(" ahead %d", r.Ahead)
	}
	if r.Stale {
		s += " stale"
	}
	if r.Reason != ReasonNone {
		s += " " + r.Reason.String()
	}
	return s
}

func mustGroup(t testing.TB, s *Snapshot, name string) *Group {
	t.Helper()
	g, ok := s.Group(name)
	if !ok {
		t.Fatalf("group %q is not in the snapshot", name)
	}
	return g
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		g, w := "(none)", "(none)"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("row %d: %s\n    want %s", i, g, w)
		}
	}
}

// same compares numbers of which both may be NaN.
func same(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-6*math.Max(1, math.Abs(b))
}
