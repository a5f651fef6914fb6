package assign

import (
	"cmp"
	"math"
	"slices"

	"github.com/klagtop/klagtop/collect"
)

// measure fills in who owns what, and what that comes to.
func (s *situation) measure(g *collect.Group, p *collect.Plan, owners [][]int32) {
	members := make([]collect.Member, len(s.members))
	rates := make([]float64, len(s.members))
	for i := range members {
		m := &s.members[i]
		members[i] = collect.Member{ID: m.MemberID, ClientID: m.ClientID, InstanceID: m.InstanceID, Decode: collect.DecodeOK}
	}
	topics := make([]collect.PlannedTopic, len(s.topics))
	for t := range s.topics {
		topics[t] = collect.PlannedTopic{Name: s.topics[t].name, Then: int32(len(owners[t]))}
		for part, o := range owners[t] {
			if o < 0 || int(o) >= len(members) {
				continue
			}
			members[o].Assigned = appendPartition(members[o].Assigned, s.topics[t].name, int32(part))
			rates[o] += s.topics[t].rate(part)
		}
	}
	p.Assignment = g.Pretend(members, topics, slices.Clone(rates))
	p.Fewest, p.Most = collect.Unknown, collect.Unknown
	p.Members = make([]collect.PlannedMember, len(members))
	for i := range members {
		p.Members[i] = collect.PlannedMember{MemberRef: s.members[i].MemberRef, New: s.members[i].kind != present, Assigned: members[i].Assigned, Rate: rates[i]}
		n := int64(members[i].Partitions())
		if p.Most = max(p.Most, n); p.Fewest < 0 || n < p.Fewest {
			p.Fewest = n
		}
	}
}

// rate is what is produced on a partition; NaN if not known.
func (t *topic) rate(p int) float64 {
	if p >= len(t.rates) {
		return math.NaN()
	}
	return float64(t.rates[p])
}

// appendPartition adds a partition to a list whose last topic it is of, if any.
func appendPartition(tps []collect.TopicPartitions, topic string, p int32) []collect.TopicPartitions {
	if n := len(tps); n == 0 || tps[n-1].Topic != topic {
		tps = append(tps, collect.TopicPartitions{Topic: topic})
	}
	last := &tps[len(tps)-1]
	last.Partitions = append(last.Partitions, p)
	return tps
}

// compare counts what changes hands on the way from what is to what would be.
func (s *situation) compare(p *collect.Plan, owners [][]int32) {
	owned := int64(0)
	for t := range s.topics {
		for part := range max(len(owners[t]), len(s.owned[t])) {
			from, to := int32(-1), int32(-1)
			if part < len(s.owned[t]) {
				from = s.owned[t][part]
			}
			if part < len(owners[t]) {
				to = owners[t][part]
			}
			if from >= 0 {
				owned++
			}
			s.step(p, s.topics[t].name, int32(part), from, to)
		}
	}
	p.Stopped = p.Moved + p.Lost
	if p.Style == collect.StyleEager { // everyone gives everything up first
		p.Stopped = owned
	}
	if s.blind {
		p.Stopped, p.Moved, p.Kept, p.Gained, p.Lost, p.Moves = collect.Unknown, collect.Unknown, collect.Unknown, collect.Unknown, collect.Unknown, nil
	}
}

// byClient puts members in the order of documents, which is not that of places.
func byClient(members []collect.PlannedMember) {
	slices.SortStableFunc(members, func(a, b collect.PlannedMember) int {
		return cmp.Or(cmp.Compare(a.ClientID, b.ClientID), cmp.Compare(a.MemberID, b.MemberID))
	})
}

// step books one partition's way.
func (s *situation) step(p *collect.Plan, topic string, part, from, to int32) {
	switch {
	case from == to && from >= 0:
		p.Kept++
		return
	case from == to: // nobody's before and after
		return
	case from < 0:
		p.Gained++
	case to < 0:
		p.Lost++
	default:
		p.Moved++
	}
	p.Moves = append(p.Moves, collect.Move{Topic: topic, Partition: part, From: s.idAt(from), To: s.idAt(to)})
	if to >= 0 {
		m := &p.Members[to]
		m.Taken = appendPartition(m.Taken, topic, part)
	}
	if from >= 0 && int(from) < len(p.Members) {
		m := &p.Members[from]
		m.GivenUp = appendPartition(m.GivenUp, topic, part)
	}
}

// idAt is the member id at a place, "" for nobody.
func (s *situation) idAt(place int32) string {
	switch n := int32(len(s.members)); {
	case place < 0:
		return ""
	case place < n:
		return s.members[place].MemberID
	default:
		return s.gone[place-n].MemberID
	}
}
