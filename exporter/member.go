package exporter

import (
	"strconv"

	"github.com/klagtop/klagtop/collect"
)

// writeOwners gives each owner of each partition a sample.
func writeOwners(e *encoder, c *cluster) {
	var labels, line []byte
	c.eachGroupTopic(func(g *group, gt *collect.GroupTopic) {
		labels = c.topicLabels(labels, g, gt)
		for i, owner := range gt.Owner {
			if owner < 0 {
				continue
			}
			owners := gt.MoreOwners[i]
			if owners == nil {
				owners = []int32{owner}
			}
			for k, m := range owners {
				if k > 0 && sameMember(&g.Members[m], &g.Members[owners[k-1]]) {
					continue
				}
				line = append(append(line[:0], labels...), `,partition="`...)
				line = append(strconv.AppendInt(line, int64(gt.Partition(i)), 10), '"')
				e.sample(appendMember(line, &g.Members[m]), 1)
			}
		}
	})
}

// sameMember reports whether two members are one that a broker lists twice.
// Members and owners are sorted, so that the two are neighbours.
func sameMember(a, b *collect.Member) bool {
	return a.ID == b.ID && a.ClientID == b.ClientID && a.Host == b.Host && a.InstanceID == b.InstanceID
}

func appendMember(b []byte, m *collect.Member) []byte {
	b = appendLabel(b, "member_id", m.ID)
	b = appendLabel(b, "client_id", m.ClientID)
	b = appendLabel(b, "host", m.Host)
	return appendLabel(b, "instance_id", m.InstanceID)
}

func writeMemberLag(e *encoder, c *cluster) {
	for i := range c.groups {
		g := &c.groups[i]
		totals := g.MemberTotals()
		eachMember(g, func(m int, labels []byte) { e.sample(labels, count(totals[m].Lag)) })
	}
}

func writeMemberPartitions(e *encoder, c *cluster) {
	for i := range c.groups {
		g := &c.groups[i]
		eachMember(g, func(m int, labels []byte) { e.sample(labels, float64(g.Members[m].Partitions())) })
	}
}

// counted reports whether what the member owns is known.
func counted(m *collect.Member) bool {
	return m.Decode == collect.DecodeOK || m.Decode == collect.DecodeEmpty
}

// eachMember calls f for each member whose assignment is known, with its labels.
func eachMember(g *group, f func(m int, labels []byte)) {
	var labels []byte
	for i := range g.Members {
		m := &g.Members[i]
		if !counted(m) || i > 0 && sameMember(m, &g.Members[i-1]) {
			continue
		}
		labels = appendMember(append(labels[:0], g.labels...), m)
		f(i, labels)
	}
}
