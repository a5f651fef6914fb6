package kafka

import (
	"context"
	"errors"
	"slices"
	"strings"
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
	parted   map[[16]byte]parted
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

// errNobody is the answer of a broker, or of a proxy before it, that starts.
var errNobody = errors.New("the answer names no broker, not even the one that gave it")

// parted is the name of a topic that was listed until some time ago.
type parted struct {
	name string
	at   time.Time
}

// partedFor is how long brokers may go on to tell of a topic that is listed no
// more.
const partedFor = 10 * time.Minute

// unlistedFor is how long a broker's word on a topic or group that no list has
// is not asked for again.
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
	m, why := p.metadata(func() kmsg.Request {
		req := kmsg.NewPtrMetadataRequest()
		req.Topics = nil // all
		return req
	})
	if why != collect.ReasonNone {
		return why
	}
	p.meetBrokers(m.Brokers)
	p.controller = m.ControllerID
	if m.ClusterID != nil {
		p.clusterID = *m.ClusterID
	}
	p.topics.replace(m.Topics, p.o.Now())
	p.outdated = false
	return collect.ReasonNone
}

// metadata asks any broker for Metadata; without an answer to be believed it
// gives the reason.
func (p *poll) metadata(request func() kmsg.Request) (*kmsg.MetadataResponse, collect.Reason) {
	resp, errs := p.anyBroker(request)
	if resp == nil {
		return nil, p.metadataFailed(errs)
	}
	m := resp.(*kmsg.MetadataResponse)
	if len(m.Brokers) == 0 { // it does not know of itself: no proof of what topics there are
		p.problems.broker(collect.StageMetadata, -1, collect.ReasonLoading, errNobody)
		return nil, collect.ReasonLoading
	}
	return m, collect.ReasonNone
}

// metadataFailed tells the problem of a poll for which no broker would answer.
// Where none has answered anything yet, the others are spared the questions to
// come.
func (p *poll) metadataFailed(errs []addrError) collect.Reason {
	if len(errs) == 0 { // the time was over before
		errs = []addrError{{seedID, "", context.DeadlineExceeded}}
	}
	for _, e := range errs {
		why, stage := ReasonOf(e.err), collect.StageMetadata
		text, hint := Explain(e.err)
		if !strings.Contains(text, e.addr) { // most errors of a dial name it already
			text = e.addr + ": " + text
		}
		if !p.reached {
			stage = collect.StageConnect
			if e.id != seedID {
				p.down[e.id] = why
			}
		}
		p.problems.add(problemKey{stage: stage, broker: e.id, reason: why},
			collect.Problem{Stage: stage, Broker: e.id, Partition: -1, Reason: why, Error: text, Hint: hint})
	}
	return ReasonOf(errs[0].err)
}

// replace takes over an answer about all topics. Leaders that did not change
// keep their array, which snapshots share. A topic that the broker could not
// look up just now stays as it was known.
func (v *view) replace(topics []kmsg.MetadataResponseTopic, now time.Time) {
	old, names := v.topics, v.names
	v.topics = make(map[string]topicView, len(topics))
	v.names = make(map[[16]byte]string, len(topics))
	for i := range topics {
		t := &topics[i]
		if t.Topic == nil {
			continue
		}
		before, known := old[*t.Topic]
		switch why := reasonOfCode(t.ErrorCode); {
		case known && why.Passing() && len(t.Partitions) == 0 && (t.TopicID == [16]byte{} || t.TopicID == before.id):
			v.keep(*t.Topic, before)
		case why == collect.ReasonNone || t.ErrorCode == kerr.LeaderNotAvailable.Code:
			v.put(*t.Topic, t, before)
		}
	}
	v.remember(names, now)
}

// keep lets a topic stand as it was.
func (v *view) keep(name string, t topicView) {
	v.topics[name] = t
	if t.id != [16]byte{} {
		v.names[t.id] = name
	}
}

// remember keeps the names of topics that are listed no more. An answer about
// commits gives ids only, and may know a topic that this list does not, or not
// any more: without its name its rows would vanish from a group's total.
func (v *view) remember(names map[[16]byte]string, now time.Time) {
	if v.parted == nil {
		v.parted = map[[16]byte]parted{}
	}
	for id, name := range names {
		if _, listed := v.topics[name]; !listed {
			v.parted[id] = parted{name, now}
		}
	}
	for id, t := range v.parted {
		if _, listed := v.topics[t.name]; listed || now.Sub(t.at) >= partedFor {
			delete(v.parted, id)
		}
	}
}

// nameOf is the name of a topic id, "" if it was never heard of.
func (v *view) nameOf(id [16]byte) string {
	if name, ok := v.names[id]; ok {
		return name
	}
	return v.parted[id].name
}

func (v *view) put(name string, t *kmsg.MetadataResponseTopic, old topicView) {
	tv := topicView{id: t.TopicID, leaders: leaders(t.Partitions)}
	if old.id == tv.id && tv.id != [16]byte{} && len(tv.leaders) < len(old.leaders) {
		// a topic never loses partitions: this broker has not heard of them yet
		tv.leaders = append(tv.leaders, old.leaders[len(tv.leaders):]...)
	}
	if old.id == tv.id && slices.Equal(old.leaders, tv.leaders) {
		tv.leaders = old.leaders
	}
	v.keep(name, tv)
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
	for name, u := range p.topics.unlisted {
		if now.Sub(u.at) >= unlistedFor {
			delete(p.topics.unlisted, name)
		}
	}
	for _, name := range p.b.MissingTopics() {
		if t, ok := p.topics.topics[name]; ok {
			p.b.AddTopic(collect.TopicMeta{Name: name, ID: t.id, Leaders: t.leaders})
		} else if u, ok := p.topics.unlisted[name]; ok {
			p.topicUnread(name, u.why)
		} else {
			ask = append(ask, name)
		}
	}
	p.lookForNamed(failed, ask)
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
	m, why := p.metadata(func() kmsg.Request { return metadataOf(names) })
	if why != collect.ReasonNone {
		for _, name := range names {
			p.b.TopicUnread(name, why)
		}
		return
	}
	told := map[string]bool{}
	for i := range m.Topics {
		t := &m.Topics[i]
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

// lookForNamed asks about topics that a filter names, and that neither the list
// nor a group knows: the commits on one that this user may not describe are left
// out without a word, and without the topic nobody would say so.
func (p *poll) lookForNamed(failed collect.Reason, others []string) {
	if failed != collect.ReasonNone || p.sees.topics == collect.Yes {
		return
	}
	var ask []string
	for _, pattern := range p.o.Filter.Topics {
		name, exact := pattern.Exact()
		if _, listed := p.topics.topics[name]; !exact || listed || slices.Contains(others, name) {
			continue
		}
		if u, ok := p.topics.unlisted[name]; ok {
			p.namedUnread(name, u.why)
			continue
		}
		ask = append(ask, name)
	}
	if len(ask) == 0 {
		return
	}
	m, why := p.metadata(func() kmsg.Request { return metadataOf(ask) })
	if why != collect.ReasonNone {
		return
	}
	for i := range m.Topics {
		t := &m.Topics[i]
		why := reasonOfCode(t.ErrorCode)
		if t.Topic == nil || why != collect.ReasonDenied && why != collect.ReasonTopicMissing {
			continue
		}
		p.topics.unlisted[*t.Topic] = unlisted{why, p.o.Now()}
		p.namedUnread(*t.Topic, why)
	}
}

func (p *poll) namedUnread(topic string, why collect.Reason) {
	if why == collect.ReasonDenied {
		p.problems.partition(collect.StageMetadata, -1, topic, -1, why, mayNotDescribeTopic)
	}
}

const mayNotDescribeTopic = "this user may not describe the topic"

func (p *poll) topicUnread(name string, why collect.Reason) {
	p.b.TopicUnread(name, why)
	p.namedUnread(name, why)
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

// setCluster tells the builder about the brokers.
func (p *poll) setCluster() {
	c := collect.Cluster{ID: p.clusterID, Controller: p.controller, SeesAllGroups: p.sees.groups, SeesAllTopics: p.sees.topics}
	c.Brokers = slices.Clone(p.brokers)
	for i := range c.Brokers {
		c.Brokers[i].Reason = p.down[c.Brokers[i].ID]
	}
	transactions, has := p.topics.topics[collect.TransactionTopic]
	c.TransactionState = has || p.sees.topics != collect.Yes
	c.TransactionPartitions = int32(len(transactions.leaders))
	p.b.SetCluster(c)
}

func sortBrokers(b []collect.Broker) {
	slices.SortFunc(b, func(x, y collect.Broker) int { return int(x.ID) - int(y.ID) })
}
