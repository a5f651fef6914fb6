package kafka

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/klagtop/klagtop/collect"
)

const (
	// mostOffsets in one answer, so that a broker's I/O threads are not held
	// up by one of them.
	mostOffsets = 50_000
	// expectedOffsets of a group that was never asked before.
	expectedOffsets = 500
	mostGroups      = 500
	// batchVersion of OffsetFetch is the first that names several groups.
	batchVersion = 8
)

// fetched is what a broker said of one group's commits, in order of topic, by name
// or where it has none by id, and of partition. It shares arrays with what the group said
// before, and is not changed once the builder has it.
type fetched struct {
	group  string
	node   int32
	code   int16
	at     time.Time
	topics []collect.TopicCommits
	ids    [][16]byte // of topics; nil where the broker names them
	unread []unreadCommit
	// metadata are the strings that members committed beside the offsets, by
	// topic and then as its partitions; nil where the group's say nothing.
	metadata [][]string
}

// unreadCommit is one that a broker could not tell.
type unreadCommit struct {
	topic     int // index
	partition int32
	code      int16
}

// readCommits reads the commits of these groups, each wholly, and hands them to
// the builder.
func (p *poll) readCommits(names []string) {
	byNode := map[int32][]string{}
	for _, name := range names {
		g := p.groups[name]
		switch {
		case g == nil:
		case g.typ == collect.TypeShare: // askShareOffsets asks for it
		case g.why != collect.ReasonNone:
			p.b.CommitsUnread(name, g.why)
		default:
			byNode[g.node] = append(byNode[g.node], name)
		}
	}
	if len(byNode) == 0 {
		return
	}
	ids := make([]int32, 0, len(byNode))
	for id := range byNode {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	parts, waiting := make([][]fetched, len(ids)), make([][]string, len(ids))
	failed := p.each(collect.StageCommits, ids, func(c *call) error {
		i := slices.Index(ids, c.n.id)
		var err error
		parts[i], waiting[i], err = p.fetch(c, byNode[c.n.id])
		return err
	})
	answered := map[string]bool{}
	for _, part := range parts {
		p.resolveTopics(part)
		for i := range part {
			answered[part[i].group] = true
			p.takeCommits(&part[i])
		}
	}
	for _, names := range waiting {
		for _, name := range names {
			if answered[name] = true; !p.b.CommitsUndue(name) { // they were never read, or too long ago
				p.b.CommitsUnread(name, collect.ReasonTimeout)
			}
		}
	}
	for id, names := range byNode {
		for _, name := range names {
			if answered[name] {
				continue
			}
			why := failed[id]
			if why == collect.ReasonNone {
				why = collect.ReasonError
				p.problems.group(collect.StageCommits, id, name, why, "the broker's answer leaves the group out")
			}
			p.b.CommitsUnread(name, why)
		}
	}
}

// fetch asks one broker, in chunks; what it answered before it failed counts.
// Of a broker that tells of one group at a time, some may have to wait for
// another poll.
func (p *poll) fetch(c *call, names []string) (out []fetched, waiting []string, err error) {
	if c.n.single.Load() {
		return p.fetchInTurn(c, names)
	}
	for len(names) > 0 {
		n, expect := 0, 0
		for n < len(names) && n < mostGroups {
			e := p.groups[names[n]].offsets
			if e == unknownCount {
				e = expectedOffsets
			}
			if n > 0 && expect+e > mostOffsets {
				break
			}
			expect += e
			n++
		}
		r, err := p.askCommits(c, names[:n])
		if err != nil {
			return out, nil, err
		}
		out = append(out, r.groups...)
		if r.Version < batchVersion {
			c.n.single.Store(true)
			rest, waiting, err := p.fetchInTurn(c, names[1:])
			return append(out, rest...), waiting, err
		}
		names = names[n:]
	}
	return out, nil, nil
}

// askCommits sends one request and dates what came back.
func (p *poll) askCommits(c *call, names []string) (*commitsResponse, error) {
	resp, at, err := c.ask(p.offsetFetch(names))
	if err != nil {
		return nil, err
	}
	r := resp.(*commitsResponse)
	for i := range r.groups {
		r.groups[i].node, r.groups[i].at = c.n.id, at
	}
	return r, nil
}

// resolveTopics puts names to topic ids: from version 10 on brokers give no
// names. An id that is not known is a topic younger than our list, so that is
// read once more.
func (p *poll) resolveTopics(all []fetched) {
	if p.nameTopics(all) || !p.refresh() {
		return
	}
	p.nameTopics(all)
}

// nameTopics reports whether all ids are known.
func (p *poll) nameTopics(all []fetched) bool {
	known := true
	for i := range all {
		for j := range all[i].topics {
			if t := &all[i].topics[j]; t.Topic == "" {
				t.Topic = p.topics.nameOf(all[i].ids[j])
				known = known && t.Topic != ""
			}
		}
	}
	return known
}

// takeCommits hands one group's commits to the builder.
func (p *poll) takeCommits(f *fetched) {
	g := p.groups[f.group]
	if g == nil {
		return
	}
	g.askedAt = f.at
	// kfake says so of a group without commits, where Kafka answers with none.
	if f.code != 0 && f.code != kerr.GroupIDNotFound.Code {
		why := reasonOfCode(f.code)
		if f.code == kerr.NotCoordinator.Code || f.code == kerr.CoordinatorNotAvailable.Code {
			p.relist = true
		}
		p.b.CommitsUnread(f.group, why)
		p.problems.group(collect.StageCommits, f.node, f.group, why, kerr.ErrorForCode(f.code).Error())
		return
	}
	p.commitProblems(f)
	g.offsets, g.commits = 0, f
	for i := range f.topics {
		g.offsets += len(f.topics[i].Partitions)
		if f.metadata != nil {
			f.topics[i].Clues = streamsTimes(f.metadata[i])
		}
	}
	f.metadata = nil
	commits := f.topics
	if unnamed := func(t collect.TopicCommits) bool { return t.Topic == "" }; slices.ContainsFunc(commits, unnamed) {
		// deleted since, or not to be seen
		commits = slices.DeleteFunc(slices.Clone(commits), unnamed)
	}
	p.b.AddCommits(f.group, f.at, p.tail.date(f.group, commits))
}

// commitProblems tells of the commits that could not be read, as far as that is
// no answer about them.
func (p *poll) commitProblems(f *fetched) {
	for _, u := range f.unread {
		topic, why, from := f.topics[u.topic].Topic, reasonOfCode(u.code), f.node
		if topic == "" || why.Answers() || !p.o.Filter.Topic(topic) {
			continue
		}
		if why == collect.ReasonDenied {
			from = -1 // it is no matter of the broker
		}
		p.problems.commit(from, f.group, topic, u.partition, why, kerr.ErrorForCode(u.code).Error())
	}
}
