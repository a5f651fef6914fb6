package collect

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// changesOf prints offsets and topic events, one a line, without the rest.
func changesOf(events []Event) (out []string) {
	for _, e := range events {
		switch e.Kind {
		case EventOffsets:
			var parts []string
			for _, c := range e.Offsets {
				parts = append(parts, strings.NewReplacer("-2", "none").Replace(fmt.Sprintf("%s/%d %d->%d", c.Topic, c.Partition, c.From, c.To)))
			}
			out = append(out, fmt.Sprintf("%s: %s", e.Cause, strings.Join(parts, ", ")))
		case EventTopic:
			out = append(out, fmt.Sprintf("%s: %s", e.Cause, e.Topic))
		}
	}
	return out
}

// A script is a group's commits over some polls, 5 s apart, and what is to be
// told of them. The group starts with 60 committed of a/0's 100 records.
type commitStep struct {
	why  string
	do   func(w *watched, g *fakeGroup)
	want string // lines joined by "; "
}

func TestOffsetEvents(t *testing.T) {
	live := []Member{member("m", on("a", 0, 1))}
	still := func(*watched, *fakeGroup) {}
	grow := func(end int64) func(*watched, *fakeGroup) {
		return func(w *watched, _ *fakeGroup) { w.topic("a", part{0, end}, part{0, 100}) }
	}
	tests := []struct {
		name    string
		members []Member
		start   func(w *watched, g *fakeGroup)
		steps   []commitStep
		back    int64
		forward int64
	}{
		{"a healthy consumer, however fast", live, nil, []commitStep{
			{"reads to the end at once", func(w *watched, g *fakeGroup) { g.commit("a", 0, 100) }, ""},
			{"a million records in one poll, all read", func(w *watched, g *fakeGroup) { grow(1_000_000)(w, g); g.commit("a", 0, 1_000_000) }, ""},
			{"without leader epochs, as Spring commits", func(w *watched, g *fakeGroup) { grow(2_000_000)(w, g); g.set("a", 0, 2_000_000) }, ""},
		}, 0, 0},
		{"a live consumer seeks back and commits", live, nil, []commitStep{
			{"back", func(w *watched, g *fakeGroup) { g.commit("a", 0, 10).commit("a", 1, 20) }, "reset: a/0 60->10, a/1 60->20"},
			{"told once", still, ""},
			{"and reads on", func(w *watched, g *fakeGroup) { g.commit("a", 0, 90) }, ""},
		}, 2, 0},
		{"set to the end in an empty group", nil, nil, []commitStep{
			{"skipped", func(w *watched, g *fakeGroup) { g.set("a", 0, 100) }, "skipped: a/0 60->100"},
			{"told once", still, ""},
		}, 0, 1},
		{"set to the beginning in an empty group", nil, nil, []commitStep{
			{"reset", func(w *watched, g *fakeGroup) { g.set("a", 0, 0) }, "reset: a/0 60->0"},
			{"and then to the end", func(w *watched, g *fakeGroup) { g.set("a", 0, 100) }, "skipped: a/0 0->100"},
		}, 1, 1},
		{"a consumer without membership goes on", nil, func(w *watched, g *fakeGroup) { g.facts.ProtocolType = "" }, []commitStep{
			{"with leader epochs", func(w *watched, g *fakeGroup) { g.commit("a", 0, 100) }, ""},
			{"more", func(w *watched, g *fakeGroup) { grow(200)(w, g); g.commit("a", 0, 200) }, ""},
		}, 0, 0},
		{"a consumer without membership and leader epochs goes on", nil, func(w *watched, g *fakeGroup) { g.facts.ProtocolType = ""; g.set("a", 0, 60) }, []commitStep{
			{"more", func(w *watched, g *fakeGroup) { g.set("a", 0, 100) }, ""},
		}, 0, 0},
		{"somebody sets the commit of a consumer without membership", nil, func(w *watched, g *fakeGroup) { g.facts.ProtocolType = "" }, []commitStep{
			{"an administrator's commit has no leader epoch", func(w *watched, g *fakeGroup) { g.set("a", 0, 100) }, "skipped: a/0 60->100"},
		}, 0, 1},
		{"a mirror's commits go forward without members", nil, nil, []commitStep{
			{"the first looks like somebody's hand", func(w *watched, g *fakeGroup) { g.set("a", 0, 70) }, "skipped: a/0 60->70"},
			{"the second does not", func(w *watched, g *fakeGroup) { g.set("a", 0, 80) }, ""},
			{"nor the third", func(w *watched, g *fakeGroup) { g.set("a", 0, 90) }, ""},
		}, 0, 1},
		{"members were there a poll ago", live, nil, []commitStep{
			{"they may have read that", func(w *watched, g *fakeGroup) {
				g.facts.Members, g.facts.State = nil, StateEmpty
				g.set("a", 0, 100)
			}, ""},
		}, 0, 0},
		{"a group with epochs that had a member between two polls", nil, func(w *watched, g *fakeGroup) {
			g.facts.Type, g.facts.Generation = TypeConsumer, Generation{Value: 7, Exact: true, Source: SourceEpoch}
		}, []commitStep{
			{"its epoch grew", func(w *watched, g *fakeGroup) { g.facts.Generation.Value = 9; g.set("a", 0, 100) }, ""},
			{"its epoch did not", func(w *watched, g *fakeGroup) { grow(150)(w, g); g.set("a", 0, 150) }, "skipped: a/0 100->150"},
		}, 0, 1},
		{"the description is not due in the poll that sees the commit", nil, nil, []commitStep{
			{"no proof yet", func(w *watched, g *fakeGroup) { g.facts.Described = false; g.set("a", 0, 100) }, ""},
			{"still empty", func(w *watched, g *fakeGroup) { g.facts.Described = true }, "skipped: a/0 60->100"},
		}, 0, 1},
		{"and finds members then", nil, nil, []commitStep{
			{"no proof yet", func(w *watched, g *fakeGroup) { g.facts.Described = false; g.set("a", 0, 100) }, ""},
			{"somebody is there", func(w *watched, g *fakeGroup) {
				g.facts.Described, g.facts.Members, g.facts.State = true, live, StateStable
			}, ""},
		}, 0, 0},
		{"over records that retention took", nil, nil, []commitStep{
			{"lost, not skipped", func(w *watched, g *fakeGroup) { w.topic("a", part{80, 100}, part{0, 100}); g.set("a", 0, 80) }, ""},
		}, 0, 0},
		{"past the end", live, nil, []commitStep{
			{"set", func(w *watched, g *fakeGroup) { g.commit("a", 0, 500) }, "past_end: a/0 60->500"},
			{"told once", still, ""},
			{"and back", func(w *watched, g *fakeGroup) { g.commit("a", 0, 100) }, "reset: a/0 500->100"},
		}, 1, 1},
		{"a first commit past the end", live, func(w *watched, g *fakeGroup) { delete(g.commits["a"], 0) }, []commitStep{
			{"from none", func(w *watched, g *fakeGroup) { g.commit("a", 0, 500) }, "past_end: a/0 none->500"},
		}, 0, 1},
		{"commits deleted, or expired", live, nil, []commitStep{
			{"the topic may be on its way out", func(w *watched, g *fakeGroup) { delete(g.commits["a"], 0); delete(g.commits["a"], 1) }, ""},
			{"it is not", still, "reset: a/0 60->none, a/1 60->none"},
			{"told once", still, ""},
		}, 0, 0},
		{"one commit of an empty group deleted", nil, func(w *watched, g *fakeGroup) { g.facts.ProtocolType = "" }, []commitStep{
			{"the row is gone", func(w *watched, g *fakeGroup) { delete(g.commits["a"], 1) }, ""},
			{"for good", still, "reset: a/1 60->none"},
			{"told once", still, ""},
		}, 0, 0},
		{"all commits of an empty group deleted", nil, nil, []commitStep{
			{"all rows are gone", func(w *watched, g *fakeGroup) { delete(g.commits, "a") }, ""},
			{"for good", still, "reset: a/0 60->none, a/1 60->none"},
			{"told once", still, ""},
			{"and the topic later", func(w *watched, g *fakeGroup) { delete(w.topics, "a") }, ""},
		}, 0, 0},
		{"an empty group's topic deleted, told of a poll late", nil, nil, []commitStep{
			{"its commits are gone", func(w *watched, g *fakeGroup) { delete(g.commits, "a") }, ""},
			{"and the topic is", func(w *watched, g *fakeGroup) { delete(w.topics, "a") }, "deleted: a"},
		}, 0, 0},
		{"commits gone for one poll", live, nil, []commitStep{
			{"gone", func(w *watched, g *fakeGroup) { delete(g.commits["a"], 0) }, ""},
			{"there again", func(w *watched, g *fakeGroup) { g.commit("a", 0, 60) }, ""},
		}, 0, 0},
		{"a reset while the coordinator was away", live, nil, []commitStep{
			{"not read", func(w *watched, g *fakeGroup) { g.commitsUnread = ReasonLoading }, ""},
			{"for longer than numbers stand", func(w *watched, g *fakeGroup) { w.after(10 * time.Minute) }, ""},
			{"read", func(w *watched, g *fakeGroup) { g.commitsUnread = ReasonNone; g.commit("a", 0, 10) }, "reset: a/0 60->10"},
		}, 1, 0},
		{"partitions added", live, nil, []commitStep{
			{"one more", func(w *watched, g *fakeGroup) { w.topic("a", even(3, 0, 100)...) }, "partitions_added: a"},
			{"told once", still, ""},
			{"a broker that has not heard of it", func(w *watched, g *fakeGroup) { w.topic("a", even(2, 0, 100)...) }, ""},
			{"one that has", func(w *watched, g *fakeGroup) { w.topic("a", even(3, 0, 100)...) }, ""},
		}, 0, 0},
		{"a topic deleted, its commits with it", live, nil, []commitStep{
			{"still subscribed to", func(w *watched, g *fakeGroup) { delete(w.topics, "a"); delete(g.commits, "a") }, "deleted: a"},
			{"told once", still, ""},
			{"made anew", func(w *watched, g *fakeGroup) { w.topic("a", even(2, 0, 5)...).id = 2 }, "recreated: a"},
		}, 0, 0},
		{"a topic deleted that nobody subscribes to", live, func(w *watched, g *fakeGroup) { g.commit("b", 0, 3); w.topic("b", part{0, 5}) }, []commitStep{
			{"gone", func(w *watched, g *fakeGroup) { delete(w.topics, "b"); delete(g.commits, "b") }, "deleted: b"},
			{"told once", still, ""},
		}, 0, 0},
		{"a topic whose commits were deleted, and with them its rows", live, func(w *watched, g *fakeGroup) { g.commit("b", 0, 3); w.topic("b", part{0, 5}) }, []commitStep{
			{"it is there, so it was not deleted", func(w *watched, g *fakeGroup) { delete(g.commits, "b") }, ""},
			{"its commits were", still, "reset: b/0 3->none"},
			{"told once", still, ""},
		}, 0, 0},
		{"a topic made anew under a live consumer", live, nil, []commitStep{
			{"which commits its old position", func(w *watched, g *fakeGroup) { w.topic("a", part{0, 3}, part{0, 3}).id = 2 }, "recreated: a"},
			{"and again", func(w *watched, g *fakeGroup) { g.commit("a", 0, 61) }, ""},
			{"and then the new one", func(w *watched, g *fakeGroup) { g.commit("a", 0, 3).commit("a", 1, 3) }, ""},
			{"settled", func(w *watched, g *fakeGroup) { w.after(time.Minute) }, ""},
			{"from then on it is judged", func(w *watched, g *fakeGroup) { g.commit("a", 0, 1) }, "reset: a/0 3->1"},
		}, 1, 0},
		{"a topic made anew that Metadata tells of a poll late", live, nil, []commitStep{
			{"the log ends before, and the consumer follows", func(w *watched, g *fakeGroup) { w.topic("a", part{0, 3}, part{0, 100}); g.commit("a", 0, 3) }, ""},
			{"it is another topic", func(w *watched, g *fakeGroup) { w.topics["a"].id = 2 }, "recreated: a"},
			{"nothing else", still, ""},
		}, 0, 0},
		{"a commit without an epoch above a log that was cut", live, func(w *watched, g *fakeGroup) { g.set("a", 0, 60) }, []commitStep{
			{"another leader, a shorter log", func(w *watched, g *fakeGroup) {
				w.topic("a", part{0, 40}, part{0, 100}).epoch = 1
			}, "truncated: a/0 60->40"},
			{"told once", still, ""},
		}, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := watch(newWorld())
			w.topic("a", even(2, 0, 100)...)
			g := w.group("g", tt.members...).commit("a", 0, 60).commit("a", 1, 60)
			if tt.start != nil {
				tt.start(w, g)
			}
			w.look(t)
			w.after(5 * time.Second)
			_, es := w.look(t)
			if got := changesOf(es); got != nil {
				t.Fatalf("nothing happened yet: %v", got)
			}
			var last *Group
			for _, s := range tt.steps {
				w.after(5 * time.Second)
				s.do(w, g)
				last, es = w.look(t)
				if got := strings.Join(changesOf(es), "; "); got != s.want {
					t.Errorf("%s: %q, want %q", s.why, got, s.want)
				}
				if last.Consumed < 0 || last.Produced < 0 {
					t.Errorf("%s: consumed %g, produced %g", s.why, last.Consumed, last.Produced)
				}
			}
			if c := last.Counters; c.JumpsBack != tt.back || c.JumpsForward != tt.forward {
				t.Errorf("%d back and %d forward, want %d and %d", c.JumpsBack, c.JumpsForward, tt.back, tt.forward)
			}
		})
	}
}

// A commit set over a backlog is no consumption: neither in a counter nor in a
// rate, at that poll or later.
func TestSkippedRecordsAreNotConsumed(t *testing.T) {
	w := watch(newWorld())
	w.topic("a", part{0, 1_000_000})
	g := w.group("g").commit("a", 0, 100)
	for range 3 {
		w.look(t)
		w.after(5 * time.Second)
	}
	g.set("a", 0, 999_000)
	for i := range 4 {
		got, _ := w.look(t)
		if row := got.Topics[0].Row(0); row.Consumed > 10 || got.Consumed > 10 || got.Counters.Consumed > int64(10*i) {
			t.Errorf("poll %d: row %g/s, group %g/s, %d in all", i, row.Consumed, got.Consumed, got.Counters.Consumed)
		}
		w.after(5 * time.Second)
		if i == 0 {
			g.facts.Members, g.facts.State = []Member{member("m", on("a", 0))}, StateStable
		}
		g.commit("a", 0, 999_000+10*int64(i+1)) // somebody consumes, 2/s
	}
}

// epochs is a source that knows where leader epochs end.
type epochs struct {
	*world
	ends  map[EpochQuery]EpochAnswer // by query without its leader
	asked []EpochQuery
}

func (s *epochs) Poll(context.Context, Ask) *Snapshot { return s.poll() }

func (s *epochs) Close() {}

func (s *epochs) OffsetsAt(_ context.Context, qs []TimeQuery) []TimeAnswer {
	out := make([]TimeAnswer, len(qs))
	for i := range out {
		out[i].Reason = ReasonTimeout
	}
	return out
}

func (s *epochs) EpochEnds(_ context.Context, qs []EpochQuery) []EpochAnswer {
	s.asked = append(s.asked, qs...)
	out := make([]EpochAnswer, len(qs))
	for i, q := range qs {
		q.Leader = 0
		if a, ok := s.ends[q]; ok {
			out[i] = a
		} else {
			out[i] = EpochAnswer{End: Unknown, Reason: ReasonNoLeader}
		}
	}
	return out
}

func TestTruncation(t *testing.T) {
	w := newWorld()
	w.topic("a", part{0, 30}, part{0, 30}).epoch = 3
	g := w.group("g", member("m", on("a", 0, 1))).commitIn(3, "a", 0, 30).commitIn(3, "a", 1, 30)
	src := &epochs{world: w, ends: map[EpochQuery]EpochAnswer{}}
	c := New(src, Options{Build: w.opts, Interval: time.Second, Timeout: 1e5 * time.Hour, Now: func() time.Time { return w.now }})
	look := func(why, want string, asked int, rows ...string) {
		t.Helper()
		src.asked = nil
		w.after(5 * time.Second)
		u := c.Once(t.Context())
		if got := strings.Join(changesOf(u.Events), "; "); got != want {
			t.Errorf("%s: %q, want %q", why, got, want)
		}
		if len(src.asked) != asked {
			t.Errorf("%s: asked %v, want %d questions", why, src.asked, asked)
		}
		var got []string
		for i := range 2 {
			r := mustGroup(t, u.Snapshot, "g").Topics[0].Row(i)
			line := fmt.Sprintf("%s %d", r.Status, r.Lag)
			if r.Truncated > 0 {
				line += fmt.Sprintf(" cut by %d", r.Truncated)
			}
			got = append(got, line)
		}
		if len(rows) > 0 {
			wantLines(t, got, rows...)
		}
	}
	look("no leader since the commit", "", 0)
	look("nor now", "", 0)

	w.topic("a", part{0, 35}, part{0, 30}).epoch = 4
	src.ends[EpochQuery{"a", 0, 3, 0}] = EpochAnswer{End: 10} // 20 records are gone, 25 new ones written
	src.ends[EpochQuery{"a", 1, 3, 0}] = EpochAnswer{End: 30} // a clean election
	look("an unclean election, hidden by what was written since", "truncated: a/0 30->10", 2, "ok 5 cut by 20", "ok 0")
	look("told and asked once", "", 0, "ok 5 cut by 20", "ok 0")

	g.commitsUnread = ReasonLoading
	w.after(10 * time.Minute)
	look("the coordinator is away for longer than numbers stand", "", 0)
	g.commitsUnread = ReasonNone
	look("the same commit, read again, is no news", "", 2, "ok 5 cut by 20", "ok 0")

	w.topic("a", part{0, 35}, part{0, 30}).epoch = 5
	look("another leader, asked again", "", 2, "ok 5 cut by 20", "ok 0")
	g.commitIn(5, "a", 0, 10)
	look("the consumer found out and goes back: no news", "", 0, "ok 25", "ok 0")
	if n := mustGroup(t, w.prev, "g").Counters.JumpsBack; n != 1 {
		t.Errorf("%d jumps back", n)
	}

	w.topic("a", part{0, 35}, part{0, 22}).epoch = 6
	src.ends[EpochQuery{"a", 0, 5, 0}] = EpochAnswer{End: 35}
	src.ends[EpochQuery{"a", 1, 3, 0}] = EpochAnswer{End: 20}
	g.commitIn(6, "a", 1, 20)
	look("both between two polls", "truncated: a/1 30->20", 2, "ok 25", "ok 2")

	w.topics["a"].epoch = 7
	delete(src.ends, EpochQuery{"a", 0, 5, 0})
	look("no answer", "", 2)
	src.ends[EpochQuery{"a", 1, 6, 0}] = EpochAnswer{End: Unknown, Reason: ReasonUnsupported}
	look("asked again", "", 2)
	look("a broker too old is not", "", 1)
}

// What was cut before klagtop looked is shown, and is no event.
func TestTruncationFromBefore(t *testing.T) {
	w := newWorld()
	w.topic("a", part{0, 35}).epoch = 4
	w.group("g", member("m", on("a", 0))).commitIn(3, "a", 0, 30)
	src := &epochs{world: w, ends: map[EpochQuery]EpochAnswer{{"a", 0, 3, 0}: {End: 10}}}
	c := New(src, Options{Build: w.opts, Interval: time.Second, Timeout: 1e5 * time.Hour, Now: func() time.Time { return w.now }})
	for range 2 {
		w.after(time.Second)
		u := c.Once(t.Context())
		if r := mustGroup(t, u.Snapshot, "g").Topics[0].Row(0); r.Truncated != 20 || len(u.Events) != 0 {
			t.Errorf("cut by %d, events %v", r.Truncated, u.Events)
		}
	}
}
