//go:build unix

package main

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/klagtop/klagtop/internal/document"
	"github.com/klagtop/klagtop/internal/kafkatest"
)

// Two things that go wrong in a log itself: a transaction that no coordinator
// knows, which Kafka's own tool calls hanging, too; and an unclean election,
// which cuts a log below a commit and hides that when the log has grown past it
// again.
func TestHangingTransactionAndUncleanElection(t *testing.T) {
	if os.Getenv("KLAGTOP_TEST_LOGS") == "" {
		t.Skip("it takes a cluster of three of its own, and a minute: make test-logs")
	}
	t.Parallel()
	c := kafkatest.Start(t, kafkatest.Options{Nodes: 3, Properties: map[string]string{
		"broker.session.timeout.ms": "4000", "broker.heartbeat.interval.ms": "500", "replica.lag.time.max.ms": "2000",
		"unclean.leader.election.enable": "true", "min.insync.replicas": "1", "transaction.partition.verification.enable": "false",
	}})
	cl := c.Client(t)
	ask := func(req kmsg.Request) kmsg.Response {
		t.Helper()
		resp, err := cl.Request(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	topic, stuck, name := kafkatest.Name("market-updates"), kafkatest.Name("notifications"), kafkatest.Name("ticker")
	create := kmsg.NewPtrCreateTopicsRequest()
	create.TimeoutMillis = 30_000
	ct := kmsg.NewCreateTopicsRequestTopic()
	ct.Topic, ct.NumPartitions, ct.ReplicationFactor = topic, -1, -1
	ct.ReplicaAssignment = []kmsg.CreateTopicsRequestTopicReplicaAssignment{{Partition: 0, Replicas: []int32{1, 2}}}
	create.Topics = append(create.Topics, ct)
	if err := kerr.ErrorForCode(ask(create).(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode); err != nil {
		t.Fatal(err)
	}
	c.CreateTopic(t, stuck, 1)
	c.Produce(t, topic, 10, 0)
	for range 5 { // older than the transaction to come
		r := &kgo.Record{Topic: stuck, Value: []byte("tick"), Timestamp: time.Now().Add(-11 * time.Minute)}
		if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	c.Commit(t, name, stuck, map[int32]int64{0: 5})

	t.Run("a transaction that hangs", func(t *testing.T) {
		hang(t, c, stuck)
		s := serveIt(t, "--brokers", c.Brokers()[2], "--group", name, "--interval", "300ms")
		eventually(t, func() error {
			rows, _, err := s.rows(name)
			if err != nil {
				return err
			}
			for _, r := range rows {
				if o := r.OpenTransaction; o != nil && o.Hanging && o.StartOffset == 5 && o.ProducerID != nil && *o.Seconds > 500 && *r.LagStable == 0 && *r.Lag == 1 {
					return nil
				}
				err = errors.Join(err, fmt.Errorf("row %+v, transaction %+v", r, r.OpenTransaction))
			}
			return err
		})
		if page, err := s.get("/metrics"); err != nil || !strings.Contains(page, fmt.Sprintf("klagtop_partition_open_transaction_seconds{kafka_cluster=\"default\",topic=%q,partition=\"0\"} 6", stuck)) {
			t.Errorf("no metric of 600 s and more: %v", err)
		}
		o := klagtop(t, "describe", "--brokers", c.Bootstrap(), "--group", name, "--timeout", "1m")
		if !strings.Contains(o.stdout, "open transaction on "+stuck+"-0: from offset 5") || !strings.Contains(o.stdout, "HANGING") {
			t.Errorf("describe: %s%s", o.stdout, o.stderr)
		}
		found := c.Tool(t, "org.apache.kafka.tools.TransactionsCommand", "--bootstrap-server", c.Bootstrap(), "find-hanging", "--topic", stuck, "--max-transaction-timeout", "1")
		if !strings.Contains(found, stuck) {
			t.Errorf("kafka-transactions find-hanging: %s", found)
		}
	})

	t.Run("an unclean election", func(t *testing.T) {
		c.Pause(t, 2)
		eventually(t, func() error { // the leader goes on without it
			topics, err := kadm.NewClient(cl).ListTopics(t.Context(), topic)
			if err != nil {
				return err
			}
			if p := topics[topic].Partitions[0]; len(p.ISR) != 1 || p.Leader != 1 {
				return fmt.Errorf("leader %d, in sync %v", p.Leader, p.ISR)
			}
			return nil
		})
		c.Produce(t, topic, 20, 0)
		var at kadm.Offsets
		at.Add(kadm.Offset{Topic: topic, Partition: 0, At: 30, LeaderEpoch: 0})
		if err := kadm.NewClient(cl).CommitAllOffsets(t.Context(), name, at); err != nil {
			t.Fatal(err)
		}
		s := serveIt(t, "--brokers", c.Brokers()[2], "--group", name, "--interval", "300ms", "--timeout", "2s")
		row := func(check func(*document.Partition) bool) func([]document.Partition, *document.Group) error {
			return func(rows []document.Partition, _ *document.Group) error {
				for i := range rows {
					if r := &rows[i]; r.Topic == topic && !r.Stale && r.Lag != nil && check(r) {
						return nil
					}
				}
				return fmt.Errorf("rows %+v", rows)
			}
		}
		s.settled(t, name, row(func(r *document.Partition) bool { return *r.LogEnd == 30 && *r.Lag == 0 && r.Status == "ok" }))
		c.Kill(t, 1)
		c.Resume(t, 2)
		producer := c.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()))
		for range 25 { // from offset 10 on, past the commit
			if err := producer.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: []byte("tick")}).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
		s.settled(t, name, row(func(r *document.Partition) bool {
			return *r.LogEnd == 35 && *r.Lag == 5 && r.Status == "ok" && r.TruncatedRecords == 20
		}))
		s.tells(t, name, "truncated 0:30>10")
	})
}

// hang writes one record of a transaction that its coordinator never hears of,
// as old brokers and clients let happen, stamped ten minutes ago.
func hang(t *testing.T, c *kafkatest.Cluster, topic string) {
	t.Helper()
	cl := c.Client(t)
	id := kafkatest.Name("orders")
	initial := kmsg.NewPtrInitProducerIDRequest()
	initial.TransactionalID, initial.TransactionTimeoutMillis = &id, 60_000
	var producer *kmsg.InitProducerIDResponse
	eventually(t, func() error { // its coordinator is made by the first that asks
		resp, err := initial.RequestWith(t.Context(), cl)
		if err == nil {
			producer, err = resp, kerr.ErrorForCode(resp.ErrorCode)
		}
		return err
	})
	written := time.Now().Add(-10 * time.Minute).UnixMilli()
	batch := kmsg.RecordBatch{
		PartitionLeaderEpoch: -1, Magic: 2, Attributes: 1 << 4, FirstTimestamp: written, MaxTimestamp: written,
		ProducerID: producer.ProducerID, ProducerEpoch: producer.ProducerEpoch, NumRecords: 1,
	}
	record := kmsg.Record{Value: []byte("tick")}
	record.Length = int32(len(record.AppendTo(nil))) - 1
	batch.Records = record.AppendTo(nil)
	raw := batch.AppendTo(nil)
	batch.Length = int32(len(raw) - 12)
	raw = batch.AppendTo(nil)
	batch.CRC = int32(crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	raw = batch.AppendTo(nil)

	topics, err := kadm.NewClient(cl).ListTopics(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	produce := kmsg.NewPtrProduceRequest()
	produce.TransactionID, produce.Acks, produce.TimeoutMillis = &id, -1, 30_000
	pt := kmsg.NewProduceRequestTopic()
	pt.Topic, pt.TopicID = topic, topics[topic].ID
	part := kmsg.NewProduceRequestTopicPartition()
	part.Records = raw
	pt.Partitions = append(pt.Partitions, part)
	produce.Topics = append(produce.Topics, pt)
	// version 12 would have the broker tell the coordinator
	old := c.Client(t, kgo.MaxVersions(upTo(kmsg.Produce, 11)))
	resp, err := old.Broker(int(topics[topic].Partitions[0].Leader)).Request(t.Context(), produce)
	if err == nil {
		err = kerr.ErrorForCode(resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// upTo is every version, but of one request none above a given one.
func upTo(key kmsg.Key, version int16) *kversion.Versions {
	v := kversion.Stable()
	v.SetMaxKeyVersion(int16(key), version)
	return v
}
