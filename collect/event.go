package collect

import "time"

// EventKind is what kind of thing changed.
type EventKind string

// The kinds.
const (
	EventRebalance EventKind = "rebalance" // one is over, or seen to have been
	EventState     EventKind = "state"     // a state changed outside a rebalance, or a rebalance began
	EventMember    EventKind = "member"    // a static member returned; a target is not taken
	EventOffsets   EventKind = "offsets"   // commits moved other than by consuming
	EventTopic     EventKind = "topic"     // a topic of the group changed
	EventGroup     EventKind = "group"     // first seen, gone, type changed
)

// Cause is why something changed, where that can be told.
type Cause string

// The causes: of rebalances, then of other events.
const (
	CauseUnknown           Cause = "unknown"
	CauseMemberJoined      Cause = "member_joined"
	CauseMemberLeft        Cause = "member_left"
	CauseMemberTimedOut    Cause = "member_timed_out"
	CauseStaticRestart     Cause = "static_restart"
	CausePartitionsChanged Cause = "partitions_changed"
	CauseTopicsChanged     Cause = "topics_changed"
	CauseAssignorChanged   Cause = "assignor_changed"
	CauseEpoch             Cause = "epoch"

	CauseReset           Cause = "reset"
	CauseSkipped         Cause = "skipped"
	CausePastEnd         Cause = "past_end"
	CauseTruncated       Cause = "truncated"
	CausePartitionsAdded Cause = "partitions_added"
	CauseDeleted         Cause = "deleted"
	CauseRecreated       Cause = "recreated"
)

// Style is how a rebalance was carried out, as seen.
type Style string

// The styles.
const (
	StyleUnknown     Style = "unknown"     // nothing seen tells it
	StyleEager       Style = "eager"       // all members stopped
	StyleCooperative Style = "cooperative" // those that kept partitions went on with them
	StyleReconcile   Style = "reconcile"   // the broker gave targets that members came to one by one
)

// An Event is one thing that changed in a group.
type Event struct {
	Seq     uint64 // grows by one within a boot
	Boot    string // of the process that saw it
	Cluster string
	Group   string
	Kind    EventKind

	At        time.Time // when it was seen to be over
	StartedAt time.Time // when it was seen to begin; zero if not seen
	Seconds   float64   // duration; NaN if not seen to begin
	Topic     string

	GenerationFrom, GenerationTo Generation
	Count                        int64 // rebalances it stands for, at least

	MembersBefore, MembersAfter int64 // Unknown if not known
	Cause                       Cause // "" for kinds without one
	Style                       Style // of rebalances
	// Joined and Left came and went; of a static member that returned, under
	// which ids. Joined is also the member whose target is not taken.
	Joined, Left       []MemberRef
	StateFrom, StateTo string
	Offsets            []OffsetChange

	Moved, Gained, Lost, Kept int64 // partitions: another owner, had none, has none, the same
	Moves                     []Move

	LagBefore, LagAfter int64 // records; Unknown if not known
	Text                string
}

// MemberRef names a member of some moment.
type MemberRef struct {
	MemberID, ClientID, Host, InstanceID string
}

// OffsetChange is a commit that moved other than by consuming, or below which
// the log was cut: To is then where.
type OffsetChange struct {
	Topic     string
	Partition int32
	From, To  int64 // NoCommit where there was, or is, none
}

// Move is a partition that changed hands; From and To are member ids, "" for none.
type Move struct {
	Topic     string
	Partition int32
	From, To  string
}
