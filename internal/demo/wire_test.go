package demo

import (
	"bytes"
	"io"
	"maps"
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// ask sends one request to the coordinator of the group and returns its answer.
func ask[T kmsg.Response](t *testing.T, s *stage, group string, request kmsg.Request) T {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(s.seeds...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	// As klagtop does: metadata first, then the broker itself.
	if _, err := kmsg.NewPtrMetadataRequest().RequestWith(within(t), client); err != nil {
		t.Fatal(err)
	}
	answer, err := client.Broker(int(s.kafka.CoordinatorFor(group))).Request(within(t), request)
	if err != nil {
		t.Fatal(err)
	}
	return answer.(T)
}

// nextGenGroup is a KIP-848 group of two members.
func nextGenGroup(t *testing.T) (*stage, *kfake.GroupInfo) {
	t.Helper()
	s := testStage(t)
	topics(t, s)
	f := s.fleet("alerts", true, notifications)
	t.Cleanup(f.endAll)
	do(t, f.cast("alerter-1", "alerter-2"))
	return s, eventually(t, s.kafka, "alerts", "two members with three partitions each", func(info *kfake.GroupInfo) bool {
		return info != nil && info.State == "Stable" && len(info.Members) == 2 &&
			info.Members[0].NumAssigned() == 3 && info.Members[1].NumAssigned() == 3
	})
}

func TestNextGenGroupIsDescribedWithTopicNamesAndHosts(t *testing.T) {
	s, _ := nextGenGroup(t)
	request := kmsg.NewPtrConsumerGroupDescribeRequest()
	request.Groups = []string{"alerts"}
	answer := ask[*kmsg.ConsumerGroupDescribeResponse](t, s, "alerts", request)
	g := answer.Groups[0]
	if len(g.Members) != 2 {
		t.Fatalf("%d members, want 2: %+v", len(g.Members), g)
	}
	for _, m := range g.Members {
		if m.ClientHost != "/127.0.0.1" {
			t.Errorf("host is %q", m.ClientHost)
		}
		for _, of := range []kmsg.Assignment{m.Assignment, m.TargetAssignment} {
			if len(of.TopicPartitions) != 1 || of.TopicPartitions[0].Topic != notifications || len(of.TopicPartitions[0].Partitions) != 3 {
				t.Errorf("assignment is %+v", of)
			}
		}
	}
}

func TestNextGenGroupIsListedAsConsumers(t *testing.T) {
	s, _ := nextGenGroup(t)
	for name, filter := range map[string][]string{"all": nil, "as Java asks": {"Classic", "Consumer"}} {
		t.Run(name, func(t *testing.T) {
			request := kmsg.NewPtrListGroupsRequest()
			request.TypesFilter = filter
			answer := ask[*kmsg.ListGroupsResponse](t, s, "alerts", request)
			if len(answer.Groups) != 1 {
				t.Fatalf("listed: %+v", answer.Groups)
			}
			if g := answer.Groups[0]; g.ProtocolType != "consumer" || g.GroupType != "consumer" {
				t.Errorf("protocol type %q, type %q", g.ProtocolType, g.GroupType)
			}
		})
	}
}

func TestClassicDescribeDoesNotKnowNextGenGroups(t *testing.T) {
	s, _ := nextGenGroup(t)
	request := kmsg.NewPtrDescribeGroupsRequest()
	request.Groups = []string{"alerts"}
	answer := ask[*kmsg.DescribeGroupsResponse](t, s, "alerts", request)
	if g := answer.Groups[0]; g.State != "Dead" || g.ErrorCode != kerr.GroupIDNotFound.Code {
		t.Errorf("state %q, error %d", g.State, g.ErrorCode)
	}
}

func TestClassicMembersKeepTheirHostWithoutAPort(t *testing.T) {
	s := testStage(t)
	topics(t, s)
	f := s.fleet("ticker", false, marketUpdates, notifications)
	defer f.endAll()
	do(t, f.cast("pod-1", "pod-2"))
	eventually(t, s.kafka, "ticker", "3/3", sharedAs(3, 3))
	request := kmsg.NewPtrDescribeGroupsRequest()
	request.Groups = []string{"ticker"}
	g := ask[*kmsg.DescribeGroupsResponse](t, s, "ticker", request).Groups[0]
	if g.State != "Stable" || len(g.Members) != 2 {
		t.Fatalf("described: %+v", g)
	}
	for _, m := range g.Members {
		if m.ClientHost != "/127.0.0.1" {
			t.Errorf("host is %q", m.ClientHost)
		}
	}
}

func TestMetadataListsPartitionsInOrder(t *testing.T) {
	s := testStage(t)
	if err := s.kafka.CreateTopic("wide", 40, nil); err != nil {
		t.Fatal(err)
	}
	answer := ask[*kmsg.MetadataResponse](t, s, "any", kmsg.NewPtrMetadataRequest())
	for i, p := range answer.Topics[0].Partitions {
		if p.Partition != int32(i) {
			t.Fatalf("partition %d is listed as number %d", p.Partition, i)
		}
	}
}

func TestDescribeTopicPartitionsIsNotOffered(t *testing.T) {
	s := testStage(t)
	request := kmsg.NewPtrApiVersionsRequest()
	request.ClientSoftwareName, request.ClientSoftwareVersion = "test", "1"
	answer := ask[*kmsg.ApiVersionsResponse](t, s, "any", request)
	has := map[kmsg.Key]bool{}
	for _, k := range answer.ApiKeys {
		has[kmsg.Key(k.ApiKey)] = true
	}
	if has[kmsg.DescribeTopicPartitions] || !has[kmsg.ConsumerGroupDescribe] || !has[kmsg.Metadata] {
		t.Errorf("offered: %v", has)
	}
}

// dribble is a connection whose reads give no more than so many bytes at a time.
type dribble struct {
	net.Conn
	rest []byte
	most int
}

func (d *dribble) Read(p []byte) (int, error) {
	if len(d.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), d.most)], d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

func TestRequestsAreUnderstoodHoweverTheyArrive(t *testing.T) {
	formatter := kmsg.NewRequestFormatter(kmsg.FormatterClientID("somebody"))
	var stream []byte
	for i, request := range []kmsg.Request{
		kmsg.NewPtrMetadataRequest(), kmsg.NewPtrHeartbeatRequest(), kmsg.NewPtrListGroupsRequest(),
		kmsg.NewPtrProduceRequest(), kmsg.NewPtrDescribeGroupsRequest(),
	} {
		request.SetVersion(request.MaxVersion() - 1)
		stream = append(stream, formatter.AppendRequest(nil, request, int32(i))...)
	}
	for _, most := range []int{1, 3, 11, 12, 13, len(stream)} {
		c := &wireConn{Conn: &dribble{rest: stream, most: most}, wire: newWire(), asked: map[int32]question{}}
		read, err := io.ReadAll(c)
		if err != nil || !bytes.Equal(read, stream) {
			t.Errorf("%d bytes at a time: the stream is changed (%v)", most, err)
		}
		want := map[int32]question{0: {3, 12}, 2: {16, 4}, 4: {15, 5}}
		if !maps.Equal(c.asked, want) {
			t.Errorf("%d bytes at a time: understood %v, want %v", most, c.asked, want)
		}
	}
}
