package kafkatest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// What tests of failures stand on: a node that is killed is missed by the others, and comes back with its data.
func TestNodesDieAndComeBack(t *testing.T) {
	t.Parallel()
	c := Start(t, Options{Nodes: 3, Properties: map[string]string{
		"broker.session.timeout.ms": "4000", "broker.heartbeat.interval.ms": "500", // 9 s and 2 s by default
	}})
	topic := Name("kept")
	c.CreateTopic(t, topic, 3, "replicas=3", "min.insync.replicas=2")
	c.Produce(t, topic, 10, 0, 1, 2)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	brokers := func(when string, want int) {
		t.Helper()
		if err := c.Ready(ctx); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() error { // a node on a busy machine may miss a heartbeat and be out for a moment
			found, err := kadm.NewClient(c.Client(t)).ListBrokers(ctx)
			if err == nil && len(found) != want {
				err = fmt.Errorf("%d brokers %s, want %d", len(found), when, want)
			}
			return err
		})
	}
	brokers("at the start", 3)
	c.Kill(t, 2)
	brokers("after the kill", 2)
	c.Restart(t, 2)
	brokers("after the restart", 3)
	c.Pause(t, 3)
	brokers("while one is paused", 2)
	c.Resume(t, 3)
	brokers("after the pause", 3)
	c.Stop(t, 1)
	brokers("after the stop", 2)
	eventually(t, func() error { // a new leader does not know the end at once
		ends, err := kadm.NewClient(c.Client(t)).ListEndOffsets(ctx, topic)
		if err != nil {
			return err
		}
		for _, end := range ends.Offsets().Sorted() {
			if end.At != 10 {
				return fmt.Errorf("partition %d ends at %d, want 10", end.Partition, end.At)
			}
		}
		return ends.Error()
	})
}
