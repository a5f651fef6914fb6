package collect

import (
	"context"
	"time"
)

// A Source reads a cluster. It is the one thing that talks to Kafka, and is
// called by one goroutine, never twice at once.
type Source interface {
	// Poll reads what ask says is due and returns a snapshot made by
	// ask.Builder(). It never fails as a whole: what could not be read is in
	// the snapshot's problems and reasons, and what could be read is there
	// all the same. It returns by ctx's deadline.
	Poll(ctx context.Context, ask Ask) *Snapshot

	// OffsetsAt answers, for each query, the first offset whose record is not
	// older than a timestamp. No partition may be asked for twice in one
	// call. Answers come in the order of the queries; what could not be asked
	// has a Reason.
	OffsetsAt(ctx context.Context, queries []TimeQuery) []TimeAnswer

	// Close ends the source's connections.
	Close()
}

// Ask is what one poll shall read.
type Ask struct {
	// Prev is the newest finished snapshot, nil at first.
	Prev *Snapshot
	// Lists is true when the group list and the topics' metadata are due.
	Lists bool
	// Describe and Starts select what of the slower loops is due: groups to
	// describe and topics whose log starts to read. A nil func means all.
	Describe func(group string) bool
	Starts   func(topic string) bool
	// Interval is the time between two polls: what a poll may take before it
	// delays the next one. 0 where there is to be no other.
	Interval time.Duration
	// Limits and names for the builder.
	Build BuildOptions
}

// Builder starts the snapshot of this poll.
func (a Ask) Builder() *Builder { return NewBuilder(a.Prev, a.Build) }

// Timestamps with a meaning of their own in a TimeQuery.
const (
	// TimestampNewest asks for the record with the largest timestamp.
	TimestampNewest int64 = -3
)

// TimeQuery asks for the first record of a partition that is not older than a
// timestamp.
type TimeQuery struct {
	Topic     string
	Partition int32
	Timestamp int64 // milliseconds since 1970, or TimestampNewest
}

// TimeAnswer is what the leader says.
type TimeAnswer struct {
	Offset    int64 // -1 where no such record exists
	Timestamp int64 // of that record, milliseconds since 1970
	Reason    Reason
}

// An Update is one finished poll: what readers get.
type Update struct {
	Boot     string // of this process
	Seq      uint64 // number of the poll, from 1
	Snapshot *Snapshot
	Events   []Event   // new since the update before
	Findings []Finding // raised now, as Rules order them
	Interval time.Duration
	// NextPoll is when the next poll is due.
	NextPoll time.Time
}

// GroupFindings are the findings about one group, primary first.
func (u *Update) GroupFindings(group string) []Finding {
	return u.findings(func(f *Finding) bool { return !f.Cluster && f.Group == group })
}

// ClusterFindings are the findings about the cluster itself.
func (u *Update) ClusterFindings() []Finding {
	return u.findings(func(f *Finding) bool { return f.Cluster })
}

func (u *Update) findings(about func(*Finding) bool) []Finding {
	var out []Finding
	for i := range u.Findings {
		if about(&u.Findings[i]) {
			out = append(out, u.Findings[i])
		}
	}
	return out
}
