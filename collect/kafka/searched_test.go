package kafka

import (
	"context"
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// A search for times has no snapshot of its own: what went wrong in it is among
// the problems of the next one.
func TestProblemsOfSearchesAreTold(t *testing.T) {
	isSearch := func(r kmsg.Request) bool {
		return r.(*kmsg.ListOffsetsRequest).Topics[0].Partitions[0].Timestamp == collect.TimestampNewest
	}
	search := func(ctx context.Context, b *bed) {
		var qs []collect.TimeQuery
		for _, topic := range []string{"market-updates", "quotes"} {
			for p := range int32(3) {
				qs = append(qs, collect.TimeQuery{Topic: topic, Partition: p, Timestamp: collect.TimestampNewest})
			}
		}
		b.src.OffsetsAt(ctx, qs)
	}
	for _, tt := range []struct {
		why    string
		fail   func(b *bed)
		cancel bool
		want   string
	}{
		{"nothing went wrong", func(*bed) {}, false, ""},
		{"a broker failed: one problem", func(b *bed) {
			b.c.ControlKey(int16(kmsg.ListOffsets), func(r kmsg.Request) (kmsg.Response, error, bool) {
				b.c.KeepControl()
				return nil, errors.New("closed"), isSearch(r) && b.c.CurrentNode() == 1
			})
		}, false, "time_search broker=1 group= topic=/-1 broker_down: the broker closed the connection at the first request: it most likely wants a login, or TLS"},
		{"partitions of one broker: one problem", func(b *bed) {
			b.c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Nodes: []int32{2}, Err: kerr.KafkaStorageError, Count: -1, When: isSearch})
		}, false, "time_search broker=2 group= topic=/-1 error: 2 partitions: " + kerr.KafkaStorageError.Error()},
		{"an answer: a broker too old to search", func(b *bed) {
			b.c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Err: kerr.UnsupportedVersion, Count: -1, When: isSearch})
		}, false, ""},
		{"nobody waits for the answers any more", func(b *bed) {
			b.c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Err: kerr.KafkaStorageError, Count: -1, When: isSearch})
		}, true, ""},
	} {
		t.Run(tt.why, func(t *testing.T) {
			b := newBed(t)
			group := b.spread()[0]
			b.topic("quotes", 3)
			for p := range int32(3) {
				b.must(b.c.MoveTopicPartition("quotes", p, p))
			}
			b.commit(group, "quotes", map[int32]int64{0: 0})
			b.poll()
			tt.fail(b)
			ctx, cancel := context.WithTimeout(t.Context(), b.timeout)
			defer cancel()
			if tt.cancel {
				cancel()
			}
			for range 2 { // a search asks more than once
				search(ctx, b)
			}
			b.wantProblems(b.poll(), tt.want)
			b.wantProblems(b.poll(), "")
		})
	}
}
