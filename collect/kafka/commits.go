package kafka

import (
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

const (
	// mostOffsets in one answer, so that a broker's I/O threads are not held
	// up by one of them.
	mostOffsets = 50_000
	// expectedOffsets of a group that was never asked before.
	expectedOffsets = 500
	mostGroups      = 500
	// oneByOne is how many groups are asked for at once where a request can
	// name one only (OffsetFetch below version 8).
	oneByOne = 8
	// batchVersion of OffsetFetch is the first that names several groups.
	batchVersion = 8
)

// fetched is what a broker said of one group's commits. Answers are turned into
// it as they come: of a large cluster, they take four times the room.
type fetched struct {
	group  string
	node   int32
	code   int16
	at     time.Time
	topics []collect.TopicCommits
	ids    [][16]byte // of topics
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

func fetchedOf(g *kmsg.OffsetFetchResponseGroup, node int32, at time.Time, metadata bool) fetched {
	f := fetched{group: g.Group, node: node, code: g.ErrorCode, at: at}
	if metadata {
		f.metadata = make([][]string, len(g.Topics))
	}
	f.topics = make([]collect.TopicCommits, len(g.Topics))
	f.ids = make([][16]byte, len(g.Topics))
	for i := range g.Topics {
		f.topics[i], f.ids[i] = topicCommits(&g.Topics[i]), g.Topics[i].TopicID
		if metadata {
			f.metadata[i] = metadataOfCommits(&g.Topics[i])
		}
		if f.topics[i].Reasons == nil {
			continue
		}
		for _, q := range g.Topics[i].Partitions {
			if q.ErrorCode != 0 {
				f.unread = append(f.unread, unreadCommit{i, q.Partition, q.ErrorCode})
			}
		}
	}
	return f
}

// readCommits reads the commits of these groups, each wholly, and hands them to
// the builder.
func (p *poll) readCommits(names []string) {
	byNode := map[int32][]string{}
	for _, name := range names {
		g := p.groups[name]
		switch {
		case g == nil:
		case g.typ == collect.TypeShare: // has no commits: the brokers keep its progress, and are not asked for it yet
			p.b.CommitsUnread(name, collect.ReasonNotReported)
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
	parts := make([][]fetched, len(ids))
	failed := p.each(collect.StageCommits, ids, func(c *call) error {
		i := slices.Index(ids, c.n.id)
		var err error
		parts[i], err = p.fetch(c, byNode[c.n.id])
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
func (p *poll) fetch(c *call, names []string) ([]fetched, error) {
	var out []fetched
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
		resp, at, err := c.ask(offsetFetch(names[:n]))
		if err != nil {
			return out, err
		}
		r := resp.(*kmsg.OffsetFetchResponse)
		if r.Version < batchVersion {
			out = append(out, oldFetched(r, names[0], c.n.id, at, p.groups[names[0]].meaningful()))
			rest, err := p.fetchOneByOne(c, names[1:])
			return append(out, rest...), err
		}
		for i := range r.Groups {
			out = append(out, fetchedOf(&r.Groups[i], c.n.id, at, p.groups[r.Groups[i].Group].meaningful()))
		}
		names = names[n:]
	}
	return out, nil
}

// fetchOneByOne asks a broker of before Kafka 3.0.
func (p *poll) fetchOneByOne(c *call, names []string) ([]fetched, error) {
	var (
		mu    sync.Mutex
		out   []fetched
		first error
		crew  crew
		next  = make(chan string, len(names))
	)
	for _, name := range names {
		next <- name
	}
	close(next)
	for range min(oneByOne, len(names)) {
		crew.Go(func() {
			for name := range next {
				mu.Lock()
				stop := first != nil
				mu.Unlock()
				if stop {
					return
				}
				resp, at, err := c.ask(offsetFetch([]string{name}))
				var f fetched
				if err == nil {
					f = oldFetched(resp.(*kmsg.OffsetFetchResponse), name, c.n.id, at, p.groups[name].meaningful())
				}
				mu.Lock()
				if err == nil {
					out = append(out, f)
				} else if first == nil {
					first = err
				}
				mu.Unlock()
			}
		})
	}
	crew.Wait()
	return out, first
}

// offsetFetch asks for all commits of groups. The fields for one group serve
// brokers that know no others; the version decides which are sent.
func offsetFetch(names []string) *kmsg.OffsetFetchRequest {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = names[0]
	req.Groups = make([]kmsg.OffsetFetchRequestGroup, len(names))
	for i, name := range names {
		req.Groups[i] = kmsg.NewOffsetFetchRequestGroup()
		req.Groups[i].Group = name
	}
	return req
}

// oldFetched brings an answer about one group into the newer form.
func oldFetched(r *kmsg.OffsetFetchResponse, name string, node int32, at time.Time, metadata bool) fetched {
	if r.Version >= batchVersion && len(r.Groups) == 1 { // upgraded under our hands
		return fetchedOf(&r.Groups[0], node, at, metadata)
	}
	g := kmsg.OffsetFetchResponseGroup{Group: name, ErrorCode: r.ErrorCode, Topics: make([]kmsg.OffsetFetchResponseGroupTopic, len(r.Topics))}
	for i := range r.Topics {
		t := &r.Topics[i]
		g.Topics[i].Topic = t.Topic
		g.Topics[i].Partitions = make([]kmsg.OffsetFetchResponseGroupTopicPartition, len(t.Partitions))
		for j := range t.Partitions {
			q := &t.Partitions[j]
			g.Topics[i].Partitions[j] = kmsg.OffsetFetchResponseGroupTopicPartition{
				Partition: q.Partition, Offset: q.Offset, LeaderEpoch: q.LeaderEpoch, Metadata: q.Metadata, ErrorCode: q.ErrorCode,
			}
		}
	}
	return fetchedOf(&g, node, at, metadata)
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
	g.offsets = 0
	for i := range f.topics {
		g.offsets += len(f.topics[i].Partitions)
	}
	// without a name: deleted since, or not to be seen
	commits := slices.DeleteFunc(f.topics, func(t collect.TopicCommits) bool { return t.Topic == "" })
	p.b.AddCommits(f.group, f.at, commits)
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

func metadataOfCommits(t *kmsg.OffsetFetchResponseGroupTopic) []string {
	out := make([]string, len(t.Partitions))
	for i := range t.Partitions {
		out[i] = text(t.Partitions[i].Metadata)
	}
	return out
}

func topicCommits(t *kmsg.OffsetFetchResponseGroupTopic) collect.TopicCommits {
	n := len(t.Partitions)
	small := make([]int32, 2*n)
	c := collect.TopicCommits{Topic: t.Topic, Partitions: small[:n:n], Offsets: make([]int64, n), Epochs: small[n:]}
	for i := range t.Partitions {
		q := &t.Partitions[i]
		c.Partitions[i], c.Offsets[i], c.Epochs[i] = q.Partition, q.Offset, q.LeaderEpoch
		if q.ErrorCode != 0 {
			if c.Reasons == nil {
				c.Reasons = make([]collect.Reason, n)
			}
			c.Reasons[i] = reasonOfCode(q.ErrorCode)
		}
	}
	return c
}
