package kafka

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// offsetsTopicName is where group coordinators keep what groups did.
const offsetsTopicName = "__consumer_offsets"

const (
	// tailRecords is how far back of each partition's end the tail begins. A
	// group that has not rebalanced within them has no exact generation until
	// it does.
	tailRecords = 10_000
	// tailFetch bounds one answer of a broker in bytes.
	tailFetch = 4 << 20
	// tailWait is the longest that the first poll waits for the tail to come
	// to the end, so that one-shot commands have its numbers, too.
	tailWait = 2 * time.Second
	// tailRetry is when a topic that was not there, or not to be read, is
	// looked for again.
	tailRetry = time.Minute
	// keptUnknown is for how many polls what is told of a group is kept that no
	// broker has named: the tail may know of it before the lists do.
	keptUnknown = 10
)

// offsetsTopic follows the end of __consumer_offsets, where it was asked for
// and this principal may read it: the only place where a classic group's
// generation and leader stand. It is a consumer without a group: it asks for
// Metadata, ListOffsets and Fetch, and commits nothing.
type offsetsTopic struct {
	filter collect.Filter
	tried  time.Time // when it was last looked whether it can be read

	mu     sync.Mutex
	cl     *kgo.Client // nil while it does not run
	groups map[string]*recorded
	next   map[int32]int64 // offset after the newest record, by partition
	moved  chan struct{}   // closed and replaced with every answer
}

func newOffsetsTopic(f collect.Filter) *offsetsTopic {
	return &offsetsTopic{filter: f, groups: map[string]*recorded{}, next: map[int32]int64{}, moved: make(chan struct{})}
}

// followOffsetsTopic starts the tail where it does not run and can.
func (p *poll) followOffsetsTopic() {
	t := p.tail
	if t == nil || t.running() {
		return
	}
	topic, ok := p.topics.topics[offsetsTopicName]
	now := p.o.Now()
	if !ok || !t.tried.IsZero() && now.Sub(t.tried) < tailRetry {
		return
	}
	t.tried = now
	if !p.mayReadOffsetsTopic() {
		p.o.Logger.Debug("the offsets topic may not be read")
		return
	}
	if err := t.start(p.Source); err != nil {
		p.o.Logger.Warn("the offsets topic cannot be followed", "error", err)
		return
	}
	wait := min(tailWait, time.Duration(0.3*float64(time.Until(p.deadline))))
	ctx, cancel := context.WithTimeout(p.ctx, wait)
	defer cancel()
	t.await(ctx, p.endsOf(offsetsTopicName, topic))
}

// mayReadOffsetsTopic asks before it tries: a fetch that is refused would leave
// a denial in the authorizer's log.
func (p *poll) mayReadOffsetsTopic() bool {
	resp, _ := p.anyBroker(func() kmsg.Request {
		req := metadataOf([]string{offsetsTopicName})
		req.IncludeTopicAuthorizedOperations = true
		return req
	})
	m, ok := resp.(*kmsg.MetadataResponse)
	if !ok || len(m.Topics) != 1 || m.Topics[0].ErrorCode != 0 {
		return false
	}
	const untold = -1 << 31 // by brokers that know no authorised operations
	ops := m.Topics[0].AuthorizedOperations
	return ops == untold || ops&(1<<kmsg.ACLOperationRead) != 0
}

// endsOf gives the log end of each partition of a topic that can be read.
func (p *poll) endsOf(name string, t topicView) map[int32]int64 {
	ends := map[int32]int64{}
	w := want{topic: name, id: t.id, leaders: t.leaders}
	for q := range t.leaders {
		w.partitions = append(w.partitions, int32(q))
	}
	p.listOffsets(offsetQuery{
		stage: collect.StageOffsetsTopic, timestamp: timestampEnd,
		set:    func(_ *want, q int32, a offsetAnswer) { ends[q] = a.offset },
		unread: func(*want, int32, collect.Reason) {},
	}, []want{w})
	return ends
}

func (t *offsetsTopic) running() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cl != nil
}

// start begins to follow; the goroutine ends with the Source.
func (t *offsetsTopic) start(s *Source) error {
	var seeds []string
	for _, n := range s.nodes {
		seeds = append(seeds, n.addr)
	}
	slices.Sort(seeds)
	opts := append(slices.Clip(s.clientOpts),
		kgo.SeedBrokers(seeds...), kgo.ConsumeTopics(offsetsTopicName), kgo.ConsumeResetOffset(kgo.NewOffset().AtEnd().Relative(-tailRecords)),
		kgo.KeepControlRecords(), kgo.FetchMaxBytes(tailFetch), kgo.FetchMaxPartitionBytes(tailFetch), kgo.MetadataMinAge(time.Second))
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		return err
	}
	t.mu.Lock()
	t.cl = cl
	t.mu.Unlock()
	s.probes.Go(func() {
		defer cl.Close()
		t.follow(s.ctx, cl)
		t.mu.Lock()
		defer t.mu.Unlock()
		// What was told may be undone unseen until it runs again.
		t.cl, t.groups, t.next = nil, map[string]*recorded{}, map[int32]int64{}
	})
	return nil
}

// follow reads until ctx ends or the topic may not be read any more.
func (t *offsetsTopic) follow(ctx context.Context, cl *kgo.Client) {
	for {
		fetches := cl.PollFetches(ctx)
		if ctx.Err() != nil || fetches.IsClientClosed() {
			return
		}
		lost := false
		fetches.EachError(func(_ string, _ int32, err error) {
			lost = lost || errors.Is(err, kerr.TopicAuthorizationFailed) || errors.Is(err, kerr.UnknownTopicOrPartition)
		})
		if lost {
			return
		}
		t.take(fetches)
	}
}

func (t *offsetsTopic) take(fetches kgo.Fetches) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fetches.EachRecord(func(r *kgo.Record) {
		t.next[r.Partition] = r.Offset + 1
		if !r.Attrs.IsControl() {
			t.note(r.Key, r.Value)
		}
	})
	close(t.moved)
	t.moved = make(chan struct{})
}

func (t *offsetsTopic) note(key, value []byte) {
	if name, j, ok := decodeGroupRecord(key, value); ok && t.filter.Group(name) {
		t.of(name).journal = j
	}
	if name, topic, p, d, ok := decodeCommitRecord(key, value); ok && t.filter.Group(name) && t.filter.Topic(topic) {
		t.noteCommit(name, topic, p, d)
	}
}

// noteCommit keeps what a record said of a commit. Commits on a topic that is
// deleted are taken back one by one, and with the last of them the topic goes: a
// group may have a new one each hour.
func (t *offsetsTopic) noteCommit(group, topic string, p int32, d dated) {
	if d.at == 0 {
		g := t.groups[group]
		if g == nil || int(p) >= len(g.commits[topic]) {
			return
		}
		g.commits[topic][p] = d
		if !slices.ContainsFunc(g.commits[topic], func(d dated) bool { return d.at != 0 }) {
			delete(g.commits, topic)
		}
		return
	}
	c := t.of(group).commits
	if int(p) >= len(c[topic]) {
		c[topic] = append(c[topic], make([]dated, int(p)+1-len(c[topic]))...)
	}
	c[topic][p] = d
}

func (t *offsetsTopic) of(group string) *recorded {
	g := t.groups[group]
	if g == nil {
		g = &recorded{commits: map[string][]dated{}}
		t.groups[group] = g
	}
	return g
}

// recorded is what records told of a group.
type recorded struct {
	journal *journal           // nil where nothing is known of it as a classic group
	commits map[string][]dated // by topic and partition; time 0 where nothing is known
	unknown int                // polls in which the source had no such group
}

// await waits until the tail has come to these ends, or ctx ends.
func (t *offsetsTopic) await(ctx context.Context, ends map[int32]int64) {
	for {
		t.mu.Lock()
		moved, behind := t.moved, false
		for p, end := range ends {
			behind = behind || end > 0 && t.next[p] < end
		}
		t.mu.Unlock()
		if !behind {
			return
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return
		}
	}
}

// amend puts what the offsets topic tells into a group's facts, where both are
// of one moment: a record of other members is of a generation before or after.
func (t *offsetsTopic) amend(f *collect.GroupFacts) {
	if t == nil || f.Type != collect.TypeClassic || !f.Described || !f.MembersKnown || f.State != collect.StateStable && f.State != collect.StateEmpty {
		return
	}
	t.mu.Lock()
	var j *journal
	if g := t.groups[f.Name]; g != nil {
		j = g.journal
	}
	t.mu.Unlock()
	if j == nil || !j.matches(f.Members) || int64(j.generation) < f.Generation.Value {
		return
	}
	f.Generation = collect.Generation{Value: int64(j.generation), Exact: true, Source: collect.SourceOffsetsTopic}
	f.Leader = j.leader
}

// prune forgets groups that have long been none of the source's.
func (t *offsetsTopic) prune(known map[string]*group) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, g := range t.groups {
		if known[name] != nil {
			g.unknown = 0
		} else if g.unknown++; g.unknown > keptUnknown {
			delete(t.groups, name)
		}
	}
}

// date adds the times of commits that records told of. A record of another
// offset is of a commit before or after, or of a transaction that was aborted.
func (t *offsetsTopic) date(group string, commits []collect.TopicCommits) []collect.TopicCommits {
	if t == nil {
		return commits
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.groups[group]
	if g == nil || len(g.commits) == 0 {
		return commits
	}
	commits = slices.Clone(commits) // the arrays behind it are those of the next poll, too
	for i := range commits {
		c := &commits[i]
		known := g.commits[c.Topic]
		if known == nil {
			continue
		}
		c.Times = make([]int64, len(c.Partitions))
		for k, p := range c.Partitions {
			if int(p) < len(known) && known[p].offset == c.Offsets[k] {
				c.Times[k] = known[p].at
			}
		}
	}
	return commits
}
