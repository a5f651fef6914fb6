package kafka

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// shareMember runs a share consumer that accepts what it is given, until stop.
func (b *bed) shareMember(group, topic string, n int, opts ...kgo.Opt) (stop func()) {
	b.Helper()
	cl := b.client(append([]kgo.Opt{kgo.ShareGroup(group), kgo.ConsumeTopics(topic), kgo.ClientID("pod-1")}, opts...)...)
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			cl.PollFetches(ctx)
		}
	}()
	stop = sync.OnceFunc(func() { cancel(); <-done; cl.Close() })
	b.Cleanup(stop)
	wait, end := context.WithTimeout(b.Context(), 20*time.Second)
	defer end()
	if _, err := b.c.WaitGroupInfo(wait, group, func(g *kfake.GroupInfo) bool { return g != nil && g.NumAssigned() == n }); err != nil {
		b.Fatal(err)
	}
	return stop
}

// sharesSay makes brokers answer DescribeShareGroupOffsets by a function.
func (b *bed) sharesSay(say func(group string) kmsg.DescribeShareGroupOffsetsResponseGroup) {
	b.c.ControlKey(int16(kmsg.DescribeShareGroupOffsets), func(r kmsg.Request) (kmsg.Response, error, bool) {
		b.c.KeepControl()
		req := r.(*kmsg.DescribeShareGroupOffsetsRequest)
		resp := req.ResponseKind().(*kmsg.DescribeShareGroupOffsetsResponse)
		for _, g := range req.Groups {
			a := say(g.GroupID)
			if a.GroupID == "" {
				a.GroupID = g.GroupID
			}
			resp.Groups = append(resp.Groups, a)
		}
		return resp, nil, true
	})
}

func shareTopic(name string, id [16]byte, parts ...kmsg.DescribeShareGroupOffsetsResponseGroupTopicPartition) kmsg.DescribeShareGroupOffsetsResponseGroupTopic {
	t := kmsg.NewDescribeShareGroupOffsetsResponseGroupTopic()
	t.Topic, t.TopicID, t.Partitions = name, id, parts
	return t
}

func sharePart(p int32, start, lag int64, code int16) kmsg.DescribeShareGroupOffsetsResponseGroupTopicPartition {
	q := kmsg.NewDescribeShareGroupOffsetsResponseGroupTopicPartition()
	q.Partition, q.StartOffset, q.Lag, q.ErrorCode = p, start, lag, code
	return q
}

// lagText is each row's lag: "topic/partition=lag", with a reason where there is one.
func lagText(s *collect.Snapshot, name string) string {
	g, ok := s.Group(name)
	if !ok {
		return "absent"
	}
	var out []string
	for _, gt := range g.Topics {
		for i := range gt.Committed {
			r := gt.Row(i)
			text := fmt.Sprintf("%s/%d=%d", r.Topic, r.Partition, r.Lag)
			if r.Stale {
				text += "~"
			}
			if r.Reason != collect.ReasonNone {
				text += ":" + r.Reason.String()
			}
			out = append(out, text)
		}
	}
	return strings.Join(out, " ")
}

func TestShareGroup(t *testing.T) {
	b := newBed(t)
	b.topic("market-updates", 2)
	b.produce("market-updates", 0, 5)
	stop := b.shareMember("queue", "market-updates", 2)
	s := b.poll()
	b.wantProblems(s, "")
	b.wantGroup(s, "queue", "share Stable  members=1 lag=0/2 unknown=0 stale=0")
	if got, want := ownersText(s, "queue"), "market-updates/0=pod-1 market-updates/1=pod-1"; got != want || !s.Complete {
		t.Errorf("owners %s, want %s, complete %v", got, want, s.Complete)
	}
	stop()
	b.produce("market-updates", 1, 3)
	s = b.poll()
	b.wantGroup(s, "queue", "share Empty  members=0 lag=3/2 unknown=0 stale=0")

	req := kmsg.NewPtrDeleteGroupsRequest()
	req.Groups = []string{"queue"}
	_, err := req.RequestWith(t.Context(), b.cl)
	b.must(err)
	b.wantGroup(b.poll(), "queue", "absent")
}

// What brokers answer of share groups beside plain numbers.
func TestShareAnswers(t *testing.T) {
	b := newBed(t)
	b.topic("x", 5)
	b.topic("y", 1)
	for p := range int32(5) {
		b.produce("x", p, 8)
	}
	b.shareMember("queue", "x", 5)
	x, y := b.c.TopicInfo("x").TopicID, b.c.TopicInfo("y").TopicID
	code := func(e *kerr.Error) int16 { return e.Code }
	var answer kmsg.DescribeShareGroupOffsetsResponseGroup
	b.sharesSay(func(string) kmsg.DescribeShareGroupOffsetsResponseGroup { return answer })
	all := func(of string) string {
		var out []string
		for p := range 5 {
			out = append(out, fmt.Sprintf("x/%d=%s", p, of))
		}
		return strings.Join(out, " ")
	}
	whole := func(lag int64) kmsg.DescribeShareGroupOffsetsResponseGroup {
		var parts []kmsg.DescribeShareGroupOffsetsResponseGroupTopicPartition
		for p := range int32(5) {
			parts = append(parts, sharePart(p, 1, lag, 0))
		}
		return kmsg.DescribeShareGroupOffsetsResponseGroup{Topics: []kmsg.DescribeShareGroupOffsetsResponseGroupTopic{shareTopic("x", x, parts...)}}
	}
	message := "the group's own words"
	tests := []struct {
		why      string
		answer   kmsg.DescribeShareGroupOffsetsResponseGroup
		lags     string
		problems string
		complete bool
	}{
		{"numbers, an id for a name", kmsg.DescribeShareGroupOffsetsResponseGroup{Topics: []kmsg.DescribeShareGroupOffsetsResponseGroupTopic{
			shareTopic("", x, sharePart(4, 2, 5, 0), sharePart(0, 0, 8, 0), sharePart(1, -1, -1, 0), sharePart(2, 3, -1, 0)), shareTopic("", [16]byte{9}, sharePart(0, 1, 1, 0)),
		}}, "x/0=8 x/1=-1:not_reported x/2=-1:not_reported x/3=-1:not_reported x/4=5", "", true},
		{"whole", whole(7), all("7"), "", true},
		{"one leader has just died, one partition may not be seen, a topic no member has", kmsg.DescribeShareGroupOffsetsResponseGroup{Topics: []kmsg.DescribeShareGroupOffsetsResponseGroupTopic{
			shareTopic("x", x, sharePart(0, 2, 6, 0), sharePart(1, -1, -1, code(kerr.LeaderNotAvailable)), sharePart(2, -1, -1, code(kerr.TopicAuthorizationFailed)), sharePart(3, -1, -1, code(kerr.UnknownTopicOrPartition)), sharePart(4, 8, 0, 0)),
			shareTopic("y", y, sharePart(0, 0, 0, 0)),
		}}, "x/0=6 x/1=7~:no_leader x/2=-1:denied x/3=-1:topic_missing x/4=0 y/0=0", "share_offsets broker=2 group=queue topic=x/1 no_leader: " + kerr.LeaderNotAvailable.Error() + "\nshare_offsets broker=-1 group=queue topic=x/2 denied: " + kerr.TopicAuthorizationFailed.Error(), false},
		{"whole again", whole(7), all("7"), "", true},
		{"loading", kmsg.DescribeShareGroupOffsetsResponseGroup{ErrorCode: code(kerr.CoordinatorLoadInProgress)}, all("7~:loading"), "share_offsets broker=2 group=queue topic=/-1 loading: " + kerr.CoordinatorLoadInProgress.Error(), false},
		{"moved", kmsg.DescribeShareGroupOffsetsResponseGroup{ErrorCode: code(kerr.NotCoordinator), ErrorMessage: &message}, all("7~:loading"), "share_offsets broker=2 group=queue topic=/-1 loading: " + message, false},
		{"denied", kmsg.DescribeShareGroupOffsetsResponseGroup{ErrorCode: code(kerr.GroupAuthorizationFailed)}, all("-1:denied"), "share_offsets broker=2 group=queue topic=/-1 denied: " + kerr.GroupAuthorizationFailed.Error(), false},
		{"switched off", kmsg.DescribeShareGroupOffsetsResponseGroup{ErrorCode: code(kerr.UnsupportedVersion)}, all("-1:unsupported"), "", true},
		{"deleted between two questions", kmsg.DescribeShareGroupOffsetsResponseGroup{}, all("-1:not_reported"), "", true},
		{"another group's answer", kmsg.DescribeShareGroupOffsetsResponseGroup{GroupID: "stranger"}, all("-1:error"), "share_offsets broker=2 group=queue topic=/-1 error: the broker's answer leaves the group out", false},
	}
	node := b.c.CoordinatorFor("queue")
	for _, tt := range tests {
		answer = tt.answer
		s := b.poll()
		if got := lagText(s, "queue"); got != tt.lags {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.lags)
		}
		if s.Complete != tt.complete {
			t.Errorf("%s: complete %v", tt.why, s.Complete)
		}
		if got, want := problemText(s), strings.ReplaceAll(tt.problems, "broker=2", fmt.Sprint("broker=", node)); got != want {
			t.Errorf("%s: problems\n%s\nwant\n%s", tt.why, got, want)
		}
	}
}

// A group one of whose topics may not be described: the describe of the whole
// group fails, and its offsets leave the topic out without a word.
func TestShareTopicDenied(t *testing.T) {
	b := newBed(t)
	b.topic("x", 1)
	b.topic("secret", 1)
	b.produce("x", 0, 8)
	b.shareMember("queue", "x", 1)
	b.c.ControlKey(int16(kmsg.ShareGroupDescribe), func(r kmsg.Request) (kmsg.Response, error, bool) {
		b.c.KeepControl()
		resp := r.ResponseKind().(*kmsg.ShareGroupDescribeResponse)
		g := kmsg.NewShareGroupDescribeResponseGroup()
		text := "The group has described topic(s) that the client is not authorized to describe."
		g.GroupID, g.ErrorCode, g.ErrorMessage = "queue", kerr.TopicAuthorizationFailed.Code, &text
		resp.Groups = append(resp.Groups, g)
		return resp, nil, true
	})
	b.sharesSay(func(string) kmsg.DescribeShareGroupOffsetsResponseGroup {
		return kmsg.DescribeShareGroupOffsetsResponseGroup{Topics: []kmsg.DescribeShareGroupOffsetsResponseGroupTopic{shareTopic("x", b.c.TopicInfo("x").TopicID, sharePart(0, 3, 5, 0))}}
	})
	s := b.poll()
	b.wantGroup(s, "queue", "share Stable denied members=? lag=5/1 unknown=0 stale=0")
	if g, _ := s.Group("queue"); g.Lag.Complete || s.Complete {
		t.Errorf("what is hidden is missing: %+v", g.Lag)
	}
}

// The feature is off, or the broker is too old for the request: the group stays
// listed.
func TestShareSwitchedOff(t *testing.T) {
	b := newBed(t)
	b.topic("x", 1)
	b.produce("x", 0, 8)
	b.shareMember("queue", "x", 1)
	b.poll()
	b.c.ControlKey(int16(kmsg.ShareGroupDescribe), func(r kmsg.Request) (kmsg.Response, error, bool) {
		b.c.KeepControl()
		resp := r.ResponseKind().(*kmsg.ShareGroupDescribeResponse)
		g := kmsg.NewShareGroupDescribeResponseGroup()
		g.GroupID, g.ErrorCode = "queue", kerr.UnsupportedVersion.Code
		resp.Groups = append(resp.Groups, g)
		return resp, nil, true
	})
	asked := b.meter(nil)
	s := b.poll()
	b.wantGroup(s, "queue", "share Stable unsupported members=? lag=-1/0 unknown=0 stale=0")
	b.wantProblems(s, "")
	if n := asked.take(); n[kmsg.DescribeShareGroupOffsets] != 0 || !s.Complete {
		t.Errorf("asked %v, complete %v", n, s.Complete)
	}
}

// Share groups' offsets are asked for all topics at once, a few groups at a
// time, of the broker that lists them, and never through FindCoordinator.
func TestShareRequests(t *testing.T) {
	inVirtualTime(t, func(b *bed) {
		b.topic("x", 1)
		names := b.shareGroups(0, 12)
		var sizes []int
		asked := b.meter(func(r kmsg.Request) {
			if r, ok := r.(*kmsg.DescribeShareGroupOffsetsRequest); ok {
				sizes = append(sizes, len(r.Groups))
				for _, g := range r.Groups {
					if g.Topics != nil || !slices.Contains(names, g.GroupID) || b.c.CurrentNode() != 0 {
						t.Errorf("node %d was asked for %+v", b.c.CurrentNode(), g)
					}
				}
			}
		})
		s := b.poll()
		b.wantProblems(s, "")
		if n := asked.take(); fmt.Sprint(sizes) != "[10 2]" || n[kmsg.FindCoordinator]+n[kmsg.OffsetFetch] != 0 {
			t.Errorf("requests of %v groups; %v", sizes, n)
		}
		for _, name := range names {
			b.wantGroup(s, name, "share Empty  members=0 lag=0/1 unknown=0 stale=0")
		}
	})
}

// shareGroups makes share groups on a broker that have read topic x and left.
func (b *bed) shareGroups(node int32, n int) (names []string) {
	b.Helper()
	for i := 0; len(names) < n; i++ {
		if name := fmt.Sprintf("queue-%02d", i); b.c.CoordinatorFor(name) == node {
			names = append(names, name)
			b.shareMember(name, "x", 1)()
		}
	}
	return names
}

// A share group whose question is never answered delays one poll, and nobody
// else's numbers; it is left alone until it is answered.
func TestShareGroupHangs(t *testing.T) {
	inVirtualTime(t, func(b *bed) {
		b.topic("x", 1)
		b.produce("x", 0, 10)
		b.commit("ticker", "x", map[int32]int64{0: 4})
		names := b.shareGroups(b.c.CoordinatorFor("ticker"), 12)
		bad := names[3]
		var hung atomic.Bool
		var alone atomic.Int32
		b.c.ControlKey(int16(kmsg.DescribeShareGroupOffsets), func(r kmsg.Request) (kmsg.Response, error, bool) {
			b.c.KeepControl()
			req := r.(*kmsg.DescribeShareGroupOffsetsRequest)
			hit := slices.ContainsFunc(req.Groups, func(g kmsg.DescribeShareGroupOffsetsRequestGroup) bool { return g.GroupID == bad })
			if hit && len(req.Groups) == 1 {
				alone.Add(1)
			}
			return nil, nil, hit && hung.Load()
		})
		s := b.poll()
		b.wantProblems(s, "")

		hung.Store(true)
		s = b.poll()
		if s.Took > b.timeout/2 {
			b.Errorf("the first poll took %v", s.Took)
		}
		b.wantGroup(s, "ticker", "classic Empty  members=0 lag=6/1 unknown=0 stale=0")
		b.wantGroup(s, bad, "share Empty  members=0 lag=0/1 unknown=0 stale=1")
		b.wantGroup(s, names[11], "share Empty  members=0 lag=0/1 unknown=0 stale=0") // it was asked for after the one that hangs

		for range 3 {
			time.Sleep(time.Minute)
			s = b.poll()
			if s.Took > 0 {
				b.Errorf("a later poll took %v", s.Took)
			}
			for _, name := range names {
				want := "share Empty  members=0 lag=0/1 unknown=0 stale=0"
				if name == bad {
					want = "share Empty  members=0 lag=0/1 unknown=0 stale=1"
				}
				b.wantGroup(s, name, want)
			}
			b.wantProblems(s, fmt.Sprintf("share_offsets broker=%d group=%s topic=/-1 timeout: no answer in time", b.c.CoordinatorFor(bad), bad))
		}
		if n := alone.Load(); n < 5 || n > 40 {
			b.Errorf("%d questions in three minutes", n)
		}
		time.Sleep(3 * time.Minute)
		b.wantGroup(b.poll(), bad, "share Empty  members=0 lag=-1/0 unknown=1 stale=0")

		hung.Store(false)
		time.Sleep(20 * time.Second)
		s = b.poll()
		b.wantProblems(s, "")
		b.wantGroup(s, bad, "share Empty  members=0 lag=0/1 unknown=0 stale=0")
	})
}
