package collect

import (
	"math"
	"time"
)

// Retention is when Kafka deletes a topic's records, as the topic's settings
// say. The zero value is: not known.
type Retention struct {
	AskedAt time.Time // when the settings were asked for last; zero never
	Known   bool      // they could be read

	Deletes  bool          // cleanup.policy holds delete
	Compacts bool          // cleanup.policy holds compact
	Time     time.Duration // retention.ms; negative: for ever
	Bytes    int64         // retention.bytes of a partition; negative: no limit
}

// untold is how long a start of the log may be late by Kafka's own pace: it
// looks for what to delete every 5 minutes (log.retention.check.interval.ms).
const untold = 10 * time.Minute

// headroom is how many seconds row i's first unread record has before retention
// deletes it, at the least; NaN where that is not known, and at lag 0.
//
// By retention.ms a record is deleted with its segment, once the newest record
// of that is so old: never sooner than it is so old itself. With retention.bytes
// set, or where settings may not be read, the log start's own movement tells.
func (gt *GroupTopic) headroom(i int, l lagged) float64 {
	p, r := int(gt.Partition(i)), &gt.Topic.Retention
	if l.lag <= 0 || p >= gt.Topic.Partitions() || !r.Known && gt.Topic.trends == nil || r.Known && !r.Deletes {
		return math.NaN()
	}
	a := gt.age(i, l)
	if !a.Method.measured() {
		return math.NaN()
	}
	oldest, left := a.Seconds+a.Error, math.NaN()
	if p < len(gt.Topic.trends) {
		left = gt.Topic.trends[p].headroom(gt.position(i, p), oldest, gt.Topic.EndAt[p])
	}
	if r.Known && r.Bytes < 0 {
		left = math.NaN() // time alone decides, and is known for sure
	}
	switch byTime := r.Time.Seconds() - oldest; {
	case !r.Known || r.Time < 0 || r.Bytes >= 0 && math.IsNaN(left):
	case math.IsNaN(left) || byTime < left:
		left = byTime
	}
	if left < 0 { // not if it is NaN
		return 0
	}
	return left
}

// byAgeAlone reports whether the older of two rows is the one that is deleted
// sooner.
func (gt *GroupTopic) byAgeAlone() bool {
	r := &gt.Topic.Retention
	return gt.Ages == nil && r.Known && r.Bytes < 0
}

// measured reports whether an age is more than a limit.
func (m Method) measured() bool { return m == MethodExact || m == MethodInterpolated }

// most is the age that a record has at the most, in seconds.
func (r rowAge) most() float64 { return r.seconds + float64(r.error) }

// headroom is the smallest of the group's judged rows; NaN where none is known.
func (g *Group) headroom(committed bool) float64 {
	least := math.NaN()
	for _, gt := range g.Topics {
		if !gt.Topic.Retention.Known && gt.Topic.trends == nil || gt.Ages == nil && gt.ages == nil {
			continue
		}
		oldest, byAge := math.Inf(-1), gt.byAgeAlone() // of the rows that were counted
		for i := range gt.Committed {
			if ages := gt.ages; gt.Ages == nil && (!ages[i].method.measured() || byAge && ages[i].most() <= oldest) {
				continue // nearly every row: no age, or an older one has less
			}
			if !gt.judged(i, committed) {
				continue
			}
			h := gt.headroom(i, gt.lagAt(i))
			if math.IsNaN(h) {
				continue
			}
			if byAge {
				oldest = max(oldest, gt.ages[i].most())
			}
			if !(h >= least) {
				least = h
			}
		}
	}
	return least
}
