package kafka

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// addrError is what became of a question to one address.
type addrError struct {
	id   int32
	addr string
	err  error
}

type reply struct {
	n      *node
	req    kmsg.Request
	resp   kmsg.Response
	err    error
	waited time.Duration
	broke  *broken
}

// anyBroker asks one broker, and another one whenever those asked so far have
// failed or take long: the one that answered last time first, then the other
// brokers, then the addresses given at start. It gives the first answer, or
// what went wrong with each.
func (p *poll) anyBroker(request func() kmsg.Request) (kmsg.Response, []addrError) {
	left := time.Until(p.deadline)
	silence := time.Duration(waitShare * float64(left))
	ctx, cancel := context.WithTimeout(p.ctx, silence)
	defer cancel()
	hedge := min(silence/4, time.Second)
	candidates, errs := p.candidates()
	replies := make(chan reply, len(candidates))
	asked, open := 0, 0
	next := func() {
		n, req := candidates[asked], request()
		asked++
		open++
		go func() {
			r, began := reply{n: n, req: req}, time.Now()
			defer func() {
				r.broke, r.waited = caught(recover()), time.Since(began)
				replies <- r
			}()
			r.resp, r.err = n.request(ctx, req)
		}()
	}
	var won *reply
	var broke *broken
	for open > 0 || won == nil && asked < len(candidates) && ctx.Err() == nil {
		if open == 0 {
			next()
		}
		timer := time.NewTimer(hedge)
		select {
		case r := <-replies:
			open--
			switch {
			case r.broke != nil:
				broke = r.broke
				cancel()
			case r.err == nil && won == nil:
				won = &r
				cancel() // those that are late
			case r.err != nil && won == nil:
				errs = append(errs, addrError{r.n.id, r.n.addr, r.err})
				if timedOut(r.err) && r.waited > silence/2 && p.blames(r.waited) {
					p.fallSilent(r.n, r.req, r.err)
				}
			}
		case <-timer.C:
			if won == nil && asked < len(candidates) && ctx.Err() == nil {
				next()
			}
		}
		timer.Stop()
	}
	if broke != nil {
		panic(broke)
	}
	if won == nil {
		return nil, errs
	}
	p.guide = won.n.addr
	p.heard()
	return won.resp, nil
}

// candidates are the nodes to ask what any broker knows. What is left out as
// silent comes as errors.
func (p *poll) candidates() (out []*node, errs []addrError) {
	var first, rest []*node
	for _, id := range p.ids() {
		n := p.nodes[id]
		if _, down := p.down[id]; down {
			continue
		}
		if n.addr == p.guide {
			first = append(first, n)
		} else {
			rest = append(rest, n)
		}
	}
	known := map[string]bool{}
	for _, n := range append(append(first, rest...), p.seeds...) {
		if known[n.addr] {
			continue
		}
		known[n.addr] = true
		if n.silent.Load() {
			errs = append(errs, addrError{n.id, n.addr, n.silence()})
			continue
		}
		out = append(out, n)
	}
	return out, errs
}
