package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/klagtop/klagtop/internal/kafkatest"
)

// bed is a group of each kind that klagtop and the tool are compared on.
type bed struct {
	c      *kafkatest.Cluster
	groups []string
	java   []*kafkatest.Client // members that are not ours
	kgo    []*kgo.Client       // members in this process, where a JVM each would only take time

	silent, trimmed, recreated, grown string // the groups that differ on purpose, each on a topic of its name
}

func newBed(t *testing.T, c *kafkatest.Cluster, kip848 bool) *bed {
	b := &bed{c: c}
	ticks := b.ticker(t)
	b.standalone(t, ticks)
	if kip848 {
		b.kip848(t)
	}
	b.silentMember(t)
	b.trimmedLog(t)
	b.recreatedTopic(t)
	b.idleMember(t)
	b.transactions(t)
	b.grownTopic(t)
	for i, m := range b.java {
		m.WaitAssigned(t, []int{3, 3, 2, 2}[i])
	}
	return b
}

// running are the differences that are meant while the members run.
func (b *bed) running() map[place]*purpose {
	m := b.always()
	m[place{b.silent, b.silent, 0}], m[place{b.silent, b.silent, 1}] = dash, dash
	return m
}

// stopped are those after all members have left.
func (b *bed) stopped() map[place]*purpose { return b.always() }

func (b *bed) always() map[place]*purpose {
	return map[place]*purpose{
		{b.trimmed, b.trimmed, 1}:     countsDeleted,
		{b.recreated, b.recreated, 0}: belowZero,
		{b.grown, b.grown, 2}:         leftOut,
		{b.grown, b.grown, 3}:         leftOut,
	}
}

func (b *bed) stop(t *testing.T) {
	for _, m := range b.java {
		m.Close(t)
	}
	for _, m := range b.kgo {
		m.Close()
	}
	// A static member does not leave: it would stay for its session.
	_, err := kadm.NewClient(b.c.Client(t)).LeaveGroup(t.Context(), kadm.LeaveGroup(b.groups[0]).InstanceIDs(staticMember))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		for _, g := range describeJSON(t, b.c, b.groups...).Groups {
			if g.State != "Empty" {
				return fmt.Errorf("%s is %s after its members have left", g.Group, g.State)
			}
		}
		return nil
	})
}

// name gives a group its name, and a topic the same. The state table of Kafka's
// tool up to 3.9 is for names of 15 letters, of which kafkatest.Name takes 9.
func (b *bed) name(t *testing.T, prefix string, partitions int32, records int) string {
	name := kafkatest.Name(prefix)
	b.groups = append(b.groups, name)
	b.topic(t, name, partitions, records)
	return name
}

func (b *bed) topic(t *testing.T, name string, partitions int32, records int) {
	b.c.CreateTopic(t, name, partitions)
	for p := range partitions {
		b.c.Produce(t, name, records, p)
	}
}

const staticMember = "static-1"

// ticker is a classic group of two Java members, one of them static, that lag.
func (b *bed) ticker(t *testing.T) (topic string) {
	name := b.name(t, "ticker", 6, 50)
	b.java = append(b.java,
		b.c.JavaConsumer(t, kafkatest.ConsumerOptions{Group: name, Topics: []string{name}, ClientID: "pod 1", InstanceID: staticMember, Commit: 200 * time.Millisecond, Max: 70}),
		b.c.JavaConsumer(t, kafkatest.ConsumerOptions{Group: name, Topics: []string{name}, ClientID: "pod-2", Commit: 200 * time.Millisecond, Max: 30}))
	return name
}

// standalone is a committer without a group protocol: assign() and commit.
func (b *bed) standalone(t *testing.T, topic string) {
	name := kafkatest.Name("alone")
	b.groups = append(b.groups, name)
	b.c.Commit(t, name, topic, map[int32]int64{0: 10, 3: 50})
}

// kip848 is a group of the consumer protocol.
func (b *bed) kip848(t *testing.T) {
	name := b.name(t, "kip848", 4, 10)
	for _, id := range []string{"new-1", "new-2"} {
		b.java = append(b.java, b.c.JavaConsumer(t, kafkatest.ConsumerOptions{Group: name, Topics: []string{name}, ClientID: id, Protocol: "consumer", Commit: 200 * time.Millisecond, Max: 7}))
	}
}

// silentMember owns partitions and has committed nothing.
func (b *bed) silentMember(t *testing.T) {
	b.silent = b.name(t, "silent", 2, 10)
	b.member(t, b.silent, "silent", kgo.DisableAutoCommit())
}

// trimmedLog has commits before, at and after the start that a purge gave its log.
func (b *bed) trimmedLog(t *testing.T) {
	b.trimmed = b.name(t, "trim", 3, 100)
	b.c.Commit(t, b.trimmed, b.trimmed, map[int32]int64{0: 60, 1: 10, 2: 40})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var before kadm.Offsets
	for p := range int32(3) {
		before.AddOffset(b.trimmed, p, 40, -1)
	}
	done, err := kadm.NewClient(b.c.Client(t)).DeleteRecords(ctx, before)
	if err == nil {
		err = done.Error()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// recreatedTopic is shorter than one of the commits that a consumer of the old one left.
func (b *bed) recreatedTopic(t *testing.T) {
	b.recreated = b.name(t, "anew", 2, 100)
	b.c.Commit(t, b.recreated, b.recreated, map[int32]int64{0: 77, 1: 3})
	b.c.DeleteTopic(t, b.recreated)
	cl := kadm.NewClient(b.c.Client(t))
	eventually(t, func() error { // the coordinator forgets the old topic's commits some time later, and would take new ones with them
		commits, err := cl.FetchOffsets(t.Context(), b.recreated)
		if err == nil && len(commits) > 0 {
			err = fmt.Errorf("the commits are still there: %v", commits)
		}
		return err
	})
	eventually(t, func() error {
		_, err := cl.CreateTopic(t.Context(), 2, 1, nil, b.recreated)
		return err
	})
	b.c.Produce(t, b.recreated, 5, 0, 1)
	b.c.Commit(t, b.recreated, b.recreated, map[int32]int64{0: 77, 1: 3})
}

// idleMember is the second member of a group on one partition.
func (b *bed) idleMember(t *testing.T) {
	name := b.name(t, "idle", 1, 10)
	b.c.Commit(t, name, name, map[int32]int64{0: 4})
	for _, id := range []string{"busy or idle 1", "busy or idle 2"} {
		b.member(t, name, id, kgo.DisableAutoCommit(), kgo.Balancers(kgo.RoundRobinBalancer()))
	}
	eventually(t, func() error {
		g := group(describeJSON(t, b.c, name), name)
		if len(g.Members) != 2 || g.State != "Stable" || g.Assignment.Idle == nil || *g.Assignment.Idle != 1 {
			return fmt.Errorf("%d members, %s, %v idle", len(g.Members), g.State, pointed(g.Assignment.Idle))
		}
		return nil
	})
}

// transactions leaves a log with a committed, an aborted and an open
// transaction, and a consumer that read as far as it may.
func (b *bed) transactions(t *testing.T) {
	name := b.name(t, "pay", 2, 0)
	producer := b.c.Client(t, kgo.TransactionalID(name), kgo.TransactionTimeout(10*time.Minute), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, end := range []string{"commit", "abort", "never"} {
		if err := producer.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		for i := range 5 {
			r := &kgo.Record{Topic: name, Partition: int32(i % 2), Value: []byte("payment")}
			if err := producer.ProduceSync(ctx, r).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
		if end == "never" {
			break
		}
		if err := producer.EndTransaction(ctx, end == "commit"); err != nil {
			t.Fatal(err)
		}
	}
	m := b.member(t, name, "reader", kgo.DisableAutoCommit(), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	for read := 0; read < 5; {
		fetches := m.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		read += fetches.NumRecords()
	}
	if err := m.CommitUncommittedOffsets(ctx); err != nil {
		t.Fatal(err)
	}
	for _, p := range group(describeJSON(t, b.c, name), name).Partitions {
		if *p.LagStable >= *p.Lag || *p.LastStable >= *p.LogEnd {
			t.Errorf("payments/%d: lag %d, of it stable %d, before an open transaction", p.Partition, *p.Lag, *p.LagStable)
		}
	}
}

// grownTopic got partitions after its group had left.
func (b *bed) grownTopic(t *testing.T) {
	b.grown = b.name(t, "grown", 2, 10)
	b.c.Commit(t, b.grown, b.grown, map[int32]int64{0: 4, 1: 10})
	b.member(t, b.grown, "reader", kgo.DisableAutoCommit())
	eventually(t, func() error {
		if g := group(describeJSON(t, b.c, b.grown), b.grown); g.State != "Stable" {
			return fmt.Errorf("the member has not joined: %s", g.State)
		}
		return nil
	})
	b.kgo[len(b.kgo)-1].Close()
	done, err := kadm.NewClient(b.c.Client(t)).CreatePartitions(t.Context(), 2, b.grown)
	if err == nil {
		err = done.Error()
	}
	if err != nil {
		t.Fatal(err)
	}
	b.c.Produce(t, b.grown, 7, 2, 3)
}

// member joins a group on the topic of its name.
func (b *bed) member(t *testing.T, name, clientID string, opts ...kgo.Opt) *kgo.Client {
	m := b.c.Client(t, append([]kgo.Opt{
		kgo.ConsumerGroup(name), kgo.ConsumeTopics(name), kgo.ClientID(clientID), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	}, opts...)...)
	b.kgo = append(b.kgo, m)
	return m
}
