package collect

import "math"

// rowRates are one row's part of a sum of rates.
type rowRates struct {
	produced, consumed float64 // records per second; NaN if not known
	// The row was read, and its rate will be known in a while: a sum without
	// it would pass for the whole.
	awaitsProduced, awaitsConsumed bool
}

// rowRates gives row i, of partition p and with lag l, as a part of a sum.
func (gt *GroupTopic) rowRates(i, p int, l lagged) rowRates {
	r := rowRates{produced: gt.produced(p), consumed: math.NaN()}
	if gt.Consumed != nil {
		r.consumed = float64(gt.Consumed[i])
	}
	if l.stale || l.lag < 0 || !math.IsNaN(r.consumed+r.produced) {
		return r
	}
	// An empty partition that was just made adds nothing to either.
	fresh := math.IsNaN(r.produced)
	r.awaitsProduced = fresh && gt.Topic.LogEnd[p] > gt.Topic.LogStart[p]
	r.awaitsConsumed = math.IsNaN(r.consumed) && gt.Committed[i] >= 0 && !(fresh && l.lag == 0)
	return r
}

// rateSum adds rates up.
type rateSum struct {
	produced, consumed             float64 // NaN without any
	awaitsProduced, awaitsConsumed bool
}

func noRates() rateSum { return rateSum{produced: math.NaN(), consumed: math.NaN()} }

func (s *rateSum) add(r rowRates) {
	s.produced, s.consumed = plus(s.produced, r.produced), plus(s.consumed, r.consumed)
	s.awaitsProduced = s.awaitsProduced || r.awaitsProduced
	s.awaitsConsumed = s.awaitsConsumed || r.awaitsConsumed
}

// rates are the sums, NaN where they would be parts.
func (s *rateSum) rates() (produced, consumed float64) {
	produced, consumed = s.produced, s.consumed
	if s.awaitsProduced {
		produced = math.NaN()
	}
	if s.awaitsConsumed {
		consumed = math.NaN()
	}
	return produced, consumed
}

func consumedOf(sums []rateSum) []float64 {
	out := make([]float64, len(sums))
	for i := range sums {
		_, out[i] = sums[i].rates()
	}
	return out
}

// Rates are records per second on the group's rows of the topic, produced and
// consumed, as those of a Group.
func (gt *GroupTopic) Rates() (produced, consumed float64) {
	sum := noRates()
	for i := range gt.Committed {
		sum.add(gt.rowRates(i, int(gt.Partition(i)), gt.lagAt(i)))
	}
	return sum.rates()
}

// plus adds two numbers of which either may be not known.
func plus(a, b float64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b):
		return a
	}
	return a + b
}
