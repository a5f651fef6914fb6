package main

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/klagtop/klagtop/internal/kafkatest"
)

// One look at a real Kafka tells how old the first unread record is, how long
// retention leaves it, and what is produced.
func TestRealHeadroom(t *testing.T) {
	c := realKafka.Cluster(t)
	group := kafkatest.Name("headroom")
	for _, k := range []struct {
		why    string
		config []string
		want   float64 // seconds; below 0: not known
	}{
		{"by time", []string{"retention.ms=3600000"}, 2400},
		{"by volume too, of which nothing was seen", []string{"retention.ms=3600000", "retention.bytes=1000000"}, -1},
		{"for ever", []string{"retention.ms=-1"}, -1},
		{"compacted", []string{"cleanup.policy=compact"}, -1},
	} {
		t.Run(k.why, func(t *testing.T) {
			topic := kafkatest.Name("kept")
			c.CreateTopic(t, topic, 1, k.config...)
			cl := c.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()))
			began := time.Now()
			for i := range 40 { // one each minute, the newest just now
				r := &kgo.Record{Topic: topic, Key: []byte{byte(i)}, Value: []byte("x"), Timestamp: began.Add(time.Duration(i-39) * time.Minute)}
				if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil {
					t.Fatal(err)
				}
			}
			c.Commit(t, group+topic, topic, map[int32]int64{0: 19}) // twenty minutes old
			d := describeJSON(t, c, group+topic)
			g := d.Groups[0]
			row := g.Partitions[0]
			passed := time.Since(began).Seconds()
			if row.Seconds == nil || *row.Seconds < 1200 || *row.Seconds > 1200+passed || row.SecondsMethod != "exact" {
				t.Errorf("seconds %v by %s, want exactly 1200 and what passed since", row.Seconds, row.SecondsMethod)
			}
			switch h := row.HeadroomSeconds; {
			case k.want < 0 && h != nil:
				t.Errorf("headroom %g, and it is not known", *h)
			case k.want >= 0 && (h == nil || *h > k.want || *h < k.want-passed-1):
				t.Errorf("headroom %v, want %g less what passed since", h, k.want)
			case k.want >= 0 && (g.Lag.HeadroomSeconds == nil || *g.Lag.HeadroomSeconds != *h):
				t.Errorf("the group's headroom is %v", g.Lag.HeadroomSeconds)
			}
			if p := row.Rates.Produced; p == nil || *p <= 0 || *p > 1 || row.Rates.Consumed != nil {
				t.Errorf("produced %v, consumed %v, want one or two records in the last minute, and nothing", p, row.Rates.Consumed)
			}
		})
	}
}
