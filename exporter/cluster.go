package exporter

import "github.com/klagtop/klagtop/collect"

// A cluster is one feed's snapshot made ready for the page: what its samples
// have in common is escaped once. It is not changed once made.
type cluster struct {
	name    string
	labels  []byte // the cluster's own
	update  *collect.Update
	snap    *collect.Snapshot
	groups  []group
	topics  []topic
	escaped map[string][]byte // topic label by topic name
	// findings by group; those of the cluster itself name no group, and must
	// not become those of the group whose name is empty
	findings map[string][]collect.Finding
	raised   []collect.Finding
}

type group struct {
	*collect.Group
	labels []byte
}

type topic struct {
	*collect.Topic
	labels []byte
}

// newCluster prepares a snapshot; u is nil before the first poll. A group or
// topic that is there twice counts once: the page must not fail for it.
func newCluster(labelName, name string, u *collect.Update, s *collect.Snapshot) *cluster {
	c := &cluster{name: name, labels: appendLabel(nil, labelName, name), update: u, snap: s}
	if s == nil {
		return c
	}
	c.escaped = make(map[string][]byte, len(s.Topics))
	for _, t := range s.Topics {
		if _, twice := c.escaped[t.Name]; twice {
			continue
		}
		c.topics = append(c.topics, topic{t, appendLabel(clone(c.labels), "topic", t.Name)})
		c.escaped[t.Name] = appendLabel(nil, "topic", t.Name)
	}
	seen := make(map[string]bool, len(s.Groups))
	for _, g := range s.Groups {
		if seen[g.Name] {
			continue
		}
		seen[g.Name] = true
		c.groups = append(c.groups, group{g, appendLabel(clone(c.labels), "group", g.Name)})
		for _, gt := range g.Topics {
			if c.escaped[gt.Topic.Name] == nil {
				c.escaped[gt.Topic.Name] = appendLabel(nil, "topic", gt.Topic.Name)
			}
		}
	}
	c.findings = map[string][]collect.Finding{}
	for _, f := range u.Findings {
		if f.Cluster {
			c.raised = append(c.raised, f)
		} else {
			c.findings[f.Group] = append(c.findings[f.Group], f)
		}
	}
	return c
}

func clone(b []byte) []byte { return append([]byte(nil), b...) }

// eachGroupTopic calls f for every topic of every group, in order.
func (c *cluster) eachGroupTopic(f func(g *group, gt *collect.GroupTopic)) {
	for i := range c.groups {
		g, before := &c.groups[i], ""
		for k, gt := range g.Topics {
			if k > 0 && gt.Topic.Name == before {
				continue
			}
			before = gt.Topic.Name
			f(g, gt)
		}
	}
}

// topicLabels are a group's labels with a topic's, written over b.
func (c *cluster) topicLabels(b []byte, g *group, gt *collect.GroupTopic) []byte {
	b = append(append(b[:0], g.labels...), ',')
	return append(b, c.escaped[gt.Topic.Name]...)
}
