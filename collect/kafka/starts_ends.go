package kafka

import (
	"time"

	"github.com/klagtop/klagtop/collect"
)

// knownStart is a log start read before the commits.
type knownStart struct {
	offset int64
	at     time.Time
	why    collect.Reason
}

// knownStarts are by topic id and name, then by partition; a partition that was
// not asked for has neither a time nor a reason.
type knownStarts map[topicKey][]knownStart

type topicKey struct {
	name string
	id   [16]byte
}

// readKnownStarts reads the log starts that are due of the partitions that
// groups had rows on last time.
func (p *poll) readKnownStarts() knownStarts {
	out := knownStarts{}
	if p.ask.Prev == nil {
		return out
	}
	var wants []want
	for _, t := range p.ask.Prev.Topics {
		now, ok := p.topics.topics[t.Name]
		if !ok || now.id != t.ID || p.ask.Starts != nil && !p.ask.Starts(t.Name) {
			continue
		}
		w := want{topic: t.Name, id: t.ID, leaders: now.leaders}
		for q, start := range t.LogStart {
			if start >= 0 && q < len(now.leaders) {
				w.partitions = append(w.partitions, int32(q))
			}
		}
		if w.partitions != nil {
			wants = append(wants, w)
			out[topicKey{t.Name, t.ID}] = make([]knownStart, len(t.LogStart))
		}
	}
	p.listOffsets(offsetQuery{
		stage: collect.StageLogStart, timestamp: timestampStart,
		set: func(w *want, q int32, a offsetAnswer) {
			out[topicKey{w.topic, w.id}][q] = knownStart{offset: a.offset, at: a.at}
		},
		unread: func(w *want, q int32, why collect.Reason) { out[topicKey{w.topic, w.id}][q].why = why },
	}, wants)
	return out
}

// readStarts hands over the log starts read before the commits, and reads those
// of partitions that only the commits told of.
func (p *poll) readStarts(known knownStarts) {
	var needs []collect.Need
	for _, n := range p.b.Needs() {
		starts := known[topicKey{n.Topic.Name, n.Topic.ID}]
		parts := n.New
		if p.ask.Starts == nil || p.ask.Starts(n.Topic.Name) {
			parts = n.Partitions
		}
		ask := collect.Need{Topic: n.Topic}
		for _, q := range parts {
			switch {
			case int(q) >= len(starts) || starts[q] == knownStart{}:
				ask.Partitions = append(ask.Partitions, q)
			case starts[q].why != collect.ReasonNone:
				p.b.StartUnread(n.Topic, q, starts[q].why)
			default:
				p.b.SetStart(n.Topic, q, starts[q].offset, starts[q].at)
			}
		}
		if ask.Partitions != nil {
			needs = append(needs, ask)
		}
	}
	p.startsOf(needs)
}

func (p *poll) startsOf(needs []collect.Need) {
	p.listOffsets(offsetQuery{
		stage: collect.StageLogStart, timestamp: timestampStart,
		set: func(w *want, q int32, a offsetAnswer) {
			p.b.SetStart(needs[w.of].Topic, q, a.offset, a.at)
		},
		unread: func(w *want, q int32, why collect.Reason) { p.b.StartUnread(needs[w.of].Topic, q, why) },
	}, p.wantsOf(needs))
}

// readEnds reads the log ends, and the log starts that these make doubtful.
func (p *poll) readEnds() {
	needs := p.b.Needs()
	before := p.before(needs)
	p.b.EndsAsked(p.o.Now())
	p.listOffsets(offsetQuery{
		stage: collect.StageLogEnd, timestamp: timestampEnd,
		set: func(w *want, q int32, a offsetAnswer) {
			t := needs[w.of].Topic
			p.b.SetEnd(t, q, a.offset, a.epoch, a.at)
			if old := before[w.of]; old != nil && int(q) < len(old.LogEnd) && a.offset < old.LogEnd[q] {
				p.outdated = true // made anew, or cut: the next poll looks at the topic
			}
		},
		unread: func(w *want, q int32, why collect.Reason) { p.b.EndUnread(needs[w.of].Topic, q, why) },
	}, p.wantsOf(needs))
	p.startsOf(p.b.StartsToReread())
}

// before gives the topics as the poll before read them, nil where it did not.
func (p *poll) before(needs []collect.Need) []*collect.Topic {
	out := make([]*collect.Topic, len(needs))
	if p.ask.Prev == nil {
		return out
	}
	for i := range needs {
		if old, ok := p.ask.Prev.Topic(needs[i].Topic.Name); ok && old.ID == needs[i].Topic.ID {
			out[i] = old
		}
	}
	return out
}

// readLastStable reads where readers of committed records must stop, for rows
// on which it would matter. It is read after the log end, which it may have
// passed since.
func (p *poll) readLastStable() {
	needs := p.b.Suspects()
	p.listOffsets(offsetQuery{
		stage: collect.StageLastStable, timestamp: timestampEnd, isolation: readCommitted,
		set: func(w *want, q int32, a offsetAnswer) {
			t := needs[w.of].Topic
			p.b.SetStable(t, q, min(a.offset, t.LogEnd[q]))
		},
		unread: func(*want, int32, collect.Reason) {},
	}, p.wantsOf(needs))
}
