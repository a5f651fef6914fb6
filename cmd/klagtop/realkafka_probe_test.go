//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/klagtop/klagtop/internal/document"
	"github.com/klagtop/klagtop/internal/kafkatest"
)

// Behind a transaction's marker a consumer that commits what it read is at lag 1
// for ever: that has no age, and with --probe-records it is 0, exactly. Aborted
// records are somebody's lag still.
func TestTailsOfTransactions(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a real Kafka")
	}
	t.Parallel()
	c := realKafka.Cluster(t)
	topic, name := kafkatest.Name("market-updates"), kafkatest.Name("ticker")
	c.CreateTopic(t, topic, 3)
	for p, end := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort} {
		cl := c.Client(t, kgo.TransactionalID(kafkatest.Name("orders")), kgo.RecordPartitioner(kgo.ManualPartitioner()))
		if err := cl.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Partition: int32(p), Value: []byte("tick")}).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
		if err := cl.EndTransaction(t.Context(), end); err != nil {
			t.Fatal(err)
		}
	}
	c.Produce(t, topic, 4, 2)
	c.Commit(t, name, topic, map[int32]int64{0: 3, 1: 0, 2: 3})
	look := func(want string, more ...string) {
		t.Helper()
		args := append([]string{"describe", "-o", "json", "--timeout", "1m", "--brokers", c.Bootstrap(), "--group", name}, more...)
		eventually(t, func() error { // markers follow the end of a transaction
			o := klagtop(t, args...)
			d, err := document.Decode(strings.NewReader(o.stdout))
			if err != nil {
				t.Fatal(o.stderr, err)
			}
			var got []string
			for _, r := range group(d, name).Partitions {
				seconds := "?"
				switch {
				case r.Seconds != nil && *r.Seconds == 0:
					seconds = "0 " + r.SecondsMethod
				case r.Seconds != nil:
					seconds = "aged"
				case r.SecondsReason != "":
					seconds = r.SecondsReason
				}
				got = append(got, fmt.Sprintf("lag %v: %s", pointed(r.Lag), seconds))
			}
			if text := strings.Join(got, "; "); text != want {
				return fmt.Errorf("%s, want %s", text, want)
			}
			return nil
		})
	}
	look("lag 1: control_records; lag 4: control_records; lag 1: control_records")
	look("lag 1: 0 exact; lag 4: control_records; lag 1: aged", "--probe-records")
}
