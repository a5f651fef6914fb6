package collect

import (
	"slices"
	"time"
)

const (
	// assumedCommit is how often a group is taken to commit until its own habit
	// is known: the clients' default.
	assumedCommit = 5 * time.Second
	// patience is how many commit intervals a commit may stand still before that
	// says something.
	patience = 3
	// fewGaps is how many gaps between two advances make a habit.
	fewGaps = 3
	// gapsAPoll bounds what one poll adds: the habit is a group's, and a large
	// group shows it on a few of its rows.
	gapsAPoll = 5
)

// habit is how often the commits of a group's rows advance, from the newest
// gaps between two advances of one row. It is by row: of a hundred members that
// each commit once a minute, some commit is seen to advance at every poll.
type habit struct {
	gaps  [15]int64 // nanoseconds
	count int       // gaps noted so far, the newest at (count - 1) % len(gaps)
	room  int       // what this poll may still add
	typ   time.Duration
}

// note takes a gap in.
func (h *habit) note(gap int64) {
	if h.room == 0 || gap <= 0 {
		return
	}
	h.room--
	h.gaps[h.count%len(h.gaps)] = gap
	h.count++
	h.typ = 0
}

// interval is the median gap; 0 until there are enough of them.
func (h *habit) interval() time.Duration {
	if h.count < fewGaps {
		return 0
	}
	if h.typ == 0 {
		sorted := h.gaps
		known := sorted[:min(h.count, len(sorted))]
		slices.Sort(known)
		h.typ = time.Duration(known[len(known)/2])
	}
	return h.typ
}

// still is how long a commit must not have moved to be called still.
func (h *habit) still() time.Duration {
	return patience * orAssumed(h.interval())
}

func orAssumed(d time.Duration) time.Duration {
	if d == 0 {
		return assumedCommit
	}
	return d
}

// window is a group's long window.
func (t *tracker) window(h *habit) time.Duration {
	return max(time.Duration(t.polled)*t.interval, h.still())
}
