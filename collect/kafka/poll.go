package kafka

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// A poll is the state of one Poll call. It is used by the caller's goroutine;
// work that runs on brokers side by side writes only to what is its own and is
// merged when all are back.
type poll struct {
	*Source
	ask      collect.Ask
	b        *collect.Builder
	ctx      context.Context
	began    time.Time
	deadline time.Time
	patience time.Duration // what a broker may need for an answer at the start of the poll

	down      map[int32]collect.Reason // brokers that this poll asks no more, by id
	reached   bool                     // some broker answered
	refreshed bool                     // metadata was read again within this poll
	hurried   bool                     // too short a time to call a broker silent for
	problems  problems
}

// waitShare is the share of the time left that a broker may be silent before
// the others go on without it; workShare is the share a whole stage may take
// from brokers that do answer. What is left must do for the stages to come.
const (
	waitShare = 0.4
	workShare = 0.8
)

// reserve is kept back from the deadline to put the snapshot together.
const reserve = 0.05

func (s *Source) newPoll(ctx context.Context, ask collect.Ask) *poll {
	began := time.Now()
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = began.Add(DefaultRequestTimeout)
	}
	whole := float64(deadline.Sub(began))
	return &poll{
		Source: s, ask: ask, b: ask.Builder(), ctx: ctx, down: map[int32]collect.Reason{},
		began: began, deadline: deadline.Add(-time.Duration(reserve * whole)), patience: time.Duration(waitShare * whole),
	}
}

// blames reports whether a broker that did not answer for so long is silent.
// Near the deadline so little time is left that a healthy one could be late.
func (p *poll) blames(waited time.Duration) bool {
	return waited > 0 && waited >= p.patience/8 && !p.hurried && !errors.Is(p.ctx.Err(), context.Canceled)
}

// A call is the talk with one broker within one stage.
type call struct {
	p       *poll
	n       *node
	ctx     context.Context // ends with the stage
	silence time.Duration   // longest wait for one answer

	mu       sync.Mutex
	answered bool
	hung     kmsg.Request // left unanswered for too long
}

// ask sends a request and gives the time of its answer.
func (c *call) ask(req kmsg.Request) (kmsg.Response, time.Time, error) {
	ctx, cancel := context.WithTimeout(c.ctx, c.silence)
	defer cancel()
	began := time.Now()
	resp, err := c.n.request(ctx, req)
	at := c.p.o.Now()
	waited := time.Since(began)
	patient := waited >= c.silence*9/10 && c.p.blames(waited) // else its turn came too late
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		c.answered = true
	case timedOut(err) && patient:
		c.hung = req
	}
	return resp, at, err
}

// each asks brokers side by side and returns when all are done or given up.
// work returns the error that ended it, nil if it could say all it had to.
// Brokers that failed are asked no more in this poll, those that were silent
// not until a probe had an answer; failed tells why a broker in ids was not,
// or not wholly, asked.
func (p *poll) each(stage collect.Stage, ids []int32, work func(*call) error) (failed map[int32]collect.Reason) {
	failed = map[int32]collect.Reason{}
	left := time.Until(p.deadline)
	ctx, cancel := context.WithTimeout(p.ctx, time.Duration(workShare*float64(left)))
	defer cancel()
	silence := time.Duration(waitShare * float64(left))
	var calls []*call
	for _, id := range ids {
		if why := p.unusable(stage, id); why != collect.ReasonNone {
			failed[id] = why
			continue
		}
		calls = append(calls, &call{p: p, n: p.nodes[id], ctx: ctx, silence: silence})
	}
	if len(p.nodes) == 1 { // nobody to hurry for
		for _, c := range calls {
			c.silence = time.Duration(workShare * float64(left))
		}
	}
	errs := make([]error, len(calls))
	var crew crew
	for i, c := range calls {
		crew.Go(func() { errs[i] = work(c) })
	}
	crew.Wait()
	for i, c := range calls {
		if c.answered {
			p.heard()
		}
		if err := errs[i]; err != nil {
			failed[c.n.id] = p.brokerFailed(stage, c, err)
		}
	}
	return failed
}

// heard notes that some broker answered.
func (p *poll) heard() {
	p.reached = true
	p.b.Reached()
}

// unusable tells why a broker is not to be asked.
func (p *poll) unusable(stage collect.Stage, id int32) collect.Reason {
	if why, ok := p.down[id]; ok {
		return why
	}
	n := p.nodes[id]
	if n == nil {
		return collect.ReasonBrokerDown
	}
	if n.silent.Load() {
		p.down[id] = collect.ReasonTimeout
		p.problems.broker(stage, id, collect.ReasonTimeout, n.silence())
		return collect.ReasonTimeout
	}
	return collect.ReasonNone
}

func (p *poll) brokerFailed(stage collect.Stage, c *call, err error) collect.Reason {
	why := ReasonOf(err)
	p.problems.broker(stage, c.n.id, why, err)
	switch {
	case c.hung != nil:
		p.fallSilent(c.n, c.hung, err)
		p.down[c.n.id] = why
	// One that answers, but too slowly, may answer less; one that does not know
	// a request may know the others.
	case why != collect.ReasonTimeout && why != collect.ReasonUnsupported:
		p.down[c.n.id] = why
	}
	return why
}

// ids are the live brokers' ids in order.
func (p *poll) ids() []int32 {
	out := make([]int32, 0, len(p.nodes))
	for id := range p.nodes {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}
