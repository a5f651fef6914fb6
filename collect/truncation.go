package collect

import (
	"context"
	"slices"
)

// epochBudget is how many leader epochs one poll asks for the end of.
const epochBudget = 2000

// An EpochQuery asks the leader of a partition where an epoch of an earlier
// leader ends.
type EpochQuery struct {
	Topic     string
	Partition int32
	Epoch     int32 // the one asked about
	Leader    int32 // the leader's own, so that no leader of before answers
}

// An EpochAnswer is the offset after the last record of an epoch.
type EpochAnswer struct {
	End    int64 // Unknown where the leader does not know the epoch
	Reason Reason
}

// An EpochSource is a Source that can ask where leader epochs end. No
// partition may be asked for twice in one call; answers come in the order of
// the queries.
type EpochSource interface {
	EpochEnds(ctx context.Context, queries []EpochQuery) []EpochAnswer
}

// cuts remembers where epochs end that commits were made in and that a newer
// leader has closed. An end below the commit means that the log was cut there:
// an unclean election took records that the group had read, and no log end
// shows it once the log has grown past the commit again.
type cuts struct {
	topics map[string]*topicCuts
	round  int
}

// topicCuts is what is known of one topic; one with another id is another.
type topicCuts struct {
	id    [16]byte
	first []int32 // leader epochs when the topic was seen first
	ends  map[epochKey]epochEnd
}

type epochKey struct{ partition, epoch int32 }

type epochEnd struct {
	end    int64
	leader int32 // the epoch of the leader that told
	used   int   // the round in which some commit needed it last
}

// end is where an epoch of a partition ends, as far as that was told.
func (c *cuts) end(t *Topic, p, epoch int32) (int64, bool) {
	tc := c.topics[t.Name]
	if tc == nil || tc.id != t.ID {
		return 0, false
	}
	e, ok := tc.ends[epochKey{p, epoch}]
	return e.end, ok && e.end >= 0
}

// of finds a topic's memory, or makes it.
func (c *cuts) of(t *Topic) *topicCuts {
	tc := c.topics[t.Name]
	if tc == nil || tc.id != t.ID {
		tc = &topicCuts{id: t.ID, first: t.Epoch}
		if c.topics == nil {
			c.topics = map[string]*topicCuts{}
		}
		c.topics[t.Name] = tc
	}
	return tc
}

// lookForCuts asks where epochs of commits end: where the leader is another
// one than when the commit was made, and once for each change of it.
func (c *Collector) lookForCuts(ctx context.Context, s *Snapshot) {
	source, ok := c.source.(EpochSource)
	if !ok || ctx.Err() != nil {
		return
	}
	queries := c.tracker.wantedEnds(s)
	if len(queries) == 0 {
		return
	}
	for i, a := range source.EpochEnds(ctx, queries) {
		q := queries[i]
		if a.Reason.Passing() {
			continue // asked again with the next poll
		}
		if a.Reason != ReasonNone {
			a.End = Unknown
		}
		topic, _ := s.Topic(q.Topic)
		tc := c.tracker.cuts.of(topic)
		if tc.ends == nil {
			tc.ends = map[epochKey]epochEnd{}
		}
		tc.ends[epochKey{q.Partition, q.Epoch}] = epochEnd{a.End, q.Leader, c.tracker.cuts.round}
	}
}

// wantedEnds lists what to ask, and forgets what no commit needs any more.
func (t *tracker) wantedEnds(s *Snapshot) []EpochQuery {
	t.cuts.round++
	w := endsWanted{cuts: &t.cuts, asked: map[topicPartition]bool{}}
	changed := make(map[*Topic]bool, len(s.Topics))
	for _, topic := range s.Topics {
		if topic.Reason == ReasonNone && topic.Partitions() > 0 {
			t.cuts.of(topic)
			changed[topic] = slices.Max(topic.Epoch) > 0
		}
	}
	for _, g := range s.Groups {
		m := t.groups[g.Name]
		for _, gt := range g.Topics {
			if gt.apart {
				t.cuts.use(gt)
			}
			if !changed[gt.Topic] || gt.Reported != nil { // a share group's epoch is that of its last write
				continue
			}
			var past *rowMemory
			if m != nil {
				past = m.rows[gt.Topic.Name]
			}
			w.add(gt, past)
		}
	}
	t.cuts.prune(s)
	return w.queries
}

// use keeps what is known for rows whose commits are kept ones, beside the
// offsets of before: nothing is asked for them.
func (c *cuts) use(gt *GroupTopic) {
	tc := c.topics[gt.Topic.Name]
	if tc == nil || tc.id != gt.Topic.ID || len(tc.ends) == 0 {
		return
	}
	for i, epoch := range gt.CommitEpoch {
		key := epochKey{gt.Partition(i), epoch}
		if e, known := tc.ends[key]; known {
			e.used = c.round
			tc.ends[key] = e
		}
	}
}

// endsWanted gathers the questions of one poll.
type endsWanted struct {
	cuts    *cuts
	queries []EpochQuery
	asked   map[topicPartition]bool
}

func (w *endsWanted) add(gt *GroupTopic, past *rowMemory) {
	t := gt.Topic
	if past != nil && past.id != t.ID {
		past = nil
	}
	for i, commit := range gt.Committed {
		p := gt.Partition(i)
		if commit < 0 || int(p) >= len(t.Epoch) {
			continue
		}
		leader := t.Epoch[p]
		w.need(t, p, gt.CommitEpoch[i], leader)
		if past != nil && int(p) < len(past.rows) && commit < past.rows[p].commit { // went back, perhaps for that
			w.need(t, p, past.epochOf(p), leader)
		}
	}
}

func (w *endsWanted) need(t *Topic, p, epoch, leader int32) {
	if epoch < 0 || epoch >= leader || t.endReason(int(p)) != ReasonNone {
		return
	}
	tc, key := w.cuts.of(t), epochKey{p, epoch}
	e, known := tc.ends[key]
	if known {
		e.used = w.cuts.round
		tc.ends[key] = e
	}
	if known && e.leader == leader || len(w.queries) >= epochBudget || w.asked[topicPartition{t.Name, p}] {
		return
	}
	w.asked[topicPartition{t.Name, p}] = true
	w.queries = append(w.queries, EpochQuery{Topic: t.Name, Partition: p, Epoch: epoch, Leader: leader})
}

// prune forgets topics that are gone and ends that no commit needs.
func (c *cuts) prune(s *Snapshot) {
	for name, tc := range c.topics {
		topic, ok := s.Topic(name)
		if !ok || topic.Reason == ReasonTopicMissing {
			delete(c.topics, name)
			continue
		}
		if topic.Reason != ReasonNone {
			continue
		}
		for key, e := range tc.ends {
			if e.used != c.round && topic.endReason(int(key.partition)) == ReasonNone {
				delete(tc.ends, key)
			}
		}
	}
}

// cutCommit is a commit below which the log was cut.
type cutCommit struct {
	commit int64
	epoch  int32
}

// markCuts marks the rows whose log was cut below their commit, and gives those
// that are new to the group and happened while klagtop watched.
func (t *tracker) markCuts(g *Group, m *groupMemory) (found []shift) {
	var cut map[topicPartition]cutCommit
	for _, gt := range g.Topics {
		tc := t.cuts.topics[gt.Topic.Name]
		if tc == nil || len(tc.ends) == 0 || tc.id != gt.Topic.ID || gt.Reported != nil {
			continue
		}
		for i, commit := range gt.Committed {
			p := gt.Partition(i)
			end, ok := t.cuts.end(gt.Topic, p, gt.CommitEpoch[i])
			if !ok || commit < 0 || end >= commit {
				continue
			}
			if gt.CutAt == nil {
				gt.CutAt = map[int]int64{}
			}
			gt.CutAt[i] = end
			if cut == nil {
				cut = map[topicPartition]cutCommit{}
			}
			key, now := topicPartition{gt.Topic.Name, p}, cutCommit{commit, gt.CommitEpoch[i]}
			cut[key] = now
			if m.cut[key] == now || int(p) >= len(tc.first) || tc.ends[epochKey{p, now.epoch}].leader <= tc.first[p] {
				continue
			}
			found = append(found, shift{OffsetChange{Topic: gt.Topic.Name, Partition: p, From: commit, To: end}, CauseTruncated})
		}
	}
	m.cut = t.stillCut(g, m.cut, cut)
	return found
}

// stillCut adds to what was found cut now what was before, and of which this
// poll says nothing: it is not to be told again when it does.
func (t *tracker) stillCut(g *Group, before, now map[topicPartition]cutCommit) map[topicPartition]cutCommit {
	for key, was := range before {
		gt, ok := g.Topic(key.topic)
		if _, found := now[key]; found || !ok {
			continue
		}
		i := gt.RowOf(key.partition)
		if i < 0 {
			continue
		}
		silent := gt.Committed[i] == Unknown
		if gt.Committed[i] == was.commit && gt.CommitEpoch[i] == was.epoch {
			_, told := t.cuts.end(gt.Topic, key.partition, was.epoch)
			silent = !told
		}
		if !silent {
			continue
		}
		if now == nil {
			now = map[topicPartition]cutCommit{}
		}
		now[key] = was
	}
	return now
}
