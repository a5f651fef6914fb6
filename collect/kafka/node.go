package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// seedID is the id of an address whose broker id is not known yet.
const seedID int32 = -1

// A node is one broker and the connection to it. Each has a client of its own:
// the library's routing asks any broker it likes for metadata, the silent one
// included, and sends FindCoordinator; and a connection that dies takes no
// other broker's requests with it.
type node struct {
	id   int32
	addr string
	rack string

	cl     *kgo.Client
	broker *kgo.Broker
	broken error // why there is no client: an address that is none
	ctx    context.Context
	cancel context.CancelFunc

	silent atomic.Bool // missed a cutoff; a probe asks it until it answers
	single atomic.Bool // tells the commits of one group at a time: of before Kafka 3.0

	mu  sync.Mutex
	why error // what it was silent to; guarded by mu
}

func (s *Source) newNode(id int32, addr, rack string) *node {
	n := &node{id: id, addr: addr, rack: rack}
	n.ctx, n.cancel = context.WithCancel(s.ctx)
	opts := append(s.clientOpts[:len(s.clientOpts):len(s.clientOpts)], kgo.SeedBrokers(addr))
	if n.cl, n.broken = kgo.NewClient(opts...); n.broken == nil {
		n.broker = n.cl.SeedBrokers()[0]
	}
	return n
}

// close ends the node's probe and connections.
func (n *node) close() {
	n.cancel()
	if n.cl != nil {
		n.cl.Close()
	}
}

// request sends one request and waits for its answer. A connection that the
// broker closed since the last poll, as it does with idle ones and when it
// restarts, costs one more try: the poll after next would be too late.
func (n *node) request(ctx context.Context, req kmsg.Request) (kmsg.Response, error) {
	if n.broken != nil {
		return nil, n.broken
	}
	resp, err := n.broker.Request(ctx, req)
	if err != nil && ctx.Err() == nil && (closed(err) || says(err, "broker connection has died")) && !isFirstRead(err) {
		resp, err = n.broker.Request(ctx, req)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = context.DeadlineExceeded // and not what the cut connection said
		}
		return nil, fmt.Errorf("ask %s for %s: %w", n.addr, kmsg.NameForKey(req.Key()), err)
	}
	return resp, nil
}

// isFirstRead tells a connection that never worked from one that ended.
func isFirstRead(err error) bool {
	_, ok := errors.AsType[*kgo.ErrFirstReadEOF](err)
	return ok
}

// fallSilent marks a broker that left a request unanswered for as long as the
// poll could wait. Polls pass it over from now on; a probe repeats the request
// until it is answered, or fails at once, which costs a poll nothing. The probe
// waits as long as a poll can: with less, a slow broker would stay silent.
func (p *poll) fallSilent(n *node, req kmsg.Request, why error) {
	s, patience := p.Source, max(p.patience, 500*time.Millisecond)
	n.mu.Lock()
	n.why = why
	n.mu.Unlock()
	if n.silent.Swap(true) {
		return
	}
	s.o.Logger.Debug("broker is silent", "broker", n.id, "addr", n.addr, "request", kmsg.NameForKey(req.Key()), "waited", patience)
	s.probes.Go(func() { s.probe(n, req, patience) })
}

func (s *Source) probe(n *node, req kmsg.Request, patience time.Duration) {
	pause := min(max(patience/2, 100*time.Millisecond), 2*time.Second)
	for {
		ctx, cancel := context.WithTimeout(n.ctx, patience)
		_, err := n.request(ctx, req)
		cancel()
		if n.ctx.Err() != nil {
			return
		}
		if err == nil || !timedOut(err) {
			n.silent.Store(false)
			s.o.Logger.Debug("broker is silent no more", "broker", n.id, "addr", n.addr, "error", err)
			return
		}
		timer := time.NewTimer(pause)
		select {
		case <-n.ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// silence is what a silent broker left unanswered.
func (n *node) silence() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.why
}

// meetBrokers takes over the list of live brokers. One whose address changed
// is another one: its old connections end.
func (s *Source) meetBrokers(brokers []kmsg.MetadataResponseBroker) {
	if len(brokers) == 0 {
		return // some proxies answer so while they start
	}
	alive := make(map[int32]bool, len(brokers))
	s.brokers = make([]collect.Broker, 0, len(brokers))
	for _, b := range brokers {
		if b.NodeID < 0 {
			continue
		}
		rack := text(b.Rack)
		alive[b.NodeID] = true
		s.brokers = append(s.brokers, collect.Broker{ID: b.NodeID, Host: b.Host, Port: b.Port, Rack: rack})
		addr := net.JoinHostPort(b.Host, fmt.Sprint(b.Port))
		old := s.nodes[b.NodeID]
		if old != nil && old.addr == addr {
			continue
		}
		s.forget(old)
		s.nodes[b.NodeID] = s.newNode(b.NodeID, addr, rack)
	}
	for id, n := range s.nodes {
		if !alive[id] {
			s.forget(n)
			delete(s.nodes, id)
		}
	}
	sortBrokers(s.brokers)
}

// forget closes a node beside the poll: the library waits for its goroutines.
func (s *Source) forget(n *node) {
	if n != nil {
		s.probes.Go(n.close)
	}
}
