package kafka

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// A shareLane is the connection to one broker over which share groups' offsets
// are asked for, and the groups that it left without an answer.
type shareLane struct {
	s      *Source
	broker *node // whose lane it is
	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	n       *node            // nil until it is needed
	hung    map[string]error // what became of the question for each
	probing bool
}

// shareLane gives the lane of a broker.
func (s *Source) shareLane(broker *node) *shareLane {
	l := s.lanes[broker.id]
	if l != nil && l.broker == broker {
		return l
	}
	if l != nil {
		s.closeLane(l)
	}
	l = &shareLane{s: s, broker: broker, hung: map[string]error{}}
	l.ctx, l.cancel = context.WithCancel(broker.ctx)
	s.lanes[broker.id] = l
	return l
}

// dropShareLanes ends the lanes of brokers that are there no more.
func (s *Source) dropShareLanes() {
	for id, l := range s.lanes {
		if s.nodes[id] != l.broker {
			s.closeLane(l)
			delete(s.lanes, id)
		}
	}
}

// closeLane ends a lane beside the poll.
func (s *Source) closeLane(l *shareLane) {
	l.cancel()
	s.forget(l.take())
}

// node is the lane's connection.
func (l *shareLane) node() *node {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n == nil {
		l.n = l.s.newNode(l.broker.id, l.broker.addr, l.broker.rack)
	}
	return l.n
}

// take takes the connection out of the lane; nil if there is none.
func (l *shareLane) take() *node {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.n
	l.n = nil
	return n
}

// left is why a group is left alone; nil if it is not.
func (l *shareLane) left(group string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hung[group]
}

// leave leaves groups alone whose question was not answered, until a probe
// beside the poll has an answer for each of them. Their connection is no good
// any more: a broker answers in order.
func (l *shareLane) leave(groups []string, why error, patience time.Duration) {
	l.s.forget(l.take())
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range groups {
		l.hung[name] = why
	}
	if !l.probing {
		l.probing = true
		l.s.probes.Go(func() { l.probe(patience) })
	}
}

// Bounds of the pause between two rounds of a lane's probe. A question that is
// never answered may cost the broker something for ever, so they grow rare.
const (
	leastLanePause = 500 * time.Millisecond
	mostLanePause  = 10 * time.Second
)

// probe asks for each group that is left alone, alone and over a connection of
// its own: which of a chunk's it was that hung is not told.
func (l *shareLane) probe(patience time.Duration) {
	pause := leastLanePause
	for {
		for _, name := range l.names() {
			if !l.hangs(name, patience) {
				l.mu.Lock()
				delete(l.hung, name)
				l.mu.Unlock()
				pause = leastLanePause
			}
		}
		if l.rests() {
			return
		}
		timer := time.NewTimer(pause)
		select {
		case <-l.ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		pause = min(2*pause, mostLanePause)
	}
}

// rests ends the probe where it has nothing left to ask for.
func (l *shareLane) rests() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.hung) > 0 && l.ctx.Err() == nil {
		return false
	}
	l.probing = false
	return true
}

func (l *shareLane) names() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]string, 0, len(l.hung))
	for name := range l.hung {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// hangs reports whether a question for a group is left without an answer. One
// that fails at once costs a poll nothing.
func (l *shareLane) hangs(group string, patience time.Duration) bool {
	n := l.s.newNode(l.broker.id, l.broker.addr, l.broker.rack)
	defer n.close()
	ctx, cancel := context.WithTimeout(l.ctx, patience)
	defer cancel()
	req := describeShares([]string{group})
	_, err := n.request(ctx, req)
	hung := err != nil && timedOut(err) && l.ctx.Err() == nil
	l.s.o.Logger.Debug("asked again for a share group", "broker", l.broker.id, "group", group, "request", kmsg.NameForKey(req.Key()), "hangs", hung)
	return hung
}
