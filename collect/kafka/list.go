package kafka

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// readLists asks every broker for the groups it coordinates, and brings the
// registry up to date. Groups in no list stay: a list proves nothing about
// what it lacks, since brokers that start, stop or have just woken up answer
// with too little and no error.
func (p *poll) readLists() {
	for _, g := range p.groups {
		g.begin()
	}
	if !p.ask.Lists && !p.relist {
		p.withoutLists()
		return
	}
	p.relist = false
	ids := p.ids()
	lists := make([]*kmsg.ListGroupsResponse, len(ids))
	failed := p.each(collect.StageListGroups, ids, func(c *call) error {
		resp, _, err := c.ask(kmsg.NewPtrListGroupsRequest())
		if err == nil {
			lists[slices.Index(ids, c.n.id)] = resp.(*kmsg.ListGroupsResponse)
		}
		return err
	})
	for _, g := range p.groups {
		g.placed, g.listed, g.changed, g.rivals = g.listed, false, false, g.rivals[:0]
	}
	for i, l := range lists {
		if l == nil {
			continue
		}
		if why := reasonOfCode(l.ErrorCode); why != collect.ReasonNone {
			failed[ids[i]] = why
			p.problems.broker(collect.StageListGroups, ids[i], why, kerr.ErrorForCode(l.ErrorCode))
			continue
		}
		for j := range l.Groups {
			p.listed(ids[i], &l.Groups[j])
		}
	}
	p.placeUnlisted(failed)
}

// listed takes over one entry of a list.
func (p *poll) listed(node int32, l *kmsg.ListGroupsResponseGroup) {
	if !p.o.Filter.Group(l.Group) {
		return
	}
	g := p.groups[l.Group]
	if g == nil {
		g = newGroup(l.Group)
		p.groups[l.Group] = g
	}
	if g.listed {
		// Two brokers claim it: one of them has not noticed that it moved.
		g.rivals = append(g.rivals, node)
		return
	}
	typ := collect.GroupType(l.GroupType)
	if typ == "" { // ListGroups below version 5
		typ = g.typ
	} else {
		g.typeTold = true
	}
	g.changed = g.node != node || g.typ != typ || l.GroupState != "" && g.state != l.GroupState
	g.listed, g.node, g.typ, g.phantom, g.missed, g.deniedAt = true, node, typ, false, word{}, time.Time{}
	if l.GroupState != "" {
		g.state = l.GroupState
	}
	if l.ProtocolType != "" || g.typ == collect.TypeClassic {
		g.protocol = l.ProtocolType
	}
	g.begin()
}

// placeUnlisted says of groups that no list has what is known of the broker
// they were on, and adds those that the user named and nobody has seen yet.
func (p *poll) placeUnlisted(failed map[int32]collect.Reason) {
	for _, g := range p.groups {
		switch why := failed[g.node]; {
		case g.listed:
			g.placed = false
		case why.Answers(), why == collect.ReasonDenied, why == collect.ReasonError:
			// This broker gives no lists: a group is where it was described.
			g.listed = g.placed
		default:
			g.why, g.placed = why, false
		}
	}
	names, _ := p.o.Filter.ExactGroups()
	for _, name := range names {
		if p.groups[name] == nil {
			g := newGroup(name)
			g.phantom = true
			g.begin()
			p.groups[name] = g
		}
	}
}

// withoutLists prepares groups for a poll in which lists are not due.
func (p *poll) withoutLists() {
	for _, g := range p.groups {
		g.changed = false
		switch {
		case !g.listed && !g.deniedAt.IsZero(): // the one thing that a broker said of it
		case !g.listed, p.nodes[g.node] == nil:
			g.why = p.missing(g.node)
		}
	}
}

// missing is why a group cannot be asked for whose broker does not list it, or
// is not there: its own broker's trouble, else it is on its way to another one.
func (p *poll) missing(id int32) collect.Reason {
	n := p.nodes[id]
	switch {
	case n == nil:
		return collect.ReasonBrokerDown
	case n.silent.Load():
		return collect.ReasonTimeout
	case p.down[id] != collect.ReasonNone:
		return p.down[id]
	}
	return collect.ReasonLoading
}
