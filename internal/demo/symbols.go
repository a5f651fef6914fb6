package demo

import (
	"math"
	"math/rand/v2"
)

// stock is one symbol of the exchange.
type stock struct {
	symbol string
	weight int // its share of all ticks, in percent
	open   int // the price that it opened with, in rupiah
	price  int
}

// stocks are ten liquid symbols of the Jakarta exchange. They are chosen so that the hash of Kafka's default
// partitioner (murmur2 of the key, as Java, KafkaJS and franz-go do it) reaches all six partitions, and
// weighted so that none of them stays idle; the big banks make partition 0 the hottest, as they would.
//
//	partition  symbols             ticks
//	0          BBCA BBRI BMRI      28 %
//	1          ANTM                13 %
//	2          ASII GOTO           17 %
//	3          UNVR                12 %
//	4          INDF ISAT           15 %
//	5          TLKM                15 %
func stocks() []stock {
	all := []stock{
		{symbol: "BBCA", weight: 14, open: 9_875},
		{symbol: "BBRI", weight: 8, open: 4_650},
		{symbol: "BMRI", weight: 6, open: 6_225},
		{symbol: "ANTM", weight: 13, open: 1_540},
		{symbol: "ASII", weight: 8, open: 5_150},
		{symbol: "GOTO", weight: 9, open: 68},
		{symbol: "UNVR", weight: 12, open: 2_610},
		{symbol: "INDF", weight: 7, open: 6_800},
		{symbol: "ISAT", weight: 8, open: 2_330},
		{symbol: "TLKM", weight: 15, open: 2_940},
	}
	for i := range all {
		all[i].price = all[i].open
	}
	return all
}

// pick draws a stock by weight.
func pick(from []stock, rng *rand.Rand) *stock {
	n := rng.IntN(100)
	for i := range from {
		if n -= from[i].weight; n < 0 {
			return &from[i]
		}
	}
	return &from[len(from)-1]
}

// trade moves the price by up to half a percent, at least one rupiah. Like the exchange, which rejects orders
// too far off, it keeps within a fifth of the opening price, however long the demo runs.
func (s *stock) trade(rng *rand.Rand) {
	step := max(1, int(math.Round(float64(s.price)*rng.Float64()*0.005)))
	if rng.IntN(2) == 0 {
		step = -step
	}
	s.price = min(max(s.price+step, s.open*4/5), s.open*6/5)
}
