package kafka

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// The leaders tell where epochs end, each what it leads, in the order asked;
// what they refuse has a reason.
func TestEpochEnds(t *testing.T) {
	b := newBed(t)
	b.topic("market-updates", 3)
	for p := range int32(3) {
		b.must(b.c.MoveTopicPartition("market-updates", p, p))
		b.produce("market-updates", p, 10)
	}
	b.must(b.c.MoveTopicPartition("market-updates", 0, 2)) // a new epoch
	b.produce("market-updates", 0, 5)
	b.commit("ticker", "market-updates", map[int32]int64{0: 4, 1: 4, 2: 4})
	s := b.poll()
	topic, _ := s.Topic("market-updates")
	query := func(p, epoch, leader int32) collect.EpochQuery {
		return collect.EpochQuery{Topic: "market-updates", Partition: p, Epoch: epoch, Leader: leader}
	}
	ask := func(qs ...collect.EpochQuery) (out []string) {
		for _, a := range b.source().EpochEnds(t.Context(), qs) {
			out = append(out, fmt.Sprintf("%d%s", a.End, a.Reason))
		}
		return out
	}
	e := topic.Epoch
	if got := fmt.Sprint(ask(query(2, e[2], e[2]), query(0, e[0]-1, e[0]), query(1, e[1], e[1]))); got != "[10 10 10]" {
		t.Errorf("got %s", got)
	}
	if got := fmt.Sprint(ask(query(0, e[0]-1, e[0]-1), query(9, 0, 1), query(1, e[1], e[1]))); got != "[-1no_leader -1no_leader 10]" {
		t.Errorf("of a leader of before, and of no partition: %s", got)
	}
	b.c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetForLeaderEpoch}, Topic: "market-updates", Partitions: []int32{1}, Err: kerr.TopicAuthorizationFailed, Count: -1})
	if got := fmt.Sprint(ask(query(1, e[1], e[1]), query(2, e[2], e[2]))); got != "[-1denied 10]" {
		t.Errorf("denied: %s", got)
	}
}
