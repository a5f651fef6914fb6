package kafka

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/klagtop/klagtop/collect"
)

// Brokers before Kafka 3.0 tell the commits of one group at a time. Where they
// take longer for all groups than a poll may, polls keep their pace and take
// groups in turn; numbers are those of one moment each, and it is said how old
// they are.
func TestGroupsTakeTurnsOnOldBrokers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net kfake.VirtualNetwork
		b := newBedOn(t, []kgo.Opt{kgo.Dialer(net.DialContext)}, kfake.ListenFn(net.Listen), kfake.Ports(9092, 9093, 9094), kfake.MaxVersions(kversion.FromString("v2.4")))
		const groups, interval = 200, time.Second
		b.timeout = 30 * time.Second
		b.topic("market-updates", 2)
		b.produce("market-updates", 0, 10)
		name := func(g int) string { return fmt.Sprintf("ticker-%03d", g) }
		for g := range groups {
			b.commit(name(g), "market-updates", map[int32]int64{0: 4})
		}
		b.c.ControlKey(int16(kmsg.OffsetFetch), func(kmsg.Request) (kmsg.Response, error, bool) {
			b.c.KeepControl()
			b.c.SleepControl(func() { time.Sleep(50 * time.Millisecond) })
			return nil, nil, false
		})
		poll := func() *collect.Snapshot {
			began := time.Now()
			s := b.pollWith(collect.Ask{Lists: true, Interval: interval})
			if took := time.Since(began); took > interval {
				t.Errorf("a poll took %v", took)
			}
			time.Sleep(time.Until(began.Add(interval)))
			b.wantProblems(s, "")
			if !s.Complete || len(s.Groups) != groups {
				t.Errorf("%d groups, complete %v", len(s.Groups), s.Complete)
			}
			return s
		}
		if s := b.poll(); s.CommitsEvery != 0 || !s.Complete { // the first takes the time it needs
			t.Fatalf("first poll: commits every %v, complete %v", s.CommitsEvery, s.Complete)
		}
		poll()
		b.produce("market-updates", 0, 6)
		for g := range groups {
			b.commit(name(g), "market-updates", map[int32]int64{0: 9})
		}
		committed := time.Now()
		old, polls, slowest := groups, 0, time.Duration(0)
		for ; old > 0 && polls < 60; polls++ {
			s, before := poll(), old
			old = 0
			for _, g := range s.Groups {
				// 4 of 10 before, 9 of 16 after: any other lag is of two moments
				switch {
				case g.CommitsAt.Before(committed) && g.Lag.Records == 6 && g.Lag.Complete:
					old++
				case !g.CommitsAt.Before(committed) && g.Lag.Records == 7 && g.Lag.Complete:
				default:
					t.Fatalf("poll %d: %s has lag %+v of %v", polls, g.Name, g.Lag, g.CommitsAt.Sub(committed))
				}
				slowest = max(slowest, s.TakenAt.Sub(g.CommitsAt))
			}
			if old >= before {
				t.Fatalf("poll %d: still %d groups with old numbers", polls, old)
			}
			if want := oldestCommits(s); s.CommitsEvery != want {
				t.Errorf("poll %d: commits every %v, the oldest are %v old", polls, s.CommitsEvery, want)
			}
		}
		if old > 0 || polls < 3 {
			t.Errorf("%d polls, %d groups left", polls, old)
		}
		t.Logf("%d groups in turn: all read within %d polls, the oldest commits %v old", groups, polls, slowest)
	})
}

// oldestCommits is the age of the oldest commits that were not read in this poll.
func oldestCommits(s *collect.Snapshot) (oldest time.Duration) {
	for _, g := range s.Groups {
		if g.CommitsAt.Before(s.TakenAt.Add(-s.Took)) {
			oldest = max(oldest, s.TakenAt.Sub(g.CommitsAt))
		}
	}
	return oldest
}
