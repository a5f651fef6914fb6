package collect

import (
	"math"
	"testing"
	"time"
)

// oneRow is a group-topic of a single partition as a builder would leave it.
func oneRow(s, e, c int64) *GroupTopic {
	t := &Topic{
		Name: "market-updates", LogStart: []int64{s}, LogEnd: []int64{e}, LastStable: []int64{Unknown}, Leader: []int32{1}, Epoch: []int32{0},
		StartAt: []int64{epoch.UnixNano()}, EndAt: []int64{epoch.UnixNano()},
	}
	return &GroupTopic{Topic: t, Committed: []int64{c}, CommitEpoch: []int32{-1}, Owner: []int32{-1}, commitsAt: epoch.Add(-time.Second).UnixNano()}
}

func TestLagTable(t *testing.T) {
	for _, c := range []struct {
		why     string
		s, e, c int64
		change  func(gt *GroupTopic)
		want    string
	}{
		{"between start and end, lag is end - commit", 10, 100, 40, nil, "10..100 at 40 lag 60 ok"},
		{"caught up", 10, 100, 100, nil, "10..100 at 100 lag 0 ok"},
		{"at the very start", 10, 100, 10, nil, "10..100 at 10 lag 90 ok"},
		{"an empty log that was never written", 0, 0, 0, nil, "0..0 at 0 lag 0 ok"},
		{"no commit: the history still retained", 10, 100, NoCommit, nil, "10..100 at - lag 90 no_commit"},
		{"no commit on an empty log", 0, 0, NoCommit, nil, "0..0 at - lag 0 no_commit"},
		{"retention overtook the group: what is gone is not lag", 40, 100, 10, nil, "40..100 at 10 lag 60 lost lost 30"},
		{"everything gone", 100, 100, 10, nil, "100..100 at 10 lag 0 lost lost 90"},
		{"past the end: lag is 0, not negative", 0, 100, 500, nil, "0..100 at 500 lag 0 ahead ahead 400"},
		{"past the end of an empty log", 0, 0, 5, nil, "0..0 at 5 lag 0 ahead ahead 5"},
		{"offsets near the top of their range", 0, math.MaxInt64, 1, nil, "0..9223372036854775807 at 1 lag 9223372036854775806 ok"},
		{"start beyond end and no commit: never negative", 9, 4, NoCommit, nil, "9..4 at - lag 0 no_commit"},

		{"end not read, nothing said: it was not answered in time", 0, Unknown, 5, nil, "0..? at 5 lag ? unknown timeout"},
		{"commit not read", 0, 10, Unknown, func(gt *GroupTopic) { gt.stale = ReasonLoading }, "0..10 at ? lag ? unknown loading"},
		{"a committed row whose start was never read is unknown", Unknown, 10, 5, nil, "?..10 at 5 lag ? unknown timeout"},
		{"start could not be read, and it is known why", Unknown, 10, 5, func(gt *GroupTopic) { gt.Topic.StartReason = []Reason{ReasonNoLeader} }, "?..10 at 5 lag ? unknown no_leader"},
		{"no commit and no start: nothing to count from", Unknown, 10, NoCommit, nil, "?..10 at - lag ? unknown timeout"},
		{"no leader, and no last number", 0, Unknown, 5, func(gt *GroupTopic) { gt.Topic.EndReason = []Reason{ReasonNoLeader} }, "0..? at 5 lag ? unknown no_leader"},
		{"no leader, the last number stands", 0, 10, 5, func(gt *GroupTopic) { gt.Topic.EndReason = []Reason{ReasonNoLeader} }, "0..10 at 5 lag 5 ok stale no_leader"},
		{"the coordinator loads, the last number stands", 0, 10, 5, func(gt *GroupTopic) { gt.stale = ReasonLoading }, "0..10 at 5 lag 5 ok stale loading"},
		{"one commit could not be read, its last number stands", 0, 10, 5, func(gt *GroupTopic) { gt.CommitReason = []Reason{ReasonError} }, "0..10 at 5 lag 5 ok stale error"},
		{"a stale row past the end is stale and ahead", 0, 10, 12, func(gt *GroupTopic) { gt.stale = ReasonTimeout }, "0..10 at 12 lag 0 ahead ahead 2 stale timeout"},
		{"metadata failed, the last number stands", 0, 10, 5, func(gt *GroupTopic) { gt.Topic.Reason = ReasonBrokerDown }, "0..10 at 5 lag 5 ok stale broker_down"},
		{"denied is an answer: no number stands", 0, 10, 5, func(gt *GroupTopic) { gt.Topic.Reason = ReasonDenied }, "?..? at 5 lag ? unknown denied"},
		{"a deleted topic has no lag", 0, 10, 5, func(gt *GroupTopic) { gt.Topic.Reason = ReasonTopicMissing }, "?..? at 5 lag ? unknown topic_missing"},
		{"beyond the partition count", 0, 10, 5, func(gt *GroupTopic) { gt.Parts = []int32{3} }, "?..? at 5 lag ? unknown topic_missing"},
		{"metadata failed before the topic was ever read", 0, 10, 5, func(gt *GroupTopic) { *gt.Topic = Topic{Name: gt.Topic.Name, Reason: ReasonTimeout} }, "?..? at 5 lag ? unknown timeout"},
		{"the commit's reason comes before the end's", 0, Unknown, Unknown, func(gt *GroupTopic) {
			gt.stale, gt.Topic.EndReason = ReasonLoading, []Reason{ReasonNoLeader}
		}, "0..? at ? lag ? unknown loading"},
	} {
		t.Run(c.why, func(t *testing.T) {
			gt := oneRow(c.s, c.e, c.c)
			if c.change != nil {
				c.change(gt)
			}
			r := gt.Row(0)
			text := rowText(r)
			wantLines(t, []string{text[len("market-updates/0 "):]}, c.want)
			if (r.Lag < 0) != (r.Status == StatusUnknown) {
				t.Errorf("lag %d beside status %s", r.Lag, r.Status)
			}
			if r.Lag == 0 && (r.Age.Seconds != 0 || r.Age.Method != MethodExact) {
				t.Errorf("lag 0 has age %+v, want exactly 0", r.Age)
			}
			if r.Lag != 0 && r.Age.Known() {
				t.Errorf("age %+v out of nothing", r.Age)
			}
			if r.Status == StatusUnknown && string(r.Age.Reason) != r.Reason.String() {
				t.Errorf("seconds are unknown for %q, the row for %q", r.Age.Reason, r.Reason)
			}
		})
	}
}

func TestStableLag(t *testing.T) {
	for _, c := range []struct {
		why          string
		s, lso, e, c int64
		want         int64
	}{
		{"no open transaction: all of it", 0, 100, 100, 40, 60},
		{"an open transaction: what lies below it", 0, 70, 100, 40, 30},
		{"everything unread belongs to it", 0, 40, 100, 40, 0},
		{"the commit lies above it: never negative", 0, 40, 100, 60, 0},
		{"no commit: from the log start", 10, 70, 100, NoCommit, 60},
		{"lost: from the log start", 50, 70, 100, 10, 20},
		{"answered later than the end: no more than lag", 0, 120, 100, 40, 60},
		{"lag is 0, whatever it is", 0, Unknown, 100, 100, 0},
		{"lag, and it was not asked for", 0, Unknown, 100, 40, Unknown},
		{"ahead is lag 0", 0, Unknown, 100, 140, 0},
		{"lag is not known", 0, 70, Unknown, 40, Unknown},
	} {
		t.Run(c.why, func(t *testing.T) {
			gt := oneRow(c.s, c.e, c.c)
			gt.Topic.LastStable[0] = c.lso
			if got := gt.Row(0).LagStable; got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestAsOfIsTheOlderReading(t *testing.T) {
	gt := oneRow(0, 10, 5)
	if got := gt.Row(0).AsOf; !got.Equal(epoch.Add(-time.Second)) {
		t.Errorf("as of %v, want the commits' time", got)
	}
	gt.Topic.EndAt[0] = epoch.Add(-time.Minute).UnixNano()
	if got := gt.Row(0).AsOf; !got.Equal(epoch.Add(-time.Minute)) {
		t.Errorf("as of %v, want the log end's time", got)
	}
	gt.Topic.EndAt[0] = 0
	if got := gt.Row(0).AsOf; !got.IsZero() {
		t.Errorf("as of %v for a row that was never read", got)
	}
}

func TestWordsRoundTrip(t *testing.T) {
	for _, r := range []Reason{ReasonNone, ReasonDenied, ReasonNoLeader, ReasonTopicMissing, ReasonBrokerDown, ReasonLoading, ReasonTimeout, ReasonUnsupported, ReasonNotReported, ReasonError} {
		if got, ok := ParseReason(r.String()); !ok || got != r {
			t.Errorf("reason %q reads back as %q", r, got)
		}
		if r.Passing() && r.Answers() {
			t.Errorf("reason %q both passes and answers", r)
		}
	}
	for _, s := range []Status{StatusUnknown, StatusOK, StatusNoCommit, StatusLost, StatusAhead} {
		if got, ok := ParseStatus(s.String()); !ok || got != s {
			t.Errorf("status %q reads back as %q", s, got)
		}
	}
	for _, s := range []Severity{Info, Warning, Critical} {
		if got, ok := ParseSeverity(s.String()); !ok || got != s {
			t.Errorf("severity %q reads back as %q", s, got)
		}
	}
	if _, ok := ParseReason("nonsense"); ok {
		t.Error("nonsense is a reason")
	}
	if _, ok := ParseStatus("nonsense"); ok {
		t.Error("nonsense is a status")
	}
	if _, ok := ParseSeverity("nonsense"); ok {
		t.Error("nonsense is a severity")
	}
	if got := Reason(200).String(); got != "error" {
		t.Errorf("a reason outside the list is %q", got)
	}
	if got := MethodAtLeast.String(); got != "at_least" {
		t.Errorf("MethodAtLeast is %q", got)
	}
}
