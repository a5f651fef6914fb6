package kafka

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// view is the newest Metadata answer about topics.
type view struct {
	topics map[string]topicView
	names  map[[16]byte]string
	// unlisted keeps, for a while, what a question by name said of topics that
	// the list does not have: asking again at each poll would write a line per
	// denied topic into the brokers' authorizer logs.
	unlisted map[string]unlisted
	// strange is set when an answer holds a topic id that is not known.
	strange atomic.Bool
}

type topicView struct {
	id      [16]byte
	leaders []int32
}

type unlisted struct {
	why collect.Reason
	at  time.Time
}

const unlistedFor = time.Minute

// readMetadata reads brokers and all topics where they are due. It gives the
// reason why topics are old ones, ReasonNone when they are not.
func (p *poll) readMetadata() collect.Reason {
	if !p.ask.Lists && p.topics.topics != nil && !p.outdated && len(p.nodes) > 0 {
		return collect.ReasonNone
	}
	return p.readAllTopics()
}

// readAllTopics asks any broker for brokers and topics.
func (p *poll) readAllTopics() collect.Reason {
	resp, errs := p.anyBroker(func() kmsg.Request {
		req := kmsg.NewPtrMetadataRequest()
		req.Topics = nil // all
		return req
	})
	if resp == nil {
		return p.metadataFailed(errs)
	}
	m := resp.(*kmsg.MetadataResponse)
	p.meetBrokers(m.Brokers)
	p.controller = m.ControllerID
	if m.ClusterID != nil {
		p.clusterID = *m.ClusterID
	}
	p.topics.replace(m.Topics)
	p.outdated = false
	return collect.ReasonNone
}

// metadataFailed tells the problem of a poll for which no broker would answer.
func (p *poll) metadataFailed(errs []addrError) collect.Reason {
	why := collect.ReasonTimeout
	for i, e := range errs {
		text, _ := Explain(e.err)
		if i == 0 {
			why = ReasonOf(e.err)
		}
		if e.id == seedID {
			p.problems.list = append(p.problems.list, collect.Problem{
				Stage: collect.StageConnect, Broker: -1, Partition: -1, Reason: ReasonOf(e.err), Error: e.addr + ": " + text,
			})
		} else {
			p.problems.broker(collect.StageMetadata, e.id, ReasonOf(e.err), e.err)
		}
	}
	if len(errs) == 0 {
		p.problems.broker(collect.StageMetadata, -1, why, context.DeadlineExceeded)
	}
	return why
}

// replace takes over an answer about all topics. Leaders that did not change
// keep their array, which snapshots share.
func (v *view) replace(topics []kmsg.MetadataResponseTopic) {
	old := v.topics
	v.topics = make(map[string]topicView, len(topics))
	v.names = make(map[[16]byte]string, len(topics))
	for i := range topics {
		t := &topics[i]
		if t.Topic == nil || t.ErrorCode != 0 && t.ErrorCode != kerr.LeaderNotAvailable.Code {
			continue
		}
		v.put(*t.Topic, t, old[*t.Topic])
	}
	for name := range v.unlisted {
		if _, ok := v.topics[name]; ok {
			delete(v.unlisted, name)
		}
	}
}

func (v *view) put(name string, t *kmsg.MetadataResponseTopic, old topicView) {
	tv := topicView{id: t.TopicID, leaders: leaders(t.Partitions)}
	if old.id == tv.id && slices.Equal(old.leaders, tv.leaders) {
		tv.leaders = old.leaders
	}
	v.topics[name] = tv
	if tv.id != [16]byte{} {
		v.names[tv.id] = name
	}
}

// leaders lists the leader of each partition. Brokers list partitions in any
// order; a number far beyond their count comes from no broker.
func leaders(parts []kmsg.MetadataResponseTopicPartition) []int32 {
	n := int32(len(parts))
	for i := range parts {
		n = max(n, parts[i].Partition+1)
	}
	if int(n) > 2*len(parts)+1000 {
		n = int32(len(parts))
	}
	out := make([]int32, n)
	for i := range out {
		out[i] = -1
	}
	for i := range parts {
		if q := parts[i].Partition; q >= 0 && q < n {
			out[q] = parts[i].Leader
		}
	}
	return out
}

// addTopics tells the builder about the topics that groups refer to, and about
// no others. Those that the list does not have are asked for by name, which
// tells a denied topic from a deleted one.
func (p *poll) addTopics(failed collect.Reason) {
	if failed != collect.ReasonNone {
		p.b.KeepTopics(failed)
	}
	var ask []string
	now := p.o.Now()
	for _, name := range p.b.MissingTopics() {
		if t, ok := p.topics.topics[name]; ok {
			p.b.AddTopic(collect.TopicMeta{Name: name, ID: t.id, Leaders: t.leaders})
		} else if u, ok := p.topics.unlisted[name]; ok && now.Sub(u.at) < unlistedFor {
			p.topicUnread(name, u.why)
		} else {
			ask = append(ask, name)
		}
	}
	if len(ask) == 0 {
		return
	}
	if failed != collect.ReasonNone {
		for _, name := range ask {
			p.b.TopicUnread(name, failed)
		}
		return
	}
	p.askByName(ask, now)
}

func (p *poll) askByName(names []string, now time.Time) {
	resp, errs := p.anyBroker(func() kmsg.Request { return metadataOf(names) })
	if resp == nil {
		why := p.metadataFailed(errs)
		for _, name := range names {
			p.b.TopicUnread(name, why)
		}
		return
	}
	told := map[string]bool{}
	topics := resp.(*kmsg.MetadataResponse).Topics
	for i := range topics {
		t := &topics[i]
		if t.Topic == nil {
			continue
		}
		name := *t.Topic
		told[name] = true
		if why := reasonOfCode(t.ErrorCode); why != collect.ReasonNone && why != collect.ReasonNoLeader {
			if why == collect.ReasonDenied || why == collect.ReasonTopicMissing {
				p.topics.unlisted[name] = unlisted{why, now}
			}
			p.topicUnread(name, why)
			continue
		}
		p.topics.put(name, t, topicView{})
		p.b.AddTopic(collect.TopicMeta{Name: name, ID: t.TopicID, Leaders: p.topics.topics[name].leaders})
	}
	for _, name := range names {
		if !told[name] {
			p.b.TopicUnread(name, collect.ReasonError)
		}
	}
}

func (p *poll) topicUnread(name string, why collect.Reason) {
	p.b.TopicUnread(name, why)
	if why == collect.ReasonDenied {
		p.problems.partition(collect.StageMetadata, -1, name, -1, why, "this user may not describe the topic")
	}
}

func metadataOf(names []string) *kmsg.MetadataRequest {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = make([]kmsg.MetadataRequestTopic, 0, len(names))
	for i := range names {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &names[i]
		req.Topics = append(req.Topics, t)
	}
	return req
}

// refresh reads brokers and topics once more, at most once in a poll, because
// an answer said that what is known of them is old.
func (p *poll) refresh() bool {
	if p.refreshed {
		return false
	}
	p.refreshed = true
	return p.readAllTopics() == collect.ReasonNone
}

// addrError is what became of a question to one address.
type addrError struct {
	id   int32
	addr string
	err  error
}

type reply struct {
	n      *node
	req    kmsg.Request
	resp   kmsg.Response
	err    error
	waited time.Duration
}

// anyBroker asks one broker, and another one whenever those asked so far have
// failed or take long: the one that answered last time first, then the other
// brokers, then the addresses given at start. It gives the first answer, or
// what went wrong with each.
func (p *poll) anyBroker(request func() kmsg.Request) (kmsg.Response, []addrError) {
	left := time.Until(p.deadline)
	silence := time.Duration(waitShare * float64(left))
	ctx, cancel := context.WithTimeout(p.ctx, silence)
	defer cancel()
	hedge := min(silence/4, time.Second)
	candidates, errs := p.candidates()
	replies := make(chan reply, len(candidates))
	asked, open := 0, 0
	next := func() {
		n, req := candidates[asked], request()
		asked++
		open++
		go func() {
			began := time.Now()
			resp, err := n.request(ctx, req)
			replies <- reply{n, req, resp, err, time.Since(began)}
		}()
	}
	var won *reply
	for open > 0 || won == nil && asked < len(candidates) && ctx.Err() == nil {
		if open == 0 {
			next()
		}
		timer := time.NewTimer(hedge)
		select {
		case r := <-replies:
			open--
			switch {
			case r.err == nil && won == nil:
				won = &r
				cancel() // those that are late
			case r.err != nil && won == nil:
				errs = append(errs, addrError{r.n.id, r.n.addr, r.err})
				if timedOut(r.err) && r.waited > silence/2 && !errors.Is(p.ctx.Err(), context.Canceled) {
					p.fallSilent(r.n, r.req, max(silence, 500*time.Millisecond), r.err)
				}
			}
		case <-timer.C:
			if won == nil && asked < len(candidates) && ctx.Err() == nil {
				next()
			}
		}
		timer.Stop()
	}
	if won == nil {
		return nil, errs
	}
	p.guide = won.n.addr
	p.b.Reached()
	return won.resp, nil
}

// candidates are the nodes to ask what any broker knows. What is left out as
// silent comes as errors.
func (p *poll) candidates() (out []*node, errs []addrError) {
	var first, rest []*node
	for _, id := range p.ids() {
		n := p.nodes[id]
		if _, down := p.down[id]; down {
			continue
		}
		if n.addr == p.guide {
			first = append(first, n)
		} else {
			rest = append(rest, n)
		}
	}
	known := map[string]bool{}
	for _, n := range append(append(first, rest...), p.seeds...) {
		if known[n.addr] {
			continue
		}
		known[n.addr] = true
		if n.silent.Load() {
			errs = append(errs, addrError{n.id, n.addr, n.silence()})
			continue
		}
		out = append(out, n)
	}
	return out, errs
}

// setCluster tells the builder about the brokers.
func (p *poll) setCluster() {
	c := collect.Cluster{ID: p.clusterID, Controller: p.controller, SeesAllGroups: p.sees.groups, SeesAllTopics: p.sees.topics}
	c.Brokers = slices.Clone(p.brokers)
	for i := range c.Brokers {
		c.Brokers[i].Reason = p.down[c.Brokers[i].ID]
	}
	_, has := p.topics.topics["__transaction_state"]
	c.TransactionState = has || p.sees.topics != collect.Yes
	p.b.SetCluster(c)
}

func sortBrokers(b []collect.Broker) {
	slices.SortFunc(b, func(x, y collect.Broker) int { return int(x.ID) - int(y.ID) })
}

// sees is what the last test of visibility said.
type sees struct {
	groups, topics collect.Tri
	at             time.Time
}

const seesFor = time.Hour

// lookForHidden asks for a topic and a group that nobody has. A principal that
// may describe all of them is told that they do not exist, another one that it
// may not know.
func (p *poll) lookForHidden() {
	now := p.o.Now()
	if !p.sees.at.IsZero() && now.Sub(p.sees.at) < seesFor || len(p.nodes) == 0 {
		return
	}
	name := "klagtop-" + rand.Text()
	seen := sees{at: now}
	if resp, _ := p.anyBroker(func() kmsg.Request { return metadataOf([]string{name}) }); resp != nil {
		for _, t := range resp.(*kmsg.MetadataResponse).Topics {
			seen.topics = mayTell(t.ErrorCode, kerr.UnknownTopicOrPartition.Code)
		}
	}
	if _, all := p.o.Filter.ExactGroups(); !all { // else only the groups named are anybody's business
		resp, _ := p.anyBroker(func() kmsg.Request {
			req := kmsg.NewPtrDescribeGroupsRequest()
			req.Groups = []string{name}
			return req
		})
		if resp != nil {
			for _, g := range resp.(*kmsg.DescribeGroupsResponse).Groups {
				seen.groups = mayTell(g.ErrorCode, 0, kerr.GroupIDNotFound.Code, kerr.NotCoordinator.Code, kerr.CoordinatorNotAvailable.Code, kerr.CoordinatorLoadInProgress.Code)
			}
		}
	}
	if seen.topics == collect.Maybe { // no answer: ask again soon
		seen.at = now.Add(time.Minute - seesFor)
	}
	p.sees = seen
}

func mayTell(code int16, yes ...int16) collect.Tri {
	switch {
	case slices.Contains(yes, code):
		return collect.Yes
	case reasonOfCode(code) == collect.ReasonDenied:
		return collect.No
	}
	return collect.Maybe
}
