package kafkatest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// StreamsOptions say what a process of a Kafka Streams application is. The application reads topics, repartitions them
// by value through APP-rp-repartition and counts into a store: two subtopologies, the second with state.
type StreamsOptions struct {
	App        string // the group's name
	Topics     []string
	ClientID   string            // of the process; "" is "app"
	Threads    int               // 0 is one
	Protocol   string            // group.protocol: "" is classic, "streams" is KIP-1071
	Properties map[string]string // over the application's own configuration
}

// StreamsApp is a process of a Kafka Streams application.
type StreamsApp struct{ *Client }

// StreamsThread is what a thread of an application says of itself, partitions as topic-partition: what its active tasks
// read, and what those tasks read whose state it keeps a copy of.
type StreamsThread struct{ Active, Standby []string }

// JavaStreams runs a process of a Kafka Streams application.
func (c *Cluster) JavaStreams(t testing.TB, o StreamsOptions) *StreamsApp {
	t.Helper()
	id := cmp.Or(o.ClientID, "app")
	args := []string{
		"bootstrap.servers=" + c.Bootstrap(), "application.id=" + o.App, "client.id=" + id, "topics=" + strings.Join(o.Topics, ","),
		fmt.Sprintf("num.stream.threads=%d", max(1, o.Threads)), "state.dir=" + t.TempDir(), "group.protocol=" + cmp.Or(o.Protocol, "classic"),
	}
	for key, value := range o.Properties {
		args = append(args, key+"="+value)
	}
	return &StreamsApp{c.javaClient(t, "the Kafka Streams application "+id, "Streams.java", args...)}
}

// Tasks are the newest that the process has said of its threads, by the client id of their consumers.
func (a *StreamsApp) Tasks() map[string]StreamsThread {
	text, _ := last(a.said(), "tasks")
	threads := make(map[string]StreamsThread)
	for thread := range strings.FieldsSeq(text) {
		id, tasks, _ := strings.Cut(thread, "=")
		active, standby, _ := strings.Cut(tasks, "/")
		threads[id] = StreamsThread{partitions(active), partitions(standby)}
	}
	return threads
}

func partitions(tasks string) []string {
	out := strings.FieldsFunc(tasks, func(r rune) bool { return r == ';' || r == '+' })
	slices.Sort(out)
	return out
}

// WaitState waits until the process has been in a state of KafkaStreams.State.
func (a *StreamsApp) WaitState(t testing.TB, state string) {
	t.Helper()
	a.wait(t, "was "+state, func(lines []string) bool { return slices.Contains(lines, "state "+state) })
}

// Pause stops the process from reading on; it stays in the group with what it has.
func (a *StreamsApp) Pause(t testing.TB) {
	t.Helper()
	if _, err := fmt.Fprintln(a.stdin, "pause"); err != nil {
		t.Fatalf("%s: %v", a.name, err)
	}
	a.wait(t, "paused", func(lines []string) bool { return slices.Contains(lines, "done pause") })
}

// ConfigureGroup sets a configuration of a group, such as streams.num.standby.replicas.
func (c *Cluster) ConfigureGroup(t testing.TB, group string, config map[string]string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	resource := kmsg.NewIncrementalAlterConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeGroupConfig, group
	for key, value := range config {
		entry := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		entry.Name, entry.Op, entry.Value = key, kmsg.IncrementalAlterConfigOpSet, &value
		resource.Configs = append(resource.Configs, entry)
	}
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.Resources = append(req.Resources, resource)
	resp, err := req.RequestWith(ctx, c.Client(t))
	settle(t, err)
	for _, r := range resp.Resources {
		settle(t, kerr.ErrorForCode(r.ErrorCode))
	}
}

// StreamsGroups runs kafka-streams-groups against the cluster. ParseStreamsOffsets, ParseStreamsMembers and
// ParseStreamsState read it.
func (c *Cluster) StreamsGroups(t testing.TB, args ...string) string {
	t.Helper()
	return c.bootstrapped(t, "streams/StreamsGroupCommand", args)
}

// StreamsRow is one line of kafka-streams-groups --describe --offsets --verbose. What the tool prints as "-" is nil.
type StreamsRow struct {
	Group, Topic           string
	Partition              int32
	Committed, LeaderEpoch *int64
	LogEnd, Lag            *int64
}

// StreamsMember is one line of kafka-streams-groups --describe --members --verbose.
type StreamsMember struct {
	Group, MemberID, Protocol, Process, ClientID string
	TargetEpoch, TopologyEpoch, Epoch            *int64
	// Tasks are the member's by kind (ACTIVE, STANDBY, WARMUP, and TARGET- before each), then subtopology.
	Tasks map[string]map[string][]int32
}

// StreamsState is one line of kafka-streams-groups --describe --state --verbose.
type StreamsState struct {
	Group, Coordinator string // host:port
	ID                 int32  // of the coordinator
	Assignor           string // from 4.4 on
	State              string
	Epoch, TargetEpoch *int64
	Members            int
}

// ParseStreamsOffsets reads the tables of --describe --offsets --verbose.
func ParseStreamsOffsets(out string) ([]StreamsRow, error) {
	return parseTables(out, "OFFSET-LAG", func(cell func(string) string, number func(string) *int64) StreamsRow {
		row := StreamsRow{
			Group: cell("GROUP"), Topic: cell("TOPIC"), Partition: -1, Committed: number("CURRENT-OFFSET"), LeaderEpoch: number("LEADER-EPOCH"),
			LogEnd: number("LOG-END-OFFSET"), Lag: number("OFFSET-LAG"),
		}
		if p := number("PARTITION"); p != nil {
			row.Partition = int32(*p)
		}
		return row
	})
}

// ParseStreamsMembers reads the tables of --describe --members --verbose.
func ParseStreamsMembers(out string) ([]StreamsMember, error) {
	return parseTables(out, "MEMBER-PROTOCOL", func(cell func(string) string, number func(string) *int64) StreamsMember {
		return StreamsMember{
			Group: cell("GROUP"), MemberID: cell("MEMBER"), Protocol: cell("MEMBER-PROTOCOL"), Process: cell("PROCESS"), ClientID: cell("CLIENT-ID"),
			TargetEpoch: number("TARGET-ASSIGNMENT-EPOCH"), TopologyEpoch: number("TOPOLOGY-EPOCH"), Epoch: number("MEMBER-EPOCH"), Tasks: streamsTasks(cell("ASSIGNMENTS")),
		}
	})
}

// ParseStreamsState reads the tables of --describe --state --verbose.
func ParseStreamsState(out string) ([]StreamsState, error) {
	return parseTables(out, "GROUP-EPOCH", func(cell func(string) string, number func(string) *int64) StreamsState {
		s := StreamsState{Group: cell("GROUP"), Assignor: cell("ASSIGNOR"), State: cell("STATE"), Epoch: number("GROUP-EPOCH"), TargetEpoch: number("TARGET-ASSIGNMENT-EPOCH")}
		s.Coordinator, s.ID = coordinator(cell("COORDINATOR (ID)"))
		if n := number("#MEMBERS"); n != nil {
			s.Members = int(*n)
		}
		return s
	})
}

// streamsTasks reads "ACTIVE: 0:[0,2]; 1:[0]; STANDBY: 1:[1,2];".
func streamsTasks(text string) map[string]map[string][]int32 {
	kinds := make(map[string]map[string][]int32)
	kind := ""
	for part := range strings.SplitSeq(text, ";") {
		part = strings.TrimSpace(part)
		if head, rest, ok := strings.Cut(part, ": "); ok {
			kind, part = head, rest
			kinds[kind] = make(map[string][]int32)
		}
		if sub, list, ok := strings.Cut(part, ":"); ok && kind != "" {
			kinds[kind][sub] = assignment("t:" + strings.Trim(list, "[]"))["t"]
		}
	}
	return kinds
}
