package kafka

import (
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// kind is one of the requests that describe groups.
type kind uint8

const (
	kindClassic  kind = iota // DescribeGroups
	kindConsumer             // ConsumerGroupDescribe
	kindShare                // ShareGroupDescribe
	kindStreams              // StreamsGroupDescribe
)

func allKinds() [4]kind { return [...]kind{kindClassic, kindConsumer, kindShare, kindStreams} }

func (k kind) groupType() collect.GroupType {
	return [...]collect.GroupType{collect.TypeClassic, collect.TypeConsumer, collect.TypeShare, collect.TypeStreams}[k]
}

// Bounds of one describe: a member with one topic is some 150 bytes, and groups
// of hundreds of members exist. A group counts for as many members as it had when
// it was described last, and for expectedMembers before.
const (
	mostMembers     = 5000
	expectedMembers = 50
)

// verdict is what an answer says about a group.
type verdict uint8

const (
	found       verdict = iota // facts are there
	notFound                   // its coordinator has no such group of this kind
	elsewhere                  // this broker is not its coordinator
	refused                    // any other error
	unsupported                // this broker knows no such request, or has the feature off
)

// An answer is one broker's word on one group.
type answer struct {
	name    string
	node    int32
	kind    kind
	verdict verdict
	reason  collect.Reason
	text    string
	named   bool // notFound: "not found" and not "not a group of this kind"
	whole   bool // refused: the group may not be described, whatever its members have
	facts   collect.GroupFacts
}

// work is which groups to ask of which broker by which request.
type work map[int32]map[kind][]string

func (w work) add(node int32, k kind, name string) {
	if w[node] == nil {
		w[node] = map[kind][]string{}
	}
	w[node][k] = append(w[node][k], name)
}

// describe reads what is due about groups, and finds out what became of those
// that no list has.
func (p *poll) describe() {
	first := work{}
	for _, g := range p.groups {
		p.planDescribe(first, g)
	}
	answers, failed := p.send(first)
	second := p.sift(answers, failed)
	more, failed := p.send(second)
	p.settle(answers, more, failed)
	for name, g := range p.groups {
		if g.gone {
			delete(p.groups, name)
		}
	}
}

// planDescribe adds one group to what is to be asked.
func (p *poll) planDescribe(w work, g *group) {
	k, known := kindOf(g.typ)
	if g.listed && !known {
		g.fail(collect.ReasonUnsupported)
		return
	}
	switch {
	case g.why != collect.ReasonNone:
		g.fail(g.why)
	case !g.listed && p.o.Now().Sub(g.deniedAt) < unlistedFor:
		p.denied(g)
	case !g.listed && (p.ask.Lists || g.phantom || !g.deniedAt.IsZero()):
		// It may have moved, or be gone: only its coordinator, whichever
		// broker that is, can tell.
		if !known {
			k = kindClassic
		}
		g.asked = true
		for _, id := range p.ids() {
			w.add(id, k, g.name)
		}
	case g.listed && !g.changed && len(g.rivals) == 0 && p.o.Now().Sub(g.denial.at) < unlistedFor:
		p.refusedAgain(g)
	case len(g.rivals) > 0, g.changed, p.ask.Describe == nil || p.ask.Describe(g.name):
		g.asked = true
		w.add(g.node, k, g.name)
		for _, id := range g.rivals {
			w.add(id, k, g.name)
		}
	}
}

// send asks and gives all answers by group.
func (p *poll) send(w work) (map[string][]answer, map[int32]collect.Reason) {
	out := map[string][]answer{}
	if len(w) == 0 {
		return out, nil
	}
	ids := make([]int32, 0, len(w))
	for id := range w {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	parts := make([][]answer, len(ids))
	failed := p.each(collect.StageDescribe, ids, func(c *call) error {
		i := slices.Index(ids, c.n.id)
		for _, k := range allKinds() {
			for names := w[c.n.id][k]; len(names) > 0; {
				chunk := names[:p.describable(names)]
				names = names[len(chunk):]
				as, err := p.describeChunk(c, k, chunk)
				if err != nil {
					return err
				}
				parts[i] = append(parts[i], as...)
			}
		}
		return nil
	})
	for _, as := range parts {
		for _, a := range as {
			out[a.name] = append(out[a.name], a)
		}
	}
	return out, failed
}

// describable is how many of these groups, from the first on, fit into one
// describe.
func (p *poll) describable(names []string) int {
	n, members := 0, 0
	for n < min(len(names), mostGroups) {
		of := expectedMembers
		if g := p.groups[names[n]]; g != nil && g.members != unknownCount {
			of = max(1, g.members)
		}
		if n > 0 && members+of > mostMembers {
			break
		}
		members += of
		n++
	}
	return n
}

func (p *poll) describeChunk(c *call, k kind, names []string) ([]answer, error) {
	var req kmsg.Request
	switch k {
	case kindClassic:
		r := kmsg.NewPtrDescribeGroupsRequest()
		r.Groups, req = names, r
	case kindConsumer:
		r := kmsg.NewPtrConsumerGroupDescribeRequest()
		r.Groups, req = names, r
	case kindShare:
		r := kmsg.NewPtrShareGroupDescribeRequest()
		r.GroupIDs, req = names, r
	case kindStreams:
		r := kmsg.NewPtrStreamsGroupDescribeRequest()
		r.Groups, req = names, r
	}
	resp, at, err := c.ask(req)
	if err != nil {
		if ReasonOf(err) == collect.ReasonUnsupported {
			return noneSupported(c.n.id, k, names), nil
		}
		return nil, err
	}
	var as []answer
	switch r := resp.(type) {
	case *kmsg.DescribeGroupsResponse:
		as = classicAnswers(r)
	case *kmsg.ConsumerGroupDescribeResponse:
		as = consumerAnswers(r, &p.topics)
	case *kmsg.ShareGroupDescribeResponse:
		as = shareAnswers(r, &p.topics)
	case *kmsg.StreamsGroupDescribeResponse:
		as = streamsAnswers(r, &p.topics)
	}
	for i := range as {
		as[i].node, as[i].kind = c.n.id, k
		as[i].facts.Coordinator = c.n.id
		as[i].stamp(at)
	}
	return as, nil
}

func (a *answer) stamp(at time.Time) {
	if a.verdict == found {
		a.facts.Described, a.facts.At = true, at
	}
}

func noneSupported(node int32, k kind, names []string) []answer {
	out := make([]answer, len(names))
	for i, name := range names {
		out[i] = answer{name: name, node: node, kind: k, verdict: unsupported, reason: collect.ReasonUnsupported}
	}
	return out
}

// refusal is the answer that an error code makes.
func refusal(name string, code int16, message *string) answer {
	a := answer{name: name, reason: reasonOfCode(code)}
	if err := kerr.ErrorForCode(code); err != nil {
		a.text = err.Error()
	}
	if message != nil && *message != "" {
		a.text = *message
	}
	switch code {
	case kerr.GroupIDNotFound.Code:
		a.verdict = notFound
		a.named = strings.HasSuffix(a.text, "not found.")
	case kerr.NotCoordinator.Code, kerr.CoordinatorNotAvailable.Code:
		a.verdict = elsewhere
	case kerr.UnsupportedVersion.Code:
		a.verdict = unsupported
	default:
		a.verdict, a.whole = refused, code == kerr.GroupAuthorizationFailed.Code
	}
	return a
}

// pick gives the answer that counts of those to one question: brokers that are
// not the coordinator say so.
func pick(as []answer) (answer, bool) {
	if len(as) == 0 {
		return answer{}, false
	}
	return slices.MinFunc(as, func(x, y answer) int { return rank(x) - rank(y) }), true
}

func rank(a answer) int {
	switch a.verdict {
	case found:
		return 0
	case notFound:
		return 1
	case refused:
		return 2
	case unsupported:
		return 3
	}
	return 4
}

// sift takes over what was found, and gives what to ask next: of a group that
// its coordinator does not know as what it was, the other kinds; of one that
// only brokers list which are not its coordinator, the other brokers, since the
// coordinator may have started too newly to list it.
func (p *poll) sift(answers map[string][]answer, failed map[int32]collect.Reason) work {
	next := work{}
	for name, g := range p.groups {
		a, ok := pick(answers[name])
		switch {
		case !ok:
		case a.verdict == found && p.emptied(g, a):
			g.held = true
			g.fail(collect.ReasonLoading)
		case a.verdict == found && !suspicious(g, a):
			g.take(a)
		case a.verdict == found, a.verdict == notFound, a.verdict == unsupported && !g.listed:
			for _, k := range allKinds() {
				if k != a.kind {
					next.add(a.node, k, name)
				}
			}
		case a.verdict == elsewhere && g.listed:
			for _, id := range p.ids() {
				if id != g.node && !slices.Contains(g.rivals, id) {
					next.add(id, a.kind, name)
				}
			}
		}
		if !ok && g.asked {
			if g.why = failed[g.node]; g.why == collect.ReasonNone {
				g.why = p.missing(g.node)
			}
			g.fail(g.why)
		}
	}
	return next
}

// suspicious reports whether a classic description fits no classic group:
// what some brokers that do not give types say of a KIP-848 group.
func suspicious(g *group, a answer) bool {
	return !g.typeTold && a.kind == kindClassic && a.facts.State == collect.StateStable && len(a.facts.Members) == 0
}

// take takes over a description.
func (g *group) take(a answer) {
	told := g.typeTold
	g.facts = a.facts
	g.facts.Name, g.facts.Type = g.name, a.kind.groupType()
	if g.facts.ProtocolType == "" {
		g.facts.ProtocolType = protocolOf(g.facts.Type)
	}
	g.typ, g.typeTold = g.facts.Type, told || len(a.facts.Members) > 0 || a.kind != kindClassic
	g.node, g.listed, g.phantom, g.missed, g.deniedAt = a.node, true, false, word{}, time.Time{}
	g.state, g.protocol = g.facts.State, g.facts.ProtocolType
	g.denial = denial{}
	g.home, g.peopled, g.empty = a.node, len(g.facts.Members) > 0, word{}
	g.members = len(g.facts.Members)
	if g.facts.Assignor != "" { // hidden while it rebalances
		g.assignor = g.facts.Assignor
	}
}
