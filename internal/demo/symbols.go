package demo

import (
	"math"
	"math/rand/v2"
)

// stock is one symbol of the exchange.
type stock struct {
	symbol string
	weight int // its share of all ticks, in percent
	price  int // where its walk begins, in rupiah
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
	return []stock{
		{"BBCA", 14, 9_875},
		{"BBRI", 8, 4_650},
		{"BMRI", 6, 6_225},
		{"ANTM", 13, 1_540},
		{"ASII", 8, 5_150},
		{"GOTO", 9, 68},
		{"UNVR", 12, 2_610},
		{"INDF", 7, 6_800},
		{"ISAT", 8, 2_330},
		{"TLKM", 15, 2_940},
	}
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

// trade moves the price by up to half a percent, at least one rupiah, and never below one.
func (s *stock) trade(rng *rand.Rand) {
	step := max(1, int(math.Round(float64(s.price)*rng.Float64()*0.005)))
	if rng.IntN(2) == 0 {
		step = -step
	}
	s.price = max(1, s.price+step)
}
