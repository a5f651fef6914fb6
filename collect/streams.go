package collect

import (
	"slices"
	"time"
)

// A Topology is what a Kafka Streams application of the streams protocol
// (KIP-1071) reads, as its coordinator tells it. It is cut into subtopologies,
// and those into tasks: task p of a subtopology reads partition p of each of
// its topics that has one.
type Topology struct {
	Epoch         int32
	Subtopologies []Subtopology
}

// A Subtopology is a part of a Topology. Its changelogs are not here: nobody
// commits on them.
type Subtopology struct {
	ID          string
	Sources     []string // topics that others write
	Repartition []string // internal topics between subtopologies
}

// reads lists the topics of a subtopology.
func (s *Subtopology) reads() []string {
	return append(slices.Clone(s.Sources), s.Repartition...)
}

// has reports whether some task reads from a topic; all its partitions are then
// some task's. A nil topology has none.
func (t *Topology) has(topic string) bool {
	if t == nil {
		return false
	}
	for i := range t.Subtopologies {
		if s := &t.Subtopologies[i]; slices.Contains(s.Sources, topic) || slices.Contains(s.Repartition, topic) {
			return true
		}
	}
	return false
}

// StreamsMember is what only members of streams groups have. Each is a thread;
// those of one process have its id.
//
// Standby and warm-up tasks keep a copy of another task's state, ready to take
// it over. They read none of the partitions that are named here, those of the
// tasks they copy, and own none.
type StreamsMember struct {
	ProcessID                   string
	TopologyEpoch               int32
	Standby, Warmup             []TopicPartitions
	TargetStandby, TargetWarmup []TopicPartitions
}

// copies reports whether the member has, or is to have, a standby or warm-up
// task. One that has nothing else is not idle: it is what makes a failover fast.
func (m *StreamsMember) copies() bool {
	return m != nil && len(m.Standby)+len(m.Warmup)+len(m.TargetStandby)+len(m.TargetWarmup) > 0
}

// tasked lists the topics of each subtopology, by partition count, then name: a
// task reads the same partition of all of them. Between subtopologies topics of
// equal partition counts are on different members by design.
func (g *Group) tasked() [][]*GroupTopic {
	if g.Topology == nil || len(g.Members) == 0 {
		return nil
	}
	out := make([][]*GroupTopic, len(g.Topology.Subtopologies))
	for i := range out {
		for _, name := range g.Topology.Subtopologies[i].reads() {
			if gt, ok := g.Topic(name); ok && gt.Parts == nil {
				out[i] = append(out[i], gt)
			}
		}
		slices.SortFunc(out[i], byPartitionCount)
	}
	return out
}

// tellMissingSources notes the source topics that do not exist: without them
// the application does not start, and no request but a look at the topics tells
// why. A topic that this principal may not see is not missing.
func (b *Builder) tellMissingSources(d *groupDraft) {
	if d.Topology == nil {
		return
	}
	for i := range d.Topology.Subtopologies {
		for _, name := range d.Topology.Subtopologies[i].Sources {
			if t := b.topics[name]; t == nil || t.Reason != ReasonTopicMissing {
				continue
			}
			d.MissingTopics = append(d.MissingTopics, name)
			b.Problem(Problem{
				Stage: StageDescribe, Broker: -1, Group: d.Name, Topic: name, Partition: -1, Reason: ReasonTopicMissing,
				Error: "the application reads this topic, and it does not exist",
			})
		}
	}
	slices.Sort(d.MissingTopics)
}

// setClue keeps what Kafka Streams committed beside row i's offset.
func (gt *GroupTopic) setClue(i int, time int64) {
	if time < 0 {
		return
	}
	if gt.clues == nil {
		gt.clues = slices.Repeat([]int64{Unknown}, gt.Rows())
	}
	gt.clues[i] = time
}

// clue is the time committed beside the offset of row i where that is the
// record to search for, Unknown otherwise.
func (gt *GroupTopic) clue(i int, target int64) int64 {
	if gt.clues == nil || gt.Committed[i] != target {
		return Unknown
	}
	return gt.clues[i]
}

// takeClue takes the answer to the question that a search with a clue begins
// with: for the first record younger than the clue. That is the target if the
// application goes by the records' own timestamps and the log is in order, and
// then the leader has told the target's own timestamp; what the clue was, and
// whether the log is in order, does not matter any more. With any other answer
// the clue is worth nothing: the target may share its timestamp, or be older.
func (s *search) takeClue(a TimeAnswer, now time.Time) {
	if a.Offset == s.target && a.Timestamp <= now.Add(futureAllowance).UnixMilli() {
		s.found(a)
		return
	}
	s.stage, s.round = askNewest, 0
}
