package kafka

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// DESCRIBE on the cluster lists groups that may not be described: each question
// about one is a line in a broker's authorizer log.
func TestListedGroupThatIsDeniedIsNotAskedForAtEachPoll(t *testing.T) {
	inVirtualTime(t, func(b *bed) {
		group := b.spread()[1]
		denial := b.fault(kerr.GroupAuthorizationFailed, -1, group, false, kmsg.DescribeGroups, kmsg.OffsetFetch)
		b.filter = filterOf(b.T, []string{group}, nil)
		m := b.meter(nil)
		for _, c := range []struct {
			why   string
			after time.Duration
			asked int
		}{
			{"its coordinator is asked", 0, 1},
			{"no more at the next poll", time.Second, 0},
			{"but from time to time", 2 * time.Minute, 1},
		} {
			time.Sleep(c.after)
			s := b.poll()
			b.wantGroup(s, group, "classic Empty denied members=? lag=-1/0 unknown=0 stale=0")
			b.wantProblems(s, fmt.Sprintf("describe broker=1 group=%s topic=/-1 denied: GROUP_AUTHORIZATION_FAILED: Not authorized to access group: Group authorization failed.", group))
			if n := m.take(); n[kmsg.DescribeGroups] != c.asked || n[kmsg.OffsetFetch] != 0 || s.Complete {
				b.Errorf("%s: asked %v, complete %v", c.why, n, s.Complete)
			}
		}
		denial.Remove()
		time.Sleep(2 * time.Minute)
		b.wantGroup(b.poll(), group, "classic Empty  members=0 lag=18/3 unknown=0 stale=0")
	})
}

// Whatever describes a group, a denial is an answer: the group is there, denied,
// without numbers. Denied over a topic that a member has, its commits on other
// topics are still told.
func TestDenialsOfEachType(t *testing.T) {
	for _, typ := range []collect.GroupType{collect.TypeClassic, collect.TypeConsumer, collect.TypeShare, collect.TypeStreams} {
		for _, why := range []*kerr.Error{kerr.GroupAuthorizationFailed, kerr.TopicAuthorizationFailed} {
			if typ == collect.TypeClassic && why == kerr.TopicAuthorizationFailed {
				continue // there is no such answer
			}
			t.Run(fmt.Sprintf("%s %s", typ, why.Message), func(t *testing.T) {
				b := newBed(t)
				group := b.spread()[1]
				b.filter = filterOf(t, []string{group}, nil)
				b.retype(group, typ)
				b.offer(kmsg.StreamsGroupDescribe)
				b.denyDescribe(why)
				if why == kerr.GroupAuthorizationFailed {
					b.fault(why, -1, group, false, kmsg.OffsetFetch)
				}
				for range 2 {
					s := b.poll()
					g, ok := s.Group(group)
					if !ok || g.Type != typ || g.Reason != collect.ReasonDenied || g.State != "Stable" || s.Complete {
						t.Fatalf("complete %v, %s", s.Complete, groupText(s, group))
					}
					rows := 0
					if why == kerr.TopicAuthorizationFailed && typ != collect.TypeShare {
						rows = 3
					}
					if g.Lag.Known != rows || g.Lag.Complete || g.Lag.Age.Method == collect.MethodExact {
						t.Errorf("%s, %+v", groupText(s, group), g.Lag.Age)
					}
					if told := problemText(s); !strings.Contains(told, "describe broker=1 group="+group+" topic=/-1 denied") {
						t.Errorf("problems %s", told)
					}
				}
			})
		}
	}
}

// A group that is denied over a topic and has no commits is not at 0: whatever
// its members have, nobody says.
func TestNothingIsKnownOfADeniedGroupWithoutCommits(t *testing.T) {
	b := newBed(t)
	b.spread()
	b.filter = filterOf(t, []string{"fresh"}, nil)
	b.retype("fresh", collect.TypeConsumer)
	b.denyDescribe(kerr.TopicAuthorizationFailed)
	s := b.poll()
	b.wantGroup(s, "fresh", "consumer Stable denied members=? lag=-1/0 unknown=0 stale=0")
	if g, _ := s.Group("fresh"); g.Lag.Complete || s.Complete {
		t.Errorf("lag complete %v, document complete %v", g.Lag.Complete, s.Complete)
	}
}

// retype lists a group as one of another type, and Stable.
func (b *bed) retype(group string, typ collect.GroupType) {
	b.c.ControlKey(int16(kmsg.ListGroups), func(req kmsg.Request) (kmsg.Response, error, bool) {
		b.c.KeepControl()
		resp := req.ResponseKind().(*kmsg.ListGroupsResponse)
		if b.c.CurrentNode() == 1 {
			g := kmsg.NewListGroupsResponseGroup()
			g.Group, g.GroupType, g.GroupState, g.ProtocolType = group, string(typ), "Stable", protocolOf(typ)
			resp.Groups = append(resp.Groups, g)
		}
		return resp, nil, true
	})
}

// offer has the brokers say that they know a request which the fake does not.
func (b *bed) offer(key kmsg.Key) {
	known, err := kmsg.NewPtrApiVersionsRequest().RequestWith(b.Context(), b.cl)
	b.must(err)
	k := kmsg.NewApiVersionsResponseApiKey()
	k.ApiKey = int16(key)
	b.c.ControlKey(int16(kmsg.ApiVersions), func(r kmsg.Request) (kmsg.Response, error, bool) {
		b.c.KeepControl()
		resp := r.ResponseKind().(*kmsg.ApiVersionsResponse)
		resp.ApiKeys = append(slices.Clone(known.ApiKeys), k)
		return resp, nil, true
	})
}

// denyDescribe refuses every describe of a group.
func (b *bed) denyDescribe(why *kerr.Error) {
	answer := func(req kmsg.Request) (kmsg.Response, error, bool) {
		b.c.KeepControl()
		switch r := req.(type) {
		case *kmsg.DescribeGroupsRequest:
			resp := r.ResponseKind().(*kmsg.DescribeGroupsResponse)
			for _, name := range r.Groups {
				resp.Groups = append(resp.Groups, kmsg.DescribeGroupsResponseGroup{Group: name, ErrorCode: why.Code})
			}
			return resp, nil, true
		case *kmsg.ConsumerGroupDescribeRequest:
			resp := r.ResponseKind().(*kmsg.ConsumerGroupDescribeResponse)
			for _, name := range r.Groups {
				resp.Groups = append(resp.Groups, kmsg.ConsumerGroupDescribeResponseGroup{Group: name, ErrorCode: why.Code})
			}
			return resp, nil, true
		case *kmsg.ShareGroupDescribeRequest:
			resp := r.ResponseKind().(*kmsg.ShareGroupDescribeResponse)
			for _, name := range r.GroupIDs {
				resp.Groups = append(resp.Groups, kmsg.ShareGroupDescribeResponseGroup{GroupID: name, ErrorCode: why.Code})
			}
			return resp, nil, true
		case *kmsg.StreamsGroupDescribeRequest:
			resp := r.ResponseKind().(*kmsg.StreamsGroupDescribeResponse)
			for _, name := range r.Groups {
				resp.Groups = append(resp.Groups, kmsg.StreamsGroupDescribeResponseGroup{Group: name, ErrorCode: why.Code})
			}
			return resp, nil, true
		}
		return nil, nil, false
	}
	for _, key := range []kmsg.Key{kmsg.DescribeGroups, kmsg.ConsumerGroupDescribe, kmsg.ShareGroupDescribe, kmsg.StreamsGroupDescribe} {
		b.c.ControlKey(int16(key), answer)
	}
}

// Of a topic that a filter names and this user may not describe, commits are
// left out without a word: that there are none must not be what is said.
func TestTopicThatAFilterNamesIsDenied(t *testing.T) {
	b := newLimitedBed(t)
	b.topic("pub", 1)
	b.topic("secret", 1)
	b.commit("ok", "secret", map[int32]int64{0: 2})
	for _, c := range []struct {
		topics   []string
		problems string
	}{
		{[]string{"secret", "pub"}, "metadata broker=-1 group= topic=secret/-1 denied: this user may not describe the topic"},
		{[]string{"pub"}, ""},
	} {
		b.src, b.prev, b.filter = nil, nil, filterOf(t, nil, c.topics)
		b.source(kgo.SASL(plainAuth("lim")))
		for range 2 {
			s := b.poll()
			b.wantProblems(s, c.problems)
			if s.Complete != (c.problems == "") {
				t.Errorf("%v: complete %v", c.topics, s.Complete)
			}
		}
	}
}
