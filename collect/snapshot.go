package collect

import (
	"sort"
	"sync/atomic"
	"time"
)

// Offsets that are not numbers. Every array of offsets uses them.
const (
	// Unknown stands for an offset or count that was not read.
	Unknown int64 = -1
	// NoCommit stands in a committed offset where the group has none.
	NoCommit int64 = -2
)

// A Snapshot is everything one poll knows of a cluster's groups. It is
// immutable once published.
type Snapshot struct {
	Cluster Cluster

	TakenAt time.Time     // end of the poll
	Took    time.Duration // how long the poll lasted

	// StaleAfter is how long a number that can no longer be read stands.
	StaleAfter time.Duration

	// CommitsEvery is how old the oldest commits are of those groups whose turn
	// it was not in this poll: brokers before Kafka 3.0 tell the commits of one
	// group at a time, and of many groups not all between two polls. 0 where
	// every poll reads all.
	CommitsEvery time.Duration

	// Complete is true when every list was read and every selected group is
	// complete (rows whose reason is an answer about them aside).
	Complete bool
	// Reached is true when any broker answered during the poll.
	Reached bool
	// Filtered is true while a group or topic filter is in force, so that an
	// absent group proves nothing.
	Filtered bool

	Problems []Problem

	// Rebalances are the durations of those rebalances, of all groups, that
	// were seen to begin and to end since the process began: a lower bound. Nil
	// where nobody counted, as in a recording.
	Rebalances *Durations

	// Topics on which a selected group has rows, by name.
	Topics []*Topic
	// Groups by name.
	Groups []*Group

	// endsAsked is when the first log end was asked for, Unix nanoseconds; 0
	// where nobody said: each was then read when its answer came.
	endsAsked int64
	// hidden are the groups, by name, that exist and that the topic filter
	// leaves without rows.
	hidden []string
	// gone are the topics, by name, on which the snapshot before had rows and
	// that exist no more.
	gone []string
	// unused are the topics, by name, that exist, on which the snapshot before
	// had rows and this one has none.
	unused []string
	// expires is the earliest moment at which some row's numbers become too
	// old to show; zero if there is none.
	expires time.Time
	// shownAt is the moment a copy made by At is for; later keeps the newest
	// such copy.
	shownAt time.Time
	later   *atomic.Pointer[Snapshot]
}

// Cluster is what the brokers say of themselves.
type Cluster struct {
	Name       string // given by the user: context, flag, or "default"
	ID         string // "" until a broker told
	Controller int32  // broker id, -1 if not known
	Brokers    []Broker
	// SeesAllGroups and SeesAllTopics tell whether this principal may see all
	// of them; Maybe where it was not found out yet.
	SeesAllGroups, SeesAllTopics Tri
	// TransactionState is true when the cluster has a __transaction_state
	// topic, or may have one that cannot be seen. Without it, every last
	// stable offset is the log end.
	TransactionState bool
	// TransactionPartitions is how many partitions that topic has; 0 where it
	// cannot be seen.
	TransactionPartitions int32
}

// Broker is one live broker as Metadata lists it.
type Broker struct {
	ID   int32
	Host string
	Port int32
	Rack string
	// Reason is why this poll did not get its numbers from the broker.
	Reason Reason
}

// Tri is yes, no, or not known.
type Tri uint8

// The three answers.
const (
	Maybe Tri = iota
	No
	Yes
)

// Problem is one thing a poll could not do. A problem is state, not a log
// line: it is there again in each snapshot while it lasts.
type Problem struct {
	Stage     Stage
	Broker    int32 // -1 if none
	Group     string
	Topic     string
	Partition int32 // -1 if none
	Reason    Reason
	Error     string // the error in words, never a secret
	Hint      string // what would mend it, "" where nothing is sure to
}

// Stage names a part of a poll.
type Stage string

// The stages, a closed list.
const (
	StageConnect      Stage = "connect"
	StageMetadata     Stage = "metadata"
	StageListGroups   Stage = "list_groups"
	StageDescribe     Stage = "describe"
	StageCommits      Stage = "commits"
	StageShareOffsets Stage = "share_offsets"
	StageLogStart     Stage = "log_start"
	StageLogEnd       Stage = "log_end"
	StageLastStable   Stage = "last_stable"
	StageTimeSearch   Stage = "time_search"
	StageTransactions Stage = "transactions"
	StageOffsetsTopic Stage = "offsets_topic"
)

// Group finds a group by name.
func (s *Snapshot) Group(name string) (*Group, bool) {
	i := sort.Search(len(s.Groups), func(i int) bool { return s.Groups[i].Name >= name })
	if i < len(s.Groups) && s.Groups[i].Name == name {
		return s.Groups[i], true
	}
	return nil, false
}

// hides reports whether a group is left out by the topic filter only.
func (s *Snapshot) hides(name string) bool {
	i := sort.SearchStrings(s.hidden, name)
	return i < len(s.hidden) && s.hidden[i] == name
}

// Topic finds a topic by name.
func (s *Snapshot) Topic(name string) (*Topic, bool) {
	return topicOf(s.Topics, name)
}

// topicOf finds a topic in a list that is sorted by name.
func topicOf(topics []*Topic, name string) (*Topic, bool) {
	i := sort.Search(len(topics), func(i int) bool { return topics[i].Name >= name })
	if i < len(topics) && topics[i].Name == name {
		return topics[i], true
	}
	return nil, false
}

// A Topic holds a topic's offsets once, whatever the number of groups that
// read it. Arrays are indexed by partition and of equal length.
type Topic struct {
	Name string
	ID   [16]byte // zero where the broker gives none
	// Reason is why nothing of the topic can be read: denied, topic_missing,
	// or a passing one when Metadata failed. The arrays are then empty, or
	// kept from before.
	Reason Reason

	LogStart   []int64 // Unknown if never read
	LogEnd     []int64 // the high watermark; Unknown if never read
	LastStable []int64 // Unknown where it was not asked for
	Leader     []int32 // broker id, -1 without one
	Epoch      []int32 // leader epoch of the log end answer, -1 if not told
	StartAt    []int64 // when LogStart was read, Unix nanoseconds; 0 never
	EndAt      []int64 // when LogEnd was read, Unix nanoseconds; 0 never

	// Open has the transactions that hold last stable offsets back for long, by
	// partition.
	Open []OpenTransaction

	Retention Retention
	// rests is true where all numbers were read and are those of the poll before.
	rests bool
	// trends are what the log starts' movement says, by partition; nil without any.
	trends []startTrend

	// EndReason is why this poll has no log end of a partition: the numbers
	// in the arrays are then kept ones. Nil when all were read.
	EndReason []Reason
	// StartReason likewise for log starts that were due.
	StartReason []Reason

	// Produced is records per second over the short window of 3 polls, or as
	// many as there were; at the first look, for up to pastPartitions of them,
	// over the last minute by the records' own timestamps. NaN if not known;
	// nil until the tracker has seen the topic.
	Produced []float32
	// ProducedTotal counts records seen to be appended since the topic was
	// first seen, all partitions together.
	ProducedTotal int64
}

// Partitions is the number of partitions the topic is known to have.
func (t *Topic) Partitions() int { return len(t.LogEnd) }

func (t *Topic) endReason(p int) Reason   { return reasonAt(t.EndReason, p) }
func (t *Topic) startReason(p int) Reason { return reasonAt(t.StartReason, p) }

func reasonAt(rs []Reason, i int) Reason {
	if i < len(rs) {
		return rs[i]
	}
	return ReasonNone
}
