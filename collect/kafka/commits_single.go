package kafka

import (
	"slices"
	"sync"
	"time"
)

// oneByOne is how many groups are asked for at once where a request can name one
// only (OffsetFetch below version 8, Kafka before 3.0).
const oneByOne = 8

// singleShare is the share of an interval that a poll spends on asking for one
// group at a time. What it has not come to by then waits for its turn: thousands
// of groups must not make the log ends, and everybody else's commits, old.
const singleShare = 0.5

// fetchInTurn asks a broker of before Kafka 3.0, group by group, those first that
// have waited longest, for as long as this poll can spare. The others are given
// back.
func (p *poll) fetchInTurn(c *call, names []string) (out []fetched, waiting []string, err error) {
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int { return p.lastAsked(a).Compare(p.lastAsked(b)) })
	var (
		mu   sync.Mutex
		next int
		crew crew
	)
	more := func() (string, bool) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil || next == len(names) || next >= oneByOne && p.spent() {
			return "", false
		}
		next++
		return names[next-1], true
	}
	for range min(oneByOne, len(names)) {
		crew.Go(func() {
			for name, ok := more(); ok; name, ok = more() {
				r, failure := p.askCommits(c, []string{name})
				mu.Lock()
				if failure == nil {
					out = append(out, r.groups...)
					c.n.single.Store(r.Version < batchVersion) // else upgraded meanwhile
				} else if err == nil {
					err = failure
				}
				mu.Unlock()
			}
		})
	}
	crew.Wait()
	if err != nil {
		return out, nil, err
	}
	return out, names[next:], nil
}

// lastAsked is when a broker last told of a group's commits.
func (p *poll) lastAsked(name string) time.Time {
	if g := p.groups[name]; g != nil {
		return g.askedAt
	}
	return time.Time{}
}

// spent reports whether the poll has taken what it may take for such questions.
// The first one of a process takes the time it needs.
func (p *poll) spent() bool {
	return p.ask.Interval > 0 && time.Since(p.began) >= time.Duration(singleShare*float64(p.ask.Interval))
}
