package kafka

import (
	"context"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

const (
	// shareChunk is how many share groups one request asks for. A broker
	// answers it when the last of them is read, and never where one partition
	// hangs.
	shareChunk = 10
	// shareWait is the share of the poll's time left that one answer may take,
	// and shareWork that of all a broker's.
	shareWait = 0.25
	shareWork = 0.4
)

// sharesAsked is the questions for share groups' offsets that are under way
// while the poll reads commits.
type sharesAsked struct {
	crew   crew
	cancel context.CancelFunc
	talks  []*shareTalk
}

// A shareTalk is the talk with one broker about share groups' offsets.
type shareTalk struct {
	id       int32
	lane     *shareLane
	names    []string
	answered bool
	got      []shareOffsets
	failed   map[string]error // groups that an error left unread
}

// shareOffsets is what a broker said of one group.
type shareOffsets struct {
	group *kmsg.DescribeShareGroupOffsetsResponseGroup
	at    time.Time
}

// askShareOffsets asks the brokers that list share groups for their offsets,
// beside the poll: takeShareOffsets waits for the answers. A partition whose
// leader has just died leaves the request unanswered, and whatever follows it
// on the connection; so it goes over connections of its own.
func (p *poll) askShareOffsets(names []string) *sharesAsked {
	asked := &sharesAsked{cancel: func() {}}
	talks := map[int32]*shareTalk{}
	for _, name := range names {
		g := p.groups[name]
		if g.typ != collect.TypeShare {
			continue
		}
		why := g.why
		if why == collect.ReasonNone && g.facts.Reason == collect.ReasonUnsupported {
			why = collect.ReasonUnsupported
		}
		if why == collect.ReasonNone {
			why = p.unusable(collect.StageShareOffsets, g.node)
		}
		if why != collect.ReasonNone {
			p.b.CommitsUnread(name, why)
			continue
		}
		t := talks[g.node]
		if t == nil {
			t = &shareTalk{id: g.node, lane: p.shareLane(p.nodes[g.node]), failed: map[string]error{}}
			talks[g.node] = t
			asked.talks = append(asked.talks, t)
		}
		if err := t.lane.left(name); err != nil {
			t.failed[name] = err
			continue
		}
		t.names = append(t.names, name)
	}
	p.dropShareLanes()
	if len(asked.talks) == 0 {
		return asked
	}
	left := float64(time.Until(p.deadline))
	ctx, cancel := context.WithTimeout(p.ctx, time.Duration(shareWork*left))
	asked.cancel = cancel
	slices.SortFunc(asked.talks, func(a, b *shareTalk) int { return int(a.id - b.id) })
	for _, t := range asked.talks {
		asked.crew.Go(func() { p.talkShares(ctx, time.Duration(shareWait*left), t) })
	}
	return asked
}

// talkShares asks one broker, chunk by chunk. Groups in a chunk that it leaves
// unanswered are left alone until it answers; the others are asked for over a
// new connection.
func (p *poll) talkShares(ctx context.Context, silence time.Duration, t *shareTalk) {
	for chunk := range slices.Chunk(t.names, shareChunk) {
		c := &call{p: p, n: t.lane.node(), ctx: ctx, silence: silence}
		resp, at, err := c.ask(describeShares(chunk))
		if err == nil {
			t.answered = true
			r := resp.(*kmsg.DescribeShareGroupOffsetsResponse)
			for i := range r.Groups {
				t.got = append(t.got, shareOffsets{&r.Groups[i], at})
			}
			continue
		}
		for _, name := range chunk {
			t.failed[name] = err
		}
		if c.hung != nil {
			t.lane.leave(chunk, err, max(silence, 500*time.Millisecond))
		}
	}
}

// describeShares asks for all topics of groups, always: one that does not exist
// any more, named, would leave the whole connection without an answer.
func describeShares(names []string) *kmsg.DescribeShareGroupOffsetsRequest {
	req := kmsg.NewPtrDescribeShareGroupOffsetsRequest()
	req.Groups = make([]kmsg.DescribeShareGroupOffsetsRequestGroup, len(names))
	for i, name := range names {
		req.Groups[i] = kmsg.NewDescribeShareGroupOffsetsRequestGroup()
		req.Groups[i].GroupID = name // Topics stays nil: all of them
	}
	return req
}

// takeShareOffsets waits for the answers and hands them to the builder.
func (p *poll) takeShareOffsets(asked *sharesAsked) {
	asked.crew.Wait()
	asked.cancel()
	for _, t := range asked.talks {
		if t.answered {
			p.heard()
		}
		answered := map[string]bool{}
		for _, a := range t.got {
			answered[a.group.GroupID] = true
			p.takeShares(t.id, a)
		}
		for _, name := range t.names {
			if !answered[name] && t.failed[name] == nil {
				why := collect.ReasonError
				p.problems.group(collect.StageShareOffsets, t.id, name, why, "the broker's answer leaves the group out")
				p.b.CommitsUnread(name, why)
			}
		}
		p.sharesFailed(t)
	}
}

// sharesFailed tells of the groups that errors left unread, each error once.
func (p *poll) sharesFailed(t *shareTalk) {
	names := make([]string, 0, len(t.failed))
	for name := range t.failed {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		err := t.failed[name]
		why := ReasonOf(err)
		p.b.CommitsUnread(name, why)
		switch why {
		case collect.ReasonUnsupported:
		case collect.ReasonTimeout:
			text, _ := Explain(err)
			p.problems.group(collect.StageShareOffsets, t.id, name, why, text)
		default:
			p.problems.broker(collect.StageShareOffsets, t.id, why, err)
		}
	}
}

// takeShares hands one group's offsets to the builder.
func (p *poll) takeShares(node int32, a shareOffsets) {
	name := a.group.GroupID
	if p.groups[name] == nil {
		return
	}
	// Only the describe says of a group that there is none: here it has no topics.
	if code := a.group.ErrorCode; code != 0 && code != kerr.GroupIDNotFound.Code {
		r := refusal(name, code, a.group.ErrorMessage)
		if r.verdict == elsewhere {
			p.relist = true
		}
		p.b.CommitsUnread(name, r.reason)
		if r.verdict != unsupported {
			p.problems.group(collect.StageShareOffsets, node, name, r.reason, r.text)
		}
		return
	}
	topics := make([]collect.TopicCommits, 0, len(a.group.Topics))
	for i := range a.group.Topics {
		t := &a.group.Topics[i]
		if t.Topic == "" {
			if t.Topic = p.topics.nameOf(t.TopicID); t.Topic == "" {
				p.topics.strange.Store(true) // too new, or deleted since
				continue
			}
		}
		p.shareProblems(node, name, t)
		topics = append(topics, shareCommits(t))
	}
	p.b.AddCommits(name, a.at, topics)
}

// shareCommits brings a broker's word on one topic into the builder's form.
func shareCommits(t *kmsg.DescribeShareGroupOffsetsResponseGroupTopic) collect.TopicCommits {
	n := len(t.Partitions)
	c := collect.TopicCommits{
		Topic: t.Topic, Partitions: make([]int32, n), Offsets: make([]int64, n), Lags: make([]int64, n), Epochs: make([]int32, n), Reasons: make([]collect.Reason, n),
	}
	for i := range t.Partitions {
		q := &t.Partitions[i]
		c.Partitions[i], c.Offsets[i], c.Lags[i], c.Epochs[i], c.Reasons[i] = q.Partition, q.StartOffset, q.Lag, q.LeaderEpoch, reasonOfCode(q.ErrorCode)
		if c.Offsets[i] < 0 && c.Reasons[i] == collect.ReasonNone { // there is no lag without a start
			c.Reasons[i] = collect.ReasonNotReported
		}
	}
	return c
}

func (p *poll) shareProblems(node int32, group string, t *kmsg.DescribeShareGroupOffsetsResponseGroupTopic) {
	for i := range t.Partitions {
		q := &t.Partitions[i]
		why, from := reasonOfCode(q.ErrorCode), node
		if why == collect.ReasonNone || why.Answers() || !p.o.Filter.Topic(t.Topic) {
			continue
		}
		if why == collect.ReasonDenied {
			from = -1 // it is no matter of the broker
		}
		text := kerr.ErrorForCode(q.ErrorCode).Error()
		if m := q.ErrorMessage; m != nil && *m != "" {
			text = *m
		}
		p.problems.add(problemKey{stage: collect.StageShareOffsets, broker: from, reason: why, topic: t.Topic}, collect.Problem{
			Stage: collect.StageShareOffsets, Broker: from, Group: group, Topic: t.Topic, Partition: q.Partition, Reason: why, Error: text,
		})
	}
}
