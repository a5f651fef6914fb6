package kafkatest

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// ShareConsumer is a member of a share group that does what it is told, one step at a time.
type ShareConsumer struct {
	*Client
	told int
}

// JavaShareConsumer runs Kafka's Java share consumer, which is there from Kafka 4.2 on without more ado. It acknowledges
// what it is told to and nothing else. Of the options it uses Group, Topics, ClientID and Properties.
func (c *Cluster) JavaShareConsumer(t testing.TB, o ConsumerOptions) *ShareConsumer {
	t.Helper()
	id := cmp.Or(o.ClientID, "consumer")
	args := []string{"bootstrap.servers=" + c.Bootstrap(), "group.id=" + o.Group, "client.id=" + id, "topics=" + strings.Join(o.Topics, ",")}
	for key, value := range o.Properties {
		args = append(args, key+"="+value)
	}
	s := &ShareConsumer{Client: c.javaClient(t, "the Java share consumer "+id, "ShareConsumer.java", args...)}
	s.wait(t, "was ready", func(lines []string) bool { return len(lines) > 0 && lines[0] == "ready" })
	return s
}

// Poll takes records, those of one fetch, and returns how many the consumer holds: 0 where none came for so long. Without
// it, the consumer does not join its group.
func (s *ShareConsumer) Poll(t testing.TB, patience time.Duration) int {
	t.Helper()
	return s.do(t, fmt.Sprintf("poll %d", patience.Milliseconds()))
}

// Accept acknowledges the next n records it holds, and returns how many it still holds.
func (s *ShareConsumer) Accept(t testing.TB, n int) int {
	t.Helper()
	return s.do(t, fmt.Sprintf("accept %d", n))
}

// Release gives the next n records back: they are delivered again.
func (s *ShareConsumer) Release(t testing.TB, n int) int {
	t.Helper()
	return s.do(t, fmt.Sprintf("release %d", n))
}

// Reject refuses the next n records for good.
func (s *ShareConsumer) Reject(t testing.TB, n int) int {
	t.Helper()
	return s.do(t, fmt.Sprintf("reject %d", n))
}

// Subscribe changes what it reads; the group hears of it with the next heartbeat.
func (s *ShareConsumer) Subscribe(t testing.TB, topics ...string) {
	t.Helper()
	s.do(t, "subscribe "+strings.Join(topics, ","))
}

// do sends one line and waits for its answer, a number.
func (s *ShareConsumer) do(t testing.TB, line string) int {
	t.Helper()
	if _, err := fmt.Fprintln(s.stdin, line); err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	s.told++
	var answer string
	s.wait(t, "answered "+line, func(lines []string) bool {
		if len(lines) <= s.told {
			return false
		}
		answer = lines[s.told] // after "ready"
		return true
	})
	rest, ok := strings.CutPrefix(answer, "done "+line+" ")
	n, err := strconv.Atoi(rest)
	if !ok || err != nil {
		t.Fatalf("%s: %s", s.name, answer)
	}
	return n
}

// ShareGroups runs kafka-share-groups against the cluster. ParseShareOffsets, ParseShareMembers and ParseShareState read it.
func (c *Cluster) ShareGroups(t testing.TB, args ...string) string {
	t.Helper()
	return c.bootstrapped(t, "consumer/group/ShareGroupCommand", args)
}

// ShareRow is one line of kafka-share-groups --describe --offsets --verbose. What the tool prints as "-" is nil.
type ShareRow struct {
	Group       string
	Topic       string
	Partition   int32
	LeaderEpoch *int64
	Start       *int64 // START-OFFSET
	Lag         *int64
}

// ParseShareOffsets reads the tables of --describe --offsets --verbose.
func ParseShareOffsets(out string) ([]ShareRow, error) {
	return parseTables(out, "PARTITION", func(cell func(string) string, number func(string) *int64) ShareRow {
		row := ShareRow{Group: cell("GROUP"), Topic: cell("TOPIC"), Partition: -1, LeaderEpoch: number("LEADER-EPOCH"), Start: number("START-OFFSET"), Lag: number("LAG")}
		if p := number("PARTITION"); p != nil {
			row.Partition = int32(*p)
		}
		return row
	})
}

// ParseShareMembers reads the tables of --describe --members --verbose.
func ParseShareMembers(out string) ([]Member, error) {
	return parseTables(out, "#PARTITIONS", func(cell func(string) string, number func(string) *int64) Member {
		m := Member{
			Group: cell("GROUP"), MemberID: cell("CONSUMER-ID"), Host: cell("HOST"), ClientID: cell("CLIENT-ID"),
			Epoch: number("MEMBER-EPOCH"), AssignmentText: cell("ASSIGNMENT"),
		}
		m.Assignment = assignment(m.AssignmentText)
		if n := number("#PARTITIONS"); n != nil {
			m.Partitions = int(*n)
		}
		return m
	})
}

// ParseShareState reads the tables of --describe --state --verbose; TargetEpoch is their ASSIGNMENT-EPOCH.
func ParseShareState(out string) ([]State, error) {
	return parseTables(out, "STATE", func(cell func(string) string, number func(string) *int64) State {
		s := stateOf(cell, number)
		s.TargetEpoch = number("ASSIGNMENT-EPOCH")
		return s
	})
}
