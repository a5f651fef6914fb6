package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/klagtop/klagtop/collect"
)

// maxNamed is how many partition indexes or topics a line names.
const maxNamed = 12

// unevenness says, a line each, where a group's work is not shared out as one may
// think: lag that sits with one member and why, topics that are not co-located
// and topics that cannot be. Nothing where there is nothing to say.
func unevenness(g *collect.Group) string {
	var b strings.Builder
	if im := g.Imbalance(); im.Cause != collect.ImbalanceNone && im.Cause != collect.ImbalanceUnknown {
		fmt.Fprintln(&b, "  "+imbalance(g, im))
	}
	for _, set := range g.JoinSets() {
		if set.Apart != nil {
			fmt.Fprintf(&b, "  co-location: %d of %d partitions of %s have one owner; apart: %s\n",
				set.Partitions-len(set.Apart), set.Partitions, topicNames(set.Topics), indexes(set.Apart))
		}
	}
	if counts := g.PartitionCounts(); counts != nil {
		fmt.Fprintln(&b, "  "+partitionCounts(counts))
	}
	return b.String()
}

// imbalance says in one clause which member has most of the lag, and why; the
// cause is one that is known.
func imbalance(g *collect.Group, im collect.Imbalance) string {
	m := &g.Members[im.Member]
	name := m.ClientID
	if m.InstanceID != "" {
		name = m.InstanceID
	}
	s := fmt.Sprintf("%s of the lag sits with %s, which owns %s of the partitions", percent(im.Lag), Printable(name), percent(im.Partitions))
	switch im.Cause {
	case collect.ImbalanceAssignor:
		return s + ": the assignor gives it more than its share"
	case collect.ImbalanceKeys:
		return s + " but gets " + percent(im.Produced) + " of the records: the keys fall on them"
	}
	return s + " and gets " + percent(im.Produced) + " of the records: it reads slower than the others"
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// partitionCounts says which topics of a group cannot be joined partition by
// partition, and from which index on there is no pair.
func partitionCounts(topics []*collect.GroupTopic) string {
	var names []string
	for _, gt := range topics[:min(len(topics), maxNamed)] {
		names = append(names, Printable(gt.Topic.Name)+" "+strconv.Itoa(gt.Rows()))
	}
	if len(topics) > maxNamed {
		names = append(names, "…")
	}
	least, most := topics[0].Rows(), topics[len(topics)-1].Rows()
	pairs := "index " + strconv.Itoa(least) + " has no pair"
	if most-least > 1 {
		pairs = fmt.Sprintf("indexes %d to %d have no pair", least, most-1)
	}
	return "partition counts differ: " + strings.Join(names, ", ") + ": " + pairs
}

func topicNames(topics []*collect.GroupTopic) string {
	var names []string
	for _, gt := range topics[:min(len(topics), maxNamed)] {
		names = append(names, Printable(gt.Topic.Name))
	}
	if len(topics) > maxNamed {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

func indexes(ps []int32) string {
	var b strings.Builder
	for i, p := range ps {
		if i == maxNamed {
			fmt.Fprintf(&b, " and %d more", len(ps)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(int(p)))
	}
	return b.String()
}
