package kafka

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/klagtop/klagtop/collect"
)

// commitFaults lets brokers answer each question for commits with 4 on all
// three partitions of market-updates, and these codes, by group and partition.
func (b *bed) commitFaults(codes map[string][3]int16) {
	id := b.c.TopicInfo("market-updates").TopicID
	b.c.ControlKey(int16(kmsg.OffsetFetch), func(r kmsg.Request) (kmsg.Response, error, bool) {
		b.c.KeepControl()
		resp := r.ResponseKind().(*kmsg.OffsetFetchResponse)
		for _, g := range r.(*kmsg.OffsetFetchRequest).Groups {
			t := kmsg.OffsetFetchResponseGroupTopic{Topic: "market-updates", TopicID: id}
			for p := range int32(3) {
				q := kmsg.NewOffsetFetchResponseGroupTopicPartition()
				q.Partition, q.Offset, q.ErrorCode = p, 4, codes[g.Group][p]
				t.Partitions = append(t.Partitions, q)
			}
			resp.Groups = append(resp.Groups, kmsg.OffsetFetchResponseGroup{Group: g.Group, Topics: []kmsg.OffsetFetchResponseGroupTopic{t}})
		}
		return resp, nil, true
	})
}

// What makes a document incomplete is among its problems.
func TestCommitsUnreadAreProblems(t *testing.T) {
	failed, denied := kerr.UnknownServerError.Code, kerr.TopicAuthorizationFailed.Code
	for _, tt := range []struct {
		why      string
		codes    [3][3]int16 // by group, by partition
		want     string      // {1} stands for the name of group 1
		complete bool
	}{
		{
			"one partition of one group",
			[3][3]int16{1: {0, failed, 0}},
			"commits broker=1 group={1} topic=market-updates/1 error: " + kerr.UnknownServerError.Error(), false,
		},
		{
			"a whole topic of one group: one problem, which names the group",
			[3][3]int16{1: {failed, failed, failed}},
			"commits broker=1 group={1} topic=market-updates/-1 error: 3 commits: " + kerr.UnknownServerError.Error(), false,
		},
		{
			"denied to all groups: no broker's matter, and no group's",
			[3][3]int16{{denied, 0, 0}, {denied, 0, 0}, {denied, 0, 0}},
			"commits broker=-1 group= topic=market-updates/-1 denied: 3 commits: " + kerr.TopicAuthorizationFailed.Error(), false,
		},
		{
			"no such partition: an answer",
			[3][3]int16{{kerr.UnknownTopicOrPartition.Code, 0, 0}},
			"", true,
		},
	} {
		t.Run(tt.why, func(t *testing.T) {
			b := newBed(t)
			groups := b.spread()
			codes := map[string][3]int16{}
			for i, c := range tt.codes {
				codes[groups[i]] = c
			}
			b.commitFaults(codes)
			s := b.poll()
			b.wantProblems(s, strings.NewReplacer("{1}", groups[1]).Replace(tt.want))
			if s.Complete != tt.complete {
				t.Errorf("complete %v, want %v", s.Complete, tt.complete)
			}
		})
	}
}

// Some things are asked twice in a poll, and are one problem all the same.
func TestTheSameProblemIsToldOnce(t *testing.T) {
	b := collect.Ask{}.Builder()
	var ps problems
	for range 2 {
		ps.commit(1, "ticker", "market-updates", 0, collect.ReasonError, "broken")
		ps.group(collect.StageCommits, 1, "ticker", collect.ReasonError, "broken")
	}
	ps.flush(b)
	s := b.Finish(time.Time{}, 0)
	if got, want := problemText(s), "commits broker=1 group=ticker topic=market-updates/0 error: broken\ncommits broker=1 group=ticker topic=/-1 error: broken"; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
