package collect

import (
	"strings"
	"time"
)

// GroupType is a group's protocol as the group list gives it. A type that is
// not known here is kept under its own name.
type GroupType string

// The types Kafka has today.
const (
	TypeClassic  GroupType = "classic"
	TypeConsumer GroupType = "consumer" // KIP-848
	TypeShare    GroupType = "share"    // KIP-932
	TypeStreams  GroupType = "streams"  // KIP-1071
)

// Group states that rules compare with; any other word a broker uses is kept.
const (
	StateStable              = "Stable"
	StateEmpty               = "Empty"
	StateDead                = "Dead"
	StatePreparingRebalance  = "PreparingRebalance"
	StateCompletingRebalance = "CompletingRebalance"
	StateAssigning           = "Assigning"
	StateReconciling         = "Reconciling"
	StateNotReady            = "NotReady"
	StateUnknown             = "Unknown"
)

// States lists the states that groups of a type can be in, Unknown aside: what
// an exporter gives a 0 for.
func (t GroupType) States() []string {
	switch t {
	case TypeConsumer:
		return []string{StateEmpty, StateAssigning, StateReconciling, StateStable, StateDead}
	case TypeShare:
		return []string{StateEmpty, StateStable, StateDead}
	case TypeStreams:
		return []string{StateEmpty, StateNotReady, StateAssigning, StateReconciling, StateStable, StateDead}
	}
	return []string{StateEmpty, StatePreparingRebalance, StateCompletingRebalance, StateStable, StateDead}
}

// A Group is one consumer group of a snapshot.
type Group struct {
	Name         string
	Type         GroupType
	State        string
	Reason       Reason // why the group could not be described just now
	ProtocolType string
	Assignor     string
	Coordinator  int32 // broker id, -1 if not known
	Generation   Generation
	Leader       string // member id of a classic group's leader, which deals out partitions; "" if not known
	// AssignmentEpoch is the group epoch that the target assignment was made
	// in; Unknown in groups without epochs.
	AssignmentEpoch int64
	DescribedAt     time.Time // zero if never described
	FirstSeenAt     time.Time

	// MembersKnown is false where the members could not be read: Members is
	// then nil and says nothing.
	MembersKnown bool
	Members      []Member // by client id, then member id
	// AssignmentStale is true when the assignments shown are those of an
	// earlier stable generation, because brokers do not tell the current ones
	// during a rebalance or did not answer.
	AssignmentStale bool

	// Topology is a streams group's; nil in other groups, and where it is not
	// known. MissingTopics are those of its source topics that do not exist.
	Topology      *Topology
	MissingTopics []string

	// Topics on which the group has rows, by name.
	Topics []*GroupTopic
	// CommitsAt is when the commits were read; zero if never.
	CommitsAt time.Time
	// CommitsReason is why this poll could not read the commits; what is
	// shown is then kept, or unknown.
	CommitsReason Reason

	// What follows is worked out when the snapshot is built or tracked.

	Lag        Totals
	Assignment Assignment
	// Produced and Consumed are records per second on the judged rows, by log
	// ends and by commit progress, over the short window of 3 polls; those of
	// rows that could be read where Lag is not complete. NaN if not known, also
	// while some row that was read has no rate yet: a part would pass for the sum.
	Produced, Consumed float64
	Drain              float64   // seconds until lag is 0; NaN while growing, at 0, or not known
	ProgressAt         time.Time // when a commit of the group last advanced; zero if not seen
	// CommitInterval is the median time between two advances of a row's commit,
	// never less than the time between polls; 0 until three were seen.
	CommitInterval time.Duration
	// Window is the group's long window: the longer of so many polls as
	// Options.Window says and three commit intervals (of 5 s while not known).
	// A commit that did not move within it stands still.
	Window   time.Duration
	Counters GroupCounters

	// stalledAt is when it was first seen that records arrive and the group's
	// commits stand still; zero while that is not so.
	stalledAt time.Time

	// undue is true where it was not the group's turn to have its commits read:
	// they, and what follows from them, are those of an earlier poll.
	undue bool

	// partly is true while a topic filter may have taken some of its rows away.
	partly bool

	source  *rowSource // nil where the next snapshot must lay the rows out anew
	settled settled
}

// Generation is a classic group's generation or another group's epoch.
type Generation struct {
	Value  int64 // Unknown if not known
	Exact  bool  // false: a lower bound
	Source GenerationSource
}

// GenerationSource says where a generation comes from.
type GenerationSource string

// The sources.
const (
	SourceNone           GenerationSource = ""
	SourceEpoch          GenerationSource = "epoch"
	SourceMemberMetadata GenerationSource = "member_metadata"
	SourceOffsetsTopic   GenerationSource = "offsets_topic"
)

// Known reports whether there is a generation.
func (g Generation) Known() bool { return g.Value >= 0 }

// GroupCounters only ever grow while the process watches the group.
type GroupCounters struct {
	Rebalances      int64
	RebalancesLower bool // the count is a lower bound
	RebalanceTime   time.Duration
	RebalanceEvents int64 // rebalances whose duration is in RebalanceTime
	LastRebalanceAt time.Time
	Moved           int64
	Produced        int64 // records appended to the group's rows
	Consumed        int64 // records by which commits advanced
	Overtaken       int64 // records that retention took before they were read
	JumpsBack       int64 // commits moved backwards
	JumpsForward    int64 // commits set forward over unread records, or past the log end
}

// Rebalancing reports whether the group is between two assignments.
func (g *Group) Rebalancing() bool {
	switch g.State {
	case StatePreparingRebalance, StateCompletingRebalance, StateAssigning, StateReconciling:
		return true
	}
	return false
}

// consumes reports whether the group follows the consumer protocol, so that
// all partitions of its topics are its own.
func (g *Group) consumes() bool {
	return g.Type == TypeConsumer || g.Type == TypeClassic && g.ProtocolType == "consumer"
}

// Topic finds the group's rows on a topic; a nil group has none.
func (g *Group) Topic(name string) (*GroupTopic, bool) {
	if g == nil {
		return nil, false
	}
	for _, gt := range g.Topics {
		if gt.Topic.Name == name {
			return gt, true
		}
	}
	return nil, false
}

// Rows is the number of rows the group has.
func (g *Group) Rows() int {
	n := 0
	for _, gt := range g.Topics {
		n += gt.Rows()
	}
	return n
}

// A GroupTopic is a group's rows on one topic: flat arrays, one element a row,
// in order of partition. A row with its lag is computed when asked for.
type GroupTopic struct {
	Topic *Topic

	// Parts has the partition of each row; nil when row i is partition i.
	Parts []int32

	// Committed is an offset, NoCommit, or Unknown where it was not read; of a
	// share group, the share partition's start offset.
	Committed   []int64
	CommitEpoch []int32 // leader epoch of the commit, -1 if not told
	// CommitReason is why a single commit could not be read; nil when all
	// could, or none (then Group.CommitsReason says why).
	CommitReason []Reason

	// CommittedAt is when each commit was made, Unix nanoseconds by the broker's
	// clock, 0 where that is not known; nil without any. Only the offsets topic
	// tells it.
	CommittedAt []int64
	// Reported is the lag that the broker gives, Unknown where it gives none;
	// nil in all but share groups, where it follows from the commit.
	Reported []int64
	// floors is what is known to be done of share partitions beside their start
	// offsets; nil where that is nothing.
	floors []int64

	Owner []int32 // index into Group.Members, -1 without an owner
	// MoreOwners has all owners of rows that have several.
	MoreOwners map[int][]int32

	// CutAt has, for rows below whose commit the log was cut, the offset at
	// which it was; nil without any. An unclean election took what lay between.
	CutAt map[int]int64

	// Subscribed is true when some member subscribes to the topic, or when
	// subscriptions are not known.
	Subscribed bool
	// Orphaned is true when the group has members and none subscribes to the
	// topic any more.
	Orphaned bool

	// apart is true where Topic is not the snapshot's own: it holds numbers of
	// an earlier poll, those that the kept commits were read with.
	apart     bool
	commitsAt int64 // Unix nanoseconds; the group's, but for kept rows
	stale     Reason
	expired   bool // the commits are too old to show

	// The tracker's arrays, one element a row; nil until it has something.

	Consumed   []float32 // records per second; NaN if not known
	ProgressAt []int64   // when the commit last advanced, Unix nanoseconds; 0 not seen
	// Ages of the first unread records, where they are given (a replay's);
	// the tracker keeps its own in ages, a million of which fit in 16 MB.
	Ages []Age
	ages []rowAge
	// dated is true where ages has all rows with lag; vague where one of these
	// is worth a search, moves where a commit advances.
	dated, vague, moves bool
	oldest              worstAge // of all rows with lag, where dated
	done                []int64  // what is done of share partitions; nil in other groups
	// clues are the commits' TopicCommits.Clues; nil without any.
	clues []int64
}

// Rows is the number of rows.
func (gt *GroupTopic) Rows() int { return len(gt.Committed) }

// Partition is the partition of row i.
func (gt *GroupTopic) Partition(i int) int32 {
	if gt.Parts == nil {
		return int32(i)
	}
	return gt.Parts[i]
}

// RowOf is the row of a partition, -1 without one.
func (gt *GroupTopic) RowOf(p int32) int {
	return rowOf(gt.Parts, len(gt.Committed), p)
}

func rowOf(parts []int32, rows int, p int32) int {
	if parts == nil {
		if p >= 0 && int(p) < rows {
			return int(p)
		}
		return -1
	}
	lo, hi := 0, len(parts)
	for lo < hi {
		if m := (lo + hi) / 2; parts[m] < p {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo < len(parts) && parts[lo] == p {
		return lo
	}
	return -1
}

// owners lists all owners of row i.
func (gt *GroupTopic) owners(i int) []int32 {
	if more := gt.MoreOwners[i]; more != nil {
		return more
	}
	if gt.Owner[i] < 0 {
		return nil
	}
	return gt.Owner[i : i+1]
}

// A Member is one member of a group.
type Member struct {
	ID         string
	ClientID   string
	Host       string // without Kafka's leading "/"
	InstanceID string // "" for a dynamic member
	Rack       string
	Epoch      int32 // -1 where the group has none
	// Generation is what the member sent when it last joined; -1 if it sent
	// none, or in groups with epochs.
	Generation int32

	Subscribed []string // sorted; nil if not known
	Regex      string   // KIP-848 pattern subscription
	Assigned   []TopicPartitions
	Target     []TopicPartitions // nil where the group has no targets
	HasTarget  bool              // the group's protocol has targets
	Decode     Decode
	Streams    *StreamsMember // nil in groups of other types
	// Rejoined is with what a classic member came when it joined last.
	Rejoined Rejoined

	FirstSeenAt time.Time
	// BlockingSince is since when the group's reconciliation has waited for
	// the member ([Group.Blocking]); zero while it does not.
	BlockingSince time.Time
}

// Rejoined is what a classic member said, joining, that it still owned: what a
// rebalance did to those who had work can be seen by it.
type Rejoined uint8

// What members say.
const (
	RejoinedUntold      Rejoined = iota // its client does not say
	RejoinedEmptyHanded                 // nothing: it is new, or it gave up everything first
	RejoinedHolding                     // some partitions
)

// Key is a member's identity over restarts: its instance id, else its member id.
func (m *Member) Key() string {
	if m.InstanceID != "" {
		return "instance " + m.InstanceID
	}
	return m.ID
}

// Partitions is how many partitions the member owns.
func (m *Member) Partitions() int {
	n := 0
	for _, tp := range m.Assigned {
		n += len(tp.Partitions)
	}
	return n
}

// Idle reports whether the member is known to own nothing and to be given
// nothing. One whose assignment cannot be decoded is not idle, nor is one that
// has a standby or warm-up task.
func (m *Member) Idle() bool {
	return (m.Decode == DecodeOK || m.Decode == DecodeEmpty) && m.Partitions() == 0 && len(m.Target) == 0 && !m.Streams.copies()
}

// TopicPartitions are some partitions of one topic, in order.
type TopicPartitions struct {
	Topic      string
	Partitions []int32
}

// Decode is what became of a member's assignment bytes.
type Decode string

// The outcomes.
const (
	DecodeOK          Decode = "ok"
	DecodeEmpty       Decode = "empty"        // no bytes, or no partitions
	DecodeNotConsumer Decode = "not_consumer" // another protocol's bytes
	DecodeUndecodable Decode = "undecodable"  // bytes that make no sense, or topics that nobody could name
)

// cleanHost drops the slash that Kafka puts before a client's address.
func cleanHost(h string) string { return strings.TrimPrefix(h, "/") }
