package kafka

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// told is one group's answer in the library's own structs, whatever the version.
func told(r *kmsg.OffsetFetchResponse, asked string) []kmsg.OffsetFetchResponseGroup {
	if r.Version >= batchVersion {
		return r.Groups
	}
	g := kmsg.OffsetFetchResponseGroup{Group: asked, ErrorCode: r.ErrorCode}
	for _, t := range r.Topics {
		nt := kmsg.OffsetFetchResponseGroupTopic{Topic: t.Topic}
		for _, q := range t.Partitions {
			nt.Partitions = append(nt.Partitions, kmsg.OffsetFetchResponseGroupTopicPartition{
				Partition: q.Partition, Offset: q.Offset, LeaderEpoch: q.LeaderEpoch, Metadata: q.Metadata, ErrorCode: q.ErrorCode,
			})
		}
		g.Topics = append(g.Topics, nt)
	}
	return []kmsg.OffsetFetchResponseGroup{g}
}

// wantFetched is what the flat reading of a group must be.
func wantFetched(g *kmsg.OffsetFetchResponseGroup, version int16, metadata bool) string {
	s := fmt.Sprintf("%q %d", g.Group, g.ErrorCode)
	var unread []unreadCommit
	topics := slices.Clone(g.Topics)
	slices.SortStableFunc(topics, func(a, b kmsg.OffsetFetchResponseGroupTopic) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), bytes.Compare(a.TopicID[:], b.TopicID[:]))
	})
	for i, t := range topics {
		s += fmt.Sprintf(" [%q", t.Topic)
		if version >= 10 {
			s += fmt.Sprintf(" %x", t.TopicID)
		}
		for _, q := range t.Partitions {
			if q.ErrorCode != 0 {
				unread = append(unread, unreadCommit{i, q.Partition, q.ErrorCode})
			}
		}
		ps := slices.Clone(t.Partitions)
		slices.SortStableFunc(ps, func(a, b kmsg.OffsetFetchResponseGroupTopicPartition) int {
			return cmp.Compare(a.Partition, b.Partition)
		})
		for _, q := range ps {
			s += fmt.Sprintf(" %d:%d/%d/%s", q.Partition, q.Offset, q.LeaderEpoch, reasonOfCode(q.ErrorCode))
			if metadata {
				s += fmt.Sprintf("/%q", text(q.Metadata))
			}
		}
		s += "]"
	}
	return s + fmt.Sprint(unread)
}

func fetchedText(f *fetched, version int16) string {
	s := fmt.Sprintf("%q %d", f.group, f.code)
	for i, t := range f.topics {
		s += fmt.Sprintf(" [%q", t.Topic)
		if version >= 10 {
			s += fmt.Sprintf(" %x", f.ids[i])
		}
		for j, q := range t.Partitions {
			why := collect.ReasonNone
			if t.Reasons != nil {
				why = t.Reasons[j]
			}
			s += fmt.Sprintf(" %d:%d/%d/%s", q, t.Offsets[j], t.Epochs[j], why)
			if f.metadata != nil {
				s += fmt.Sprintf("/%q", f.metadata[i][j])
			}
		}
		s += "]"
	}
	return s + fmt.Sprint(f.unread)
}

// read reads bytes as the answer to a question for groups that said these
// things before.
func read(version int16, src []byte, before []*fetched, metadata bool, names ...string) (*commitsResponse, error) {
	req := &commitsRequest{OffsetFetchRequest: kmsg.NewOffsetFetchRequest(), before: before}
	req.Group = names[0]
	for _, n := range names {
		g := kmsg.NewOffsetFetchRequestGroup()
		g.Group = n
		req.Groups, req.metadata = append(req.Groups, g), append(req.metadata, metadata)
	}
	req.SetVersion(version)
	r := req.ResponseKind().(*commitsResponse)
	return r, r.ReadFrom(src)
}

func pointers(fs []fetched) []*fetched {
	out := make([]*fetched, len(fs))
	for i := range fs {
		out[i] = &fs[i]
	}
	return out
}

// The flat reading agrees with the library's on every byte string: both refuse
// it, or both read the same; and what was said before changes nothing.
func FuzzCommits(f *testing.F) {
	for version := int16(1); version <= newestCommits; version++ {
		for seed := range uint64(3) {
			f.Add(version, answerOf(version, seed).AppendTo(nil), answerOf(version, seed+1).AppendTo(nil))
		}
		cut := answerOf(version, 1).AppendTo(nil)
		f.Add(version, cut[:len(cut)/2], cut)
	}
	f.Add(int16(9), []byte{0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f}, []byte{})
	f.Fuzz(func(t *testing.T, version int16, one, two []byte) {
		version = 1 + int16(uint16(version)%newestCommits)
		var before []*fetched
		for _, src := range [][]byte{one, two, two} {
			want := &kmsg.OffsetFetchResponse{Version: version}
			wantErr := want.ReadFrom(src)
			got, err := read(version, src, before, false, "group-0", "group-1")
			if (err != nil) != (wantErr != nil) {
				t.Fatalf("version %d, %x: error %v, the library's %v", version, src, err, wantErr)
			}
			if err != nil {
				continue
			}
			if ms, _ := got.Throttle(); ms != want.ThrottleMillis {
				t.Fatalf("throttled for %d ms, want %d", ms, want.ThrottleMillis)
			}
			with, err := read(version, src, before, true, "group-0", "group-1")
			if err != nil {
				t.Fatal(err)
			}
			groups := told(want, "group-0")
			if len(groups) != len(got.groups) || len(groups) != len(with.groups) {
				t.Fatalf("%d groups, want %d", len(got.groups), len(groups))
			}
			for i := range groups {
				if got, want := fetchedText(&got.groups[i], version), wantFetched(&groups[i], version, false); got != want {
					t.Fatalf("version %d:\n%s\nwant:\n%s", version, got, want)
				}
				asked := groups[i].Group == "group-0" || groups[i].Group == "group-1"
				if got, want := fetchedText(&with.groups[i], version), wantFetched(&groups[i], version, asked); got != want {
					t.Fatalf("version %d, with metadata:\n%s\nwant:\n%s", version, got, want)
				}
			}
			before = pointers(got.groups)
		}
	})
}

// answerOf makes an answer up: two groups, some topics, some commits.
func answerOf(version int16, seed uint64) *kmsg.OffsetFetchResponse {
	rng := rand.New(rand.NewPCG(seed, 1))
	r := kmsg.NewPtrOffsetFetchResponse()
	r.Version, r.ThrottleMillis = version, int32(rng.IntN(3))
	said := "AQAAAZ"
	for g := range 2 {
		group := kmsg.OffsetFetchResponseGroup{Group: fmt.Sprintf("group-%d", g)}
		for i := range 3 {
			t := kmsg.OffsetFetchResponseGroupTopic{Topic: fmt.Sprintf("topic-%d", i), TopicID: [16]byte{byte(i + 1)}}
			for _, p := range [][]int32{{0, 1, 2}, {2, 0, 1}}[i%2] {
				q := kmsg.OffsetFetchResponseGroupTopicPartition{Partition: p, Offset: int64(rng.IntN(4)), LeaderEpoch: -1, Metadata: &said}
				if version >= 5 {
					q.LeaderEpoch = int32(rng.IntN(2))
				}
				if rng.IntN(20) == 0 {
					q.Offset, q.ErrorCode, q.Metadata = -1, kerr.TopicAuthorizationFailed.Code, nil
				}
				t.Partitions = append(t.Partitions, q)
			}
			group.Topics = append(group.Topics, t)
		}
		r.Groups = append(r.Groups, group)
	}
	for _, t := range r.Groups[0].Topics {
		ot := kmsg.OffsetFetchResponseTopic{Topic: t.Topic}
		for _, q := range t.Partitions {
			ot.Partitions = append(ot.Partitions, kmsg.OffsetFetchResponseTopicPartition{
				Partition: q.Partition, Offset: q.Offset, LeaderEpoch: q.LeaderEpoch, Metadata: q.Metadata, ErrorCode: q.ErrorCode,
			})
		}
		r.Topics = append(r.Topics, ot)
	}
	return r
}

// What a group says again is the arrays that are known; what has changed has
// arrays of its own, or the snapshot before would change with it.
func TestCommitsShareWhatStays(t *testing.T) {
	answer := func(offset int64, epoch int32) []byte {
		r := answerOf(9, 7)
		for g := range r.Groups {
			for i := range r.Groups[g].Topics {
				for j := range r.Groups[g].Topics[i].Partitions {
					q := &r.Groups[g].Topics[i].Partitions[j]
					q.Offset, q.LeaderEpoch, q.ErrorCode = 5, 1, 0
				}
			}
		}
		q := &r.Groups[0].Topics[1].Partitions[0] // partition 2: out of order
		q.Offset, q.LeaderEpoch = offset, epoch
		return r.AppendTo(nil)
	}
	first, err := read(9, answer(5, 1), nil, false, "group-0", "group-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		why             string
		offset          int64
		epoch           int32
		offsets, epochs bool
	}{
		{"nothing moved", 5, 1, true, true},
		{"a commit moved", 6, 1, false, true},
		{"a leader changed", 5, 2, true, false},
	} {
		next, err := read(9, answer(c.offset, c.epoch), pointers(first.groups), false, "group-0", "group-1")
		if err != nil {
			t.Fatal(err)
		}
		a, b := &first.groups[0].topics[1], &next.groups[0].topics[1]
		if got := &a.Offsets[0] == &b.Offsets[0]; got != c.offsets {
			t.Errorf("%s: offsets shared %v, want %v", c.why, got, c.offsets)
		}
		if got := &a.Epochs[0] == &b.Epochs[0]; got != c.epochs {
			t.Errorf("%s: epochs shared %v, want %v", c.why, got, c.epochs)
		}
		if b.Offsets[2] != c.offset || b.Epochs[2] != c.epoch || a.Offsets[2] != 5 || a.Epochs[2] != 1 {
			t.Errorf("%s: %v %v, before %v %v", c.why, b.Offsets, b.Epochs, a.Offsets, a.Epochs)
		}
		if &a.Partitions[0] != &b.Partitions[0] || !reflect.DeepEqual(b.Partitions, []int32{0, 1, 2}) {
			t.Errorf("%s: partitions %v", c.why, b.Partitions)
		}
	}
}

// A commit that cannot be read leaves the others of its topic as they are.
func TestOneCommitUnread(t *testing.T) {
	r := answerOf(8, 0)
	r.Groups = r.Groups[:1]
	r.Groups[0].Topics = []kmsg.OffsetFetchResponseGroupTopic{{Topic: "x", Partitions: []kmsg.OffsetFetchResponseGroupTopicPartition{
		{Partition: 2, Offset: 4, LeaderEpoch: 1},
		{Partition: 0, Offset: -1, LeaderEpoch: -1, ErrorCode: kerr.TopicAuthorizationFailed.Code},
	}}}
	got, err := read(8, r.AppendTo(nil), nil, false, "group-0")
	if err != nil {
		t.Fatal(err)
	}
	want := collect.TopicCommits{
		Topic: "x", Partitions: []int32{0, 2}, Offsets: []int64{-1, 4}, Epochs: []int32{-1, 1},
		Reasons: []collect.Reason{collect.ReasonDenied, collect.ReasonNone},
	}
	if !reflect.DeepEqual(got.groups[0].topics, []collect.TopicCommits{want}) {
		t.Errorf("got %+v, want %+v", got.groups[0].topics, want)
	}
}

// Kafka Streams commits a record's time beside its offset; of other groups that
// string is not kept: it would be one a row.
func TestMetadataOfCommitsIsKeptForStreamsOnly(t *testing.T) {
	for _, c := range []struct {
		why  string
		g    *group
		want bool
	}{
		{"a streams group", &group{typ: collect.TypeStreams}, true},
		{"streams members of a classic group", &group{typ: collect.TypeClassic, assignor: "stream"}, true},
		{"any other", &group{typ: collect.TypeClassic, assignor: "range"}, false},
		{"a classic group that was never seen with members: nobody tells whose it was", &group{typ: collect.TypeClassic, state: collect.StateEmpty}, true},
		{"and its commits had no times", &group{typ: collect.TypeClassic, state: collect.StateEmpty, commits: &fetched{topics: []collect.TopicCommits{{}}}}, false},
		{"and they had", &group{typ: collect.TypeClassic, state: collect.StateEmpty, commits: &fetched{topics: []collect.TopicCommits{{Clues: []int64{1}}}}}, true},
	} {
		p := &poll{Source: &Source{groups: map[string]*group{"group-0": c.g}}}
		req := p.offsetFetch([]string{"group-0"})
		req.SetVersion(8)
		r := req.ResponseKind().(*commitsResponse)
		if err := r.ReadFrom(answerOf(8, 0).AppendTo(nil)); err != nil {
			t.Fatal(err)
		}
		if got := r.groups[0].metadata != nil; got != c.want || got && r.groups[0].metadata[1][2] != "AQAAAZ" {
			t.Errorf("%s: %v", c.why, r.groups[0].metadata)
		}
	}
}

// BenchmarkCommits reads what a broker says of 50 groups with 500 commits each,
// in any order, by how much of it is new.
func BenchmarkCommits(b *testing.B) {
	answer := func(offset int64) []byte {
		rng := rand.New(rand.NewPCG(uint64(offset), 1))
		r := kmsg.NewPtrOffsetFetchResponse()
		r.Version = 9
		none := ""
		for g := range 50 {
			group := kmsg.OffsetFetchResponseGroup{Group: fmt.Sprintf("group-%d", g)}
			for i := range 10 {
				t := kmsg.OffsetFetchResponseGroupTopic{Topic: fmt.Sprintf("team-%02d.events-%04d", g, i)}
				for p := range int32(50) {
					t.Partitions = append(t.Partitions, kmsg.OffsetFetchResponseGroupTopicPartition{Partition: p, Offset: 1e6 + offset, Metadata: &none})
				}
				rng.Shuffle(len(t.Partitions), func(i, j int) { t.Partitions[i], t.Partitions[j] = t.Partitions[j], t.Partitions[i] })
				group.Topics = append(group.Topics, t)
			}
			rng.Shuffle(len(group.Topics), func(i, j int) { group.Topics[i], group.Topics[j] = group.Topics[j], group.Topics[i] })
			r.Groups = append(r.Groups, group)
		}
		return r.AppendTo(nil)
	}
	names := make([]string, 50)
	for g := range names {
		names[g] = fmt.Sprintf("group-%d", g)
	}
	one, two := answer(1), answer(2)
	first, err := read(9, one, nil, false, names...)
	if err != nil {
		b.Fatal(err)
	}
	for name, c := range map[string]struct {
		src    []byte
		before []*fetched
	}{"new": {one, nil}, "moved": {two, pointers(first.groups)}, "same": {one, pointers(first.groups)}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := read(9, c.src, c.before, false, names...); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/25_000, "ns/commit")
		})
	}
}
