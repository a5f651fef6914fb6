package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/internal/kafkatest"
)

// Seven groups of real clients are disturbed, one thing each a round: members
// join, leave, are killed, static ones restart, partitions are added, the
// assignor changes, groups empty and fill again. Each rebalance must be told of
// once and none invented, with a cause that was or an honest "unknown"; and
// where generations can be read exactly, the counts are their differences.
//
// KLAGTOP_TEST_CHURN is how many steps, 100 for instance; KLAGTOP_TEST_SEED
// repeats a run.
func TestChurnOfRealClients(t *testing.T) {
	steps, _ := strconv.Atoi(os.Getenv("KLAGTOP_TEST_CHURN"))
	if steps <= 0 {
		t.Skip("no churn: KLAGTOP_TEST_CHURN is not set to a number of steps such as 100")
	}
	seed, err := strconv.ParseUint(os.Getenv("KLAGTOP_TEST_SEED"), 10, 64)
	if err != nil {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("KLAGTOP_TEST_SEED=%d", seed)
	c := realKafka.Cluster(t)
	h := &churning{t: t, c: c, random: rand.New(rand.NewPCG(seed, 1)), prefix: kafkatest.Name("churn") + "-", exact: map[string]int64{}}
	h.client = c.Client(t)
	h.admin = kadm.NewClient(h.client)
	h.assemble()
	h.readGenerations()
	marks := kafkatest.Name("marks")
	c.CreateTopic(t, marks, 1)
	for _, g := range h.groups {
		g.join(h, "")
	}
	h.settle()
	h.plain = follow(t, c, marks, h.prefix, "--interval", "250ms")
	h.tail = follow(t, c, marks, h.prefix, "--interval", "250ms", "--offsets-topic")
	for done := 0; done < steps && !t.Failed(); {
		for _, g := range h.groups {
			g.disturb(h)
			done++
		}
		h.settle()
		h.judge()
	}
	for _, g := range h.groups {
		t.Logf("%-10s %3d generations, %3d rebalance events without and %d with the offsets topic", g.name, g.generation-g.first, len(h.plain.rebalances(h.prefix+g.name)), len(h.tail.rebalances(h.prefix+g.name)))
	}
	t.Logf("%d steps in all; %v", h.steps, h.did)
}

// churning is the whole run.
type churning struct {
	t           *testing.T
	c           *kafkatest.Cluster
	random      *rand.Rand
	prefix      string
	client      *kgo.Client
	admin       *kadm.Client
	groups      []*churned
	plain, tail *following
	steps       int
	did         map[string]int

	mu    sync.Mutex
	exact map[string]int64 // the newest generation of each classic group, by the offsets topic
}

// churned is one group.
type churned struct {
	name, topic string
	classic     bool
	statics     bool
	most        int // members
	start       func(o kafkatest.ConsumerOptions, assignor string) pod
	assignors   [2]string // to change between, where a member can restart with another
	assignor    int

	pods       []*podOf
	serial     int
	partitions int

	did               string
	allowed           []string
	changes           bool // a rebalance must have been
	first, generation int64
	judged            [2]int   // events
	counted           [2]int64 // by them
}

type podOf struct {
	pod
	o kafkatest.ConsumerOptions
}

// pod is a consumer of any kind.
type pod interface {
	Close(testing.TB)
	Kill()
}

// goPod is a franz-go consumer in this process; to be killed is to be cut off.
type goPod struct {
	cl     *kgo.Client
	cancel context.CancelFunc
	done   chan struct{}

	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

func (p *goPod) dial(ctx context.Context, network, host string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, host)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil || p.cut {
		return nil, errors.Join(err, net.ErrClosed)
	}
	p.conns = append(p.conns, conn)
	return conn, nil
}

func (p *goPod) Close(testing.TB) {
	p.cancel()
	<-p.done
	p.cl.Close()
}

func (p *goPod) Kill() {
	p.mu.Lock()
	p.cut = true
	for _, conn := range p.conns {
		conn.Close()
	}
	p.mu.Unlock()
	p.Close(nil)
}

func (h *churning) goPod(o kafkatest.ConsumerOptions, assignor string) pod {
	balancer := map[string]kgo.GroupBalancer{"range": kgo.RangeBalancer(), "roundrobin": kgo.RoundRobinBalancer(), "cooperative": kgo.CooperativeStickyBalancer()}[assignor]
	opts := []kgo.Opt{
		kgo.SeedBrokers(h.c.Bootstrap()), kgo.ConsumerGroup(o.Group), kgo.ConsumeTopics(o.Topics...), kgo.ClientID(o.ClientID), kgo.Balancers(balancer),
		kgo.HeartbeatInterval(300 * time.Millisecond), kgo.SessionTimeout(10 * time.Second), kgo.MetadataMaxAge(2 * time.Second), kgo.MetadataMinAge(time.Second),
	}
	if o.InstanceID != "" {
		opts = append(opts, kgo.InstanceID(o.InstanceID))
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.t.Context()))
	p := &goPod{cancel: cancel, done: make(chan struct{})}
	cl, err := kgo.NewClient(append(opts, kgo.Dialer(p.dial))...)
	if err != nil {
		h.t.Fatal(err)
	}
	p.cl = cl
	go func() {
		defer close(p.done)
		for ctx.Err() == nil {
			cl.PollFetches(ctx)
		}
	}()
	return p
}

// assemble makes the groups and their topics.
func (h *churning) assemble() {
	t, c := h.t, h.c
	const java = "org.apache.kafka.clients.consumer."
	fresh := map[string]string{"metadata.max.age.ms": "2000"}
	javaPod := func(o kafkatest.ConsumerOptions, assignor string) pod {
		if o.Properties = fresh; assignor == "consumer" {
			o.Protocol = assignor
		} else {
			o.Assignor = java + assignor
		}
		return c.JavaConsumer(t, o)
	}
	librdkafka := func(o kafkatest.ConsumerOptions, assignor string) pod {
		o.Assignor, o.Properties = assignor, map[string]string{"topic.metadata.refresh.interval.ms": "2000"}
		return c.LibrdkafkaConsumer(t, o)
	}
	kafkaJS := func(o kafkatest.ConsumerOptions, _ string) pod { return c.KafkaJSConsumer(t, o) }
	h.groups = []*churned{
		{name: "java-range", classic: true, statics: true, most: 2, start: javaPod, assignors: [2]string{"RangeAssignor", "RoundRobinAssignor"}},
		{name: "java-coop", classic: true, statics: true, most: 2, start: javaPod, assignors: [2]string{"CooperativeStickyAssignor"}},
		{name: "java-848", statics: true, most: 2, start: javaPod, assignors: [2]string{"consumer"}},
		{name: "kafkajs", classic: true, most: 3, start: kafkaJS},
		{name: "librd-coop", classic: true, statics: true, most: 3, start: librdkafka, assignors: [2]string{"cooperative-sticky"}},
		{name: "go-range", classic: true, statics: true, most: 4, start: h.goPod, assignors: [2]string{"range", "roundrobin"}},
		{name: "go-coop", classic: true, most: 4, start: h.goPod, assignors: [2]string{"cooperative"}},
	}
	for _, g := range h.groups {
		g.topic, g.partitions = h.prefix+g.name, 4
		c.CreateTopic(t, g.topic, 4)
		c.Produce(t, g.topic, 5, 0, 1, 2, 3)
	}
	t.Cleanup(func() {
		for _, g := range h.groups {
			for _, p := range g.pods {
				p.Kill()
			}
		}
	})
}

// readGenerations follows the coordinator's own records.
func (h *churning) readGenerations() {
	cl := h.c.Client(h.t, kgo.ConsumeTopics("__consumer_offsets"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	go func() {
		for {
			fs := cl.PollFetches(context.Background())
			if fs.IsClientClosed() {
				return
			}
			fs.EachRecord(func(r *kgo.Record) {
				var key kmsg.GroupMetadataKey
				if len(r.Key) < 2 || r.Key[1] != 2 || key.ReadFrom(r.Key) != nil || r.Value == nil {
					return
				}
				var v kmsg.GroupMetadataValue
				if v.ReadFrom(r.Value) == nil {
					h.mu.Lock()
					h.exact[key.Group] = int64(v.Generation)
					h.mu.Unlock()
				}
			})
		}
	}()
}

func (g *churned) options(h *churning, instance string) kafkatest.ConsumerOptions {
	g.serial++
	return kafkatest.ConsumerOptions{Group: h.prefix + g.name, Topics: []string{g.topic}, ClientID: fmt.Sprintf("pod-%d", g.serial), InstanceID: instance, Commit: 300 * time.Millisecond}
}

func (g *churned) join(h *churning, instance string) {
	if instance == "" && g.statics && h.random.IntN(2) == 0 {
		instance = fmt.Sprintf("static-%d", g.serial+1)
	}
	o := g.options(h, instance)
	g.pods = append(g.pods, &podOf{g.start(o, g.assignors[g.assignor]), o})
}

// disturb does one thing to the group.
func (g *churned) disturb(h *churning) {
	var can []string
	add := func(yes bool, what ...string) {
		if yes {
			can = append(can, what...)
		}
	}
	n := len(g.pods)
	static := slices.IndexFunc(g.pods, func(p *podOf) bool { return p.o.InstanceID != "" })
	add(n < g.most, "join", "join")
	add(n > 1, "leave", "kill")
	add(n == 1, "empty")
	add(n > 0 && g.partitions < 10 && g.name != "kafkajs", "partition") // KafkaJS does not notice for minutes
	add(static >= 0, "restart")
	add(static >= 0 && n == 1 && g.assignors[1] != "", "roll")
	g.did = can[h.random.IntN(len(can))]
	if n == 0 {
		g.did = "refill"
	}
	h.steps++
	if h.did == nil {
		h.did = map[string]int{}
	}
	h.did[g.did]++
	g.changes = true
	gone := []string{"member_left", "member_timed_out"}
	switch g.did {
	case "join", "refill":
		g.allowed = []string{"member_joined"}
		g.join(h, "")
	case "leave", "kill", "empty":
		g.allowed, g.changes = gone, g.did != "empty"
		i := h.random.IntN(n)
		p := g.pods[i]
		g.pods = slices.Delete(g.pods, i, i+1)
		if g.did == "kill" {
			p.Kill()
		} else {
			p.Close(h.t)
		}
	case "partition":
		g.allowed = []string{"partitions_changed"}
		g.partitions++
		if _, err := h.admin.CreatePartitions(h.t.Context(), 1, g.topic); err != nil {
			h.t.Fatal(err)
		}
	case "restart", "roll":
		// On a busy machine a client may need longer to start than its session lasts.
		g.allowed, g.changes = append(gone, "member_joined", "static_restart"), false
		if g.did == "roll" {
			g.allowed, g.changes = append(g.allowed, "assignor_changed"), true
			g.assignor = 1 - g.assignor
		}
		p := g.pods[static]
		p.Kill()
		o := g.options(h, p.o.InstanceID)
		o.ClientID = p.o.ClientID // brokers keep the first one's
		g.pods[static] = &podOf{g.start(o, g.assignors[g.assignor]), o}
	}
}

// settle waits until brokers show every group as it is to be.
func (h *churning) settle() {
	h.t.Helper()
	for _, g := range h.groups {
		eventually(h.t, func() error { return g.unsettled(h) })
	}
}

// unsettled says what is missing: with the members and all partitions dealt out
// to them, twice in a row with the same generation.
func (g *churned) unsettled(h *churning) error {
	before := int64(-1)
	for range 2 {
		members, owned, state, generation, err := g.look(h)
		switch {
		case err != nil:
			return err
		case len(members) != len(g.pods), state != "Stable" && len(g.pods) > 0, state != "Empty" && len(g.pods) == 0:
			return fmt.Errorf("%s after %s: %s with %v, want %d members", g.name, g.did, state, members, len(g.pods))
		case owned != g.partitions && len(g.pods) > 0:
			return fmt.Errorf("%s after %s: %d partitions are dealt out of %d", g.name, g.did, owned, g.partitions)
		case before >= 0 && before != generation:
			return fmt.Errorf("%s: generation %d, then %d", g.name, before, generation)
		}
		for _, p := range g.pods {
			if !slices.Contains(members, p.o.ClientID) {
				return fmt.Errorf("%s after %s: %v, and not %s", g.name, g.did, members, p.o.ClientID)
			}
		}
		before = generation
		time.Sleep(300 * time.Millisecond) // a cooperative group is Stable between its rounds, for milliseconds
	}
	if g.generation = before; g.first == 0 {
		g.first = before
	}
	return nil
}

func (g *churned) look(h *churning) (members []string, owned int, state string, generation int64, err error) {
	name := h.prefix + g.name
	if g.classic {
		d, err := h.admin.DescribeGroups(h.t.Context(), name)
		if err != nil {
			return nil, 0, "", 0, err
		}
		described := d[name]
		for _, m := range described.Members {
			members = append(members, m.ClientID)
		}
		described.AssignedPartitions().Each(func(string, int32) { owned++ })
		h.mu.Lock()
		defer h.mu.Unlock()
		return members, owned, described.State, h.exact[name], described.Err
	}
	req := kmsg.NewPtrConsumerGroupDescribeRequest()
	req.Groups = []string{name}
	resp, err := req.RequestWith(h.t.Context(), h.client)
	if err != nil || len(resp.Groups) != 1 {
		return nil, 0, "", 0, fmt.Errorf("describe %s: %w", name, err)
	}
	d := resp.Groups[0]
	for _, m := range d.Members {
		members = append(members, m.ClientID)
		for _, tp := range m.Assignment.TopicPartitions {
			owned += len(tp.Partitions)
		}
	}
	return members, owned, d.State, int64(d.Epoch), nil
}

// judge holds what klagtop told since the last round against what was done.
func (h *churning) judge() {
	h.plain.mark(h.t)
	h.tail.mark(h.t)
	for _, g := range h.groups {
		for i, f := range []*following{h.plain, h.tail} {
			all := f.rebalances(h.prefix + g.name)
			es := all[g.judged[i]:]
			g.judged[i] = len(all)
			for _, e := range es {
				g.counted[i] += e.Count
				if e.Cause != "unknown" && !slices.Contains(g.allowed, e.Cause) {
					h.t.Errorf("%s after %s: cause %s: %s", g.name, g.did, e.Cause, e.Text)
				}
				if e.Cause == "unknown" {
					h.did["unknown cause of "+g.did]++
				}
			}
			grew := g.generation - g.first
			switch {
			case g.counted[i] > grew:
				h.t.Errorf("%s after %s: %d rebalances are counted, %d generations were", g.name, g.did, g.counted[i], grew)
			case g.changes && len(es) == 0:
				h.t.Errorf("%s after %s: no rebalance is told of", g.name, g.did)
			case (!g.classic || i == 1) && g.counted[i] != grew:
				h.did[fmt.Sprintf("%s exact count off by %d", g.name, grew-g.counted[i])]++
				if !g.classic {
					h.t.Errorf("%s after %s: %d rebalances are counted, the epoch grew by %d", g.name, g.did, g.counted[i], grew)
				}
			}
			if len(es) > 1 {
				h.did["several events of one "+g.did]++
			}
		}
		h.t.Logf("%-10s %-9s generation %d, counted %d and %d", g.name, g.did, g.generation, g.counted[0], g.counted[1])
	}
}
