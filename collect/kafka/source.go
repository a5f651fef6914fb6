package kafka

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/klagtop/klagtop/collect"
)

// Options are what a Source is told beside how to reach its cluster.
type Options struct {
	// Filter is the same one that the builder is given: of groups it leaves
	// out, only their names are ever read.
	Filter collect.Filter
	// OffsetsTopic has the end of __consumer_offsets followed, where it may be
	// read, for exact generations of classic groups.
	OffsetsTopic bool
	Logger       *slog.Logger     // nil: silent
	Now          func() time.Time // nil: time.Now
	// Extra is applied last: request metrics, and what tests need. Each broker
	// has a client of its own, so a hook given here sees several of them.
	Extra []kgo.Opt
}

// Source reads one cluster. It implements collect.Source.
type Source struct {
	o          Options
	clientOpts []kgo.Opt

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	probes crew // goroutines beside the polls, whose panic goes on in the next poll

	seeds []*node         // the addresses given
	nodes map[int32]*node // the brokers that Metadata listed last, by id
	lanes map[int32]*shareLane
	guide string // address that answered Metadata last

	clusterID  string
	controller int32
	brokers    []collect.Broker
	topics     view
	sees       sees
	readable   map[string]readable // topics whose records this principal may, or may not, read
	groups     map[string]*group

	outdated bool // topics are known to be old ones: read them with the next poll
	relist   bool // likewise the group lists

	tail *offsetsTopic // nil where it was not asked for

	searched problems // of OffsetsAt since the newest poll; the next one tells them
}

var _ collect.Source = (*Source)(nil)

// New checks the settings and makes a Source. It does not touch the network
// and fails as Config.Validate does.
func New(cfg Config, o Options) (*Source, error) {
	opts, err := cfg.options()
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	opts = append(opts, kgo.MetadataMaxAge(time.Hour)) // the clients need none of their own
	s := &Source{
		o: o, clientOpts: append(opts, o.Extra...), nodes: map[int32]*node{}, lanes: map[int32]*shareLane{}, groups: map[string]*group{},
		readable: map[string]readable{}, controller: -1,
	}
	s.topics.unlisted = map[string]unlisted{}
	if o.OffsetsTopic {
		s.tail = newOffsetsTopic(o.Filter)
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	for _, b := range cfg.Brokers {
		addr, _ := ParseBroker(b) // Validate has proved it
		n := s.newNode(seedID, addr, "")
		if n.broken != nil {
			s.Close()
			return nil, n.broken
		}
		s.seeds = append(s.seeds, n)
	}
	return s, nil
}

// Close implements collect.Source. It ends what runs beside the polls, too.
func (s *Source) Close() {
	s.cancel()
	for _, n := range s.seeds {
		n.close()
	}
	for _, n := range s.nodes {
		n.close()
	}
	for _, l := range s.lanes {
		s.closeLane(l)
	}
	s.probes.wg.Wait() // a panic of one is no matter any more
}

// Poll implements collect.Source. It reads brokers and topics, group lists,
// descriptions, the log starts known before, commits, the other log starts and
// then the log ends: a purge that follows a commit must not look like loss, nor
// a commit that follows a log end like one beyond it.
func (s *Source) Poll(ctx context.Context, ask collect.Ask) *collect.Snapshot {
	s.probes.check()
	began := s.o.Now()
	p := s.newPoll(ctx, ask)
	metadata := p.readMetadata()
	if metadata == collect.ReasonNone {
		p.lookForHidden()
	}
	p.setCluster() // first: what is kept of groups and topics is kept of the same cluster only
	p.followOffsetsTopic()
	p.readLists()
	p.describe()
	names := p.addGroups()
	starts := p.readKnownStarts()
	shares := p.askShareOffsets(names)
	p.readCommits(names)
	p.takeShareOffsets(shares)
	p.layout(metadata)
	p.readStarts(starts)
	if again := p.b.CommitsToReread(); again != nil {
		p.readCommits(again)
		p.layout(metadata)
	}
	p.readEnds()
	p.readLastStable()
	p.readRetentions()
	p.setCluster() // with what became of the brokers
	p.outdated = p.outdated || p.topics.strange.Swap(false)
	p.tellSearched()
	p.problems.flush(p.b)
	now := s.o.Now()
	return p.b.Finish(now, now.Sub(began))
}

// layout gives rows to groups whose commits are new to the builder, on topics
// that these may be the first to tell of.
func (p *poll) layout(metadata collect.Reason) {
	p.addTopics(metadata)
	p.b.Layout()
}

// addGroups tells the builder about all groups that are not gone, and gives
// their names in order.
func (p *poll) addGroups() []string {
	names := make([]string, 0, len(p.groups))
	for name := range p.groups {
		names = append(names, name)
	}
	slices.Sort(names)
	p.tail.prune(p.groups)
	now := p.o.Now()
	for _, name := range names {
		f := &p.groups[name].facts
		p.tail.amend(f)
		if !f.Described {
			f.At = now // the builder has no clock, and measures by it how old what it keeps is
		}
		p.b.AddGroup(*f)
	}
	return names
}

// OffsetsAt implements collect.Source. Silent brokers are not asked.
func (s *Source) OffsetsAt(ctx context.Context, queries []collect.TimeQuery) []collect.TimeAnswer {
	out := make([]collect.TimeAnswer, len(queries))
	index := make(map[topicPart]int, len(queries))
	byTopic := map[string]*want{}
	for i, q := range queries {
		out[i] = collect.TimeAnswer{Offset: collect.Unknown, Timestamp: -1, Reason: collect.ReasonTimeout}
		index[topicPart{q.Topic, q.Partition}] = i
		w := byTopic[q.Topic]
		if w == nil {
			t := s.topics.topics[q.Topic]
			w = &want{topic: q.Topic, id: t.id, leaders: t.leaders}
			byTopic[q.Topic] = w
		}
		w.partitions = append(w.partitions, q.Partition)
		w.timestamps = append(w.timestamps, q.Timestamp)
	}
	wants := make([]want, 0, len(byTopic))
	for _, w := range byTopic {
		wants = append(wants, *w)
	}
	slices.SortFunc(wants, func(a, b want) int { return cmp.Compare(a.topic, b.topic) })
	ctx, cancel := unhurried(ctx)
	defer cancel()
	p := s.newPoll(ctx, collect.Ask{})
	p.hurried = true // what is left of an interval may be next to nothing
	p.listOffsets(offsetQuery{
		stage: collect.StageTimeSearch,
		set: func(w *want, q int32, a offsetAnswer) {
			out[index[topicPart{w.topic, q}]] = collect.TimeAnswer{Offset: a.offset, Timestamp: a.timestamp}
		},
		unread: func(w *want, q int32, why collect.Reason) { out[index[topicPart{w.topic, q}]].Reason = why },
	}, wants)
	if !errors.Is(ctx.Err(), context.Canceled) {
		p.keepSearched()
	}
	return out
}

// searchFloor is the least time a search's question is given. One that is cut
// off takes its connection with it, and the next poll would have to dial.
const searchFloor = time.Second

// unhurried gives a context at least searchFloor, but ends with it when it is
// cancelled: then nobody wants the answer any more.
func unhurried(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok || time.Until(deadline) >= searchFloor {
		return ctx, func() {}
	}
	longer, cancel := context.WithTimeout(context.WithoutCancel(ctx), searchFloor)
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) {
			cancel()
		}
	})
	return longer, func() { stop(); cancel() }
}

type topicPart struct {
	topic     string
	partition int32
}
