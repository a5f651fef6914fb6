package assign

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf16"

	"github.com/klagtop/klagtop/collect"
)

// situation is what an assignor is given: members in the order in which
// assignors sort them, topics, and who owns what.
type situation struct {
	protocol collect.GroupType // the group's own
	ownName  string            // the group's own assignor, "" if not known
	ownWord  string            // the same as one of Names, "" for another

	members []member
	gone    []member // who leaves under the change
	topics  []topic  // by name

	// owned is who owns what now: places in members, then those of gone behind
	// them; -1 for nobody.
	owned [][]int32
	// blind is true where some member's assignment cannot be read.
	blind bool
	// hidden is true where members subscribe to topics of which nothing can be
	// read, and which may be there.
	hidden bool
	racks  bool // members and brokers have racks

	// turns is the order in which KafkaJS goes through topics, nil for that of
	// their names, and turnsSure whether it is known, or does not matter.
	turns     []int
	turnsSure bool
}

// member is one of the group, now or under the change.
type member struct {
	collect.MemberRef
	kind       arrival
	subscribed []string
	target     []collect.TopicPartitions // what it owns now, or is about to
}

// arrival is how much is known of a member's place in the assignors' order.
type arrival uint8

const (
	present  arrival = iota
	named            // joins under a known identity, with an id that begins with it
	nameless         // joins with an id that is not known at all
)

type topic struct {
	name      string
	now, then int32
	rates     []float32 // records per second by partition; nil if not known
	readers   []int32   // places of the members that subscribe to it, in order
}

// compareText orders as Java and JavaScript do: by UTF-16 units.
func compareText(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

// before is the order of Java's assignors and of the broker's range: static
// members first, by instance id, then the others by member id. Who joins without
// a name comes last.
func before(a, b *member) int {
	rank := func(m *member) int {
		switch {
		case m.kind == nameless:
			return 2
		case m.InstanceID != "":
			return 0
		}
		return 1
	}
	if c := cmp.Compare(rank(a), rank(b)); c != 0 {
		return c
	}
	if rank(a) == 0 {
		return compareText(a.InstanceID, b.InstanceID)
	}
	return compareText(a.sortID(), b.sortID())
}

// sortID is a member's id, as far as it is known: a broker makes that of a
// classic member from its client id and a random UUID.
func (m *member) sortID() string {
	if m.kind == named {
		return m.ClientID + "-"
	}
	return m.MemberID
}

// decided reports whether the order of the members is certain. Under another
// protocol or assignor they have to start anew, and then their ids are new.
func (s *situation) decided(a assignor) bool {
	anew := !s.own(a) && s.ownName != ""
	var last *member
	for i := range s.members {
		m := &s.members[i]
		switch {
		case m.InstanceID != "":
			continue
		case m.kind == nameless, a.protocol == collect.TypeConsumer && (anew || m.kind != present): // the ids are random
			return false
		}
		// Ranges of which each ends before the next begins are in order.
		if last != nil && compareText(last.beyond(anew), m.least(anew)) > 0 {
			return false
		}
		last = m
	}
	return true
}

// least and beyond are between what a member's id lies: behind the client id
// comes a UUID, and that begins with a hexadecimal digit.
func (m *member) least(anew bool) string {
	if anew || m.kind == named {
		return m.ClientID + "-0"
	}
	return m.MemberID
}

func (m *member) beyond(anew bool) string {
	if anew || m.kind == named {
		return m.ClientID + "-g"
	}
	return m.MemberID
}

// own reports whether an assignor is the one that the group has.
func (s *situation) own(a assignor) bool { return a.protocol == s.protocol && a.name == s.ownWord }

// alike reports whether all members subscribe to the same topics.
func (s *situation) alike() bool {
	for _, t := range s.topics {
		if len(t.readers) != len(s.members) {
			return false
		}
	}
	return true
}

// arrange sorts the members and works out what depends on their places.
func (s *situation) arrange() {
	slices.SortStableFunc(s.members, func(a, b member) int { return before(&a, &b) })
	index := make(map[string]int, len(s.topics))
	s.owned = make([][]int32, len(s.topics))
	for i := range s.topics {
		t := &s.topics[i]
		index[t.name] = i
		s.owned[i] = make([]int32, max(t.now, t.then))
		for p := range s.owned[i] {
			s.owned[i][p] = -1
		}
	}
	for place, m := range slices.Concat(s.members, s.gone) {
		for _, tp := range m.target {
			i, ok := index[tp.Topic]
			if !ok {
				continue
			}
			for _, p := range tp.Partitions {
				if int(p) < len(s.owned[i]) && s.owned[i][p] < 0 {
					s.owned[i][p] = int32(place)
				}
			}
		}
		if place >= len(s.members) {
			continue
		}
		for _, name := range m.subscribed {
			if i, ok := index[name]; ok {
				s.topics[i].readers = append(s.topics[i].readers, int32(place))
			}
		}
	}
}

// empty is an assignment in which nobody owns anything yet.
func (s *situation) empty() [][]int32 {
	out := make([][]int32, len(s.topics))
	for i := range s.topics {
		out[i] = make([]int32, s.topics[i].then)
		for p := range out[i] {
			out[i][p] = -1
		}
	}
	return out
}

// observe reads a group as it is, with a sentence for each thing that is not
// known of it.
func observe(g *collect.Group, s *collect.Snapshot) (sit *situation, notes []string) {
	sit = &situation{protocol: collect.TypeClassic, ownName: g.Assignor, ownWord: word(g.Assignor)}
	if g.Type == collect.TypeConsumer {
		sit.protocol = collect.TypeConsumer
		if sit.ownWord == serverRangeWord {
			sit.ownWord = ""
		}
	}
	for _, gt := range g.Topics {
		if n := int32(gt.Topic.Partitions()); n > 0 && !gt.Orphaned {
			sit.topics = append(sit.topics, topic{name: gt.Topic.Name, now: n, then: n, rates: gt.Topic.Produced})
		}
	}
	veiled, reconciling := false, false
	for i := range g.Members {
		m := &g.Members[i]
		sit.members = append(sit.members, member{
			MemberRef: collect.MemberRef{MemberID: m.ID, ClientID: m.ClientID, Host: m.Host, InstanceID: m.InstanceID},
			target:    m.Assigned,
		})
		if i > 0 && m.Regex == "" && g.Members[i-1].Regex == "" && m.Subscribed != nil && slices.Equal(m.Subscribed, g.Members[i-1].Subscribed) {
			sit.members[i].subscribed = sit.members[i-1].subscribed // as nearly always
		} else {
			sit.members[i].subscribed = sit.subscription(m)
			sit.hidden = sit.hidden || s.Cluster.SeesAllTopics != collect.Yes && slices.ContainsFunc(m.Subscribed, func(name string) bool { return !sit.deals(name) })
		}
		if m.HasTarget {
			sit.members[i].target = m.Target
			reconciling = reconciling || !slices.EqualFunc(m.Target, m.Assigned, func(a, b collect.TopicPartitions) bool {
				return a.Topic == b.Topic && slices.Equal(a.Partitions, b.Partitions)
			})
		}
		sit.blind = sit.blind || m.Decode != collect.DecodeOK && m.Decode != collect.DecodeEmpty
		veiled = veiled || m.Subscribed == nil && m.Regex == ""
	}
	sit.racks = hasRack(g, s)
	return sit, sit.remarks(g, veiled, reconciling)
}

func (s *situation) remarks(g *collect.Group, veiled, reconciling bool) (notes []string) {
	add := func(is bool, note string) {
		if is {
			notes = append(notes, note)
		}
	}
	add(g.AssignmentStale && g.Reason == collect.ReasonNone, "The group rebalances: what its members owned before is taken for what they own.")
	add(g.AssignmentStale && g.Reason != collect.ReasonNone, "The group could not be described just now ("+g.Reason.String()+"): what its members owned before is taken for what they own.")
	add(veiled, "What some members subscribe to is hidden, as in a rebalance, or cannot be read: they are taken to subscribe to all topics of the group.")
	add(reconciling, "The group is reconciling: what its members are about to own is taken for what they own.")
	add(len(g.Members) == 0, "The group has no members: its topics are those it has commits on.")
	add(s.blind, "What some member owns cannot be read: what would move is not known.")
	add(s.hidden, "Some topics that members subscribe to cannot be seen: they are left out, and dealing them may change who owns the others.")
	add(s.racks, "Members and brokers have racks: Java's range and sticky assignors may match them (KIP-881), which is not worked out here.")
	return notes
}

// subscription lists the topics of the group that a member subscribes to. One
// whose subscription is hidden has all of them; a pattern has those that match
// it, and those it owns already.
func (s *situation) subscription(m *collect.Member) (names []string) {
	var pattern *regexp.Regexp
	if m.Regex != "" {
		pattern, _ = regexp.Compile("^(?:" + m.Regex + ")$") // Kafka's RE2/J knows no less; else what it owns must do
	}
	owns := func(name string) bool {
		return slices.ContainsFunc(slices.Concat(m.Assigned, m.Target), func(tp collect.TopicPartitions) bool { return tp.Topic == name })
	}
	for i := range s.topics {
		name := s.topics[i].name
		if m.Subscribed == nil && m.Regex == "" || slices.Contains(m.Subscribed, name) ||
			m.Regex != "" && (owns(name) || pattern != nil && pattern.MatchString(name)) {
			names = append(names, name)
		}
	}
	return names
}

func (s *situation) deals(name string) bool {
	return slices.ContainsFunc(s.topics, func(t topic) bool { return t.name == name })
}

// hasRack reports whether racks play a part: both sides must have some.
func hasRack(g *collect.Group, s *collect.Snapshot) bool {
	return slices.ContainsFunc(g.Members, func(m collect.Member) bool { return m.Rack != "" }) &&
		slices.ContainsFunc(s.Cluster.Brokers, func(b collect.Broker) bool { return b.Rack != "" })
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
