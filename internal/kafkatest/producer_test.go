package kafkatest

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
)

// Tests of open and hanging transactions need one that stays open exactly as long as they say.
func TestProducerHoldsATransactionOpen(t *testing.T) {
	c := kafka.Cluster(t)
	topic := Name("transacted")
	c.CreateTopic(t, topic, 1)
	adm := kadm.NewClient(c.Client(t))
	p := c.JavaProducer(t, Name("txn"), nil)
	check := func(when string, wantEnd, wantStable int64) {
		t.Helper()
		// The coordinator answers a commit before it has written the markers.
		eventually(t, func() error {
			ends, err := adm.ListEndOffsets(t.Context(), topic)
			if err != nil {
				return err
			}
			stable, err := adm.ListCommittedOffsets(t.Context(), topic)
			if err != nil {
				return err
			}
			end, _ := ends.Lookup(topic, 0)
			lso, _ := stable.Lookup(topic, 0)
			if end.Offset != wantEnd || lso.Offset != wantStable {
				return fmt.Errorf("%s: log end %d, last stable %d; want %d, %d", when, end.Offset, lso.Offset, wantEnd, wantStable)
			}
			return nil
		})
	}
	p.Begin(t)
	p.Send(t, topic, 0, 5)
	check("open", 5, 0)
	p.Commit(t)
	check("committed, with its marker", 6, 6)
	p.Begin(t)
	p.Send(t, topic, 0, 2)
	p.Abort(t)
	check("aborted, with its marker", 9, 9)
	p.Begin(t)
	p.Send(t, topic, 0, 1)
	p.Kill()
	check("left open by a killed producer", 10, 9)
}
