package assign

import "slices"

// permuted is up to how many topics all orders of them are tried.
const permuted = 5

// dealInTurn is KafkaJS' round robin: all partitions of all topics, one after the
// other, to members in turn by id, whatever they subscribe to.
func dealInTurn(s *situation) dealt {
	d := dealt{owners: s.empty(), rounds: 1}
	n := 0
	for k := range s.topics {
		t := k
		if s.turns != nil {
			t = s.turns[k]
		}
		for p := range d.owners[t] {
			if len(s.members) > 0 {
				d.owners[t][p] = int32(n % len(s.members))
			}
			n++
		}
	}
	if !s.alike() {
		d.notes = append(d.notes, "KafkaJS deals the topics of whoever leads the group, to all members alike.")
	}
	return d
}

// settleTurns finds out in which order KafkaJS goes through topics, which is that
// in which the application subscribes to them, and not told: the one that explains
// the present assignment. It is certain where all that explain it, or all there
// are, deal alike under the change.
func (s *situation) settleTurns(before *situation) {
	s.turnsSure = len(s.topics) <= 1 || s.everyTurnFull()
	if s.turnsSure || before.ownWord != kafkaJS || len(s.topics) > permuted {
		return
	}
	var first [][]int32
	s.turnsSure = true
	for _, order := range orders(len(s.topics)) {
		then, now := *s, *before
		then.turns, now.turns = order, order
		if !now.did(dealInTurn) {
			continue
		}
		owners := dealInTurn(&then).owners
		if first == nil {
			first, s.turns = owners, order
		} else if !slices.EqualFunc(first, owners, slices.Equal[[]int32]) {
			s.turnsSure = false
		}
	}
	s.turnsSure = s.turnsSure && first != nil
}

// everyTurnFull reports whether each topic begins with the first member, whatever
// the order.
func (s *situation) everyTurnFull() bool {
	for i := range s.topics {
		if len(s.members) > 0 && int(s.topics[i].then)%len(s.members) != 0 {
			return false
		}
	}
	return true
}

// orders are all orders of n things, the natural one first.
func orders(n int) (all [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for first := range n {
		for _, rest := range orders(n - 1) {
			order := []int{first}
			for _, k := range rest {
				if k >= first {
					k++
				}
				order = append(order, k)
			}
			all = append(all, order)
		}
	}
	return all
}
