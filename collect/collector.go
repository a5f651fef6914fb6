package collect

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"
)

// MinInterval is the shortest time between two polls.
const MinInterval = 100 * time.Millisecond

// Options are what a Collector is made with.
type Options struct {
	Build    BuildOptions
	Interval time.Duration // between the starts of two polls
	Timeout  time.Duration // bounds one poll
	// Window is the number of polls of the long window, which findings judge
	// by; Group.Window says how long that is for a group.
	Window int
	// ProbeRecords lets the collector read the records at the end of a
	// partition where only that tells markers from data.
	ProbeRecords bool
	// Rules judge each update; nil for none.
	Rules Rules
	// Now is the clock; time.Now if nil.
	Now func() time.Time
	// EventLog is how many events are kept; 10,000 if 0.
	EventLog int
}

// A Collector runs the poll loop of one cluster. There is one loop however
// many readers there are, and polls never overlap.
type Collector struct {
	source  Source
	opts    Options
	hub     *Hub
	tracker *tracker
	boot    string
	seq     uint64
	wake    chan struct{} // holds one pending wish
	asked   time.Time     // when the newest poll began
	listed  time.Time     // when groups and topics were listed last

	mu       sync.Mutex
	interval time.Duration
	focus    string
	refresh  bool
	search   context.CancelFunc // ends the time search under way; nil without one
	polling  time.Time          // when the poll under way began; zero between polls
	ended    time.Time          // when the newest poll ended
}

// New makes a collector; it does nothing until Run or Once.
func New(source Source, o Options) *Collector {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.EventLog == 0 {
		o.EventLog = 10_000
	}
	c := &Collector{source: source, opts: o, hub: NewHub(o.EventLog), wake: make(chan struct{}, 1), interval: o.Interval, boot: newBoot()}
	c.tracker = newTracker(o.Build.ClusterName, c.boot)
	c.tracker.polled, c.tracker.interval = o.Window, o.Interval
	return c
}

// newBoot names a process, so that a gap in sequence numbers over a restart
// can be told from one within it.
func newBoot() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails, by its contract
	return hex.EncodeToString(b[:])
}

// Hub is where updates come out.
func (c *Collector) Hub() *Hub { return c.hub }

// Focus says which group a reader looks at; "" for none. It is described at
// every poll.
func (c *Collector) Focus(group string) {
	c.mu.Lock()
	c.focus = group
	c.mu.Unlock()
}

// Refresh asks for a poll at once.
func (c *Collector) Refresh() {
	c.mu.Lock()
	c.refresh = true
	c.mu.Unlock()
	c.nudge()
}

// SetInterval changes the time between polls; MinInterval is the least.
func (c *Collector) SetInterval(d time.Duration) {
	c.mu.Lock()
	c.interval = max(d, MinInterval)
	c.mu.Unlock()
	c.nudge()
}

// Interval is the time between polls as it is now.
func (c *Collector) Interval() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.interval
}

// nudge makes the loop look at its wishes: it ends a pause, and a search for
// times, which lasts as long as the pause where a broker hangs.
func (c *Collector) nudge() {
	c.mu.Lock()
	if c.search != nil {
		c.search()
	}
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Alive reports whether the loop still turns: no poll has been under way, and
// no pause lasted, for longer than limit.
func (c *Collector) Alive(now time.Time, limit time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	since := c.ended
	if !c.polling.IsZero() {
		since = c.polling
	}
	return since.IsZero() || now.Sub(since) <= limit
}

// Run polls until ctx ends, and then closes the hub. It never gives up: what
// fails is in the updates.
func (c *Collector) Run(ctx context.Context) {
	defer c.hub.Close()
	for ctx.Err() == nil {
		started := c.opts.Now()
		c.poll(ctx, started)
		c.rest(ctx, started)
	}
}

// onceSearches is how many groups that share a partition, at most, one look
// finds the time of: a search is for one record of a partition. Where nothing
// is left to look for, it costs nothing.
const onceSearches = 4

// Once makes one poll and the time search that its deadline leaves room for.
func (c *Collector) Once(ctx context.Context) *Update {
	started := c.opts.Now()
	ctx, cancel := context.WithDeadline(ctx, started.Add(c.opts.Timeout))
	defer cancel()
	s := c.source.Poll(ctx, c.ask(started))
	if c.seq == 0 { // later what was read counts
		c.askPastEnds(ctx, s)
	}
	for range onceSearches {
		c.searchTimes(ctx, s)
	}
	c.lookAside(ctx, s)
	return c.finish(s)
}

// poll makes one poll and publishes it.
func (c *Collector) poll(ctx context.Context, started time.Time) {
	c.mu.Lock()
	c.polling, c.refresh = started, false
	c.mu.Unlock()
	pctx, cancel := context.WithDeadline(ctx, started.Add(c.opts.Timeout))
	s := c.source.Poll(pctx, c.ask(started))
	if c.seq == 0 {
		c.searchFirst(pctx, s)
	}
	c.lookAtStamps(pctx, s, true)
	c.lookAside(pctx, s)
	cancel()
	if ctx.Err() != nil {
		return // what a poll that was told to stop has read is no answer
	}
	c.finish(s)
	c.mu.Lock()
	c.polling, c.ended = time.Time{}, c.opts.Now()
	c.mu.Unlock()
}

// lookAside asks what only some polls have an occasion for.
func (c *Collector) lookAside(ctx context.Context, s *Snapshot) {
	c.lookForTransactions(ctx, s)
	c.lookForMarkers(ctx, s)
	c.readTails(ctx, s)
	c.lookForCuts(ctx, s)
}

// searchFirst searches for times before the first snapshot is shown, so that a
// screen does not begin with question marks: for a moment, not for a poll.
func (c *Collector) searchFirst(ctx context.Context, s *Snapshot) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	c.askPastEnds(ctx, s)
	c.searchTimes(ctx, s)
}

// finish gives a snapshot its memory and its judgement, and publishes it.
func (c *Collector) finish(s *Snapshot) *Update {
	c.seq++
	u := &Update{Boot: c.boot, Seq: c.seq, Snapshot: s, Interval: c.Interval()}
	u.NextPoll = s.TakenAt.Add(-s.Took).Add(u.Interval)
	c.tracker.interval = u.Interval
	u.Events = c.tracker.advance(s)
	if c.opts.Rules != nil {
		u.Findings = c.opts.Rules.Judge(u)
	}
	c.hub.Publish(u)
	return u
}

// rest waits for the next poll, and searches for times meanwhile. A poll that
// took longer than the interval is followed by the next at once.
func (c *Collector) rest(ctx context.Context, started time.Time) {
	if u := c.hub.Latest(); u != nil {
		c.searchUntil(ctx, started, u.Snapshot)
	}
	for ctx.Err() == nil {
		c.mu.Lock()
		wanted, due := c.refresh, started.Add(c.interval)
		c.mu.Unlock()
		left := due.Sub(c.opts.Now())
		if wanted || left <= 0 {
			return
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-c.wake:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// searchUntil searches for times until the next poll is due or wished for.
func (c *Collector) searchUntil(ctx context.Context, started time.Time, s *Snapshot) {
	c.mu.Lock()
	left := started.Add(c.interval).Sub(c.opts.Now())
	if c.refresh || left <= 0 {
		c.mu.Unlock()
		return
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	c.search = cancel
	c.mu.Unlock()
	c.lookAtStamps(ctx, s, false)
	c.dateStarts(ctx, s)
	c.searchTimes(ctx, s)
	c.mu.Lock()
	c.search = nil
	c.mu.Unlock()
	cancel()
}
