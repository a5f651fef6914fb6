package kafka

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

func groupKey(name string) []byte {
	k := kmsg.NewGroupMetadataKey()
	k.Version, k.Group = 2, name
	return k.AppendTo(nil)
}

func groupValue(version int16, protocolType string, generation int32, members ...string) []byte {
	v := kmsg.NewGroupMetadataValue()
	v.Version, v.ProtocolType, v.Generation = version, protocolType, generation
	for _, id := range members {
		m := kmsg.NewGroupMetadataValueMember()
		m.MemberID, m.ClientID, m.ClientHost = id, "pod", "/10.0.0.1"
		v.Members = append(v.Members, m)
	}
	if len(members) > 0 {
		v.Leader = &members[0]
	}
	return v.AppendTo(nil)
}

// What records leave known of a group, and whether it is used for what a
// broker describes at the same time.
func TestTheOffsetsTopicTellsGenerations(t *testing.T) {
	commit := kmsg.NewOffsetCommitKey()
	commit.Version, commit.Group, commit.Topic = 1, "g", "ticks"
	type record struct{ key, value []byte }
	for _, c := range []struct {
		why     string
		records []record
		state   string
		members []string
		guess   int64 // from the members' subscriptions
		want    int64
		exact   bool
		leader  string
	}{
		{"its members are those described", []record{{groupKey("g"), groupValue(3, "consumer", 7, "a", "b")}}, "Stable", []string{"b", "a"}, 6, 7, true, "a"},
		{"the newest form of a record", []record{{groupKey("g"), groupValue(4, "consumer", 7, "a")}}, "Stable", []string{"a"}, 6, 7, true, "a"},
		{"the oldest form of a record", []record{{groupKey("g"), groupValue(0, "consumer", 7, "a")}}, "Stable", []string{"a"}, -1, 7, true, "a"},
		{"an empty group has a generation, too", []record{{groupKey("g"), groupValue(3, "consumer", 8)}}, "Empty", nil, -1, 8, true, ""},
		{"other members: of another moment", []record{{groupKey("g"), groupValue(3, "consumer", 7, "a", "b")}}, "Stable", []string{"a", "c"}, 6, 6, false, ""},
		{"members who know of a later one", []record{{groupKey("g"), groupValue(3, "consumer", 7, "a")}}, "Stable", []string{"a"}, 9, 9, false, ""},
		{"while it rebalances the record is of the one before", []record{{groupKey("g"), groupValue(3, "consumer", 7, "a")}}, "PreparingRebalance", []string{"a"}, -1, -1, false, ""},
		{"written anew in the same generation by a static member's return", []record{{groupKey("g"), groupValue(3, "consumer", 7, "a-1")}, {groupKey("g"), groupValue(3, "consumer", 7, "a-2")}}, "Stable", []string{"a-2"}, -1, 7, true, "a-2"},
		{"a tombstone: gone, or of another type now", []record{{groupKey("g"), groupValue(3, "consumer", 7, "a")}, {groupKey("g"), nil}}, "Stable", []string{"a"}, 6, 6, false, ""},
		{"a group that is being born", []record{{groupKey("g"), groupValue(3, "", 0)}}, "Empty", nil, -1, -1, false, ""},
		{"a form to come makes the old word worthless", []record{{groupKey("g"), groupValue(3, "consumer", 7, "a")}, {groupKey("g"), []byte{0, 9, 1, 2, 3}}}, "Stable", []string{"a"}, 6, 6, false, ""},
		{"a commit is none", []record{{groupKey("g"), groupValue(3, "consumer", 7, "a")}, {commit.AppendTo(nil), nil}}, "Stable", []string{"a"}, 6, 7, true, "a"},
		{"a KIP-848 record is none", []record{{groupKey("g"), groupValue(3, "consumer", 7, "a")}, {[]byte{0, 3, 0, 1, 'g'}, nil}}, "Stable", []string{"a"}, 6, 7, true, "a"},
		{"nothing was told", nil, "Stable", []string{"a"}, 6, 6, false, ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			tail := newOffsetsTopic(collect.Filter{})
			for _, r := range c.records {
				tail.note(r.key, r.value)
			}
			f := collect.GroupFacts{Name: "g", Type: collect.TypeClassic, State: c.state, Described: true, MembersKnown: true, Generation: collect.Generation{Value: c.guess}}
			for _, id := range c.members {
				f.Members = append(f.Members, collect.Member{ID: id})
			}
			tail.amend(&f)
			if f.Generation.Value != c.want || f.Generation.Exact != c.exact || f.Leader != c.leader || c.exact != (f.Generation.Source == collect.SourceOffsetsTopic) {
				t.Errorf("got %+v, leader %q, want %d, exact %v, leader %q", f.Generation, f.Leader, c.want, c.exact, c.leader)
			}
		})
	}
}

// What no broker names any more does not stay in memory.
func TestTheOffsetsTopicForgetsGroups(t *testing.T) {
	tail := newOffsetsTopic(collect.Filter{})
	tail.note(groupKey("gone"), groupValue(3, "consumer", 7, "a"))
	tail.note(groupKey("there"), groupValue(3, "consumer", 7, "a"))
	for range keptUnknown + 1 {
		tail.prune(map[string]*group{"there": newGroup("there")})
	}
	if len(tail.groups) != 1 || tail.groups["there"] == nil {
		t.Errorf("it remembers %v", tail.groups)
	}
}

// Commits that are deleted, as those on a deleted topic are, leave nothing in
// memory of a group that goes on: some have a new topic each hour.
func TestTheOffsetsTopicForgetsTopics(t *testing.T) {
	key := kmsg.NewOffsetCommitKey()
	key.Version, key.Group = 1, "g"
	value := kmsg.NewOffsetCommitValue()
	value.Version, value.Offset, value.CommitTimestamp = 3, 10, 1000
	tail := newOffsetsTopic(collect.Filter{})
	for _, topic := range []string{"hour-1", "hour-2", "hour-3"} {
		key.Topic = topic
		for key.Partition = range 3 {
			tail.note(key.AppendTo(nil), value.AppendTo(nil))
		}
		for key.Partition = range 3 {
			if topic != "hour-3" || key.Partition < 2 {
				tail.note(key.AppendTo(nil), nil)
			}
		}
	}
	key.Topic, key.Partition = "never seen", partitionLimit
	tail.note(key.AppendTo(nil), nil)
	if g := tail.groups["g"]; len(g.commits) != 1 || g.commits["hour-3"] == nil || g.commits["hour-3"][2].offset != 10 {
		t.Errorf("it remembers %v", g.commits)
	}
}

// A commit's time is that of the record with the same offset, and of no other.
func TestTheOffsetsTopicDatesCommits(t *testing.T) {
	key := kmsg.NewOffsetCommitKey()
	key.Version, key.Group, key.Topic = 1, "g", "ticks"
	record := func(p int32, offset, ms int64) (k, v []byte) {
		value := kmsg.NewOffsetCommitValue()
		value.Version, value.Offset, value.CommitTimestamp = 3, offset, ms
		key.Partition = p
		return key.AppendTo(nil), value.AppendTo(nil)
	}
	tail := newOffsetsTopic(collect.Filter{})
	for p, offset := range []int64{10, 20, 30, 40} {
		tail.note(record(int32(p), offset, 1000+int64(p)))
	}
	tail.note(record(3, 41, 2000))
	gone, _ := record(2, 0, 0)
	tail.note(gone, nil)
	commits := []collect.TopicCommits{{Topic: "ticks", Partitions: []int32{0, 1, 2, 3, 4}, Offsets: []int64{10, 21, 30, 41, 50}}, {Topic: "other", Partitions: []int32{0}, Offsets: []int64{10}}}
	got := tail.date("g", commits)
	if want := []int64{1000e6, 0, 0, 2000e6, 0}; !slices.Equal(got[0].Times, want) || got[1].Times != nil {
		t.Errorf("got %v and %v, want %v and none", got[0].Times, got[1].Times, want)
	}
	if commits[0].Times != nil {
		t.Error("the group's own commits were changed")
	}
}

func FuzzOffsetsTopicRecord(f *testing.F) {
	f.Add(groupKey("g"), groupValue(3, "consumer", 7, "a", "b"))
	f.Add(groupKey(""), groupValue(0, "", -1))
	f.Add([]byte{0, 2}, []byte{0, 4, 255})
	f.Add([]byte{0, 1, 0, 1, 'g', 0, 1, 't', 0, 0, 0, 0}, []byte{0, 3})
	f.Fuzz(func(t *testing.T, key, value []byte) {
		_, j, ok := decodeGroupRecord(key, value)
		if j != nil && (!ok || j.generation < 0) {
			t.Errorf("%+v, %v", j, ok)
		}
		if _, _, p, d, ok := decodeCommitRecord(key, value); p < 0 || p > partitionLimit || d.at < 0 || !ok && d.at != 0 {
			t.Errorf("partition %d, %+v, %v", p, d, ok)
		}
	})
}
