package document

// Schema names the shape of every document here.
const Schema = "klagtop/v1"

// Document is one look at a cluster. Pointers are null where a number is not
// known; times are RFC 3339 with nanoseconds.
type Document struct {
	Schema      string  `json:"schema"`
	Cluster     Cluster `json:"cluster"`
	TakenAt     string  `json:"taken_at"`
	PollSeconds float64 `json:"poll_seconds"`
	// CommitsEverySeconds is how old the oldest commits are of groups whose turn
	// it was not: 0 where every poll reads all, as it does from Kafka 3.0 on.
	CommitsEverySeconds float64   `json:"commits_every_seconds"`
	Complete            bool      `json:"complete"`
	Filtered            bool      `json:"filtered"`
	Problems            []Problem `json:"problems"`
	Findings            []Finding `json:"findings"`
	Groups              []Group   `json:"groups"`
}

// Cluster is what the brokers say of themselves.
type Cluster struct {
	Name          string `json:"name"`
	ID            string `json:"id"`
	Brokers       *int   `json:"brokers"`
	Controller    *int32 `json:"controller"`
	SeesAllGroups *bool  `json:"sees_all_groups"`
	SeesAllTopics *bool  `json:"sees_all_topics"`
}

// Problem is one thing a poll could not do.
type Problem struct {
	Stage     string `json:"stage"`
	Broker    *int32 `json:"broker"`
	Group     string `json:"group"`
	Topic     string `json:"topic"`
	Partition *int32 `json:"partition"`
	Reason    string `json:"reason"`
	Error     string `json:"error"`
}

// Group is one consumer group; Members and Partitions are null where only the
// group level was asked for.
type Group struct {
	Group        string      `json:"group"`
	Type         string      `json:"type"`
	State        string      `json:"state"`
	Reason       string      `json:"reason"`
	FirstSeenAt  string      `json:"first_seen_at"`
	DescribedAt  *string     `json:"described_at"`
	ProtocolType string      `json:"protocol_type"`
	Assignor     string      `json:"assignor"`
	Coordinator  *int32      `json:"coordinator"`
	Generation   *Generation `json:"generation"`
	Leader       string      `json:"leader,omitempty"` // there only where the offsets topic is read
	Lag          Lag         `json:"lag"`
	Rates        Rates       `json:"rates"`
	ProgressAt   *string     `json:"progress_at"`
	DrainSeconds *float64    `json:"drain_seconds"`
	Rebalances   Rebalances  `json:"rebalances"`
	Assignment   Assignment  `json:"assignment"`
	Topology     *Topology   `json:"topology,omitempty"` // of streams groups only
	Members      []Member    `json:"members"`
	Partitions   []Partition `json:"partitions"`
	Findings     []Finding   `json:"findings"`
}

// Generation is a classic group's generation or another group's epoch.
type Generation struct {
	Value  int64  `json:"value"`
	Exact  bool   `json:"exact"`
	Source string `json:"source"`
}

// Lag is what a group's rows add up to.
type Lag struct {
	Records         *int64   `json:"records"`
	Max             *int64   `json:"max"`
	Seconds         *float64 `json:"seconds"`
	SecondsMethod   string   `json:"seconds_method"`
	SecondsError    *float64 `json:"seconds_error"`
	Complete        bool     `json:"complete"`
	Known           int      `json:"known"`
	Unknown         int      `json:"unknown"`
	NoCommit        int      `json:"no_commit"`
	Stale           int      `json:"stale"`
	AssignedRecords *int64   `json:"assigned_records"`
	OrphanedRecords *int64   `json:"orphaned_records"`
	NoCommitRecords *int64   `json:"no_commit_records"`
	LostRecords     *int64   `json:"lost_records"`
	HeadroomSeconds *float64 `json:"headroom_seconds"`
}

// Rates are records per second.
type Rates struct {
	Produced *float64 `json:"produced"`
	Consumed *float64 `json:"consumed"`
}

// Rebalances counts those seen since the process began to watch the group.
type Rebalances struct {
	Observed   int64   `json:"observed"`
	LowerBound bool    `json:"lower_bound"`
	Last       *string `json:"last"`
}

// Assignment is who owns what, counted.
type Assignment struct {
	Members    *int64      `json:"members"`
	Idle       *int64      `json:"idle"`
	Assigned   *int64      `json:"assigned"`
	Unassigned *int64      `json:"unassigned"`
	Pending    *int64      `json:"pending"`
	Orphaned   *int64      `json:"orphaned"`
	Conflicts  *int64      `json:"conflicts"`
	Skew       Skew        `json:"skew"`
	Colocation *Colocation `json:"colocation"`
	Stale      bool        `json:"stale"`
	Epoch      *int64      `json:"epoch"` // that the target was made in; null without epochs
	// PartitionCounts is there only where the counts of the group's topics
	// differ, so that a join by key over them has no pairs.
	PartitionCounts []TopicCount `json:"partition_counts,omitempty"`
}

// TopicCount is how many partitions a topic has.
type TopicCount struct {
	Topic      string `json:"topic"`
	Partitions int    `json:"partitions"`
}

// Skew is max / mean over all members.
type Skew struct {
	Partitions *float64 `json:"partitions"`
	Lag        *float64 `json:"lag"`
	Rate       *float64 `json:"rate"`
	// ExplainedBy is there only while lag is uneven.
	ExplainedBy *Imbalance `json:"explained_by,omitempty"`
}

// Imbalance says which of the skews explains that one member has most of the
// lag: assignor, keys, member, or unknown.
type Imbalance struct {
	Cause    string `json:"cause"`
	MemberID string `json:"member_id"`
}

// Colocation counts partition indexes with one owner on all topics.
type Colocation struct {
	Colocated int64 `json:"colocated"`
	Total     int64 `json:"total"`
	// Apart is there only where some indexes are not co-located.
	Apart []Apart `json:"apart,omitempty"`
}

// Apart are the partition indexes of topics with equal partition counts that
// have no one owner on all of them.
type Apart struct {
	Topics     []string `json:"topics"`
	Partitions []int32  `json:"partitions"`
}

// Member is one member of a group.
type Member struct {
	MemberID    string             `json:"member_id"`
	ClientID    string             `json:"client_id"`
	Host        string             `json:"host"`
	InstanceID  string             `json:"instance_id"`
	Rack        string             `json:"rack"`
	Epoch       *int32             `json:"epoch"`
	FirstSeenAt string             `json:"first_seen_at"`
	Assigned    map[string][]int32 `json:"assigned"`
	Target      map[string][]int32 `json:"target"`
	Decode      string             `json:"decode"`
	Lag         *int64             `json:"lag"`
	Rates       Rates              `json:"rates"`
	ProgressAt  *string            `json:"progress_at"`

	*StreamsMember // of streams groups only
}

// Partition is one row of a group.
type Partition struct {
	Topic        string `json:"topic"`
	Partition    int32  `json:"partition"`
	LogStart     *int64 `json:"log_start"`
	LogEnd       *int64 `json:"log_end"`
	LastStable   *int64 `json:"last_stable"`
	Committed    *int64 `json:"committed"`
	LeaderEpoch  *int32 `json:"leader_epoch"`
	Lag          *int64 `json:"lag"`
	LagStable    *int64 `json:"lag_stable"`
	Status       string `json:"status"`
	Stale        bool   `json:"stale"`
	Reason       string `json:"reason"`
	LostRecords  *int64 `json:"lost_records"`
	AheadRecords *int64 `json:"ahead_records"`
	// TruncatedRecords is there only where an unclean election cut the log below
	// the commit, by so many records.
	TruncatedRecords int64    `json:"truncated_records,omitempty"`
	Seconds          *float64 `json:"seconds"`
	SecondsMethod    string   `json:"seconds_method"`
	SecondsError     *float64 `json:"seconds_error"`
	SecondsReason    string   `json:"seconds_reason"`
	HeadroomSeconds  *float64 `json:"headroom_seconds"`
	Rates            Rates    `json:"rates"`
	ProgressAt       *string  `json:"progress_at"`
	CommittedAt      *string  `json:"committed_at,omitempty"` // there only where the offsets topic told it
	MemberID         string   `json:"member_id"`
	MemberIDs        []string `json:"member_ids,omitempty"`
	Leader           *int32   `json:"leader"`
	AsOf             *string  `json:"as_of"`
	// OpenTransaction is there only where one holds the last stable offset back
	// for long.
	OpenTransaction *OpenTransaction `json:"open_transaction,omitempty"`
}

// OpenTransaction is what holds a last stable offset back.
type OpenTransaction struct {
	StartOffset     int64    `json:"start_offset"`
	Seconds         *float64 `json:"seconds"`
	SecondsMethod   string   `json:"seconds_method"`
	TransactionalID string   `json:"transactional_id"` // "" where it is not known
	ProducerID      *int64   `json:"producer_id"`
	ProducerEpoch   *int64   `json:"producer_epoch"`
	Coordinator     *int64   `json:"coordinator"`
	State           string   `json:"state"`           // as the coordinator spells it; "" where it is not known
	TimeoutSeconds  *float64 `json:"timeout_seconds"` // the producer's transaction timeout
	Hanging         bool     `json:"hanging"`         // its coordinator is proved to know nothing of it
	Reason          string   `json:"reason"`          // why its producer is not known
}

// Finding says what is wrong, since when, and on what evidence.
type Finding struct {
	Code     string         `json:"code"`
	Severity string         `json:"severity"`
	Primary  bool           `json:"primary"`
	Since    string         `json:"since"`
	Where    Where          `json:"where"`
	CausedBy string         `json:"caused_by"`
	Summary  string         `json:"summary"`
	Evidence map[string]any `json:"evidence"`
	Advice   string         `json:"advice"`
}

// Where is what a finding is about.
type Where struct {
	Topics     []string       `json:"topics"`
	Partitions []PartitionRef `json:"partitions"`
	Members    []string       `json:"members"`
}

// PartitionRef names a partition.
type PartitionRef struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
}

// Event is one line of `events -o json`.
type Event struct {
	Schema     string           `json:"schema"`
	Boot       string           `json:"boot"`
	Seq        uint64           `json:"seq"`
	Cluster    string           `json:"cluster"`
	Group      string           `json:"group"`
	Kind       string           `json:"kind"`
	At         string           `json:"at"`
	StartedAt  *string          `json:"started_at"`
	Seconds    *float64         `json:"seconds"`
	Topic      string           `json:"topic"`
	Generation *GenerationRange `json:"generation"`
	Count      int64            `json:"count"`
	Members    MemberCounts     `json:"members"`
	Cause      string           `json:"cause"`
	Style      string           `json:"style"`
	Joined     []MemberRef      `json:"joined"`
	Left       []MemberRef      `json:"left"`
	State      StateChange      `json:"state"`
	Offsets    []OffsetChange   `json:"offsets"`
	Partitions PartitionCounts  `json:"partitions"`
	Moves      []Move           `json:"moves"`
	Lag        LagChange        `json:"lag"`
	Text       string           `json:"text"`
}

// GenerationRange is a generation before and after.
type GenerationRange struct {
	From   *int64 `json:"from"`
	To     *int64 `json:"to"`
	Exact  bool   `json:"exact"`
	Source string `json:"source"`
}

// MemberCounts is a number of members before and after.
type MemberCounts struct {
	Before *int64 `json:"before"`
	After  *int64 `json:"after"`
}

// MemberRef names a member of some moment.
type MemberRef struct {
	MemberID   string `json:"member_id"`
	ClientID   string `json:"client_id"`
	Host       string `json:"host"`
	InstanceID string `json:"instance_id"`
}

// StateChange is a state before and after.
type StateChange struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// OffsetChange is a commit that moved other than by consuming: null where there
// is, or was, none.
type OffsetChange struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	From      *int64 `json:"from"`
	To        *int64 `json:"to"`
}

// PartitionCounts says what a rebalance did to partitions.
type PartitionCounts struct {
	Moved  int64 `json:"moved"`
	Gained int64 `json:"gained"`
	Lost   int64 `json:"lost"`
	Kept   int64 `json:"kept"`
}

// Move is a partition that changed hands.
type Move struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	From      string `json:"from"`
	To        string `json:"to"`
}

// LagChange is a lag before and after.
type LagChange struct {
	Before *int64 `json:"before"`
	After  *int64 `json:"after"`
}
