package collect

import (
	"hash/fnv"
	"time"
)

// Above these sizes the slower loops are staggered: group list, state, members
// and log starts are then not read at every poll, but never less often than
// slowLoop.
const (
	smallGroups     = 500
	smallPartitions = 20_000
	slowLoop        = 30 * time.Second
)

// ask works out what is due for the poll that begins now.
func (c *Collector) ask(now time.Time) Ask {
	a := Ask{Lists: true, Build: c.opts.Build}
	u := c.hub.Latest()
	if u == nil {
		return a
	}
	a.Prev = u.Snapshot
	if a.Prev.small() {
		return a
	}
	c.mu.Lock()
	focus, interval := c.focus, c.interval
	c.mu.Unlock()
	// Each object has its turn once in as many polls as fit a slow loop, so
	// that every poll costs about the same.
	turns := max(1, int64(slowLoop/max(interval, MinInterval)))
	turn := int64(c.seq) % turns
	due := func(name string) bool { return int64(hashOf(name)%uint64(turns)) == turn }
	a.Lists = turn%max(1, turns/6) == 0 // the list tells which groups changed: every 5 s
	a.Describe = func(group string) bool {
		if group == focus || due(group) {
			return true
		}
		g, ok := a.Prev.Group(group)
		return !ok || g.Reason != ReasonNone || g.Rebalancing() || now.Sub(g.DescribedAt) > slowLoop
	}
	a.Starts = func(topic string) bool {
		t, ok := a.Prev.Topic(topic)
		return due(topic) || !ok || t.StartReason != nil
	}
	return a
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

func hashOf(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return h.Sum64()
}
