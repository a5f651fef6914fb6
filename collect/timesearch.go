package collect

import (
	"context"
	"time"
)

// Bounds of the search for times between two polls. A broker spends about half
// a millisecond on each partition and round.
const (
	searchPartitions = 100
	searchRounds     = 32 // a search takes 4 to 11 on average
	futureAllowance  = time.Minute
	// unsureReach is how far back a search looks where the leader does not
	// tell the oldest record.
	unsureReach = 30 * 24 * time.Hour
)

// search finds the timestamp of the record at an offset by asking for the
// first record that is not older than a timestamp, and for the next one by
// what came back: an interpolation search that uses the answers' own
// timestamps, exact when the answer is the offset itself.
type search struct {
	topic     string
	partition int32
	target    int64
	clue      int64 // what to begin with, milliseconds; not above 0 without one

	met []anchor // all records that answers named
	// before and after are the nearest records whose timestamp is known; at is
	// 0 where there is none.
	before, after anchor

	stage  searchStage
	asked  int64 // the timestamp of the question under way, milliseconds
	round  int
	newest int64 // the largest timestamp of the log

	// The record at lo lies before the target and was written at loAt, the
	// one at hi after it and at hiRecord; no record from hi on is older than
	// hiAt. lo is -1 while no record before the target is known.
	lo, hi               int64
	loAt, hiAt, hiRecord int64

	// gap counts how often the record at hi was named again, tries how often
	// since lo moved: just before it nothing was written. pace is then how many
	// milliseconds lie between two records at the other end; 0 if not known.
	gap, tries int
	pace       float64

	done   bool
	failed bool // the leader did not answer
	exact  bool // hi is the target itself
	tied   bool // the target shares lo's timestamp, if there is such a record
	skew   bool // the log has timestamps in the future
}

type searchStage uint8

const (
	askNewest searchStage = iota // the record with the largest timestamp
	askOldest                    // the first record the log holds
	askBetween
	askClue // the first record younger than the clue
)

// query is the next question.
func (s *search) query() TimeQuery {
	switch s.stage {
	case askNewest:
		s.asked = TimestampNewest
	case askOldest:
		s.asked = 0
	case askClue:
		s.asked = s.clue + 1
	default:
		s.asked = s.guess()
	}
	return TimeQuery{Topic: s.topic, Partition: s.partition, Timestamp: s.asked}
}

// answer takes what the leader said and moves on.
func (s *search) answer(a TimeAnswer, now time.Time) {
	s.round++
	if a.Reason != ReasonNone {
		s.failed, s.done = true, true
		return
	}
	if a.Offset >= 0 {
		s.met = append(s.met, anchor{a.Offset, a.Timestamp * 1e6})
	}
	switch s.stage {
	case askNewest:
		s.takeNewest(a, now)
	case askOldest:
		s.takeOldest(a)
	case askClue:
		s.takeClue(a, now)
	default:
		s.narrow(a)
	}
	s.done = s.done || s.round >= searchRounds
}

// takeNewest decides whether a search can be trusted. One timestamp in the
// future, or the largest one before the target, and a search would be wrong by
// hours, silently.
func (s *search) takeNewest(a TimeAnswer, now time.Time) {
	s.skew = a.Timestamp > now.Add(futureAllowance).UnixMilli()
	if !s.skew && a.Offset >= 0 {
		s.newest = a.Timestamp
	}
	if s.skew || a.Offset < s.target {
		s.hi, s.done = -1, true
		return
	}
	s.found(a)
	s.stage = askOldest
	s.useKnown()
}

// useKnown begins between the known records, if there is one before the target.
func (s *search) useKnown() {
	lo, hi := s.before.at/1e6, s.after.at/1e6
	if s.done || s.before.at == 0 || s.before.offset >= s.target || lo >= s.hiAt || s.after.at != 0 && lo >= hi {
		return
	}
	s.stage, s.lo, s.loAt = askBetween, s.before.offset, lo
	if s.after.at != 0 && s.after.offset < s.hi && hi < s.hiAt {
		s.hi, s.hiAt, s.hiRecord = s.after.offset, hi, hi
	}
}

func (s *search) takeOldest(a TimeAnswer) {
	switch {
	case a.Offset < 0:
		// After DeleteRecords the leader answers nothing for timestamps up to
		// the newest of the dead segment, although later records exist.
		s.lo, s.loAt = -1, s.newest-unsureReach.Milliseconds()
	case a.Offset >= s.target:
		s.hi, s.hiAt, s.hiRecord, s.exact, s.done = s.target, a.Timestamp, a.Timestamp, true, true
	default:
		s.lo, s.loAt = a.Offset, a.Timestamp
	}
	s.stage = askBetween
}

func (s *search) narrow(a TimeAnswer) {
	switch {
	case a.Offset < 0 && s.asked <= s.newest:
		s.loAt = max(s.loAt, s.asked)
	case a.Offset < 0:
		s.hiAt = s.asked
	case a.Offset < s.target:
		if s.gap > 0 && s.lo >= 0 && a.Offset > s.lo && a.Timestamp >= s.loAt {
			s.pace = float64(a.Timestamp-s.loAt) / float64(a.Offset-s.lo)
		}
		s.lo, s.loAt, s.tries = a.Offset, max(s.loAt, a.Timestamp), 0
	default:
		s.gap++
		if s.tries++; a.Offset != s.hi {
			s.gap, s.tries, s.pace = 0, 0, 0
		}
		s.found(a)
		// Nothing lies between two neighbouring milliseconds: the target
		// shares lo's timestamp, or the log has a gap there.
		if !s.exact && s.lo >= 0 && s.asked == s.loAt+1 {
			s.tied = true
		}
		s.done = s.done || s.asked == s.loAt+1
	}
	s.done = s.done || s.hiAt <= s.loAt
}

// found takes a record at or after the target.
func (s *search) found(a TimeAnswer) {
	s.hi, s.hiAt, s.hiRecord = a.Offset, a.Timestamp, a.Timestamp
	if s.stage == askBetween {
		s.hiAt = s.asked
	}
	if a.Offset == s.target {
		s.exact, s.done = true, true
	}
}

// searchTimes spends what ctx leaves on finding the age of first unread records
// that lie before the history, and keeps what it learns.
func (c *Collector) searchTimes(ctx context.Context, s *Snapshot) {
	c.tracker.interval = c.Interval()
	searches := c.tracker.wanted(s)
	for len(searches) > 0 && ctx.Err() == nil {
		queries := make([]TimeQuery, len(searches))
		for i := range searches {
			queries[i] = searches[i].query()
		}
		now := c.opts.Now()
		open := searches[:0]
		for i, a := range c.source.OffsetsAt(ctx, queries) {
			if searches[i].answer(a, now); searches[i].done {
				c.tracker.learn(searches[i])
			} else {
				open = append(open, searches[i])
			}
		}
		searches = open
	}
	for _, s := range searches { // out of time: what was learned narrows the next one
		c.tracker.learn(s)
	}
}
