package collect

import (
	"cmp"
	"slices"
)

// A JoinSet is a set of topics that a group reads and that have equal partition
// counts: a record and its partner, written with one key, lie on the same index
// of each of them, and meet on one member where the set is co-located there.
type JoinSet struct {
	Topics     []*GroupTopic // two or more, by name
	Partitions int           // of each of them
	Apart      []int32       // indexes that are not co-located: two owners, or an owner missing; nil where the whole set is
}

// JoinSets are the sets of topics over which a group's co-location is counted.
// Nil where the question makes no sense: without members, for Kafka Streams on
// the classic protocol, where tasks and not topics are dealt out, and without
// two such topics; and where nobody tells who owns what. A streams group has
// those of each of its subtopologies.
func (g *Group) JoinSets() []JoinSet {
	if g.hidesOwners() || g.conceals() {
		return nil
	}
	if g.Type != TypeStreams {
		return joinSets(g.joinable())
	}
	var sets []JoinSet
	for _, topics := range g.tasked() {
		sets = append(sets, joinSets(topics)...)
	}
	return sets
}

// joinSets parts topics that are sorted by partition count.
func joinSets(whole []*GroupTopic) []JoinSet {
	var sets []JoinSet
	for len(whole) > 0 {
		n, same := whole[0].Rows(), 1
		for same < len(whole) && whole[same].Rows() == n {
			same++
		}
		if same > 1 {
			sets = append(sets, JoinSet{Topics: whole[:same:same], Partitions: n, Apart: apart(whole[:same])})
		}
		whole = whole[same:]
	}
	return sets
}

// joinable are the topics that the group's members share out as a whole, by
// partition count, then name.
func (g *Group) joinable() []*GroupTopic {
	if !g.consumes() || g.Assignor == "stream" || len(g.Members) == 0 {
		return nil
	}
	var whole []*GroupTopic
	for _, gt := range g.Topics {
		if !gt.Orphaned && gt.Parts == nil && gt.Subscribed {
			whole = append(whole, gt)
		}
	}
	slices.SortFunc(whole, byPartitionCount)
	return whole
}

func byPartitionCount(a, b *GroupTopic) int {
	return cmp.Or(cmp.Compare(a.Rows(), b.Rows()), cmp.Compare(a.Topic.Name, b.Topic.Name))
}

// colocation counts the partition indexes of all join sets, and those of them
// that have one owner on every topic of their set; both Unknown without a set.
func (g *Group) colocation() (colocated, total int64) {
	sets := g.JoinSets()
	if sets == nil {
		return Unknown, Unknown
	}
	for i := range sets {
		total += int64(sets[i].Partitions)
		colocated += int64(sets[i].Partitions - len(sets[i].Apart))
	}
	return colocated, total
}

// apart lists the indexes that have no one owner on all topics. A partition
// without an owner is located nowhere.
func apart(topics []*GroupTopic) (indexes []int32) {
	for p, first := range topics[0].Owner {
		same := first >= 0
		for _, gt := range topics[1:] {
			same = same && gt.Owner[p] == first
		}
		if !same {
			indexes = append(indexes, int32(p))
		}
	}
	return indexes
}

// PartitionCounts are the topics of a group whose partition counts differ, the
// fewest partitions first: a join of them by key cannot be local, since a key
// lies on one index here and on another there, and the indexes from the least
// count on have no pair at all. Nil where all counts are equal. A topic of one
// partition is no candidate: it is a list that is broadcast, not a side of a
// join. Nil where JoinSets is nil for want of members or of a plain protocol.
func (g *Group) PartitionCounts() []*GroupTopic {
	topics := g.joinable()
	for len(topics) > 0 && topics[0].Rows() <= 1 {
		topics = topics[1:]
	}
	if len(topics) < 2 || topics[0].Rows() == topics[len(topics)-1].Rows() {
		return nil
	}
	return topics
}
