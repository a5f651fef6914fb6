package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/klagtop/klagtop/collect"
)

// The numbers are the same whatever the brokers' age; what an old one cannot
// tell is not made up.
func TestBrokerVersions(t *testing.T) {
	for _, v := range []string{"2.4", "2.8", "3.0", "3.7", "3.9", "4.0", "4.2", "newest"} {
		t.Run(v, func(t *testing.T) {
			var opts []kfake.Opt
			if v != "newest" {
				opts = append(opts, kfake.MaxVersions(kversion.FromString("v"+v)))
			}
			opts = append(opts, kfake.BrokerConfigs(map[string]string{"group.consumer.heartbeat.interval.ms": "100"}))
			b := newBed(t, opts...)
			b.topic("market-updates", 4)
			for p := range int32(4) {
				b.produce("market-updates", p, 10)
			}
			for _, g := range []string{"alerts", "audit", "solo"} { // several on one broker, asked together or one by one
				b.commit(g, "market-updates", map[int32]int64{0: 3, 2: 10})
			}
			b.member("ticker", "pod-1", 1, kgo.ConsumeTopics("market-updates"), kgo.Balancers(kgo.RangeBalancer()))
			b.member("ticker", "pod-2", 2, kgo.ConsumeTopics("market-updates"), kgo.Balancers(kgo.RangeBalancer()))
			b.commit("solo", "market-updates", map[int32]int64{0: 9})
			epochs := v >= "4.0"
			if epochs {
				b.member("quotes", "pod-3", 1, kgo.ConsumeTopics("market-updates"), kgo.ServerSideBalancer())
			}
			s := b.poll()
			b.wantProblems(s, "")
			if !s.Complete {
				t.Error("not complete")
			}
			b.wantGroup(s, "alerts", "classic Empty  members=0 lag=7/2 unknown=0 stale=0")
			b.wantGroup(s, "audit", "classic Empty  members=0 lag=7/2 unknown=0 stale=0")
			b.wantGroup(s, "solo", "classic Empty  members=0 lag=1/2 unknown=0 stale=0")
			b.wantGroup(s, "ticker", "classic Stable  members=2 lag=40/4 unknown=0 stale=0")
			if got, want := ownersText(s, "ticker"), "market-updates/0=pod-1 market-updates/1=pod-1 market-updates/2=pod-2 market-updates/3=pod-2"; got != want && !swapped(got) {
				t.Errorf("owners %s, want %s", got, want)
			}
			g, _ := s.Group("ticker")
			if g.Assignor != "range" || g.ProtocolType != "consumer" || g.Generation != (collect.Generation{Value: 2, Source: collect.SourceMemberMetadata}) {
				t.Errorf("ticker: assignor %q protocol type %q generation %+v", g.Assignor, g.ProtocolType, g.Generation)
			}
			if epochs {
				b.wantGroup(s, "quotes", "consumer Stable  members=1 lag=40/4 unknown=0 stale=0")
				q, _ := s.Group("quotes")
				if !q.Generation.Exact || q.Generation.Source != collect.SourceEpoch || q.Generation.Value < 1 || q.ProtocolType != "consumer" {
					t.Errorf("quotes: generation %+v protocol type %q", q.Generation, q.ProtocolType)
				}
				if got, want := ownersText(s, "quotes"), "market-updates/0=pod-3 market-updates/1=pod-3 market-updates/2=pod-3 market-updates/3=pod-3"; got != want {
					t.Errorf("owners %s, want %s", got, want)
				}
				if m := q.Members[0]; !m.HasTarget || len(m.Target) != 1 || len(m.Target[0].Partitions) != 4 || m.Decode != collect.DecodeOK {
					t.Errorf("member %+v", m)
				}
			}
		})
	}
}

// swapped: member ids are random, so either member may be the first.
func swapped(owners string) bool {
	return owners == "market-updates/0=pod-2 market-updates/1=pod-2 market-updates/2=pod-1 market-updates/3=pod-1"
}
