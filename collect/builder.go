package collect

import (
	"sort"
	"time"
)

// BuildOptions are what every snapshot of a process is built with.
type BuildOptions struct {
	ClusterName string
	Filter      Filter
	// StaleAfter is how long a number that can no longer be read stands.
	StaleAfter time.Duration
	// AcceptDenied makes what this principal may not see no reason to call a
	// snapshot incomplete.
	AcceptDenied bool
}

// A Builder lays a snapshot out from what a poll reads, in the order in which
// it is read: cluster and topics, groups, log starts, commits, log ends. It
// holds the rules that are Kafka's or ours and not the wire's: which rows a
// group has, what is kept when something could not be read, which answers come
// from a broker that lives in the past.
//
// Calls come in this order: SetCluster, AddTopic and TopicUnread (or
// KeepTopics), AddGroup, AddCommits or CommitsUnread for each group, Layout,
// then SetStart/SetEnd/SetStable and their Unread forms, Finish. AddCommits may
// come again after Layout for groups that CommitsToReread names; MissingTopics
// then lists the topics that these commits are the first to tell of, and Layout
// is to be called once more.
type Builder struct {
	prev   *Snapshot
	opts   BuildOptions
	snap   *Snapshot
	topics map[string]*topicDraft
	groups map[string]*groupDraft
	order  []*groupDraft
	now    time.Time // of the newest fact
}

// topicDraft is a topic while its numbers come in.
type topicDraft struct {
	*Topic
	exists bool
	prev   *Topic // the same topic (by id) in the snapshot before, nil if none
	needed []bool // by partition: some group has a row there
	any    bool
	read   []bool // by partition: this poll has a log end
	kept   []bool // by partition: numbers carried over from prev
	keeps  bool   // some are
	whole  bool   // every partition is needed
	stands bool   // its numbers are those of prev
}

// groupDraft is a group while its numbers come in.
type groupDraft struct {
	*Group
	facts   GroupFacts
	prev    *Group
	commits []TopicCommits
	at      time.Time
	why     Reason   // why commits were not read
	asked   bool     // commits were read or were found unreadable
	hidden  bool     // left out of the snapshot: no row passes the filter
	laid    bool     // Layout has given it its rows
	repeat  answered // whether these are made of the same as in prev
}

// NewBuilder starts a snapshot; prev is the newest finished one, or nil.
func NewBuilder(prev *Snapshot, opts BuildOptions) *Builder {
	b := &Builder{prev: prev, opts: opts, topics: map[string]*topicDraft{}, groups: map[string]*groupDraft{}}
	b.snap = &Snapshot{StaleAfter: opts.StaleAfter, Filtered: opts.Filter.Active()}
	b.snap.Cluster = Cluster{Name: opts.ClusterName, Controller: -1, TransactionState: true}
	if prev != nil {
		b.snap.Cluster = prev.Cluster
		b.snap.Cluster.Brokers = append([]Broker(nil), prev.Cluster.Brokers...) // Cluster lets a source write to it
		b.snap.Cluster.Name = opts.ClusterName
	}
	return b
}

// SetCluster says what the brokers told of themselves; its Name is the
// builder's to give. Without the call, what was known before stands.
//
// Another cluster id is another cluster behind the same address: nothing that
// was known of the one before holds, least of all its leader epochs.
func (b *Builder) SetCluster(c Cluster) {
	if b.prev != nil && c.ID != "" && b.prev.Cluster.ID != "" && c.ID != b.prev.Cluster.ID {
		b.prev = nil
	}
	c.Name = b.opts.ClusterName
	b.snap.Cluster = c
}

// Cluster is what is known of the brokers so far.
func (b *Builder) Cluster() *Cluster { return &b.snap.Cluster }

// Reached says that some broker answered.
func (b *Builder) Reached() { b.snap.Reached = true }

// Problem notes something the poll could not do.
func (b *Builder) Problem(p Problem) { b.snap.Problems = append(b.snap.Problems, p) }

// TopicMeta is a topic as Metadata describes it.
type TopicMeta struct {
	Name    string
	ID      [16]byte
	Leaders []int32 // by partition; -1 without a leader
}

// AddTopic says that a topic exists. A topic with another id than before is
// another topic: nothing is kept for it, and its epochs begin anew.
func (b *Builder) AddTopic(m TopicMeta) {
	d := &topicDraft{Topic: &Topic{Name: m.Name, ID: m.ID, Leader: m.Leaders}, exists: true}
	if b.prev != nil {
		if p, ok := b.prev.Topic(m.Name); ok && p.ID == m.ID && (p.Reason == ReasonNone || p.Reason.Passing()) {
			d.prev, d.Retention = p, p.Retention
		}
	}
	b.topics[m.Name] = d
}

// TopicUnread says that nothing can be read of a topic, and why: denied,
// topic_missing, or a passing reason.
func (b *Builder) TopicUnread(name string, why Reason) {
	if d := b.topics[name]; d != nil && d.exists && why.Passing() {
		return
	}
	d := &topicDraft{Topic: &Topic{Name: name, Reason: why}}
	if why.Passing() && b.prev != nil {
		if p, ok := b.prev.Topic(name); ok && p.Partitions() > 0 && (p.Reason == ReasonNone || p.Reason.Passing()) {
			d.ID, d.Leader, d.prev, d.exists = p.ID, p.Leader, p, true
		}
	}
	b.topics[name] = d
}

// KeepTopics says that Metadata was not read in this poll: what was known
// stands. why is ReasonNone when it was not due.
func (b *Builder) KeepTopics(why Reason) {
	if b.prev == nil {
		return
	}
	for _, p := range b.prev.Topics {
		if b.topics[p.Name] != nil {
			continue
		}
		if p.Reason.final() {
			b.topics[p.Name] = &topicDraft{Topic: &Topic{Name: p.Name, ID: p.ID, Reason: p.Reason}}
			continue
		}
		b.topics[p.Name] = &topicDraft{Topic: &Topic{Name: p.Name, ID: p.ID, Leader: p.Leader, Reason: why, Retention: p.Retention}, exists: true, prev: p}
	}
}

// GroupFacts is what a poll learned of a group.
type GroupFacts struct {
	Name         string
	Type         GroupType
	State        string // as described, or as listed where it was not; "" if neither
	ProtocolType string
	Assignor     string
	Coordinator  int32
	Generation   Generation
	Leader       string // member id of a classic group's leader; "" if not told
	// AssignmentEpoch counts only where the Generation is an epoch.
	AssignmentEpoch int64
	Topology        *Topology // of a streams group; the builder keeps it

	// Described is true when this poll described the group. Otherwise Reason
	// says why not; ReasonNone means that it was not due.
	Described bool
	Reason    Reason
	At        time.Time // of the describe

	MembersKnown bool // false where a description comes without members
	// Members are the builder's from here on: it sorts and dates them.
	Members []Member
}

// AddGroup adds a group. A group that is not added is gone: a source leaves
// one out only when its coordinator said so, or when no filter selects it.
func (b *Builder) AddGroup(f GroupFacts) {
	if !b.opts.Filter.Group(f.Name) {
		return
	}
	d := &groupDraft{facts: f}
	if b.prev != nil {
		d.prev, _ = b.prev.Group(f.Name)
	}
	d.Group = describeGroup(f, d.prev, b.opts.StaleAfter, b.clock(f.At))
	d.partly = b.opts.Filter.FiltersTopics()
	b.groups[f.Name] = d
}

// clock remembers the newest time seen, which serves as this poll's now.
func (b *Builder) clock(t time.Time) time.Time {
	if t.After(b.now) {
		b.now = t
	}
	return b.now
}

// TopicCommits are a group's commits on one topic. The slices are of equal
// length and are not changed any more: snapshots keep them, and know from the
// same slice in two polls that nothing has moved.
type TopicCommits struct {
	Topic      string
	Partitions []int32
	Offsets    []int64 // negative: no commit
	Epochs     []int32 // leader epoch of the commit, -1 if not told
	Reasons    []Reason
	Times      []int64 // when each was committed, Unix nanoseconds, 0 where that is not known; nil without any
	Lags       []int64 // of a share group: the broker's own, negative where it gives none
	// Clues are the largest timestamps that Kafka Streams took records before
	// the offset to have, milliseconds since 1970, Unknown where it committed
	// none; nil without any. No proof of anything: see search.clue.
	Clues []int64
}

// AddCommits gives the whole set of a group's commits.
func (b *Builder) AddCommits(group string, at time.Time, commits []TopicCommits) {
	d := b.groups[group]
	if d == nil {
		return
	}
	d.commits, d.at, d.why, d.asked, d.undue = commits, at, ReasonNone, true, false
	b.clock(at)
	d.laid, d.repeat, d.source = false, notLooked, nil // read once more after Layout
}

// CommitsUnread says that a group's commits could not be read.
func (b *Builder) CommitsUnread(group string, why Reason) {
	if d := b.groups[group]; d != nil && (!d.asked || d.why != ReasonNone) {
		d.why, d.asked = why, true
	}
}

// CommitsUndue says that it was not a group's turn to have its commits read:
// those that it had stand, with the log ends that were read beside them. It
// reports whether there are any that may.
func (b *Builder) CommitsUndue(group string) bool {
	d := b.groups[group]
	if d == nil || d.asked || !d.continues() || d.prev.CommitsReason != ReasonNone || d.prev.CommitsAt.IsZero() ||
		b.now.Sub(d.prev.CommitsAt) > b.opts.StaleAfter {
		return false
	}
	d.undue, d.asked = true, true
	return true
}

// MissingTopics lists the topics that groups without rows yet refer to, or had
// rows on in the snapshot before, and Metadata did not mention: it takes a
// question by name to tell denied from deleted.
func (b *Builder) MissingTopics() []string {
	seen := map[string]bool{}
	for _, d := range b.groups {
		if d.laid {
			continue
		}
		if d.repeats() {
			for _, gt := range d.prev.Topics {
				if b.topics[gt.Topic.Name] == nil {
					seen[gt.Topic.Name] = true
				}
			}
			continue
		}
		for _, use := range d.uses().list {
			name := use.name
			if b.topics[name] == nil && b.opts.Filter.Topic(name) {
				seen[name] = true
			}
		}
	}
	if b.prev != nil { // and those that no group refers to any more: are they gone?
		for _, t := range b.prev.Topics {
			if b.topics[t.Name] == nil && !t.Reason.final() {
				seen[t.Name] = true
			}
		}
		for _, name := range b.prev.unused {
			if b.topics[name] == nil {
				seen[name] = true
			}
		}
	}
	out := make([]string, 0, len(seen))
	for name := range seen {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// Layout gives every group its rows that has none yet. After it, Needs says
// which partitions' offsets to read.
func (b *Builder) Layout() {
	b.order = b.order[:0]
	for _, d := range b.groups {
		b.order = append(b.order, d)
	}
	sort.Slice(b.order, func(i, j int) bool { return b.order[i].Name < b.order[j].Name })
	for _, d := range b.order {
		if !d.laid && !b.repeat(d) {
			b.layoutGroup(d)
		}
	}
}

// Need is a topic some of whose partitions have rows.
type Need struct {
	Topic      *Topic
	Partitions []int32
	// New lists those whose log start was never read.
	New []int32
}

// Needs lists the partitions whose offsets are wanted, topics by name.
func (b *Builder) Needs() []Need {
	var out []Need
	for _, d := range b.topics {
		if !d.any || !d.exists {
			continue
		}
		n := Need{Topic: d.Topic}
		for p, want := range d.needed {
			if !want {
				continue
			}
			n.Partitions = append(n.Partitions, int32(p))
			if d.prev == nil || p >= len(d.prev.LogStart) || d.prev.LogStart[p] < 0 {
				n.New = append(n.New, int32(p))
			}
		}
		out = append(out, n)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Topic.Name < out[j].Topic.Name })
	return out
}

// SetStart gives a partition's log start.
func (b *Builder) SetStart(t *Topic, p int32, offset int64, at time.Time) {
	if int(p) < len(t.LogStart) {
		t.LogStart[p], t.StartAt[p] = offset, at.UnixNano()
		if t.StartReason != nil {
			t.StartReason[p] = ReasonNone
		}
		b.clock(at)
	}
}

// StartUnread says why a log start that was due could not be read.
func (b *Builder) StartUnread(t *Topic, p int32, why Reason) {
	t.StartReason = setReason(t.StartReason, len(t.LogStart), p, why)
}

// SetEnd gives a partition's log end with the leader epoch it was answered in
// (-1 where the broker tells none). An answer with a lower epoch than one seen
// before comes from a leader that has been replaced and does not know it yet.
func (b *Builder) SetEnd(t *Topic, p int32, offset int64, epoch int32, at time.Time) {
	d := b.topics[t.Name]
	if d == nil || int(p) >= len(t.LogEnd) {
		return
	}
	if epoch >= 0 && epoch < d.epochSeen(int(p)) {
		if !d.read[p] {
			b.EndUnread(t, p, ReasonNoLeader)
		}
		return
	}
	t.LogEnd[p], t.Epoch[p], t.EndAt[p] = offset, epoch, at.UnixNano()
	d.read[p] = true
	if t.EndReason != nil {
		t.EndReason[p] = ReasonNone
	}
	b.clock(at)
}

// EndsAsked says when the first question for a log end was sent. An answer may
// be slow, and tells of some moment since: what was appended after it was told
// was not appended after the answer came.
func (b *Builder) EndsAsked(at time.Time) { b.snap.endsAsked = at.UnixNano() }

// EndUnread says why a log end could not be read.
func (b *Builder) EndUnread(t *Topic, p int32, why Reason) {
	t.EndReason = setReason(t.EndReason, len(t.LogEnd), p, why)
}

// SetStable gives a partition's last stable offset.
func (b *Builder) SetStable(t *Topic, p int32, offset int64) {
	if int(p) < len(t.LastStable) {
		t.LastStable[p] = offset
	}
}

func setReason(rs []Reason, n int, p int32, why Reason) []Reason {
	if int(p) >= n {
		return rs
	}
	if rs == nil {
		rs = make([]Reason, n)
	}
	rs[p] = why
	return rs
}
