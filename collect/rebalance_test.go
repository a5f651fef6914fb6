package collect

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// brief is an event in one line.
func brief(e Event) string {
	var refs []string
	for _, m := range e.Joined {
		refs = append(refs, "+"+m.ClientID)
	}
	for _, m := range e.Left {
		refs = append(refs, "-"+m.ClientID)
	}
	switch e.Kind {
	case EventRebalance:
		return strings.TrimSpace(fmt.Sprintf("rebalance x%d %s moved %d gained %d lost %d kept %d %s", e.Count, e.Cause, e.Moved, e.Gained, e.Lost, e.Kept, strings.Join(refs, " ")))
	case EventMember:
		return strings.TrimSpace("member " + strings.Join(refs, " "))
	case EventState:
		return fmt.Sprintf("state %s -> %s", e.StateFrom, e.StateTo)
	case EventGroup:
		return fmt.Sprintf("group %s %s -> %s", e.Group, e.StateFrom, e.StateTo)
	}
	return string(e.Kind)
}

func briefs(es []Event) (out []string) {
	for _, e := range es {
		out = append(out, brief(e))
	}
	return out
}

// steps change a group between two polls.
type step func(w *watched)

func members(ms ...Member) step {
	return func(w *watched) {
		f := &w.groups["g"].facts
		f.Members, f.State, f.Described, f.Reason = append([]Member(nil), ms...), StateStable, true, ReasonNone
		if f.Type == TypeClassic {
			f.Assignor = "range"
		}
	}
}

func empty(w *watched) {
	f := &w.groups["g"].facts
	f.Members, f.State, f.Assignor = nil, StateEmpty, ""
}

func preparing(w *watched) {
	f := &w.groups["g"].facts
	f.State, f.Assignor = StatePreparingRebalance, ""
	for i := range f.Members {
		f.Members[i].Assigned, f.Members[i].Decode, f.Members[i].Subscribed = nil, DecodeEmpty, nil
	}
}

func completing(w *watched) {
	preparing(w)
	w.groups["g"].facts.State = StateCompletingRebalance
}

func generation(n int64, source GenerationSource) step {
	return func(w *watched) {
		w.groups["g"].facts.Generation = Generation{Value: n, Exact: source == SourceEpoch, Source: source}
	}
}

func unreachable(why Reason) step {
	return func(w *watched) { w.groups["g"].facts.Described, w.groups["g"].facts.Reason = false, why }
}

func all(steps ...step) step {
	return func(w *watched) {
		for _, s := range steps {
			s(w)
		}
	}
}

func consumerType(w *watched) {
	f := &w.groups["g"].facts
	f.Type, f.Assignor, f.Members = TypeConsumer, "uniform", append([]Member(nil), f.Members...)
	for i := range f.Members {
		f.Members[i].HasTarget, f.Members[i].Target, f.Members[i].Epoch = true, f.Members[i].Assigned, 1
	}
}

func streamsType(w *watched) {
	consumerType(w)
	w.groups["g"].facts.Type = TypeStreams
}

func notReady(w *watched) { w.groups["g"].facts.State = StateNotReady }

func TestRebalanceEvents(t *testing.T) {
	a, b := member("a", on("t", 0, 1)), member("b")
	half := []Member{member("a", on("t", 0)), member("b", on("t", 1))}
	static := func(id string) Member {
		m := member("a", on("t", 0, 1))
		m.ID, m.InstanceID = id, "pod-1"
		return m
	}
	for _, c := range []struct {
		why       string
		start     step
		polls     []step
		want      []string
		counted   int64
		durations int64
	}{
		{"the first look is the baseline", members(a), nil, nil, 0, 0},
		{"nothing happens", members(a), []step{members(a), members(a)}, nil, 0, 0},
		{"a member joins between two polls", members(a), []step{members(half...)}, []string{"rebalance x1 member_joined moved 1 gained 0 lost 0 kept 1 +b"}, 1, 0},
		{"a member leaves between two polls", members(half...), []step{members(a)}, []string{"rebalance x1 member_left moved 1 gained 0 lost 0 kept 1 -b"}, 1, 0},
		{"one comes, another goes: which was first cannot be told", members(half...), []step{members(member("a", on("t", 0)), member("c", on("t", 1)))}, []string{"rebalance x1 unknown moved 1 gained 0 lost 0 kept 1 +c -b"}, 1, 0},
		{"an idle member joins", members(a), []step{members(a, b)}, []string{"rebalance x1 member_joined moved 0 gained 0 lost 0 kept 2 +b"}, 1, 0},
		{
			"its begin was seen: transitions within make no more events", members(a),
			[]step{all(members(half...), preparing), all(members(half...), preparing), all(members(half...), completing), members(half...)},
			[]string{"state Stable -> PreparingRebalance", "rebalance x1 member_joined moved 1 gained 0 lost 0 kept 1 +b"},
			1, 1,
		},
		{
			"two rebalances seen apart", members(a),
			[]step{members(half...), members(a)},
			[]string{"rebalance x1 member_joined moved 1 gained 0 lost 0 kept 1 +b", "rebalance x1 member_left moved 1 gained 0 lost 0 kept 1 -b"},
			2, 0,
		},
		{"it began and ended as it was", members(a), []step{all(members(a), preparing), members(a)}, []string{"state Stable -> PreparingRebalance", "rebalance x1 unknown moved 0 gained 0 lost 0 kept 2"}, 1, 1},
		{"a static member restarts within its session", members(static("1")), []step{members(static("2")), members(static("3"))}, []string{"member +a -a", "member +a -a"}, 0, 0},
		{
			"hidden ones are counted by the generation", all(members(a), generation(3, SourceMemberMetadata)),
			[]step{all(members(a), generation(5, SourceMemberMetadata))},
			[]string{"rebalance x2 unknown moved 0 gained 0 lost 0 kept 2"},
			2, 0,
		},
		{
			"several between two polls are one event that counts them", all(members(a), generation(3, SourceMemberMetadata)),
			[]step{all(members(half...), generation(7, SourceMemberMetadata))},
			[]string{"rebalance x4 member_joined moved 1 gained 0 lost 0 kept 1 +b"},
			4, 0,
		},
		{"a generation that becomes known is no rebalance", members(a), []step{all(members(a), generation(5, SourceMemberMetadata))}, nil, 0, 0},
		{"a bound that falls while the members stay is too low: members hold old generations", all(members(a), generation(9, SourceMemberMetadata)), []step{all(members(a), generation(1, SourceMemberMetadata))}, nil, 0, 0},
		{
			"a generation that falls, with none of the members left, belongs to a group made anew", all(members(half...), generation(9, SourceMemberMetadata)),
			[]step{all(members(member("c", on("t", 0, 1))), generation(2, SourceMemberMetadata)), all(members(member("c", on("t", 0)), member("d", on("t", 1))), generation(3, SourceMemberMetadata))},
			[]string{"group g Stable -> Stable", "rebalance x1 member_joined moved 1 gained 0 lost 0 kept 1 +d"},
			1, 0,
		},
		{
			"KIP-848: the increase of the epoch", all(members(a), consumerType, generation(4, SourceEpoch)),
			[]step{all(members(half...), consumerType, generation(6, SourceEpoch))},
			[]string{"rebalance x2 member_joined moved 1 gained 0 lost 0 kept 1 +b"},
			2, 0,
		},
		{
			"KIP-848: an epoch alone", all(members(a), consumerType, generation(4, SourceEpoch)),
			[]step{all(members(a), consumerType, generation(5, SourceEpoch))},
			[]string{"rebalance x1 epoch moved 0 gained 0 lost 0 kept 2"},
			1, 0,
		},
		{
			"KIP-848: reconciling is within", all(members(a), consumerType, generation(4, SourceEpoch)),
			[]step{
				all(members(half...), consumerType, generation(5, SourceEpoch), func(w *watched) { w.groups["g"].facts.State = StateReconciling }),
				all(members(half...), consumerType, generation(5, SourceEpoch)),
			},
			[]string{"state Stable -> Reconciling", "rebalance x1 member_joined moved 1 gained 0 lost 0 kept 1 +b"},
			1, 1,
		},
		{
			"streams: not ready is no rebalance", all(members(a), streamsType, generation(3, SourceEpoch)),
			[]step{all(members(member("a")), streamsType, notReady), all(members(member("a")), streamsType, notReady), all(members(a), streamsType)},
			[]string{"state Stable -> NotReady", "state NotReady -> Stable"},
			0, 0,
		},
		{
			"streams: what follows it is one", all(members(a), streamsType, generation(3, SourceEpoch)),
			[]step{
				all(members(member("a")), streamsType, notReady),
				all(members(half...), streamsType, generation(5, SourceEpoch), func(w *watched) { w.groups["g"].facts.State = StateAssigning }),
				all(members(half...), streamsType, generation(5, SourceEpoch), notReady),
				all(members(half...), streamsType, generation(5, SourceEpoch)),
			},
			[]string{"state Stable -> NotReady", "state NotReady -> Assigning", "rebalance x2 member_joined moved 1 gained 0 lost 0 kept 1 +b"},
			2, 1,
		},
		{
			"streams: a standby that moves is none", all(members(a), streamsType, generation(3, SourceEpoch)),
			[]step{all(members(a), streamsType, func(w *watched) {
				w.groups["g"].facts.Members[0].Streams = &StreamsMember{Standby: []TopicPartitions{on("t", 2)}}
			})},
			nil, 0, 0,
		},
		{"a group that empties is no rebalance", members(a), []step{empty, empty}, []string{"state Stable -> Empty"}, 0, 0},
		{"and fills again is one", members(a), []step{empty, members(a)}, []string{"state Stable -> Empty", "rebalance x1 member_joined moved 0 gained 2 lost 0 kept 0 +a"}, 1, 0},
		{"a coordinator that fails has rebalanced nobody", members(a), []step{unreachable(ReasonBrokerDown), unreachable(ReasonLoading), members(a)}, nil, 0, 0},
		{"what happened while it was away is seen after", members(a), []step{unreachable(ReasonBrokerDown), members(half...)}, []string{"rebalance x1 member_joined moved 1 gained 0 lost 0 kept 1 +b"}, 1, 0},
		{"it was not due", members(a), []step{unreachable(ReasonNone), unreachable(ReasonNone)}, nil, 0, 0},
		{
			"partitions come without members changing", members(member("a", on("t", 0, 1, 2))),
			[]step{all(members(member("a", on("t", 0, 1, 2, 3))), func(w *watched) { w.topic("t", even(4, 0, 10)...) })},
			[]string{"topic", "rebalance x1 partitions_changed moved 0 gained 1 lost 0 kept 3"},
			1, 0,
		},
		{"a partition that nobody had is taken: it is not new", members(a), []step{members(member("a", on("t", 0, 1, 2)))}, []string{"rebalance x1 unknown moved 0 gained 1 lost 0 kept 2"}, 1, 0},
		{"topics change", members(a), []step{members(member("a", on("t", 0, 1), on("u", 0)))}, []string{"rebalance x1 topics_changed moved 0 gained 1 lost 0 kept 2"}, 1, 0},
		{"the assignor changes", members(a), []step{all(members(a), func(w *watched) { w.groups["g"].facts.Assignor = "sticky" })}, []string{"rebalance x1 assignor_changed moved 0 gained 0 lost 0 kept 2"}, 1, 0},
		{"partitions are revoked", members(half...), []step{members(member("a", on("t", 0)), member("b").to("t")), members(member("a", on("t", 0)), member("b").to("t"))}, []string{"rebalance x1 unknown moved 0 gained 0 lost 1 kept 1"}, 1, 0},
		{"the same topics told in another order", members(member("a", on("t", 0), on("u", 0))), []step{members(member("a", on("u", 0), on("t", 0)))}, nil, 0, 0},
		{
			"the first look falls into a rebalance: its end counts", all(members(a), preparing),
			[]step{members(a)},
			[]string{"rebalance x1 unknown moved 0 gained 0 lost 0 kept 0"},
			1, 0,
		},
		{
			"the group goes over to the new protocol", all(members(a), generation(4, SourceMemberMetadata)),
			[]step{func(w *watched) { w.groups["g"].facts.Assignor = "range" }, all(members(a), consumerType, generation(5, SourceEpoch)), all(members(a), consumerType, generation(6, SourceEpoch))},
			[]string{"group g Stable -> Stable", "rebalance x1 assignor_changed moved 0 gained 0 lost 0 kept 2", "rebalance x1 epoch moved 0 gained 0 lost 0 kept 2"},
			2, 0,
		},
		{"the group is deleted", members(a), []step{func(w *watched) { delete(w.groups, "g") }}, []string{"group g Stable -> "}, -1, 0},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := watch(newWorld())
			w.topic("t", even(3, 0, 10)...)
			w.topic("u", even(1, 0, 10)...)
			w.group("g", a)
			c.start(w)
			w.look(t)
			for _, s := range c.polls {
				w.after(time.Second)
				s(w)
				snap := w.poll()
				w.events = append(w.events, w.tr.advance(snap)...)
			}
			wantLines(t, briefs(w.events), c.want...)
			for i, e := range w.events {
				if e.Seq != uint64(i+1) || e.Boot != "boot" || e.Cluster != "default" || e.Group != "g" || e.Text == "" || e.At.IsZero() {
					t.Errorf("event %d: %+v", i, e)
				}
			}
			if g, ok := w.prev.Group("g"); ok {
				n := g.Counters
				if n.Rebalances != c.counted || n.RebalanceEvents != c.durations {
					t.Errorf("counted %d with %d durations, want %d with %d", n.Rebalances, n.RebalanceEvents, c.counted, c.durations)
				}
				if n.LastRebalanceAt.IsZero() != (c.counted == 0) {
					t.Errorf("last rebalance at %v", n.LastRebalanceAt)
				}
				if w := w.events; n.RebalancesLower == (g.Generation.Source == SourceEpoch && (len(w) == 0 || w[0].Kind != EventGroup)) {
					t.Errorf("a lower bound: %v, with generations from %q", n.RebalancesLower, g.Generation.Source)
				}
			}
		})
	}
}

func TestARebalanceThatWasSeenToBegin(t *testing.T) {
	w := watch(newWorld())
	w.topic("t", even(2, 0, 100)...)
	w.group("g", member("a", on("t", 0, 1))).commit("t", 0, 95).commit("t", 1, 95)
	w.look(t)
	began := w.after(time.Second).now
	two := []Member{member("a", on("t", 0)), member("b", on("t", 1))}
	all(members(two...), preparing)(w)
	w.look(t)
	w.after(1200*time.Millisecond).topic("t", even(2, 0, 150)...)
	members(member("a", on("t", 0)), member("b", on("t", 1)))(w)
	g, es := w.look(t)
	if len(es) != 1 {
		t.Fatalf("events: %v", briefs(es))
	}
	e := es[0]
	if !e.StartedAt.Equal(began) || !same(e.Seconds, 1.2) || !e.At.Equal(w.now) {
		t.Errorf("from %v to %v, %g s", e.StartedAt, e.At, e.Seconds)
	}
	if e.LagBefore != 10 || e.LagAfter != 110 || e.MembersBefore != 1 || e.MembersAfter != 2 {
		t.Errorf("lag %d to %d, members %d to %d", e.LagBefore, e.LagAfter, e.MembersBefore, e.MembersAfter)
	}
	if want := (Move{"t", 1, "a-uuid", "b-uuid"}); len(e.Moves) != 1 || e.Moves[0] != want {
		t.Errorf("moves %+v, want %+v", e.Moves, want)
	}
	if e.Text != "group g rebalanced in 1.2 s, b joined: 1 partition moved, 1 kept" {
		t.Errorf("text %q", e.Text)
	}
	if g.Counters.RebalanceTime != 1200*time.Millisecond || g.Counters.Moved != 1 {
		t.Errorf("counters %+v", g.Counters)
	}
	lasted := func(when string, want Durations) {
		t.Helper()
		if got := w.prev.Rebalances; got == nil || *got != want {
			t.Errorf("%s: durations %+v, want %+v", when, got, want)
		}
	}
	want := Durations{Within: [11]uint64{0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}, Count: 1, Sum: 1200 * time.Millisecond}
	lasted("at once", want)
	delete(w.groups, "g")
	w.after(time.Second)
	w.tr.advance(w.poll())
	lasted("when the group is gone", want)
}

func TestARebalanceBetweenTwoPollsHasNoDuration(t *testing.T) {
	w := watch(newWorld())
	w.topic("t", even(2, 0, 100)...)
	w.group("g", member("a", on("t", 0, 1)))
	w.look(t)
	members(member("a", on("t", 0)), member("b", on("t", 1)))(w.afterSecond())
	_, es := w.look(t)
	if len(es) != 1 || !math.IsNaN(es[0].Seconds) || !es[0].StartedAt.IsZero() || es[0].LagBefore != 200 {
		t.Errorf("%+v", es)
	}
}

func (w *watched) afterSecond() *watched {
	w.after(time.Second)
	return w
}

func TestGroupsComeAndGo(t *testing.T) {
	w := watch(newWorld())
	w.topic("t", even(1, 0, 10)...)
	w.group("g", member("a", on("t", 0)))
	w.look(t)
	w.after(time.Second).group("new", member("b", on("t", 0)))
	w.group("born", member("c").to("t")).facts.State = StatePreparingRebalance
	_, es := w.look(t)
	wantLines(t, briefs(es), "group born  -> PreparingRebalance", "group new  -> Stable")
	w.after(time.Second).groups["born"].facts.State = StateStable
	_, es = w.look(t)
	wantLines(t, briefs(es), "rebalance x1 unknown moved 0 gained 0 lost 0 kept 0")
	delete(w.groups, "new")
	delete(w.groups, "born")
	w.after(time.Second)
	_, es = w.look(t)
	wantLines(t, briefs(es), "group born Stable -> ", "group new Stable -> ")
	w.after(time.Second).group("new", member("b", on("t", 0)))
	_, es = w.look(t)
	wantLines(t, briefs(es), "group new  -> Stable")
	if n := mustGroup(t, w.prev, "new").Counters; n.Rebalances != 0 {
		t.Errorf("a group made anew begins with %d rebalances", n.Rebalances)
	}
}

func TestAGroupThatATopicFilterHidesIsNotGone(t *testing.T) {
	w := watch(newWorld())
	w.opts.Filter = Filter{Topics: mustPatterns(t, "t")}
	w.topic("t", even(1, 0, 10)...)
	w.topic("u", even(1, 0, 10)...)
	w.group("g", member("a", on("t", 0)))
	w.group("h", member("b", on("t", 0)))
	w.look(t)
	w.after(time.Second).groups["h"].facts.Members = []Member{member("b", on("u", 0))}
	_, es := w.look(t)
	wantLines(t, briefs(es))
	w.after(time.Second).groups["h"].facts.Members = []Member{member("b", on("t", 0)), member("c").to("t")}
	_, es = w.look(t)
	wantLines(t, briefs(es), "rebalance x1 member_joined moved 0 gained 0 lost 0 kept 1 +c")
	delete(w.groups, "h")
	w.after(time.Second)
	_, es = w.look(t)
	wantLines(t, briefs(es), "group h Stable -> ")
	if len(w.tr.groups) != 1 {
		t.Errorf("%d groups are remembered of 1", len(w.tr.groups))
	}
}

func TestGenerationTexts(t *testing.T) {
	exact := Event{Group: "g", Count: 3, Seconds: math.NaN(), GenerationTo: Generation{Value: 9, Exact: true}, Left: []MemberRef{{ClientID: "a"}, {ClientID: "b", InstanceID: "pod-2"}}, Moved: 2, Kept: 1}
	if got := rebalanceText(&exact, MemberRef{}, 0); got != "group g rebalanced 3 times, a and pod-2 left: 2 partitions moved, 1 kept" {
		t.Errorf("%q", got)
	}
	exact.GenerationTo.Exact = false
	if got := rebalanceText(&exact, MemberRef{}, 0); !strings.Contains(got, "at least 3 times") {
		t.Errorf("a lower bound is not called one: %q", got)
	}
}

func TestStatesOfTypes(t *testing.T) {
	for _, typ := range []GroupType{TypeClassic, TypeConsumer, TypeShare, TypeStreams, "new"} {
		states := strings.Join(typ.States(), " ")
		if !strings.Contains(states, StateStable) || !strings.Contains(states, StateEmpty) || !strings.Contains(states, StateDead) || strings.Contains(states, StateUnknown) {
			t.Errorf("%s: %s", typ, states)
		}
	}
	for state, want := range map[string]bool{StatePreparingRebalance: true, StateCompletingRebalance: true, StateAssigning: true, StateReconciling: true, StateStable: false, StateEmpty: false, StateUnknown: false, StateNotReady: false} {
		if got := (&Group{State: state}).Rebalancing(); got != want {
			t.Errorf("%s: rebalancing %v", state, got)
		}
	}
}
