package kafka

import (
	"reflect"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

func TestClassicAnswers(t *testing.T) {
	message := "Group ticker is not a classic group."
	sub := kmsg.NewConsumerMemberMetadata()
	sub.Version, sub.Topics, sub.Generation = 3, []string{"x"}, 4
	fresh := sub
	fresh.Generation = -1
	assigned := kmsg.ConsumerMemberAssignment{Topics: []kmsg.ConsumerMemberAssignmentTopic{{Topic: "x", Partitions: []int32{1, 0}}}}
	member := func(id string, metadata, assignment []byte) kmsg.DescribeGroupsResponseGroupMember {
		return kmsg.DescribeGroupsResponseGroupMember{MemberID: id, ClientID: "c", ClientHost: "/127.0.0.1", ProtocolMetadata: metadata, MemberAssignment: assignment}
	}
	x01 := []collect.TopicPartitions{{Topic: "x", Partitions: []int32{0, 1}}}
	unknown := collect.Generation{Value: collect.Unknown}
	tests := map[string]struct {
		in      kmsg.DescribeGroupsResponseGroup
		want    answer
		version int16
	}{
		"no such group, version 6": {
			kmsg.DescribeGroupsResponseGroup{Group: "ticker", ErrorCode: kerr.GroupIDNotFound.Code, ErrorMessage: &message, State: "Dead"},
			answer{name: "ticker", verdict: notFound, reason: collect.ReasonError, text: message},
			6,
		},
		"no such group, version 5": {
			kmsg.DescribeGroupsResponseGroup{Group: "ticker", State: "Dead"},
			answer{name: "ticker", verdict: notFound},
			5,
		},
		"dead without an error where there is one to say so: no proof": {
			kmsg.DescribeGroupsResponseGroup{Group: "ticker", State: "Dead"},
			answer{name: "ticker", verdict: refused, reason: collect.ReasonError, text: `the answer has no error, and state "Dead"`},
			6,
		},
		"moved": {
			kmsg.DescribeGroupsResponseGroup{Group: "ticker", ErrorCode: kerr.NotCoordinator.Code},
			answer{name: "ticker", verdict: elsewhere, reason: collect.ReasonLoading, text: kerr.NotCoordinator.Error()},
			6,
		},
		"stable: the survivor tells the generation, the new member cannot": {
			kmsg.DescribeGroupsResponseGroup{
				Group: "ticker", State: "Stable", ProtocolType: "consumer", Protocol: "range",
				Members: []kmsg.DescribeGroupsResponseGroupMember{member("a", sub.AppendTo(nil), assigned.AppendTo(nil)), member("b", fresh.AppendTo(nil), nil)},
			},
			answer{name: "ticker", facts: collect.GroupFacts{
				State: "Stable", ProtocolType: "consumer", Assignor: "range", MembersKnown: true, Generation: collect.Generation{Value: 5, Source: collect.SourceMemberMetadata},
				Members: []collect.Member{
					{ID: "a", ClientID: "c", Host: "/127.0.0.1", Epoch: -1, Generation: 4, Subscribed: []string{"x"}, Assigned: x01, Decode: collect.DecodeOK, Rejoined: collect.RejoinedEmptyHanded},
					{ID: "b", ClientID: "c", Host: "/127.0.0.1", Epoch: -1, Generation: -1, Subscribed: []string{"x"}, Decode: collect.DecodeEmpty, Rejoined: collect.RejoinedEmptyHanded},
				},
			}},
			6,
		},
		"rebalancing: neither an assignor nor a generation": {
			kmsg.DescribeGroupsResponseGroup{
				Group: "ticker", State: "PreparingRebalance", ProtocolType: "consumer",
				Members: []kmsg.DescribeGroupsResponseGroupMember{member("a", nil, nil)},
			},
			answer{name: "ticker", facts: collect.GroupFacts{
				State: "PreparingRebalance", ProtocolType: "consumer", MembersKnown: true, Generation: unknown,
				Members: []collect.Member{{ID: "a", ClientID: "c", Host: "/127.0.0.1", Epoch: -1, Generation: -1, Decode: collect.DecodeEmpty}},
			}},
			6,
		},
		"Connect workers' bytes are not a consumer's": {
			kmsg.DescribeGroupsResponseGroup{
				Group: "connect", State: "Stable", ProtocolType: "connect", Protocol: "sessioned",
				Members: []kmsg.DescribeGroupsResponseGroupMember{member("a", []byte{1, 2}, []byte{3})},
			},
			answer{name: "connect", facts: collect.GroupFacts{
				State: "Stable", ProtocolType: "connect", Assignor: "sessioned", MembersKnown: true, Generation: unknown,
				Members: []collect.Member{{ID: "a", ClientID: "c", Host: "/127.0.0.1", Epoch: -1, Generation: -1, Decode: collect.DecodeNotConsumer}},
			}},
			6,
		},
		"a standalone committer": {
			kmsg.DescribeGroupsResponseGroup{Group: "solo", State: "Empty"},
			answer{name: "solo", facts: collect.GroupFacts{State: "Empty", MembersKnown: true, Generation: unknown, Members: []collect.Member{}}},
			6,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := classicAnswers(&kmsg.DescribeGroupsResponse{Version: tt.version, Groups: []kmsg.DescribeGroupsResponseGroup{tt.in}})
			if !reflect.DeepEqual(got, []answer{tt.want}) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

// Brokers give names, ids, or both.
func TestConsumerAnswers(t *testing.T) {
	id, strange := [16]byte{1}, [16]byte{2}
	v := view{names: map[[16]byte]string{id: "x"}}
	rack, regex := "a", "x.*"
	m := kmsg.NewConsumerGroupDescribeResponseGroupMember()
	m.MemberID, m.MemberEpoch, m.RackID, m.SubscribedTopicRegex = "m", 3, &rack, &regex
	m.Assignment.TopicPartitions = []kmsg.AssignmentTopicPartition{{TopicID: id, Partitions: []int32{2, 1}}, {TopicID: strange, Partitions: []int32{0}}}
	m.TargetAssignment.TopicPartitions = []kmsg.AssignmentTopicPartition{{Topic: "y", TopicID: strange, Partitions: []int32{0}}, {TopicID: id, Partitions: []int32{1}}}
	g := kmsg.NewConsumerGroupDescribeResponseGroup()
	g.Group, g.State, g.Epoch, g.AssignmentEpoch, g.AssignorName, g.Members = "quotes", "Reconciling", 4, 3, "uniform", []kmsg.ConsumerGroupDescribeResponseGroupMember{m}
	got := consumerAnswers(&kmsg.ConsumerGroupDescribeResponse{Groups: []kmsg.ConsumerGroupDescribeResponseGroup{g}}, &v)
	want := []answer{{name: "quotes", facts: collect.GroupFacts{
		State: "Reconciling", ProtocolType: "consumer", Assignor: "uniform", MembersKnown: true,
		Generation: collect.Generation{Value: 4, Exact: true, Source: collect.SourceEpoch}, AssignmentEpoch: 3,
		Members: []collect.Member{{
			ID: "m", Rack: "a", Epoch: 3, Generation: -1, Subscribed: []string{}, Regex: "x.*", HasTarget: true, Decode: collect.DecodeOK,
			Assigned: []collect.TopicPartitions{{Topic: "x", Partitions: []int32{1, 2}}},
			Target:   []collect.TopicPartitions{{Topic: "x", Partitions: []int32{1}}, {Topic: "y", Partitions: []int32{0}}},
		}},
	}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if !v.strange.Load() {
		t.Error("an id that Metadata does not know makes no new look at it")
	}
}

func TestProvedGone(t *testing.T) {
	no := func(k kind) answer { return answer{kind: k, verdict: notFound} }
	named := func(k kind) answer { return answer{kind: k, verdict: notFound, named: true} }
	off := func(k kind) answer { return answer{kind: k, verdict: unsupported} }
	other := func(k kind, v verdict) answer { return answer{kind: k, verdict: v} }
	tests := []struct {
		why    string
		group  group
		first  answer
		others []answer
		want   bool
	}{
		{"Kafka 2: one kind of group, and it is none", group{typ: collect.TypeClassic}, no(kindClassic), []answer{off(kindConsumer), off(kindShare), off(kindStreams)}, true},
		{"Kafka 4: no kind of group", group{typ: collect.TypeConsumer, typeTold: true}, no(kindConsumer), []answer{no(kindClassic), no(kindShare), no(kindStreams)}, true},
		{"a classic group where the new protocol is switched off", group{typ: collect.TypeClassic, typeTold: true}, no(kindClassic), []answer{off(kindConsumer)}, true},
		{"a KIP-848 group where the new protocol is switched off, old words", group{typ: collect.TypeConsumer, typeTold: true}, off(kindConsumer), []answer{no(kindClassic)}, false},
		{"the same, and the words say it exists not", group{typ: collect.TypeConsumer, typeTold: true}, off(kindConsumer), []answer{named(kindClassic)}, true},
		{"listed without a type, and a kind that cannot be asked", group{typ: collect.TypeClassic, listed: true}, no(kindClassic), []answer{off(kindConsumer)}, false},
		{"another kind is loading", group{typ: collect.TypeClassic}, no(kindClassic), []answer{other(kindConsumer, refused)}, false},
		{"it moved between two questions", group{typ: collect.TypeClassic}, no(kindClassic), []answer{other(kindConsumer, elsewhere)}, false},
		{"a type from the future is not a classic group", group{typ: "martian", typeTold: true}, no(kindClassic), []answer{no(kindConsumer)}, false},
		{"a type from the future, not found", group{typ: "martian", typeTold: true}, named(kindClassic), []answer{named(kindConsumer)}, true},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			if got := provedGone(&tt.group, tt.first, tt.others); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// A list without types: the group's own describe tells what it is, once.
func TestTypeFoundOut(t *testing.T) {
	b := newBed(t)
	b.topic("market-updates", 1)
	b.member("quotes", "pod-1", 1, kgo.ConsumeTopics("market-updates"), kgo.ServerSideBalancer())
	b.rewriteLists(func(_ int32, r *kmsg.ListGroupsResponse) { setTypes(r, "") })
	for range 2 {
		s := b.poll()
		b.wantProblems(s, "")
		g, ok := s.Group("quotes")
		if !ok || g.Type != collect.TypeConsumer || len(g.Members) != 1 {
			t.Fatal(groupText(s, "quotes"))
		}
	}
	m := b.meter(nil)
	b.poll()
	if n := m.take(); n[kmsg.DescribeGroups] != 0 || n[kmsg.ConsumerGroupDescribe] != 1 {
		t.Errorf("asked again what it is: %v", n)
	}
}

func setTypes(r *kmsg.ListGroupsResponse, typ string) {
	for i := range r.Groups {
		r.Groups[i].GroupType = typ
	}
}
