package kafka

import (
	"time"

	"github.com/klagtop/klagtop/collect"
)

// What becomes of groups that no broker described.

// settle decides about groups that the first round did not describe.
func (p *poll) settle(first, second map[string][]answer, failed map[int32]collect.Reason) {
	for name, g := range p.groups {
		a, ok := pick(first[name])
		if g.held {
			continue
		}
		if !ok || g.facts.Described {
			if g.phantom && !ok && g.deniedAt.IsZero() {
				g.gone = true
			}
			continue
		}
		if b, ok := pick(second[name]); ok && b.verdict == found {
			if p.emptied(g, b) {
				g.fail(collect.ReasonLoading)
				continue
			}
			g.take(b)
			continue
		}
		if a.verdict == found { // suspicious, but of no other kind
			g.take(a)
			continue
		}
		if a.verdict == notFound || a.verdict == unsupported && !g.listed {
			if failed[a.node] == collect.ReasonNone && provedGone(g, a, second[name]) {
				if g.gone = p.settled(g, a.node); !g.gone {
					g.fail(collect.ReasonLoading)
				}
				continue
			}
			a = doubt(a, second[name], failed[a.node])
		}
		p.undescribed(g, a)
	}
}

// takeoverPause is how long the word of a broker that took a group's partition
// over is not the last one.
const takeoverPause = 3 * time.Second

// settled reports whether a broker's word that a group is gone may be believed.
// One that has just become its coordinator may not have read the group's
// newest records yet: it must say so again.
func (p *poll) settled(g *group, node int32) bool {
	if node == g.node || g.node < 0 {
		return true
	}
	return g.missed.repeated(node, p.o.Now())
}

// A word is what a broker that took a group over said first, and when.
type word struct {
	node int32
	at   time.Time
}

// repeated reports whether the same broker has said so for takeoverPause.
func (w *word) repeated(node int32, now time.Time) bool {
	if w.at.IsZero() || w.node != node {
		*w = word{node, now}
	}
	return now.Sub(w.at) >= takeoverPause
}

// emptied reports whether a broker that took a group over calls a group with
// members empty, and has not done so for long: it may not have read the newest
// records yet, or the members may be about to say that they are there.
func (p *poll) emptied(g *group, a answer) bool {
	if !g.peopled || a.node == g.home || a.facts.State != collect.StateEmpty || len(a.facts.Members) > 0 {
		return false
	}
	return !g.empty.repeated(a.node, p.o.Now())
}

// provedGone reports whether a group's coordinator knows it as nothing that it
// could be. A kind whose feature is off, or that the broker never heard of,
// says nothing about a group of that kind; then the words of another kind's
// answer must: newer brokers tell "not found" from "not of this kind".
func provedGone(g *group, a answer, others []answer) bool {
	own, known := kindOf(g.typ)
	proved := false
	for _, o := range append([]answer{a}, others...) {
		switch {
		case o.verdict == notFound:
			proved = proved || o.named || known && o.kind == own
		case o.verdict == unsupported && (g.typeTold || !g.listed):
		default:
			return false
		}
	}
	return proved
}

// doubt is the answer that keeps a group that could not be proved gone.
func doubt(a answer, others []answer, failed collect.Reason) answer {
	for _, o := range others {
		if o.verdict != notFound {
			return o
		}
	}
	a.verdict = refused
	if a.reason = failed; a.reason == collect.ReasonNone {
		a.reason = collect.ReasonUnsupported
	}
	return a
}

// denied says of a group that no list has that this principal may not see it.
// Any broker says so, its coordinator or not, and writes a line into its
// authorizer's log each time: commits are not asked for, and the group itself
// only now and then.
func (p *poll) denied(g *group) {
	g.why = collect.ReasonDenied
	g.fail(g.why)
	p.problems.group(collect.StageDescribe, -1, g.name, g.why, "this user may not describe the group")
}

// refusedAgain says of a listed group what its coordinator said not long ago.
func (p *poll) refusedAgain(g *group) {
	if g.denial.whole {
		g.why = collect.ReasonDenied
	}
	g.fail(collect.ReasonDenied)
	p.problems.group(collect.StageDescribe, g.denial.node, g.name, collect.ReasonDenied, g.denial.text)
}

// undescribed notes why a group was not described.
func (p *poll) undescribed(g *group, a answer) {
	if g.phantom && a.reason != collect.ReasonDenied {
		g.gone = true
		return
	}
	if !g.listed && a.reason == collect.ReasonDenied {
		g.deniedAt = p.o.Now()
		p.denied(g)
		return
	}
	g.deniedAt, g.denial = time.Time{}, denial{}
	if a.reason == collect.ReasonDenied {
		g.denial = denial{p.o.Now(), a.node, a.text, a.whole}
		p.refusedAgain(g)
		return
	}
	why := a.reason
	if a.verdict == elsewhere {
		why = p.missing(g.node)
		if g.listed {
			why = collect.ReasonLoading
		}
		g.listed = g.listed && !g.placed // no list will say where it is now: ask every broker
		g.why, p.relist = why, true      // the lists are old: it moved since
	}
	if g.node < 0 && a.verdict == refused {
		g.node, g.facts.Coordinator = a.node, a.node
	}
	g.fail(why)
	if a.verdict == unsupported {
		return
	}
	p.problems.group(collect.StageDescribe, a.node, g.name, why, a.text)
}
