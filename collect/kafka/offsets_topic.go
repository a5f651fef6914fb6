package kafka

import (
	"cmp"
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
	groups map[string]*journal
	next   map[int32]int64 // offset after the newest record, by partition
	moved  chan struct{}   // closed and replaced with every answer
}

func newOffsetsTopic(f collect.Filter) *offsetsTopic {
	return &offsetsTopic{filter: f, groups: map[string]*journal{}, next: map[int32]int64{}, moved: make(chan struct{})}
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
		t.cl, t.groups, t.next = nil, map[string]*journal{}, map[int32]int64{}
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
	name, j, ok := decodeGroupRecord(key, value)
	switch {
	case !ok || !t.filter.Group(name):
	case j == nil:
		delete(t.groups, name)
	default:
		t.groups[name] = j
	}
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
	j := t.groups[f.Name]
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
	for name, j := range t.groups {
		if known[name] != nil {
			j.unknown = 0
		} else if j.unknown++; j.unknown > keptUnknown {
			delete(t.groups, name)
		}
	}
}

// journal is a classic group as its coordinator wrote it down last.
type journal struct {
	generation int32
	leader     string   // member id
	members    []string // ids, sorted
	unknown    int      // polls in which the source had no such group
}

func (j *journal) matches(members []collect.Member) bool {
	if len(members) != len(j.members) {
		return false
	}
	for i := range members {
		if _, ok := slices.BinarySearch(j.members, members[i].ID); !ok {
			return false
		}
	}
	return true
}

// decodeGroupRecord reads a record of the offsets topic. ok is false for what
// is not about a classic group: commits, KIP-848 groups, versions to come. A nil
// journal says that nothing is told of the group any more: it is gone, or has
// become another type's. Generation 0 without a protocol type is a group that
// is being born.
func decodeGroupRecord(key, value []byte) (name string, j *journal, ok bool) {
	const groupKeyVersion = 2
	if len(key) < 2 || key[0] != 0 || key[1] != groupKeyVersion {
		return "", nil, false
	}
	var k kmsg.GroupMetadataKey
	if k.ReadFrom(key) != nil {
		return "", nil, false
	}
	if value == nil {
		return k.Group, nil, true
	}
	var v kmsg.GroupMetadataValue
	if v.ReadFrom(value) != nil || v.Version < 0 || v.Version > 4 {
		return k.Group, nil, true // of a form that is not known: the old word on it does not hold any more
	}
	if v.ProtocolType == "" || v.Generation < 0 {
		return k.Group, nil, true
	}
	j = &journal{generation: v.Generation, leader: text(v.Leader), members: make([]string, len(v.Members))}
	for i := range v.Members {
		j.members[i] = v.Members[i].MemberID
	}
	slices.SortFunc(j.members, cmp.Compare)
	return k.Group, j, true
}
