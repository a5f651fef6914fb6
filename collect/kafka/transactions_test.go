package kafka

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/klagtop/klagtop/collect"
)

// transaction produces n records in a transaction that end ends; nil leaves it
// open.
func (b *bed) transaction(id, topic string, p int32, n int, end *kgo.TransactionEndTry) {
	b.Helper()
	cl := b.client(kgo.TransactionalID(id), kgo.TransactionTimeout(10*time.Minute), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	b.must(cl.BeginTransaction())
	for range n {
		b.must(cl.ProduceSync(b.Context(), &kgo.Record{Topic: topic, Partition: p, Value: []byte("tick")}).FirstErr())
	}
	if end == nil {
		b.Cleanup(cl.Close)
		return
	}
	b.must(cl.EndTransaction(b.Context(), *end))
	cl.Close()
}

func ended(how kgo.TransactionEndTry) *kgo.TransactionEndTry { return &how }

// Who may see what of an open transaction, and what is asked for it: nothing
// that an authorizer would log a denial of, but one question about
// transactional ids.
func TestTransactions(t *testing.T) {
	allow := func(r kmsg.ACLResourceType, op kmsg.ACLOperation) kfake.ACL {
		return kfake.ACL{Resource: r, Name: "*", Pattern: kmsg.ACLResourcePatternTypeLiteral, Operation: op, Allow: true}
	}
	lag := []kfake.ACL{allow(kmsg.ACLResourceTypeTopic, kmsg.ACLOperationDescribe), allow(kmsg.ACLResourceTypeGroup, kmsg.ACLOperationDescribe)}
	read := allow(kmsg.ACLResourceTypeTopic, kmsg.ACLOperationRead)
	ids := allow(kmsg.ACLResourceTypeTransactionalId, kmsg.ACLOperationDescribe)
	tests := []struct {
		name string
		acls []kfake.ACL
		want string
		asks bool // for producers
	}{
		{"may read topics and describe transactional ids", append([]kfake.ACL{read, ids}, lag...), "orders-1 Ongoing producer=true timeout=10m0s", true},
		{"may describe transactional ids", append([]kfake.ACL{ids}, lag...), "orders-1 Ongoing producer=true timeout=10m0s", false},
		{"may read topics", append([]kfake.ACL{read}, lag...), "  producer=true timeout=0s", true},
		{"may do neither", lag, "  producer=false timeout=0s not_reported", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBedOn(t, []kgo.Opt{kgo.SASL(plainAuth("admin"))}, kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser("PLAIN", "admin", "admin"), kfake.User("PLAIN", "mon", "mon", tt.acls...))
			b.topic("market-updates", 1)
			b.produce("market-updates", 0, 3)
			b.transaction("orders-1", "market-updates", 0, 2, nil)
			b.commit("ticker", "market-updates", map[int32]int64{0: 3})
			b.dial = nil
			src := b.source(kgo.SASL(plainAuth("mon")))
			b.poll()
			m := b.meter(nil)
			a := src.Transactions(t.Context(), []collect.TransactionQuery{{Topic: "market-updates", Start: 3}})[0]
			got := fmt.Sprintf("%s %s producer=%v timeout=%s", a.TransactionalID, a.State, a.ProducerID >= 0, a.Timeout)
			if a.Reason != collect.ReasonNone {
				got += " " + a.Reason.String()
			}
			if got != tt.want || a.Hanging {
				t.Errorf("%s, hanging %v, want %s", got, a.Hanging, tt.want)
			}
			if n := m.take()[kmsg.DescribeProducers]; (n > 0) != tt.asks {
				t.Errorf("%d questions for producers", n)
			}
		})
	}
}

// A transaction of which no coordinator knows, while its producer's partition
// still waits for it, hangs: it will not end by itself. So says Kafka's own
// tool, too.
func TestHangingTransaction(t *testing.T) {
	b := newBed(t)
	b.topic("market-updates", 1)
	b.transaction("orders-1", "market-updates", 0, 2, nil)
	b.commit("ticker", "market-updates", map[int32]int64{0: 0})
	b.poll()
	ask := func() collect.TransactionAnswer {
		return b.source().Transactions(t.Context(), []collect.TransactionQuery{{Topic: "market-updates"}})[0]
	}
	known := ask()
	if a := known; a.Hanging || a.TransactionalID != "orders-1" {
		t.Errorf("of a coordinator that knows it: %+v", a)
	}
	var forgotten atomic.Bool
	b.c.ControlKey(int16(kmsg.DescribeTransactions), func(r kmsg.Request) (kmsg.Response, error, bool) {
		b.c.KeepControl()
		req := r.(*kmsg.DescribeTransactionsRequest)
		resp := req.ResponseKind().(*kmsg.DescribeTransactionsResponse)
		for _, id := range req.TransactionalIDs {
			s := kmsg.NewDescribeTransactionsResponseTransactionState()
			s.TransactionalID, s.State, s.ProducerID = id, "CompleteAbort", known.ProducerID
			if forgotten.Load() {
				s.ErrorCode = kerr.TransactionalIDNotFound.Code
			}
			resp.TransactionStates = append(resp.TransactionStates, s)
		}
		return resp, nil, true
	})
	if a := ask(); !a.Hanging || a.TransactionalID != "orders-1" || a.State != "CompleteAbort" || a.ProducerID < 0 {
		t.Errorf("of a coordinator that says it is over: %+v", a)
	}
	forgotten.Store(true)
	b.c.ControlKey(int16(kmsg.ListTransactions), func(r kmsg.Request) (kmsg.Response, error, bool) {
		b.c.KeepControl()
		return r.ResponseKind(), nil, true
	})
	if a := ask(); !a.Hanging || a.TransactionalID != "" || a.ProducerID < 0 {
		t.Errorf("of coordinators that know nothing: %+v", a)
	}
}

// Before Kafka 3.0 nobody can be asked.
func TestTransactionsOfAnOldBroker(t *testing.T) {
	b := newBed(t, kfake.MaxVersions(kversion.FromString("v2.8")))
	b.topic("market-updates", 1)
	b.commit("ticker", "market-updates", map[int32]int64{0: 0})
	b.poll()
	if a := b.source().Transactions(t.Context(), []collect.TransactionQuery{{Topic: "market-updates"}})[0]; a.Reason.Passing() || a.ProducerID >= 0 {
		t.Errorf("%+v", a)
	}
}

// What the end of a log holds is read from the headers of its batches.
func TestTails(t *testing.T) {
	for _, v := range []string{"v2.8", "v3.9", ""} {
		t.Run(v, func(t *testing.T) {
			var opts []kfake.Opt
			if v != "" {
				opts = append(opts, kfake.MaxVersions(kversion.FromString(v)))
			}
			b := newBed(t, opts...)
			b.topic("market-updates", 1)
			b.produce("market-updates", 0, 1)                                       // 0
			b.transaction("orders-1", "market-updates", 0, 5, ended(kgo.TryCommit)) // 1..5, 6
			b.transaction("orders-2", "market-updates", 0, 3, ended(kgo.TryAbort))  // 7..9, 10
			b.transaction("orders-3", "market-updates", 0, 1, ended(kgo.TryCommit)) // 11, 12
			b.transaction("orders-4", "market-updates", 0, 2, ended(kgo.TryAbort))  // 13..14, 15
			b.commit("ticker", "market-updates", map[int32]int64{0: 1})
			b.poll()
			tests := []struct {
				why      string
				from, to int64
				want     collect.TailKind
			}{
				{"a plain record", 0, 1, collect.TailData},
				{"committed records", 1, 7, collect.TailData},
				{"the marker that committed them", 6, 7, collect.TailControl},
				{"aborted records and their marker", 7, 11, collect.TailAborted},
				{"the middle of them", 9, 11, collect.TailAborted},
				{"the marker that aborted them", 10, 11, collect.TailControl},
				{"a marker and aborted ones", 6, 11, collect.TailAborted},
				{"aborted ones, then committed ones", 7, 13, collect.TailData},
				{"a marker, then aborted ones", 12, 16, collect.TailAborted},
				{"nothing yet", 15, 17, collect.TailUnknown},
			}
			queries := make([]collect.TailQuery, len(tests))
			for i, tt := range tests {
				queries[i] = collect.TailQuery{Topic: "market-updates", From: tt.from, To: tt.to}
			}
			for i, got := range b.source().Tails(t.Context(), queries) {
				if got != tests[i].want {
					t.Errorf("%s: %v, want %v", tests[i].why, got, tests[i].want)
				}
			}
		})
	}
}

// A topic that this principal may not read is not asked for.
func TestTailsOfATopicThatMayNotBeRead(t *testing.T) {
	b := newLimitedBed(t)
	b.topic("pub", 1)
	b.produce("pub", 0, 5)
	b.commit("ok", "pub", map[int32]int64{0: 2})
	b.poll()
	m := b.meter(nil)
	if got := b.source().Tails(t.Context(), []collect.TailQuery{{Topic: "pub", From: 2, To: 5}}); got[0] != collect.TailUnknown {
		t.Errorf("got %v", got)
	}
	if n := m.take(); n[kmsg.Fetch] > 0 {
		t.Errorf("asked %v", n)
	}
}

// Whatever bytes a leader answers, reading them ends.
func FuzzTail(f *testing.F) {
	f.Add([]byte{}, int64(0), int64(1))
	f.Add(make([]byte, 61), int64(0), int64(1))
	whole := make([]byte, 78)
	whole[11], whole[16], whole[22], whole[7] = 66, 2, 0x30, 9
	f.Add(whole, int64(9), int64(10))
	f.Fuzz(func(t *testing.T, b []byte, from, to int64) {
		part := kmsg.FetchResponseTopicPartition{RecordBatches: b, LastStableOffset: to}
		if k := tailOf(&part, from, to); k == collect.TailAborted {
			t.Error("no transaction was aborted")
		}
	})
}
