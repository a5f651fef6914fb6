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
	c := Start(t, Options{Nodes: 3, Properties: map[string]string{
		"broker.session.timeout.ms": "2000", "broker.heartbeat.interval.ms": "500", // 9 s and 2 s by default
	}})
	topic := Name("kept")
	c.CreateTopic(t, topic, 3, "replicas=3", "min.insync.replicas=2")
	c.Produce(t, topic, 10, 0, 1, 2)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	brokers := func() int {
		t.Helper()
		if err := c.Ready(ctx); err != nil {
			t.Fatal(err)
		}
		found, err := kadm.NewClient(c.Client(t)).ListBrokers(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	if n := brokers(); n != 3 {
		t.Fatalf("%d brokers at the start, want 3", n)
	}
	c.Kill(t, 2)
	if n := brokers(); n != 2 {
		t.Errorf("%d brokers after the kill, want 2", n)
	}
	c.Restart(t, 2)
	if n := brokers(); n != 3 {
		t.Errorf("%d brokers after the restart, want 3", n)
	}
	c.Pause(t, 3)
	if n := brokers(); n != 2 {
		t.Errorf("%d brokers while one is paused, want 2", n)
	}
	c.Resume(t, 3)
	if n := brokers(); n != 3 {
		t.Errorf("%d brokers after the pause, want 3", n)
	}
	c.Stop(t, 1)
	if n := brokers(); n != 2 {
		t.Errorf("%d brokers after the stop, want 2", n)
	}
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
