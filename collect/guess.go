package collect

import "math"

// guess picks the timestamp to ask for: by interpolation, and halfway each
// third time, so that an uneven log cannot slow the search down for long.
//
// Where the same record after the target is named again, an idle time lies
// before it, and the target at the other end of that: it is looked for there
// by what little is known of that end. Where no record before the
// target is known, steps grow likewise from the newest known one back, by age.
func (s *search) guess() int64 {
	width := s.hiAt - s.loAt
	step := width / 2
	switch {
	case s.lo < 0 && s.round%2 == 0:
		step = width - geometric(width, 1000)
	case s.lo < 0:
	case s.tries == 1 && s.pace > 0: // halfway
	case s.tries > 0:
		step = 1
	case s.gap > 0 && s.pace > 0:
		step = min(int64(s.pace*float64(s.target-s.lo)), width/2)
	case s.gap > 0:
		step = geometric(width, 1)
	case s.round%3 != 2 && s.hi > s.lo:
		step = int64(float64(width) * float64(s.target-s.lo) / float64(s.hi-s.lo))
	}
	return s.loAt + min(max(step, 1), max(width, 1))
}

// geometric is the mean of two lengths of time by their magnitudes.
func geometric(a, b int64) int64 { return int64(math.Sqrt(float64(a) * float64(b))) }
