package kafka

import (
	"encoding/base64"
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

func subtopology(id string, source []string, repartition ...string) kmsg.StreamsGroupDescribeResponseGroupTopologySubtopology {
	s := kmsg.NewStreamsGroupDescribeResponseGroupTopologySubtopology()
	s.SubtopologyID, s.SourceTopics = id, source
	for _, t := range repartition {
		info := kmsg.NewTopicInfo()
		info.Topic = t
		s.RepartitionSourceTopics = append(s.RepartitionSourceTopics, info)
	}
	changelog := kmsg.NewTopicInfo()
	changelog.Topic = "shop-counts-changelog"
	s.StateChangelogTopics = []kmsg.TopicInfo{changelog}
	return s
}

func task(id string, partitions ...int32) kmsg.TaskIDs {
	t := kmsg.NewTaskIDs()
	t.SubtopologyID, t.Partitions = id, partitions
	return t
}

// shop is a streams group of two threads: orders (3 partitions) and rates (2)
// feed subtopology 0, whose third task has no partition of rates.
func shop() kmsg.StreamsGroupDescribeResponseGroup {
	g := kmsg.NewStreamsGroupDescribeResponseGroup()
	g.Group, g.State, g.Epoch, g.AssignmentEpoch = "shop", "Reconciling", 5, 4
	top := kmsg.NewStreamsGroupDescribeResponseGroupTopology()
	top.Epoch = 2
	top.Subtopologies = []kmsg.StreamsGroupDescribeResponseGroupTopologySubtopology{
		subtopology("0", []string{"orders", "rates"}), subtopology("1", nil, "shop-rp-repartition"),
	}
	g.Topology = &top
	one := kmsg.NewStreamsGroupDescribeResponseGroupMember()
	one.MemberID, one.ClientID, one.MemberEpoch, one.ProcessID, one.TopologyEpoch = "m1", "pod-1-StreamThread-1-consumer", 5, "p1", 2
	one.Assignment.ActiveTasks, one.Assignment.StandbyTasks = []kmsg.TaskIDs{task("0", 0, 2), task("1", 0)}, []kmsg.TaskIDs{task("1", 2, 1)}
	one.TargetAssignment.ActiveTasks, one.TargetAssignment.StandbyTasks = []kmsg.TaskIDs{task("0", 0), task("1", 0)}, []kmsg.TaskIDs{task("1", 1)}
	two := kmsg.NewStreamsGroupDescribeResponseGroupMember()
	two.MemberID, two.ClientID, two.MemberEpoch, two.ProcessID, two.TopologyEpoch = "m2", "pod-1-StreamThread-2-consumer", 4, "p1", 2
	two.Assignment.WarmupTasks = []kmsg.TaskIDs{task("0", 2)}
	two.TargetAssignment.WarmupTasks = []kmsg.TaskIDs{task("1", 2)}
	g.Members = append(g.Members, one, two)
	return g
}

// Active tasks own the partitions of their subtopology's topics; standby and
// warm-up tasks have the same numbers and own nothing.
func TestStreamsAnswers(t *testing.T) {
	on := func(topic string, partitions ...int32) collect.TopicPartitions {
		return collect.TopicPartitions{Topic: topic, Partitions: partitions}
	}
	v := view{topics: map[string]topicView{"orders": {leaders: make([]int32, 3)}, "rates": {leaders: make([]int32, 2)}}} // rp is too new
	off := kmsg.NewStreamsGroupDescribeResponseGroup()
	off.Group, off.ErrorCode = "off", kerr.UnsupportedVersion.Code
	got := streamsAnswers(&kmsg.StreamsGroupDescribeResponse{Groups: []kmsg.StreamsGroupDescribeResponseGroup{shop(), off}}, &v)
	all := []string{"orders", "rates", "shop-rp-repartition"}
	want := []answer{
		{name: "shop", facts: collect.GroupFacts{
			State: "Reconciling", ProtocolType: "streams", MembersKnown: true, Generation: collect.Generation{Value: 5, Exact: true, Source: collect.SourceEpoch}, AssignmentEpoch: 4,
			Topology: &collect.Topology{Epoch: 2, Subtopologies: []collect.Subtopology{
				{ID: "0", Sources: []string{"orders", "rates"}}, {ID: "1", Repartition: []string{"shop-rp-repartition"}},
			}},
			Members: []collect.Member{
				{
					ID: "m1", ClientID: "pod-1-StreamThread-1-consumer", Epoch: 5, Generation: -1, HasTarget: true, Decode: collect.DecodeOK, Subscribed: all,
					Assigned: []collect.TopicPartitions{on("orders", 0, 2), on("rates", 0), on("shop-rp-repartition", 0)},
					Target:   []collect.TopicPartitions{on("orders", 0), on("rates", 0), on("shop-rp-repartition", 0)},
					Streams: &collect.StreamsMember{
						ProcessID: "p1", TopologyEpoch: 2,
						Standby: []collect.TopicPartitions{on("shop-rp-repartition", 1, 2)}, TargetStandby: []collect.TopicPartitions{on("shop-rp-repartition", 1)},
					},
				},
				{
					ID: "m2", ClientID: "pod-1-StreamThread-2-consumer", Epoch: 4, Generation: -1, HasTarget: true, Decode: collect.DecodeOK, Subscribed: all,
					Streams: &collect.StreamsMember{
						ProcessID: "p1", TopologyEpoch: 2,
						Warmup: []collect.TopicPartitions{on("orders", 2)}, TargetWarmup: []collect.TopicPartitions{on("shop-rp-repartition", 2)},
					},
				},
			},
		}},
		{name: "off", verdict: unsupported, reason: collect.ReasonUnsupported, text: kerr.UnsupportedVersion.Error()},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// A member whose tasks cannot be put to topics has work, and is not idle: the
// topology is not told, or a topic's name is not.
func TestMembersWhoseWorkHasNoName(t *testing.T) {
	streams := shop()
	streams.Topology = nil
	streams.Members[1].Assignment.WarmupTasks = nil
	streams.Members[1].TargetAssignment.WarmupTasks = nil
	epochs := kmsg.NewConsumerGroupDescribeResponseGroup()
	for _, n := range []int{1, 0} {
		m := kmsg.NewConsumerGroupDescribeResponseGroupMember()
		for range n {
			tp := kmsg.NewAssignmentTopicPartition()
			tp.TopicID, tp.Partitions = [16]byte{9}, []int32{0}
			m.Assignment.TopicPartitions = append(m.Assignment.TopicPartitions, tp)
		}
		epochs.Members = append(epochs.Members, m)
	}
	var v view
	for why, as := range map[string][]answer{
		"streams":  streamsAnswers(&kmsg.StreamsGroupDescribeResponse{Groups: []kmsg.StreamsGroupDescribeResponseGroup{streams}}, &v),
		"consumer": consumerAnswers(&kmsg.ConsumerGroupDescribeResponse{Groups: []kmsg.ConsumerGroupDescribeResponseGroup{epochs}}, &v),
	} {
		ms := as[0].facts.Members
		if ms[0].Idle() || ms[0].Decode != collect.DecodeUndecodable || !ms[1].Idle() || ms[1].Decode != collect.DecodeEmpty {
			t.Errorf("%s: the first is %q, idle %v; the second, who has nothing, %q, idle %v", why, ms[0].Decode, ms[0].Idle(), ms[1].Decode, ms[1].Idle())
		}
	}
}

// A broker that describes streams groups, and the same with the feature
// switched off, which goes on to give the commits.
func TestStreamsGroup(t *testing.T) {
	b := newBed(t, kfake.NumBrokers(1))
	for topic, n := range map[string]int32{"orders": 3, "rates": 2, "shop-rp-repartition": 3, "shop-counts-changelog": 3} {
		b.topic(topic, n)
		b.produce(topic, 0, 10)
	}
	b.commit("shop", "orders", map[int32]int64{0: 4})
	b.rewriteLists(func(_ int32, r *kmsg.ListGroupsResponse) {
		for i := range r.Groups {
			r.Groups[i].GroupType, r.Groups[i].ProtocolType, r.Groups[i].GroupState = "streams", "streams", "Reconciling"
		}
	})
	group := shop()
	b.answerStreams(func() kmsg.StreamsGroupDescribeResponseGroup { return group })

	s := b.poll()
	b.wantProblems(s, "")
	b.wantGroup(s, "shop", "streams Reconciling  members=2 lag=26/8 unknown=0 stale=0")
	if got, want := ownersText(s, "shop"), "orders/0=pod-1-StreamThread-1-consumer orders/1=none orders/2=pod-1-StreamThread-1-consumer "+
		"rates/0=pod-1-StreamThread-1-consumer rates/1=none shop-rp-repartition/0=pod-1-StreamThread-1-consumer shop-rp-repartition/1=none shop-rp-repartition/2=none"; got != want {
		t.Errorf("owners %s\nwant   %s", got, want)
	}

	group.Topology.Subtopologies[0].SourceTopics = []string{"orders", "prices"}
	b.wantProblems(b.poll(), "describe broker=-1 group=shop topic=prices/-1 topic_missing: the application reads this topic, and it does not exist")

	group = kmsg.NewStreamsGroupDescribeResponseGroup()
	group.Group, group.ErrorCode = "shop", kerr.UnsupportedVersion.Code
	s = b.poll()
	b.wantProblems(s, "")
	b.wantGroup(s, "shop", "streams Reconciling unsupported members=? lag=6/1 unknown=0 stale=0")
	if g, _ := s.Group("shop"); g.Lag.AssignedRecords != collect.Unknown {
		t.Errorf("%d records are on partitions with an owner, of members nobody knows", g.Lag.AssignedRecords)
	}
	if !s.Complete {
		t.Error("what a broker cannot say makes a snapshot incomplete")
	}
}

// A broker that never heard of the request.
func TestStreamsGroupOnABrokerWithoutTheRequest(t *testing.T) {
	b := newBed(t, kfake.NumBrokers(1))
	b.topic("orders", 3)
	b.produce("orders", 0, 10)
	b.commit("shop", "orders", map[int32]int64{0: 4})
	b.rewriteLists(func(_ int32, r *kmsg.ListGroupsResponse) {
		for i := range r.Groups {
			r.Groups[i].GroupType, r.Groups[i].ProtocolType = "streams", "streams"
		}
	})
	s := b.poll()
	b.wantProblems(s, "")
	b.wantGroup(s, "shop", "streams Empty unsupported members=? lag=6/1 unknown=0 stale=0")
}

// answerStreams makes a broker of kfake, which has no streams groups, describe one.
func (b *bed) answerStreams(group func() kmsg.StreamsGroupDescribeResponseGroup) {
	b.Helper()
	known, err := kmsg.NewPtrApiVersionsRequest().RequestWith(b.Context(), b.cl)
	b.must(err)
	key := kmsg.NewApiVersionsResponseApiKey()
	key.ApiKey = int16(kmsg.StreamsGroupDescribe)
	known.ApiKeys = append(known.ApiKeys, key)
	b.c.ControlKey(int16(kmsg.ApiVersions), func(r kmsg.Request) (kmsg.Response, error, bool) {
		b.c.KeepControl()
		out := *known
		out.Version = r.GetVersion()
		return &out, nil, true
	})
	b.c.ControlKey(key.ApiKey, func(r kmsg.Request) (kmsg.Response, error, bool) {
		b.c.KeepControl()
		out := r.ResponseKind().(*kmsg.StreamsGroupDescribeResponse)
		out.Groups = append(out.Groups, group())
		return out, nil, true
	})
}

func TestStreamsTime(t *testing.T) {
	with := func(version byte, at int64, more string) string {
		return base64.StdEncoding.EncodeToString(append(binary.BigEndian.AppendUint64([]byte{version}, uint64(at)), more...))
	}
	for why, c := range map[string]struct {
		metadata string
		want     int64
	}{
		"as Kafka Streams 4.3.1 committed it":            {"AgAAAaItTNCy", 1796056338610},
		"with what processors keep":                      {with(2, 1796056338610, "\x00\x00\x00\x01"), 1796056338610},
		"of the first version":                           {with(1, 1796056338610, ""), 1796056338610},
		"the first version has no more":                  {with(1, 1796056338610, "abc"), collect.Unknown},
		"a version from the future":                      {with(3, 1796056338610, ""), collect.Unknown},
		"no record was read":                             {with(2, -1, ""), collect.Unknown},
		"none":                                           {"", collect.Unknown},
		"a consumer's own words":                         {"commit by pod-1!", collect.Unknown},
		"the beginning of it":                            {"AgAAAaIt", collect.Unknown},
		"cut":                                            {"AgAAAaItTNCyA", collect.Unknown},
		"padding where there is none":                    {"AgAAAaItTN==", collect.Unknown},
		"the least time that there is is no time either": {with(2, -1<<63, ""), collect.Unknown},
	} {
		t.Run(why, func(t *testing.T) {
			if got := streamsTime(c.metadata); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
	if got := streamsTimes([]string{"", "x"}); got != nil {
		t.Errorf("no times: %v", got)
	}
	if got := streamsTimes([]string{"", "AgAAAaItTNCy"}); !slices.Equal(got, []int64{collect.Unknown, 1796056338610}) {
		t.Errorf("times: %v", got)
	}
}

func FuzzStreamsTime(f *testing.F) {
	f.Add("AgAAAaItTNCy")
	f.Add("AQAAAaItTNCy")
	f.Add("AgAAAaItTNCyAAAAAQ==")
	f.Add("====")
	f.Add("AgAA\nAaItTNCy123")
	f.Fuzz(func(t *testing.T, metadata string) {
		at := streamsTime(metadata)
		if at < collect.Unknown {
			t.Errorf("%q: %d", metadata, at)
		}
		if at == collect.Unknown {
			return
		}
		b, err := base64.StdEncoding.DecodeString(metadata[:12])
		if err != nil || strings.ContainsAny(metadata[:12], "\r\n") || binary.BigEndian.Uint64(b[1:]) != uint64(at) {
			t.Errorf("%q: %d", metadata, at)
		}
	})
}
