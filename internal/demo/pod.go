package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	commitEvery    = 400 * time.Millisecond
	heartbeat      = time.Second
	sessionTimeout = 6 * time.Second
	// handleFor is about how long a pod handles what it took in one poll.
	handleFor = 100 * time.Millisecond
	// leaveWithin is real time, whatever the pace.
	leaveWithin = 2 * time.Second
)

// errCrash, as the cause of a pod's end, makes it vanish instead of leaving its group.
var errCrash = errors.New("crashed")

// application is what all pods of one group have in common.
type application struct {
	group  string
	topics []string
	// serverSide is whether the group speaks KIP-848, where the broker assigns, instead of the classic
	// protocol with the range assignor.
	serverSide bool
	// perSecond is how many records each pod handles in a second at pace 1. At 0 a pod is a member that
	// reads nothing.
	perSecond atomic.Int64
}

// pod is one member of an application's group.
type pod struct {
	name  string
	app   *application
	seeds []string
	tempo tempo
}

// Run joins the group and handles records until ctx is done: then it commits and leaves, or, when the cause
// is errCrash, loses its connections and is gone without a word.
func (p *pod) Run(ctx context.Context) error {
	wires := new(cuttable)
	powered, powerOff := context.WithCancel(context.WithoutCancel(ctx))
	defer powerOff()
	client, err := kgo.NewClient(append(p.options(), kgo.WithContext(powered), kgo.Dialer(wires.dial))...)
	if err != nil {
		return fmt.Errorf("create pod %s: %w", p.name, err)
	}
	for ctx.Err() == nil {
		p.handle(ctx, client)
	}
	if errors.Is(context.Cause(ctx), errCrash) {
		wires.cut()
		powerOff()
	}
	// Who leaves in the middle of a rebalance may wait for an answer that never comes.
	enough := time.AfterFunc(leaveWithin, powerOff)
	defer enough.Stop()
	client.CloseAllowingRebalance()
	return nil
}

func (p *pod) options() []kgo.Opt {
	options := []kgo.Opt{
		kgo.SeedBrokers(p.seeds...),
		kgo.ClientID(p.name),
		kgo.ConsumerGroup(p.app.group),
		kgo.ConsumeTopics(p.app.topics...),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		// Range deals each topic by itself: 3/3, 2/2/2, and nothing for the seventh of six.
		kgo.Balancers(kgo.RangeBalancer()),
		kgo.SessionTimeout(p.tempo.shorten(sessionTimeout)),
		kgo.HeartbeatInterval(p.tempo.shorten(heartbeat)),
		kgo.AutoCommitMarks(),
		kgo.AutoCommitInterval(max(p.tempo.shorten(commitEvery), 100*time.Millisecond)),
		kgo.BlockRebalanceOnPoll(),
		// The client hands out all it fetched of one partition before the next: only with little at a time do
		// all partitions of a slow pod move. The least that works is one batch of the backlog.
		kgo.FetchMaxPartitionBytes(3 << 9),
		// A partition that was assigned while a fetch of idle ones waits has to wait for it.
		kgo.FetchMaxWait(500 * time.Millisecond),
	}
	if p.app.serverSide {
		options = append(options, kgo.ServerSideBalancer())
	}
	return options
}

// handle takes a few records, spends the time that they cost, and marks them for the next commit. Records
// whose handling was cut short by the end of ctx are not marked.
func (p *pod) handle(ctx context.Context, client *kgo.Client) {
	perSecond := p.tempo.rate(float64(p.app.perSecond.Load()))
	if perSecond <= 0 {
		_ = sleep(ctx, p.tempo.shorten(handleFor))
		return
	}
	records := client.PollRecords(ctx, max(1, int(perSecond*handleFor.Seconds()))).Records()
	if sleep(ctx, time.Duration(float64(len(records))/perSecond*float64(time.Second))) == nil {
		client.MarkCommitRecords(records...)
	}
	client.AllowRebalance()
}

// cuttable dials connections that can all be cut at once, after which nobody can be reached any more.
type cuttable struct {
	mu    sync.Mutex
	conns []net.Conn
	isCut bool
}

var errCut = errors.New("no network: the machine is down")

func (c *cuttable) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isCut {
		_ = conn.Close()
		return nil, errCut
	}
	c.conns = append(c.conns, conn)
	return conn, nil
}

func (c *cuttable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isCut = true
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.conns = nil
}
