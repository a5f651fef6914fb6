package kafka

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/internal/kafkatest"
)

// What a real broker tells two users about groups of three kinds.
func TestRealGroupKindsAndPermissions(t *testing.T) {
	k := kafkatest.Start(t, kafkatest.Options{Secure: true, Properties: map[string]string{
		"group.initial.rebalance.delay.ms": "0", "group.share.heartbeat.interval.ms": "1000", "group.share.min.heartbeat.interval.ms": "1000",
	}})
	k.CreateTopic(t, "pub", 2)
	k.CreateTopic(t, "secret", 2)
	k.Produce(t, "pub", 10, 0, 1)
	k.Produce(t, "secret", 10, 0, 1)
	k.Commit(t, "ok-solo", "pub", map[int32]int64{0: 4})
	k.Commit(t, "hidden", "pub", map[int32]int64{0: 4})
	both := []string{"pub", "secret"}
	k.JavaConsumer(t, kafkatest.ConsumerOptions{Group: "ok-classic", Topics: both, ClientID: "pod-1", Max: 1}).WaitAssigned(t, 4)
	if k.AtLeast(4, 0) {
		k.JavaConsumer(t, kafkatest.ConsumerOptions{Group: "ok-quotes", Topics: both, ClientID: "pod-2", Protocol: "consumer", Max: 1}).WaitAssigned(t, 4)
	}
	if k.AtLeast(4, 2) {
		cl := k.Client(t, kgo.ShareGroup("ok-queue"), kgo.ConsumeTopics("pub"), kgo.ClientID("pod-3"))
		go func() {
			for !cl.PollFetches(t.Context()).IsClientClosed() && t.Context().Err() == nil {
			}
		}()
	}
	await := func(user, password string, ok func(*collect.Snapshot) bool) (*bed, *collect.Snapshot) {
		t.Helper()
		b := &bed{T: t, timeout: 5 * time.Second}
		src, err := New(Config{Brokers: k.Security().SASLPlaintext(), SASL: SASL{Mechanism: "PLAIN", Username: user, Password: Secret(password)}}, Options{})
		b.must(err)
		t.Cleanup(src.Close)
		b.src = src
		for end := time.Now().Add(30 * time.Second); ; {
			s := b.poll()
			if ok(s) || time.Now().After(end) {
				return b, s
			}
			time.Sleep(200 * time.Millisecond)
		}
	}

	b, s := await(kafkatest.MonUser, kafkatest.MonPassword, func(s *collect.Snapshot) bool {
		return s.Complete && (!k.AtLeast(4, 2) || strings.Contains(ownersText(s, "ok-queue"), "pod-3"))
	})
	b.wantProblems(s, "")
	if s.Cluster.SeesAllGroups != collect.Yes || s.Cluster.SeesAllTopics != collect.Yes {
		t.Errorf("mon may describe everything: %+v", s.Cluster)
	}
	b.wantGroup(s, "ok-solo", "classic Empty  members=0 lag=6/1 unknown=0 stale=0")
	b.wantGroup(s, "hidden", "classic Empty  members=0 lag=6/1 unknown=0 stale=0")
	all := func(pod string) string {
		return "pub/0=" + pod + " pub/1=" + pod + " secret/0=" + pod + " secret/1=" + pod
	}
	for group, pod := range map[string]string{"ok-classic": "pod-1", "ok-quotes": "pod-2"} {
		if g, ok := s.Group(group); ok && (ownersText(s, group) != all(pod) || g.State != "Stable" || g.Lag.Known != 4) {
			t.Errorf("%s: %s, %s", group, groupText(s, group), ownersText(s, group))
		}
	}
	if k.AtLeast(4, 2) {
		b.wantGroup(s, "ok-queue", "share Stable  members=1 lag=-1/0 unknown=2 stale=0")
		if got := ownersText(s, "ok-queue"); got != "pub/0=pod-3 pub/1=pod-3" {
			t.Errorf("ok-queue: %s", got)
		}
	}

	_, s = await(kafkatest.LimUser, kafkatest.LimPassword, func(s *collect.Snapshot) bool { return len(s.Groups) >= 2 })
	if s.Cluster.SeesAllGroups != collect.No || s.Cluster.SeesAllTopics != collect.No || s.Complete {
		t.Errorf("lim may describe ok-* and pub only: %+v, complete %v", s.Cluster, s.Complete)
	}
	if _, ok := s.Group("hidden"); ok {
		t.Error("lim sees a group it may not")
	}
	b.wantGroup(s, "ok-solo", "classic Empty  members=0 lag=6/1 unknown=0 stale=0")
	if topic, ok := s.Topic("secret"); !ok || topic.Reason != collect.ReasonDenied {
		t.Errorf("topic secret: %+v", topic)
	}
	if g, ok := s.Group("ok-classic"); !ok || g.Lag.Unknown != 2 || ownersText(s, "ok-classic") != all("pod-1") {
		t.Errorf("ok-classic: %s, %s", groupText(s, "ok-classic"), ownersText(s, "ok-classic"))
	}
	if g, ok := s.Group("ok-quotes"); k.AtLeast(4, 0) && (!ok || g.Reason != collect.ReasonDenied || g.State != "Stable" || g.Type != collect.TypeConsumer) {
		t.Errorf("ok-quotes: %s", groupText(s, "ok-quotes"))
	}
}
