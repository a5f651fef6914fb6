package assign

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// balancer deals as one of franz-go's balancers does.
func balancer(make func() kgo.GroupBalancer) func(*situation) dealt {
	return func(s *situation) dealt {
		return dealt{owners: s.balanced(make(), s.owned), rounds: 1, notes: s.unlikeNote(make().ProtocolName())}
	}
}

// inRounds deals as a cooperative balancer does: while some partition has to be
// given up before another member may have it, members join once more.
func inRounds(make func() kgo.GroupBalancer) func(*situation) dealt {
	const enough = 4 // two are, but for a balancer that cannot make up its mind
	return func(s *situation) dealt {
		d := dealt{notes: s.unlikeNote(make().ProtocolName())}
		had := s.owned
		for d.rounds < enough {
			d.owners = s.balanced(make(), had)
			d.rounds++
			if !s.revokes(had, d.owners) {
				break
			}
			had = d.owners
		}
		return d
	}
}

// unlikeNote says that clients differ where members subscribe to different topics.
func (s *situation) unlikeNote(name string) []string {
	if name == rangeName || name == roundRobin || s.alike() {
		return nil
	}
	return []string{"Members subscribe to different topics: there, clients weigh balance against movement each in their own way."}
}

// revokes reports whether a member that stays loses what it had.
func (s *situation) revokes(had, has [][]int32) bool {
	for t := range has {
		for p, o := range had[t] {
			if o >= 0 && int(o) < len(s.members) && (p >= len(has[t]) || has[t][p] != o) {
				return true
			}
		}
	}
	return false
}

// balanced asks a balancer of franz-go's. Members are named by their place, so
// that its order is the situation's.
func (s *situation) balanced(b kgo.GroupBalancer, owned [][]int32) [][]int32 {
	out := s.empty()
	if len(s.members) == 0 || len(s.topics) == 0 {
		return out
	}
	const generation = 1 // one that all members are of
	had := make([]map[string][]int32, len(s.members))
	index, counts := make(map[string]int, len(s.topics)), make(map[string]int32, len(s.topics))
	for t := range s.topics {
		name := s.topics[t].name
		index[name], counts[name] = t, s.topics[t].then
		for p, o := range owned[t] {
			if o < 0 || int(o) >= len(s.members) || p >= int(s.topics[t].then) {
				continue
			}
			if had[o] == nil {
				had[o] = map[string][]int32{}
			}
			had[o][name] = append(had[o][name], int32(p))
		}
	}
	joined := make([]kmsg.JoinGroupResponseMember, len(s.members))
	for i := range joined {
		joined[i] = kmsg.NewJoinGroupResponseMember()
		joined[i].MemberID = fmt.Sprintf("%08d", i)
		joined[i].ProtocolMetadata = b.JoinGroupMetadata(slices.Clone(s.members[i].subscribed), had[i], generation)
	}
	mb, _, err := b.MemberBalancer(joined)
	if err != nil {
		return out // of metadata that was made here: cannot be
	}
	into, err := mb.(kgo.GroupMemberBalancerOrError).BalanceOrError(counts)
	if err != nil || into == nil {
		return out
	}
	for id, topics := range into.(*kgo.BalancePlan).AsMemberIDMap() {
		place, err := strconv.Atoi(id)
		if err != nil {
			continue
		}
		for name, parts := range topics {
			for _, p := range parts {
				out[index[name]][p] = int32(place)
			}
		}
	}
	return out
}

// serverRange is the broker's range: the client's, topic by topic.
func serverRange(s *situation) dealt {
	return dealt{owners: s.balanced(kgo.RangeBalancer(), s.owned)}
}

// dealByIndex gives partition p of each topic to member p modulo their number.
func dealByIndex(s *situation) dealt {
	d := dealt{owners: s.empty(), rounds: 1}
	for t := range d.owners {
		readers := s.topics[t].readers
		for p := range d.owners[t] {
			if len(readers) > 0 {
				d.owners[t][p] = readers[p%len(readers)]
			}
		}
	}
	return d
}

// dealUniformly is the broker's uniform assignor. Where all members subscribe
// alike, each keeps what it has up to its quota, topic by topic, and what is over
// fills the others up in order. Who has one more than others is by a random
// order: here those who have most, so that the least moves. Other groups are
// dealt as the sticky assignor does, which weighs the same two things.
func dealUniformly(s *situation) dealt {
	if !s.alike() {
		return dealt{owners: s.balanced(kgo.StickyBalancer(), s.owned), notes: []string{
			"Members subscribe to different topics: the broker's way of weighing balance against movement is only approximated.",
		}}
	}
	d := dealt{owners: s.empty()}
	if len(s.members) == 0 {
		return d
	}
	total, had := 0, make([]int, len(s.members))
	for t := range d.owners {
		total += len(d.owners[t])
		for p := range d.owners[t] {
			if o := s.owned[t][p]; o >= 0 && int(o) < len(had) {
				had[o]++
			}
		}
	}
	quota := quotas(total, had)
	var over [][2]int
	for t := range d.owners {
		for p := range d.owners[t] {
			if o := s.owned[t][p]; o < 0 || int(o) >= len(had) {
				over = append(over, [2]int{t, p})
			}
		}
	}
	for t := range d.owners {
		for p := range d.owners[t] {
			o := s.owned[t][p]
			switch {
			case o < 0 || int(o) >= len(had):
			case quota[o] > 0:
				quota[o]--
				d.owners[t][p] = o
			default:
				over = append(over, [2]int{t, p})
			}
		}
	}
	for place := range quota {
		for ; quota[place] > 0 && len(over) > 0; quota[place]-- {
			d.owners[over[0][0]][over[0][1]] = int32(place)
			over = over[1:]
		}
	}
	if total%len(had) != 0 && slices.Max(had) > 0 {
		d.notes = append(d.notes, "Which members get one partition more is by a random order: more may move than this.")
	}
	return d
}

// quotas are how many partitions each member gets, one more for those that had
// most.
func quotas(total int, had []int) []int {
	order := make([]int, len(had))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return had[b] - had[a] })
	out := make([]int, len(had))
	for n, i := range order {
		out[i] = total / len(had)
		if n < total%len(had) {
			out[i]++
		}
	}
	return out
}
