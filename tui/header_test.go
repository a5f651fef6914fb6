package tui

import (
	"testing"
	"time"

	"github.com/klagtop/klagtop/collect"
)

// Why nothing is there is half of it: what would mend it is the other half.
func TestClusterThatIsNotReachedComesWithAHint(t *testing.T) {
	for _, size := range [][2]int{{40, 12}, {80, 24}, {120, 40}, {200, 50}} {
		b := collect.NewBuilder(nil, collect.BuildOptions{ClusterName: "prod"})
		b.Problem(collect.Problem{Stage: collect.StageConnect, Broker: -1, Partition: -1, Reason: collect.ReasonBrokerDown, Error: "no such host: kafka-1"})
		b.Problem(collect.Problem{
			Stage: collect.StageConnect, Broker: -1, Partition: -1, Reason: collect.ReasonBrokerDown, Error: "nothing listens on kafka-2:9092 (connection refused)",
			Hint: "is the broker running, and are host and port in --brokers right?\x1b[2J",
		})
		newScreen(t, size[0], size[1]).take(update(1, b.Finish(epoch, time.Second))).golden("unreached")
	}
	s := newScreen(t, 80, 24).press("space")
	s.take(update(1, snapshot(nil, epoch, street()...))).hides("hint") // paused before anything was there
}
