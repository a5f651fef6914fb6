package collect

import "time"

// stepTolerance is how far the wall clock may run apart from the monotonic one
// between two polls before it has been set, or the machine has slept.
const stepTolerance = 2 * time.Second

// stepped reports whether times noted before now are of no use: the clock was
// set, or stood still while the machine slept and the two cannot be told apart.
func stepped(before, now time.Time) bool {
	wall := now.Round(0).Sub(before.Round(0)) // Round(0) takes the monotonic reading off
	apart := wall - now.Sub(before)
	return !before.IsZero() && (wall < 0 || apart > stepTolerance || apart < -stepTolerance)
}

// followClock forgets what was measured by a clock that has been set since:
// the moments of log ends and log starts, what rates are measured from, and
// since when transactions are open. Records' own timestamps stay, and so do
// counters.
func (t *tracker) followClock(now time.Time) {
	before := t.takenAt
	t.takenAt = now
	if stepped(before, now) {
		t.clockSet(now)
	}
}

func (t *tracker) clockSet(now time.Time) {
	t.recent = nil
	for _, h := range t.topics {
		h.moves, h.trends = nil, nil
		for p := range h.parts {
			part := &h.parts[p]
			part.ends, part.youngerEnd, part.youngest = nil, 0, 0
			part.stampsAt = 0 // how records are stamped is to be seen anew
		}
	}
	for _, m := range t.groups {
		for _, past := range m.rows {
			past.wake()
			clear(past.recent[:])
			past.polls, past.jumps, past.clockSet = 0, nil, now.UnixNano()
			for i := range past.rows { // the next advance is a first one: a gap to it would be no habit
				row := &past.rows[i]
				row.before, row.previous, row.idle = 0, Unknown, 0
			}
		}
	}
	for _, topic := range t.open {
		for _, part := range topic.parts {
			part.since, part.askedAt = now.UnixNano(), min(part.askedAt, now.UnixNano())
		}
	}
}
