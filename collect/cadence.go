package collect

import (
	"fmt"
	"time"
)

// Above these sizes the slower loops are staggered: group list, state, members
// and log starts are then not read at every poll, but never less often than
// slowLoop.
const (
	smallGroups     = 500
	smallPartitions = 20_000
	slowLoop        = 30 * time.Second
	// turnLoop is how often each object has its turn: often enough that a poll
	// which comes late keeps within slowLoop.
	turnLoop = slowLoop * 4 / 5
	// listLoop is for the group list, which tells what changed.
	listLoop = 5 * time.Second
	// manyBrokers is from when on the number of requests counts for more than
	// their size: what is due is then due of a broker, or of all at once, where
	// a little of everything at each poll would be a request to every broker.
	manyBrokers = 10
)

// ask works out what is due for the poll that begins now.
func (c *Collector) ask(now time.Time) Ask {
	a := Ask{Lists: true, Build: c.opts.Build}
	if u := c.hub.Latest(); u != nil { // the first look is to be a whole one
		a.Interval = c.Interval()
	}
	last := c.asked
	c.asked = now
	u := c.hub.Latest()
	if u == nil {
		c.listed = now
		return a
	}
	a.Prev = u.Snapshot
	if a.Prev.small() {
		c.listed = now
		return a
	}
	c.mu.Lock()
	focus, pace := c.focus, max(c.interval, MinInterval)
	c.mu.Unlock()
	pace = max(pace, a.Prev.Took) // polls that take longer than the interval set the pace
	overdue := func(at time.Time, limit time.Duration) bool { return now.Add(pace).Sub(at) > limit }
	// Each object has a moment of its own within a turn, by its name, and is
	// read by the first poll after it: every poll costs about the same,
	// whatever their pace.
	due := func(name string) bool {
		moment := int64(stir(hashOf(name), 0) % uint64(turnLoop))
		return (now.UnixNano()-moment)/int64(turnLoop) != (last.UnixNano()-moment)/int64(turnLoop)
	}
	many, lists := len(a.Prev.Cluster.Brokers) > manyBrokers, listLoop
	if many {
		lists = slowLoop
	}
	if a.Lists = overdue(c.listed, lists) || a.Prev.unlisted(); a.Lists {
		c.listed = now
	}
	a.Describe = func(group string) bool {
		if group == focus || !many && due(group) {
			return true
		}
		g, ok := a.Prev.Group(group)
		return !ok || many && due(fmt.Sprint("broker ", g.Coordinator)) || g.Reason != ReasonNone || g.Rebalancing() ||
			g.DescribedAt.Before(g.stalledAt) || overdue(g.DescribedAt, slowLoop)
	}
	a.Starts = func(topic string) bool {
		t, ok := a.Prev.Topic(topic)
		if many {
			topic = "all topics"
		}
		return due(topic) || !ok || t.StartReason != nil || overdue(t.oldestStart(now), slowLoop)
	}
	return a
}

// unlisted reports whether the lists were due and could not be read.
func (s *Snapshot) unlisted() bool {
	for i := range s.Problems {
		if st := s.Problems[i].Stage; st == StageListGroups || st == StageMetadata {
			return true
		}
	}
	return false
}

// oldestStart is when the log start that was not read for longest was read;
// now without any.
func (t *Topic) oldestStart(now time.Time) time.Time {
	oldest := now.UnixNano()
	for _, at := range t.StartAt {
		if at > 0 {
			oldest = min(oldest, at)
		}
	}
	return time.Unix(0, oldest)
}

// small reports whether everything may be read at every poll.
func (s *Snapshot) small() bool {
	if len(s.Groups) > smallGroups {
		return false
	}
	n := 0
	for _, t := range s.Topics {
		n += t.Partitions()
	}
	return n <= smallPartitions
}

// hashOf is FNV-1a, without the interface that would cost an allocation.
func hashOf(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
