//go:build unix

package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/internal/kafkatest"
)

// load is producers and consumers at work.
type load struct {
	prefix string   // of every group
	groups []string // all of them
	topic  string
	truth  *truth

	stopProducing func() // and waits for what is under way
}

const loadPartitions = 6

// startLoad has twenty groups of two members read one topic: fifteen of ours,
// whose every commit is known, and five of Java (classic and KIP-848), KafkaJS
// and librdkafka.
func startLoad(t *testing.T, c *kafkatest.Cluster) *load {
	l := &load{prefix: kafkatest.Name("mixed") + "-", topic: kafkatest.Name("market-updates"), truth: &truth{sent: map[place][]stamp{}}}
	c.CreateTopic(t, l.topic, loadPartitions, "replicas=3", "min.insync.replicas=2")
	l.produce(t, c)
	for i := range 15 {
		name := fmt.Sprintf("%sgo-%02d", l.prefix, i)
		l.groups = append(l.groups, name)
		balancer := []kgo.GroupBalancer{kgo.RangeBalancer(), kgo.RoundRobinBalancer(), kgo.CooperativeStickyBalancer()}[i%3]
		for pod := range 2 {
			l.consume(t, c, name, fmt.Sprintf("pod-%d", pod+1), balancer)
		}
	}
	for name, start := range map[string]starter{
		"java": c.JavaConsumer, "kafkajs": c.KafkaJSConsumer, "librdkafka": c.LibrdkafkaConsumer,
		"java-cooperative": func(t testing.TB, o kafkatest.ConsumerOptions) *kafkatest.Client {
			o.Assignor = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
			return c.JavaConsumer(t, o)
		},
		"java-848": func(t testing.TB, o kafkatest.ConsumerOptions) *kafkatest.Client {
			o.Protocol = "consumer"
			return c.JavaConsumer(t, o)
		},
	} {
		l.groups = append(l.groups, l.prefix+name)
		pod := start(t, kafkatest.ConsumerOptions{Group: l.prefix + name, Topics: []string{l.topic}, ClientID: "pod-1", Commit: 300 * time.Millisecond})
		pod.WaitAssigned(t, loadPartitions)
	}
	slices.Sort(l.groups)
	return l
}

// produce writes some hundred records a second until it is stopped.
func (l *load) produce(t *testing.T, c *kafkatest.Cluster) {
	cl := c.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.ProducerLinger(0))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				_ = cl.Flush(context.WithoutCancel(ctx))
				return
			case <-tick.C:
			}
			for p := range int32(loadPartitions) {
				key := place{topic: l.topic, partition: p}
				n := l.truth.start(key, -1) // the offset is known with the answer only
				cl.Produce(context.WithoutCancel(ctx), &kgo.Record{Topic: l.topic, Partition: p, Value: []byte("tick")}, func(r *kgo.Record, err error) {
					if err != nil {
						t.Errorf("produce: %v", err)
						return
					}
					l.truth.done(key, n, r.Offset+1)
				})
			}
		}
	}()
	l.stopProducing = func() { cancel(); <-done }
	t.Cleanup(l.stopProducing)
}

// consume is a member that commits what it has read every 200 ms, each commit noted.
func (l *load) consume(t *testing.T, c *kafkatest.Cluster, group, id string, balancer kgo.GroupBalancer) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.Brokers()...), kgo.ConsumerGroup(group), kgo.ConsumeTopics(l.topic), kgo.ClientID(id),
		kgo.Balancers(balancer), kgo.DisableAutoCommit(), kgo.SessionTimeout(30*time.Second), kgo.HeartbeatInterval(time.Second), kgo.FetchMaxWait(200*time.Millisecond),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.BlockRebalanceOnPoll())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			read := map[int32]kgo.EpochOffset{}
			poll, end := context.WithTimeout(ctx, 200*time.Millisecond)
			cl.PollFetches(poll).EachRecord(func(r *kgo.Record) {
				read[r.Partition] = kgo.EpochOffset{Epoch: r.LeaderEpoch, Offset: r.Offset + 1}
			})
			end()
			if len(read) > 0 {
				l.commit(ctx, cl, group, read)
			}
			cl.AllowRebalance()
		}
	}()
	t.Cleanup(func() { cancel(); <-done; cl.CloseAllowingRebalance() })
}

func (l *load) commit(ctx context.Context, cl *kgo.Client, group string, read map[int32]kgo.EpochOffset) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	started := map[int32]int{}
	for p, o := range read {
		started[p] = l.truth.start(place{group, l.topic, p}, o.Offset)
	}
	cl.CommitOffsetsSync(ctx, map[string]map[int32]kgo.EpochOffset{l.topic: read}, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, err error) {
		if err != nil {
			return // it may have been taken all the same
		}
		for _, topic := range resp.Topics {
			for _, p := range topic.Partitions {
				if p.ErrorCode == 0 {
					l.truth.done(place{group, l.topic, p.Partition}, started[p.Partition], read[p.Partition].Offset)
				}
			}
		}
	})
}

// finish ends the producing; the consumers go on.
func (l *load) finish(t *testing.T) {
	t.Helper()
	l.stopProducing()
}

// truth is when what was written, and when that was acknowledged. A place
// without a group is a partition's log.
type truth struct {
	mu   sync.Mutex
	sent map[place][]stamp
}

type stamp struct {
	offset    int64
	sent      time.Time
	confirmed time.Time // zero while it may or may not have been
}

func (h *truth) start(at place, offset int64) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent[at] = append(h.sent[at], stamp{offset: offset, sent: time.Now()})
	return len(h.sent[at]) - 1
}

func (h *truth) done(at place, n int, offset int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent[at][n].confirmed, h.sent[at][n].offset = time.Now(), offset
}

// end says whether a log cannot have had this end at some moment of an
// interval: it has at least what was acknowledged before, and at most what was
// sent by then.
func (h *truth) end(key place, end int64, from, to time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	least, most := int64(0), int64(0)
	for _, s := range h.sent[place{topic: key.topic, partition: key.partition}] {
		if s.sent.Before(to) {
			most++
		}
		if !s.confirmed.IsZero() && s.confirmed.Before(from) {
			least = max(least, s.offset)
		}
	}
	if end < least || end > most {
		return fmt.Errorf("log end %d: acknowledged before the poll were %d, sent by its end %d", end, least, most)
	}
	return nil
}

// commit says whether a commit cannot have been the newest at some moment of an
// interval. It can if it was under way then or after, or if it was the last one
// before, or was under way beside that.
func (h *truth) commit(key place, c *int64, from, to time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.sent[key]
	if all == nil {
		return nil // not a client of ours, or not yet at work
	}
	var last stamp // acknowledged before the interval
	for _, s := range all {
		if !s.confirmed.IsZero() && s.confirmed.Before(from) && s.confirmed.After(last.confirmed) {
			last = s
		}
	}
	if c == nil {
		if last.confirmed.IsZero() {
			return nil
		}
		return fmt.Errorf("no commit, but %d was acknowledged before", last.offset)
	}
	for _, s := range all {
		if s.offset == *c && s.sent.Before(to) && (s.confirmed.IsZero() || !s.confirmed.Before(from) || s.confirmed.After(last.sent)) {
			return nil
		}
	}
	return fmt.Errorf("committed %d: nobody had, or not any more; acknowledged last before the poll was %d", *c, last.offset)
}

func (h *truth) records() (n int) {
	for at, s := range h.sent {
		if at.group == "" {
			n += len(s)
		}
	}
	return n
}

func (h *truth) commits() (n int) {
	for at, s := range h.sent {
		if at.group != "" {
			n += len(s)
		}
	}
	return n
}
