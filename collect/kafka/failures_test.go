package kafka

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// groupOn gives a group name whose coordinator is the broker.
func (b *bed) groupOn(prefix string, node int32) string {
	for i := range 1000 {
		if name := fmt.Sprintf("%s-%d", prefix, i); b.c.CoordinatorFor(name) == node {
			return name
		}
	}
	b.Fatalf("no group on broker %d", node)
	return ""
}

// spread makes a topic with partition p led by broker p, ten records each, and
// a group on each broker that has committed 4 everywhere.
func (b *bed) spread() (groups [3]string) {
	b.topic("market-updates", 3)
	for p := range int32(3) {
		b.must(b.c.MoveTopicPartition("market-updates", p, p))
	}
	for p := range int32(3) {
		b.produce("market-updates", p, 10)
		groups[p] = b.groupOn("ticker", p)
	}
	for _, g := range groups {
		b.commit(g, "market-updates", map[int32]int64{0: 4, 1: 4, 2: 4})
	}
	return groups
}

// silence makes a broker take requests and answer none, but the first one of a
// connection, while on is set.
func (b *bed) silence(node int32) (on *atomic.Bool) {
	on = &atomic.Bool{}
	b.c.Control(func(r kmsg.Request) (kmsg.Response, error, bool) {
		b.c.KeepControl()
		if on.Load() && b.c.CurrentNode() == node && r.Key() != int16(kmsg.ApiVersions) {
			return nil, nil, true
		}
		return nil, nil, false
	})
	return on
}

func TestSilentBroker(t *testing.T) {
	inVirtualTime(t, func(b *bed) {
		groups := b.spread()
		silent := b.silence(2)
		s := b.poll()
		for _, g := range groups {
			b.wantGroup(s, g, "classic Empty  members=0 lag=18/3 unknown=0 stale=0")
		}

		silent.Store(true)
		s = b.poll()
		if s.Complete || !s.Reached || s.Took > b.timeout {
			b.Errorf("complete %v, reached %v, took %v: a broker is silent", s.Complete, s.Reached, s.Took)
		}
		for _, g := range groups[:2] {
			b.wantGroup(s, g, "classic Empty  members=0 lag=18/3 unknown=0 stale=1")
		}
		b.wantGroup(s, groups[2], "classic Empty timeout members=0 lag=18/3 unknown=0 stale=3")
		b.wantProblems(s, "list_groups broker=2 group= topic=/-1 timeout: no answer in time")

		// from then on it holds nobody up, as long as it stays so
		for range 3 {
			time.Sleep(time.Minute)
			s = b.poll()
			if s.Took > 0 {
				b.Errorf("a poll took %v of a silent broker's time", s.Took)
			}
			b.wantGroup(s, groups[0], "classic Empty  members=0 lag=18/3 unknown=0 stale=1")
			b.wantGroup(s, groups[2], "classic Empty timeout members=0 lag=18/3 unknown=0 stale=3")
			b.wantProblems(s, "list_groups broker=2 group= topic=/-1 timeout: no answer in time")
			if s.Cluster.Brokers[2].Reason != collect.ReasonTimeout || s.Cluster.Brokers[1].Reason != collect.ReasonNone {
				b.Errorf("brokers %+v", s.Cluster.Brokers)
			}
		}

		silent.Store(false)
		time.Sleep(10 * time.Second)
		s = b.poll()
		b.wantProblems(s, "")
		for _, g := range groups {
			b.wantGroup(s, g, "classic Empty  members=0 lag=18/3 unknown=0 stale=0")
		}
		if !s.Complete {
			b.Error("not complete after the broker came back")
		}
	})
}

// A source that starts while one of its brokers is silent reads the others.
func TestSilentFromTheStart(t *testing.T) {
	inVirtualTime(t, func(b *bed) {
		groups := b.spread()
		b.silence(2).Store(true)
		s := b.poll()
		b.wantGroup(s, groups[0], "classic Empty  members=0 lag=12/2 unknown=1 stale=0")
		b.wantGroup(s, groups[2], "absent")
		if s.Complete || !s.Reached || s.Took > b.timeout {
			b.Errorf("complete %v reached %v took %v", s.Complete, s.Reached, s.Took)
		}
	})
}

// Whatever request a broker falls silent to, the poll ends in time with the
// others' numbers.
func TestSilentToOneRequest(t *testing.T) {
	for _, key := range []kmsg.Key{kmsg.Metadata, kmsg.ListGroups, kmsg.DescribeGroups, kmsg.OffsetFetch, kmsg.ListOffsets} {
		t.Run(key.Name(), func(t *testing.T) {
			inVirtualTime(t, func(b *bed) {
				groups := b.spread()
				b.poll()
				b.c.ControlKey(int16(key), func(kmsg.Request) (kmsg.Response, error, bool) {
					b.c.KeepControl()
					return nil, nil, b.c.CurrentNode() == 2
				})
				for range 2 {
					s := b.poll()
					if s.Took > b.timeout {
						b.Errorf("took %v", s.Took)
					}
					g, ok := s.Group(groups[0])
					if !ok || g.Lag.Records != 18 || g.Reason != collect.ReasonNone {
						b.Errorf("group of another broker: %s", groupText(s, groups[0]))
					}
				}
			})
		})
	}
}

// All brokers silent, and a deadline: the poll ends by it, and the next one at
// once.
// slowReads makes each answer but those about the connection and the cluster
// late, while on is set.
type slowReads struct {
	on atomic.Bool
	by time.Duration
}

func (h *slowReads) OnBrokerRead(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, _ error) {
	if h.on.Load() && key != int16(kmsg.ApiVersions) && key != int16(kmsg.Metadata) {
		time.Sleep(h.by)
	}
}

func TestSlowBrokersAreNotSilentForEver(t *testing.T) {
	inVirtualTime(t, func(b *bed) {
		groups := b.spread()
		// the time is over before the last stage, in which next to nothing is left
		slow := &slowReads{by: 1600 * time.Millisecond}
		b.source(kgo.WithHooks(slow))
		b.poll()
		slow.on.Store(true)
		s := b.poll()
		b.wantGroup(s, groups[0], "classic Empty  members=0 lag=18/3 unknown=0 stale=3")
		for range 3 {
			time.Sleep(5 * time.Second)
			if s = b.poll(); !s.Reached {
				b.Fatalf("brokers that answer are passed over: %s", problemText(s))
			}
			b.wantGroup(s, groups[0], "classic Empty  members=0 lag=18/3 unknown=0 stale=3")
		}
		slow.on.Store(false)
		time.Sleep(10 * time.Second)
		b.wantGroup(b.poll(), groups[0], "classic Empty  members=0 lag=18/3 unknown=0 stale=0")
	})
}

func TestAllSilent(t *testing.T) {
	inVirtualTime(t, func(b *bed) {
		groups := b.spread()
		b.poll()
		for node := range int32(3) {
			b.silence(node).Store(true)
		}
		s := b.poll()
		if s.Reached || s.Took > b.timeout {
			b.Errorf("reached %v took %v", s.Reached, s.Took)
		}
		b.wantGroup(s, groups[0], "classic Empty timeout members=0 lag=18/3 unknown=0 stale=3")
		if s = b.poll(); s.Reached || s.Took > b.timeout {
			b.Errorf("reached %v took %v", s.Reached, s.Took)
		}
		b.wantGroup(s, groups[0], "classic Empty timeout members=0 lag=18/3 unknown=0 stale=3")
		time.Sleep(6 * time.Minute) // longer than a number stands
		s = b.poll()
		b.wantGroup(s, groups[0], "classic Unknown timeout members=? lag=-1/0 unknown=3 stale=0")
	})
}

func TestNothingThere(t *testing.T) {
	b := newBed(t)
	groups := b.spread()
	b.poll()
	b.c.Close()
	b.timeout = 2 * time.Second
	s := b.poll()
	if s.Reached || s.Complete {
		t.Errorf("reached %v complete %v of a stopped cluster", s.Reached, s.Complete)
	}
	b.wantGroup(s, groups[0], "classic Empty broker_down members=0 lag=18/3 unknown=0 stale=3")
	for _, p := range s.Problems {
		if p.Stage != collect.StageConnect || p.Reason != collect.ReasonBrokerDown || len(s.Problems) != 3 {
			t.Errorf("each broker once, as not to be reached: %s", problemText(s))
			break
		}
	}

	addr := "127.0.0.1:1"
	src, err := New(Config{Brokers: []string{addr}}, Options{})
	b.must(err)
	defer src.Close()
	b.src, b.prev = src, nil
	s = b.poll()
	if s.Reached || s.Complete {
		t.Errorf("reached %v complete %v where nothing listens", s.Reached, s.Complete)
	}
	b.wantProblems(s, "connect broker=-1 group= topic=/-1 broker_down: nothing listens on 127.0.0.1:1 (connection refused)")
}

func TestBrokerGone(t *testing.T) {
	b := newBed(t)
	groups := b.spread()
	b.poll()
	b.must(b.c.RemoveNode(2))
	s := b.poll()
	// kfake moves coordinators and leaders at once
	for _, g := range groups {
		b.wantGroup(s, g, "classic Empty  members=0 lag=18/3 unknown=0 stale=0")
	}
	if len(s.Cluster.Brokers) != 2 {
		t.Errorf("brokers %+v", s.Cluster.Brokers)
	}
}

// answerAs lets the group requests of one broker, or of all (-1), fail with a
// code for one group, or for all ("").
func (b *bed) fault(err *kerr.Error, node int32, group string, topLevel bool, keys ...kmsg.Key) *kfake.FaultHandle {
	f := kfake.Fault{Keys: keys, Group: group, TopLevel: topLevel, Err: err, Count: -1}
	if node >= 0 {
		f.Nodes = []int32{node}
	}
	return b.c.Fault(f)
}

func TestCoordinatorLoading(t *testing.T) {
	b := newBed(t)
	groups := b.spread()
	b.poll()
	list := b.fault(kerr.CoordinatorLoadInProgress, 1, "", true, kmsg.ListGroups)
	rest := b.fault(kerr.CoordinatorLoadInProgress, 1, "", false, kmsg.DescribeGroups, kmsg.OffsetFetch)
	s := b.poll()
	b.wantGroup(s, groups[1], "classic Empty loading members=0 lag=18/3 unknown=0 stale=3")
	b.wantGroup(s, groups[0], "classic Empty  members=0 lag=18/3 unknown=0 stale=0")
	if s.Complete {
		t.Error("complete while a coordinator loads")
	}
	list.Remove() // the list is there again before each group is
	s = b.poll()
	b.wantGroup(s, groups[1], "classic Empty loading members=0 lag=18/3 unknown=0 stale=3")
	rest.Remove()
	s = b.poll()
	b.wantProblems(s, "")
	b.wantGroup(s, groups[1], "classic Empty  members=0 lag=18/3 unknown=0 stale=0")
}

func TestDeniedGroup(t *testing.T) {
	b := newBed(t)
	groups := b.spread()
	b.fault(kerr.GroupAuthorizationFailed, -1, groups[1], false, kmsg.DescribeGroups, kmsg.OffsetFetch)
	s := b.poll()
	b.wantGroup(s, groups[1], "classic Empty denied members=? lag=-1/0 unknown=0 stale=0")
	b.wantGroup(s, groups[0], "classic Empty  members=0 lag=18/3 unknown=0 stale=0")
	b.wantProblems(s, fmt.Sprintf("describe broker=1 group=%s topic=/-1 denied: GROUP_AUTHORIZATION_FAILED: Not authorized to access group: Group authorization failed.", groups[1]))
}

// A group is gone when its coordinator says so, and for nothing else.
func TestGroupsThatNoListHas(t *testing.T) {
	empty := "classic Empty  members=0 lag=18/3 unknown=0 stale=0"
	tests := map[string]struct {
		hide func(b *bed, group string)
		want string
	}{
		"its coordinator does not know it": {func(b *bed, group string) {
			req := kmsg.NewPtrDeleteGroupsRequest()
			req.Groups = []string{group}
			_, err := req.RequestWith(b.Context(), b.cl)
			b.must(err)
		}, "absent"},
		"a list without it, and it is there": {func(b *bed, group string) { b.hideFromLists(group) }, empty},
		"nobody knows who coordinates it": {func(b *bed, group string) {
			b.hideFromLists(group)
			b.fault(kerr.NotCoordinator, -1, group, false, kmsg.DescribeGroups, kmsg.ConsumerGroupDescribe, kmsg.ShareGroupDescribe, kmsg.OffsetFetch)
		}, "classic Empty loading members=0 lag=18/3 unknown=0 stale=3"},
		"its coordinator is loading": {func(b *bed, group string) {
			b.hideFromLists(group)
			b.fault(kerr.CoordinatorLoadInProgress, -1, group, false, kmsg.DescribeGroups, kmsg.ConsumerGroupDescribe, kmsg.ShareGroupDescribe, kmsg.OffsetFetch)
		}, "classic Empty loading members=0 lag=18/3 unknown=0 stale=3"},
		"unknown as what it was, and the other kinds cannot be asked": {func(b *bed, group string) {
			b.hideFromLists(group)
			b.fault(kerr.GroupIDNotFound, -1, group, false, kmsg.DescribeGroups)
			b.fault(kerr.CoordinatorLoadInProgress, -1, group, false, kmsg.ConsumerGroupDescribe)
		}, "classic Empty loading members=0 lag=18/3 unknown=0 stale=0"},
		"forbidden": {func(b *bed, group string) {
			b.hideFromLists(group)
			b.fault(kerr.GroupAuthorizationFailed, -1, group, false, kmsg.DescribeGroups, kmsg.OffsetFetch)
		}, "classic Empty denied members=? lag=-1/0 unknown=3 stale=0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			group := b.spread()[1]
			b.wantGroup(b.poll(), group, empty)
			tt.hide(b, group)
			b.wantGroup(b.poll(), group, tt.want)
			b.wantGroup(b.poll(), group, tt.want)
		})
	}
}

// A broker that has just taken over may not have read a group's newest records:
// its word that the group is gone counts when it repeats it.
func TestGoneAfterATakeover(t *testing.T) {
	inVirtualTime(t, func(b *bed) {
		group := b.spread()[1]
		kept := "classic Empty loading members=0 lag=18/3 unknown=0 stale=3"
		b.poll()
		for b.c.CoordinatorFor(group) == 1 {
			b.c.RehashCoordinators()
		}
		req := kmsg.NewPtrDeleteGroupsRequest()
		req.Groups = []string{group}
		_, err := req.RequestWith(b.Context(), b.cl)
		b.must(err)
		b.wantGroup(b.poll(), group, kept)
		time.Sleep(takeoverPause / 2) // virtual
		b.wantGroup(b.poll(), group, kept)
		time.Sleep(takeoverPause)
		b.wantGroup(b.poll(), group, "absent")
	})
}

// hideFromLists takes a group out of every broker's list.
func (b *bed) hideFromLists(group string) {
	b.rewriteLists(func(_ int32, r *kmsg.ListGroupsResponse) {
		keep := r.Groups[:0]
		for _, g := range r.Groups {
			if g.Group != group {
				keep = append(keep, g)
			}
		}
		r.Groups = keep
	})
}

// rewriteLists changes each list before it is sent.
func (b *bed) rewriteLists(change func(node int32, r *kmsg.ListGroupsResponse)) {
	clients := map[int32]*kgo.Client{}
	for i, addr := range b.c.ListenAddrs() {
		cl, err := kgo.NewClient(append(slices.Clone(b.dial), kgo.SeedBrokers(addr), kgo.ClientID("rewriter"), kgo.DisableClientMetrics())...)
		b.must(err)
		b.Cleanup(cl.Close)
		clients[int32(i)] = cl
	}
	var inner atomic.Int32
	b.c.ControlKey(int16(kmsg.ListGroups), func(r kmsg.Request) (kmsg.Response, error, bool) {
		b.c.KeepControl()
		if len(r.(*kmsg.ListGroupsRequest).StatesFilter) > 0 { // our own
			return nil, nil, false
		}
		node := b.c.CurrentNode()
		var resp kmsg.Response
		var err error
		b.c.SleepControl(func() {
			inner.Add(1)
			again := kmsg.NewPtrListGroupsRequest()
			again.StatesFilter = []string{"Empty", "Stable", "PreparingRebalance", "CompletingRebalance"}
			resp, err = clients[node].SeedBrokers()[0].Request(b.Context(), again)
		})
		if err != nil {
			return nil, err, true
		}
		list := resp.(*kmsg.ListGroupsResponse)
		list.Version = r.GetVersion()
		change(node, list)
		return list, nil, true
	})
}

// Two brokers list a group while it moves; the one that has lost it says so
// when asked.
func TestGroupListedTwice(t *testing.T) {
	b := newBed(t)
	group := b.spread()[1]
	b.rewriteLists(func(node int32, r *kmsg.ListGroupsResponse) {
		if node == 1 {
			return
		}
		g := kmsg.NewListGroupsResponseGroup()
		g.Group, g.GroupState, g.GroupType = group, "Stable", "classic"
		r.Groups = append(r.Groups, g)
	})
	for range 2 {
		s := b.poll()
		b.wantGroup(s, group, "classic Empty  members=0 lag=18/3 unknown=0 stale=0")
		if g, _ := s.Group(group); g.Coordinator != 1 {
			t.Errorf("coordinator %d, want 1", g.Coordinator)
		}
	}
}

func TestUnsupportedTypes(t *testing.T) {
	tests := map[string]struct{ typ, want string }{
		"the broker has no request for streams groups": {"streams", "streams Stable unsupported members=? lag=18/3 unknown=0 stale=0"},
		"a type from the future":                       {"martian", "martian Stable unsupported members=? lag=18/3 unknown=0 stale=0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			group := b.spread()[1]
			b.rewriteLists(func(_ int32, r *kmsg.ListGroupsResponse) {
				for i := range r.Groups {
					if r.Groups[i].Group == group {
						r.Groups[i].GroupType, r.Groups[i].GroupState = tt.typ, "Stable"
					}
				}
			})
			s := b.poll()
			b.wantGroup(s, group, tt.want)
			b.wantProblems(s, "")
			if !s.Complete {
				t.Error("an answer about the group makes nothing incomplete")
			}
		})
	}
}

// A broker that has just taken over tells of members when it has read of them,
// or they of themselves: a group does not empty and fill for that.
func TestEmptiedByATakeover(t *testing.T) {
	now := time.Now()
	p := &poll{Source: &Source{o: Options{Now: func() time.Time { return now }}}}
	says := func(node int32, state string, members int) answer {
		return answer{node: node, kind: kindClassic, facts: collect.GroupFacts{State: state, Members: make([]collect.Member, members)}}
	}
	g := newGroup("ticker")
	g.take(says(1, collect.StateStable, 2))
	for _, tt := range []struct {
		name string
		wait time.Duration
		a    answer
		want bool
	}{
		{"its own coordinator says so", 0, says(1, collect.StateEmpty, 0), false},
		{"another one tells of members", 0, says(2, collect.StatePreparingRebalance, 2), false},
		{"another one calls it empty", 0, says(2, collect.StateEmpty, 0), true},
		{"and again a little later", takeoverPause / 2, says(2, collect.StateEmpty, 0), true},
		{"and still", takeoverPause, says(2, collect.StateEmpty, 0), false},
		{"a third one, for the first time", takeoverPause, says(3, collect.StateEmpty, 0), true},
	} {
		now = now.Add(tt.wait)
		if got := p.emptied(g, tt.a); got != tt.want {
			t.Errorf("%s: held back %v, want %v", tt.name, got, tt.want)
		}
	}
	g.take(says(2, collect.StateEmpty, 0))
	if p.emptied(g, says(3, collect.StateEmpty, 0)) {
		t.Error("a group that was empty before is held back")
	}
}
