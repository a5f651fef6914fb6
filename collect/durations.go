package collect

import "time"

// durationBounds is how many bounds a histogram of durations has.
const durationBounds = 11

// DurationBounds are the upper bounds, in seconds and each included, of the
// buckets of a Durations.
func DurationBounds() [durationBounds]float64 {
	return [durationBounds]float64{0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600}
}

// Durations are how long things lasted, as a histogram that only grows.
type Durations struct {
	// Within counts, by bound of DurationBounds, what lasted no longer.
	Within [durationBounds]uint64
	Count  uint64
	Sum    time.Duration
}

func (d *Durations) add(lasted time.Duration) {
	d.Count++
	d.Sum += lasted
	for i, bound := range DurationBounds() {
		if lasted.Seconds() <= bound {
			d.Within[i]++
		}
	}
}
