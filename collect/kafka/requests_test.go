package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/klagtop/klagtop/collect"
)

// A meter counts what one client id asks.
type meter struct {
	mu   sync.Mutex
	keys map[kmsg.Key]int
	see  func(kmsg.Request)
}

// meter counts from now on; administrators and members do not run meanwhile.
func (b *bed) meter(see func(kmsg.Request)) *meter {
	m := &meter{keys: map[kmsg.Key]int{}, see: see}
	for k := range int16(93) {
		if kmsg.RequestForKey(k) == nil {
			continue
		}
		b.c.ControlKey(k, func(r kmsg.Request) (kmsg.Response, error, bool) {
			b.c.KeepControl()
			m.mu.Lock()
			defer m.mu.Unlock()
			m.keys[kmsg.Key(r.Key())]++
			if m.see != nil {
				m.see(r)
			}
			return nil, nil, false
		})
	}
	return m
}

func (m *meter) take() map[kmsg.Key]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.keys
	m.keys = map[kmsg.Key]int{}
	return out
}

// Nothing that a source asks for changes a cluster, joins a group or makes a
// topic.
func TestAsksForNothingElse(t *testing.T) {
	b := newBed(t)
	groups := b.spread()
	b.topic("gone", 1)
	b.produce("gone", 0, 3)
	b.commit(groups[0], "gone", map[int32]int64{0: 1})
	allowed := map[kmsg.Key]bool{
		kmsg.ApiVersions: true, kmsg.Metadata: true, kmsg.ListGroups: true, kmsg.DescribeGroups: true, kmsg.ConsumerGroupDescribe: true,
		kmsg.ShareGroupDescribe: true, kmsg.StreamsGroupDescribe: true, kmsg.OffsetFetch: true, kmsg.ListOffsets: true,
		kmsg.OffsetForLeaderEpoch: true, kmsg.DescribeProducers: true, kmsg.ListTransactions: true, kmsg.DescribeTransactions: true,
		kmsg.DescribeConfigs: true,
	}
	m := b.meter(func(r kmsg.Request) {
		switch r := r.(type) {
		case *kmsg.MetadataRequest:
			if r.AllowAutoTopicCreation {
				t.Error("a Metadata request that may create topics")
			}
		case *kmsg.OffsetFetchRequest:
			if r.RequireStable {
				t.Error("OffsetFetch with RequireStable")
			}
		case *kmsg.ListOffsetsRequest:
			seen := map[string]bool{}
			for _, t2 := range r.Topics {
				for _, p := range t2.Partitions {
					id := fmt.Sprint(t2.Topic, p.Partition)
					if seen[id] {
						t.Errorf("%s/%d twice in one ListOffsets", t2.Topic, p.Partition)
					}
					seen[id] = true
				}
			}
		}
	})
	b.poll()
	b.must(b.c.DeleteTopic("gone"))
	b.hideFromLists(groups[2])
	b.poll()
	b.source().OffsetsAt(t.Context(), []collect.TimeQuery{{Topic: "market-updates", Partition: 0, Timestamp: collect.TimestampNewest}})
	b.source().EpochEnds(t.Context(), []collect.EpochQuery{{Topic: "market-updates", Epoch: 0, Leader: 1}})
	b.source().Transactions(t.Context(), []collect.TransactionQuery{{Topic: "market-updates", Age: time.Minute}})
	for k := range m.take() {
		if !allowed[k] {
			t.Errorf("asked for %s", k.Name())
		}
	}
}

// What one answer can hold is asked for in one request.
func TestBatches(t *testing.T) {
	b := newBed(t)
	const groups = 2000
	b.topic("market-updates", 5)
	for g := range groups {
		b.commit(fmt.Sprintf("ticker-%04d", g), "market-updates", map[int32]int64{0: 0, 1: 0, 2: 0, 3: 0, 4: 0})
	}
	m := b.meter(nil)
	s := b.poll()
	b.wantProblems(s, "")
	if len(s.Groups) != groups {
		t.Fatalf("%d groups", len(s.Groups))
	}
	first := m.take()
	b.poll()
	steady := m.take()
	if first[kmsg.OffsetFetch] > 30 || first[kmsg.DescribeGroups] > 30 {
		t.Errorf("first poll: %v", first)
	}
	total := 0
	for _, n := range steady {
		total += n
	}
	if steady[kmsg.OffsetFetch] > 6 || steady[kmsg.ListOffsets] > 6 || total > 50 {
		t.Errorf("steady poll: %d requests, %v", total, steady)
	}
	t.Logf("first %v, steady %v, took %v", first, steady, s.Took)
}

// When nothing but commits and log ends is due, nothing else is asked for.
func TestStaggered(t *testing.T) {
	b := newBed(t)
	b.spread()
	b.poll()
	m := b.meter(nil)
	ctx, cancel := context.WithTimeout(t.Context(), b.timeout)
	defer cancel()
	no := func(string) bool { return false }
	s := b.source().Poll(ctx, collect.Ask{Prev: b.prev, Describe: no, Starts: no, Build: collect.BuildOptions{StaleAfter: time.Minute}})
	b.wantProblems(s, "")
	for i := range s.Groups {
		b.wantGroup(s, s.Groups[i].Name, "classic Empty  members=0 lag=18/3 unknown=0 stale=0")
	}
	if got, want := fmt.Sprint(m.take()), fmt.Sprint(map[kmsg.Key]int{kmsg.OffsetFetch: 3, kmsg.ListOffsets: 3}); got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
}

// With groups named exactly, nobody else's groups are asked about.
func TestOnlyGroupsNamed(t *testing.T) {
	b := newBed(t)
	groups := b.spread()
	pattern, err := collect.ParsePattern(groups[1])
	b.must(err)
	b.filter = collect.Filter{Groups: []collect.Pattern{pattern}}
	asked := map[string]bool{}
	b.meter(func(r kmsg.Request) {
		switch r := r.(type) {
		case *kmsg.DescribeGroupsRequest:
			for _, g := range r.Groups {
				asked[g] = true
			}
		case *kmsg.OffsetFetchRequest:
			for _, g := range r.Groups {
				asked[g.Group] = true
			}
		}
	})
	s := b.poll()
	b.wantGroup(s, groups[1], "classic Empty  members=0 lag=18/3 unknown=0 stale=0")
	if len(s.Groups) != 1 || len(asked) != 1 || !asked[groups[1]] {
		t.Errorf("%d groups, asked about %v", len(s.Groups), asked)
	}
}

// A group that the user named and no list has is asked for everywhere.
func TestGroupNamedAndNotListed(t *testing.T) {
	b := newBed(t)
	group := b.spread()[1]
	for _, name := range []string{group, "no-such-group"} {
		pattern, err := collect.ParsePattern(name)
		b.must(err)
		b.filter.Groups = append(b.filter.Groups, pattern)
	}
	b.hideFromLists(group)
	for range 2 {
		s := b.poll()
		b.wantGroup(s, group, "classic Empty  members=0 lag=18/3 unknown=0 stale=0")
		b.wantGroup(s, "no-such-group", "absent")
		b.wantProblems(s, "")
		if !s.Complete {
			t.Error("not complete")
		}
	}
}

// Each question about a group that this principal may not see is a line in a
// broker's authorizer log.
func TestDeniedGroupIsNotAskedForAtEachPoll(t *testing.T) {
	inVirtualTime(t, func(b *bed) {
		group := b.spread()[1]
		pattern, err := collect.ParsePattern(group)
		b.must(err)
		b.filter.Groups = []collect.Pattern{pattern}
		b.hideFromLists(group)
		denial := b.fault(kerr.GroupAuthorizationFailed, -1, group, false, kmsg.DescribeGroups, kmsg.OffsetFetch)
		m := b.meter(nil)
		for _, c := range []struct {
			why   string
			after time.Duration
			lists bool
			asked int
		}{
			{"every broker is asked, since any may coordinate it", 0, true, 3},
			{"no more at the next poll", time.Second, true, 0},
			{"nor where lists are not due", time.Second, false, 0},
			{"but from time to time", 2 * time.Minute, true, 3},
			{"also where lists are not due", 2 * time.Minute, false, 3},
		} {
			time.Sleep(c.after)
			s := b.pollWith(collect.Ask{Lists: c.lists})
			b.wantGroup(s, group, "classic Unknown denied members=? lag=-1/0 unknown=0 stale=0")
			b.wantProblems(s, fmt.Sprintf("describe broker=-1 group=%s topic=/-1 denied: this user may not describe the group", group))
			if n := m.take(); n[kmsg.DescribeGroups] != c.asked || n[kmsg.OffsetFetch] != 0 {
				b.Errorf("%s: asked %v", c.why, n)
			}
		}
		denial.Remove()
		time.Sleep(2 * time.Minute)
		b.wantGroup(b.poll(), group, "classic Empty  members=0 lag=18/3 unknown=0 stale=0")
	})
}

func TestWhatMayBeHidden(t *testing.T) {
	t.Run("nothing", func(t *testing.T) {
		b := newBed(t)
		if c := b.poll().Cluster; c.SeesAllGroups != collect.Yes || c.SeesAllTopics != collect.Yes || c.TransactionState {
			t.Errorf("%+v", c)
		}
	})
	t.Run("groups and topics", func(t *testing.T) {
		b := newLimitedBed(t)
		b.topic("secret", 1)
		if c := b.poll().Cluster; c.SeesAllGroups != collect.No || c.SeesAllTopics != collect.No || !c.TransactionState {
			t.Errorf("%+v", c)
		}
	})
}

func TestWhatMayBeHiddenIsAskedAgainWhereNobodyAnswered(t *testing.T) {
	inVirtualTime(t, func(b *bed) {
		var broken atomic.Bool
		b.c.ControlKey(int16(kmsg.DescribeGroups), func(kmsg.Request) (kmsg.Response, error, bool) {
			b.c.KeepControl()
			return nil, errors.New("closed"), broken.Load()
		})
		for _, c := range []struct {
			why    string
			broken bool
			after  time.Duration
			want   collect.Tri
		}{
			{"no answer at the start", true, 0, collect.Maybe},
			{"asked again a minute later", false, 2 * time.Minute, collect.Yes},
			{"an hour later nobody answers: what was known stands", true, 2 * time.Hour, collect.Yes},
		} {
			broken.Store(c.broken)
			time.Sleep(c.after)
			if got := b.poll().Cluster; got.SeesAllGroups != c.want || got.SeesAllTopics != collect.Yes {
				b.Errorf("%s: sees all groups %v, topics %v", c.why, got.SeesAllGroups, got.SeesAllTopics)
			}
		}
	})
}

// newLimitedBed is a cluster whose reader may describe the topic pub and the
// groups that begin with ok.
func newLimitedBed(t *testing.T) *bed {
	allow := func(r kmsg.ACLResourceType, name string, p kmsg.ACLResourcePatternType) kfake.ACL {
		return kfake.ACL{Resource: r, Name: name, Pattern: p, Operation: kmsg.ACLOperationDescribe, Allow: true}
	}
	admin := kgo.SASL(plainAuth("admin"))
	// before 4.2: newer brokers name topics by an id in OffsetFetch, and leave out
	// those that the user may not see, which kfake does not
	b := newBedOn(t, []kgo.Opt{admin}, kfake.MaxVersions(kversion.FromString("v4.0")), kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser("PLAIN", "admin", "admin"),
		kfake.User("PLAIN", "lim", "lim", allow(kmsg.ACLResourceTypeTopic, "pub", kmsg.ACLResourcePatternTypeLiteral), allow(kmsg.ACLResourceTypeGroup, "ok", kmsg.ACLResourcePatternTypePrefixed)))
	b.dial = nil
	b.source(kgo.SASL(plainAuth("lim")))
	return b
}

// A topic that this user may not describe is denied, one that is gone is
// missing; what a broker says of it is not asked for at each poll again.
func TestTopicsThatMetadataLeavesOut(t *testing.T) {
	b := newLimitedBed(t)
	b.topic("pub", 1)
	b.topic("secret", 1)
	b.produce("pub", 0, 5)
	b.produce("secret", 0, 5)
	b.commit("ok", "pub", map[int32]int64{0: 2})
	b.commit("ok", "secret", map[int32]int64{0: 2})
	for range 2 {
		s := b.poll()
		b.wantGroup(s, "ok", "classic Empty  members=0 lag=3/1 unknown=1 stale=0")
		if topic, ok := s.Topic("secret"); !ok || topic.Reason != collect.ReasonDenied {
			t.Errorf("topic secret: %+v", topic)
		}
		b.wantProblems(s, "metadata broker=-1 group= topic=secret/-1 denied: this user may not describe the topic")
	}
}
