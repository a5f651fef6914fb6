package assign

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/klagtop/klagtop/collect"
)

// The assignors, by the names their protocols give them.
const (
	rangeName       = "range"
	roundRobin      = "roundrobin"
	sticky          = "sticky"
	cooperative     = "cooperative-sticky"
	kafkaJS         = "RoundRobinAssigner"
	uniform         = "uniform"
	serverRangeWord = "server-range" // for a classic group, where "range" is the client's

	// byIndex is no assignor of Kafka's: many write it by hand, for joins.
	byIndex = "copartition"
)

// assignor is one way to deal partitions out.
type assignor struct {
	name     string
	protocol collect.GroupType
	style    collect.Style
	// exact is true where members' order alone decides who gets what.
	exact bool
	// racks is true where a client deals otherwise once members and brokers
	// have racks (KIP-881).
	racks bool
	deal  func(*situation) dealt
}

// dealt is an assignment: by topic and partition the member's place in the
// situation's order, -1 for none.
type dealt struct {
	owners [][]int32
	rounds int
	notes  []string
}

// assignors are all there are, those of the classic protocol first.
func assignors() []assignor {
	classic, server := collect.TypeClassic, collect.TypeConsumer
	return []assignor{
		{name: rangeName, protocol: classic, style: collect.StyleEager, exact: true, racks: true, deal: balancer(kgo.RangeBalancer)},
		{name: roundRobin, protocol: classic, style: collect.StyleEager, exact: true, deal: balancer(kgo.RoundRobinBalancer)},
		{name: sticky, protocol: classic, style: collect.StyleEager, racks: true, deal: balancer(kgo.StickyBalancer)},
		{name: cooperative, protocol: classic, style: collect.StyleCooperative, racks: true, deal: inRounds(kgo.CooperativeStickyBalancer)},
		{name: kafkaJS, protocol: classic, style: collect.StyleEager, exact: true, deal: dealInTurn},
		{name: byIndex, protocol: classic, style: collect.StyleEager, exact: true, deal: dealByIndex},
		{name: uniform, protocol: server, style: collect.StyleReconcile, deal: dealUniformly},
		{name: rangeName, protocol: server, style: collect.StyleReconcile, exact: true, deal: serverRange},
		{name: byIndex, protocol: server, style: collect.StyleReconcile, exact: true, deal: dealByIndex},
	}
}

// Names are the words that name assignors, in the order of a comparison.
func Names() []string {
	return []string{rangeName, roundRobin, sticky, cooperative, kafkaJS, byIndex, uniform, serverRangeWord}
}

// word is the name of Names that s means, also where it is spelled as a class of
// Java's or of KafkaJS'; "" for none.
func word(s string) string {
	if i := strings.LastIndexByte(s, '.'); i >= 0 { // org.apache.kafka.clients.consumer.RangeAssignor
		s = s[i+1:]
	}
	if strings.EqualFold(s, kafkaJS) {
		return kafkaJS
	}
	s = strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(s))
	for _, suffix := range []string{"assignor", "assigner"} {
		s = strings.TrimSuffix(s, suffix)
	}
	i := slices.IndexFunc(Names(), func(n string) bool { return strings.ReplaceAll(n, "-", "") == s })
	if i < 0 {
		return ""
	}
	return Names()[i]
}

// Check refuses a word that names no assignor, with those there are. "" is
// every one that applies.
func Check(name string) error {
	if name == "" || word(name) != "" {
		return nil
	}
	last := len(Names()) - 1
	return &collect.ChangeError{
		Part: collect.ChangeAssignor, Value: name, Problem: "no assignor that is known here",
		Hint: strings.Join(Names()[:last], ", ") + " or " + Names()[last],
	}
}

// find gives the assignor that a word of Names means for a group of some type.
func find(word string, group collect.GroupType) assignor {
	protocol := group
	switch word {
	case uniform, serverRangeWord:
		protocol = collect.TypeConsumer
	case rangeName, byIndex:
	default:
		protocol = collect.TypeClassic
	}
	if word == serverRangeWord {
		word = rangeName
	}
	all := assignors()
	return all[slices.IndexFunc(all, func(a assignor) bool { return a.name == word && a.protocol == protocol })]
}

// applying lists the assignors that a group's members could use, its own first
// kind of protocol first. KafkaJS has its own round robin and whatever is written
// by hand; a group that is on KIP-848 does not go back.
func applying(s *situation) []assignor {
	foreign := s.ownWord == "" && s.ownName != "" || s.ownWord == kafkaJS || s.ownWord == byIndex
	return slices.DeleteFunc(assignors(), func(a assignor) bool {
		switch {
		case a.protocol != s.protocol && (s.protocol == collect.TypeConsumer || foreign || a.name == byIndex):
			return true
		case a.name == kafkaJS:
			return !foreign
		}
		return false
	})
}
