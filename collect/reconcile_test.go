package collect

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// reconciling is a KIP-848 group in the middle of a rebalance: members with
// what they own, what they shall own, and their epoch.
func reconciling(state string, epoch int64, ms ...Member) step {
	return func(w *watched) {
		f := &w.groups["g"].facts
		f.Type, f.State, f.Assignor, f.Members = TypeConsumer, state, "uniform", ms
		f.Generation = Generation{Value: epoch, Exact: true, Source: SourceEpoch}
	}
}

// toward gives a member a target and an epoch.
func (m Member) toward(epoch int32, target ...int32) Member {
	m.HasTarget, m.Epoch = true, epoch
	m.Subscribed = []string{"t"}
	if len(target) > 0 {
		m.Target = []TopicPartitions{on("t", target...)}
	}
	return m
}

func (m Member) static(id, instance string) Member {
	m.ID, m.InstanceID = id, instance
	return m
}

func newWatched(partitions int) *watched {
	w := watch(newWorld())
	w.topic("t", even(partitions, 0, 10)...)
	w.group("g", member("a", on("t", 0)))
	return w
}

// steps lets things happen, 10 s apart, and returns what is told.
func (w *watched) steps(t *testing.T, steps ...step) []Event {
	t.Helper()
	steps[0](w)
	w.look(t)
	w.events = nil
	for _, s := range steps[1:] {
		w.after(10 * time.Second)
		s(w)
		w.look(t)
	}
	return w.events
}

func TestWhoBlocks(t *testing.T) {
	for _, c := range []struct {
		why     string
		members []Member
		want    string
	}{
		{"who has to give up blocks, who waits for it does not", []Member{member("a", on("t", 0, 1)).toward(2, 0), member("b").toward(3, 1)}, "a"},
		{"who has not taken what nobody holds", []Member{member("a", on("t", 0)).toward(3, 0), member("b").toward(3, 1)}, "b"},
		{"both at once", []Member{member("a", on("t", 0, 1)).toward(2, 0), member("b").toward(3, 2)}, "a b"},
		{"only the epoch is behind", []Member{member("a", on("t", 0)).toward(2, 0), member("b", on("t", 1)).toward(3, 1)}, "a"},
		{"a static member that said it would be back", []Member{member("a", on("t", 0)).toward(awayEpoch, 0), member("b", on("t", 1)).toward(3, 1)}, "a"},
	} {
		t.Run(c.why, func(t *testing.T) {
			g := &Group{Type: TypeConsumer, State: StateReconciling, Members: c.members, Generation: Generation{Value: 3, Exact: true}}
			var got []string
			for _, i := range g.Blocking() {
				got = append(got, g.Members[i].ClientID)
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("blocking: %s, want %s", s, c.want)
			}
			if g.State = StateStable; g.Blocking() != nil {
				t.Error("somebody blocks a stable group")
			}
		})
	}
}

// A member that does not give up what its target leaves out is named, once,
// after a minute, and at the end.
func TestAMemberWhoseTargetIsNotTaken(t *testing.T) {
	w := newWatched(2)
	stuck := reconciling(StateReconciling, 4, member("a", on("t", 0, 1)).toward(3, 0), member("b").toward(4, 1))
	steps := []step{reconciling(StateStable, 3, member("a", on("t", 0, 1)).toward(3, 0, 1))}
	for range 10 {
		steps = append(steps, stuck)
	}
	es := w.steps(t, append(steps, reconciling(StateStable, 4, member("a", on("t", 0)).toward(4, 0), member("b", on("t", 1)).toward(4, 1)))...)
	wantLines(t, briefs(es), "state Stable -> Reconciling", "member +a", "rebalance x1 member_joined moved 1 gained 0 lost 0 kept 1 +b")
	m := es[1]
	if m.Seconds != blockedAfter.Seconds() || m.At.Sub(m.StartedAt) != blockedAfter || m.Text != "group g has waited for a for 60 s: it has not given up 1 partition that its target leaves out" {
		t.Errorf("%g s from %v: %s", m.Seconds, m.StartedAt, m.Text)
	}
	if e := es[2]; e.Seconds != 100 || e.Style != StyleReconcile || !strings.HasSuffix(e.Text, "it waited longest for a, 100.0 s") {
		t.Errorf("%g s, %s: %s", e.Seconds, e.Style, e.Text)
	}
	if !w.prev.Groups[0].Members[0].BlockingSince.IsZero() {
		t.Error("it still blocks")
	}
}

func TestGroupsWithEpochs(t *testing.T) {
	two := []Member{member("a", on("t", 0)).toward(5, 0), member("b", on("t", 1)).toward(5, 1)}
	pod := func(id string, epoch int32) Member {
		return member("b", on("t", 1)).toward(epoch, 1).static(id, "pod-2")
	}
	a := member("a", on("t", 0)).toward(5, 0)
	share := func(epoch int64, ms ...Member) step {
		return all(reconciling(StateStable, epoch, ms...), func(w *watched) { w.groups["g"].facts.Type = TypeShare })
	}
	streams := func(state string, epoch int64, ms ...Member) step {
		return all(reconciling(state, epoch, ms...), func(w *watched) { w.groups["g"].facts.Type = TypeStreams })
	}
	for _, c := range []struct {
		why   string
		steps []step
		want  []string
	}{
		{
			"Assigning after a leave is a part of one rebalance",
			[]step{
				reconciling(StateStable, 5, two...), reconciling(StateAssigning, 6, a), reconciling(StateAssigning, 6, a),
				reconciling(StateReconciling, 6, member("a", on("t", 0)).toward(5, 0, 1)), reconciling(StateStable, 6, member("a", on("t", 0, 1)).toward(6, 0, 1)),
			},
			[]string{"state Stable -> Assigning", "rebalance x1 member_left moved 1 gained 0 lost 0 kept 1 -b"},
		},
		{
			"several epochs in quick succession are counted",
			[]step{reconciling(StateStable, 5, two...), reconciling(StateReconciling, 7, two...), reconciling(StateStable, 9, two...)},
			[]string{"state Stable -> Reconciling", "rebalance x4 epoch moved 0 gained 0 lost 0 kept 2"},
		},
		{
			"one joins whose pattern is not resolved yet: no epoch, no rebalance until there is one",
			[]step{
				reconciling(StateStable, 5, two...), reconciling(StateStable, 5, append([]Member{member("c").toward(5)}, two...)...),
				reconciling(StateStable, 5, append([]Member{member("c").toward(5)}, two...)...), reconciling(StateStable, 6, append([]Member{member("c", on("t", 2)).toward(6, 2)}, two...)...),
			},
			[]string{"rebalance x1 member_joined moved 0 gained 1 lost 0 kept 2 +c"},
		},
		{
			"a static member is away and returns within its session",
			[]step{reconciling(StateStable, 5, a, pod("1", 5)), reconciling(StateReconciling, 5, a, pod("1", awayEpoch)), reconciling(StateStable, 5, a, pod("2", 5))},
			[]string{"state Stable -> Reconciling", "state Reconciling -> Stable", "member +b -b"},
		},
		{
			"a static member that said it would be back is not",
			[]step{reconciling(StateStable, 5, a, pod("1", 5)), reconciling(StateReconciling, 5, a, pod("1", awayEpoch)), reconciling(StateStable, 6, member("a", on("t", 0, 1)).toward(6, 0, 1))},
			[]string{"state Stable -> Reconciling", "rebalance x1 member_timed_out moved 1 gained 0 lost 0 kept 1 -b"},
		},
		{
			"a broker that was replaced tells of the past for a moment",
			[]step{reconciling(StateStable, 5, two...), reconciling(StateStable, 4, member("a", on("t", 0, 1)).toward(4, 0, 1)), reconciling(StateStable, 5, two...)},
			nil,
		},
		{
			"the group is made anew between two looks",
			[]step{reconciling(StateStable, 5, two...), reconciling(StateStable, 2, member("c", on("t", 0, 1)).toward(2, 0, 1)), reconciling(StateStable, 3, member("c", on("t", 0)).toward(3, 0), member("d", on("t", 1)).toward(3, 1))},
			[]string{"group g Stable -> Stable", "rebalance x1 member_joined moved 1 gained 0 lost 0 kept 1 +d"},
		},
		{
			"the last one leaves: the epoch counts it",
			[]step{reconciling(StateStable, 5, a), reconciling(StateEmpty, 6)},
			[]string{"rebalance x1 member_left moved 0 gained 0 lost 1 kept 0 -a"},
		},
		{
			"a share group's partitions are initialised",
			[]step{share(2, member("a").to("t")), share(3, member("a", on("t", 0, 1))), share(4, member("a", on("t", 0)), member("b", on("t", 1)))},
			[]string{"state Stable -> Stable", "rebalance x1 member_joined moved 1 gained 0 lost 0 kept 1 +b"},
		},
		{
			"they are initialised, and one joined meanwhile",
			[]step{share(2, member("a").to("t")), share(4, member("a", on("t", 0)), member("b", on("t", 1)))},
			[]string{"state Stable -> Stable", "rebalance x1 member_joined moved 0 gained 2 lost 0 kept 0 +b"},
		},
		{
			"a Streams group waits for its topics, then begins",
			[]step{streams(StateNotReady, 2, member("a").toward(2)), streams(StateAssigning, 3, member("a").toward(2)), streams(StateStable, 3, member("a", on("t", 0)).toward(3, 0))},
			[]string{"rebalance x1 unknown moved 0 gained 0 lost 0 kept 0"},
		},
		{
			"a Streams group loses its topics and its members",
			[]step{streams(StateStable, 3, member("a", on("t", 0)).toward(3, 0)), streams(StateNotReady, 3, member("a").toward(3)), streams(StateEmpty, 4)},
			[]string{"state Stable -> NotReady", "rebalance x1 member_left moved 0 gained 0 lost 1 kept 0 -a"},
		},
		{
			"it goes over from the classic protocol in the middle of a rebalance: the epochs since are counted",
			[]step{
				all(members(member("a", on("t", 0))), generation(6, SourceMemberMetadata)), reconciling(StateReconciling, 7, member("a", on("t", 0)).toward(6, 0)),
				reconciling(StateStable, 9, two...),
			},
			[]string{"group g Stable -> Reconciling", "state Stable -> Reconciling", "rebalance x3 assignor_changed moved 0 gained 1 lost 0 kept 1 +b"},
		},
		{
			"and back: the numbers go on",
			[]step{
				reconciling(StateStable, 7, two...),
				all(func(w *watched) { w.groups["g"].facts.Type = TypeClassic }, members(member("a", on("t", 0, 1))), generation(8, SourceMemberMetadata)),
			},
			[]string{"group g Stable -> Stable", "rebalance x1 assignor_changed moved 1 gained 0 lost 0 kept 1 -b"},
		},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := newWatched(3)
			wantLines(t, briefs(w.steps(t, c.steps...)), c.want...)
		})
	}
}

// What members held when they joined tells how it was done.
func TestStyleIsSeen(t *testing.T) {
	with := func(r Rejoined, m Member) Member { m.Rejoined = r; return m }
	a, b := member("a", on("t", 0)), member("b", on("t", 1))
	for _, c := range []struct {
		why  string
		a, b Rejoined
		gen  int64
		want Style
	}{
		{"the one that keeps a partition held it", RejoinedHolding, RejoinedEmptyHanded, 4, StyleCooperative},
		{"it came with nothing", RejoinedEmptyHanded, RejoinedEmptyHanded, 4, StyleEager},
		{"it came with nothing to the last of several rounds", RejoinedEmptyHanded, RejoinedEmptyHanded, 6, StyleUnknown},
		{"it held something in the last of several rounds", RejoinedHolding, RejoinedEmptyHanded, 6, StyleCooperative},
		{"its client does not say", RejoinedUntold, RejoinedUntold, 4, StyleUnknown},
		{"what one says that keeps nothing tells nothing", RejoinedUntold, RejoinedEmptyHanded, 4, StyleUnknown},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := newWatched(2)
			es := w.steps(t, all(members(member("a", on("t", 0, 1))), generation(3, SourceMemberMetadata)), all(members(with(c.a, a), with(c.b, b)), generation(c.gen, SourceMemberMetadata)))
			if len(es) != 1 || es[0].Style != c.want {
				t.Errorf("%+v, want style %s", es, c.want)
			}
		})
	}
}

// A poll that falls between the two rounds of a cooperative rebalance makes no
// event of its own; a round that nothing follows does, as of when it was over.
func TestBetweenTwoRounds(t *testing.T) {
	before := all(members(member("a", on("t", 0, 1))), generation(3, SourceMemberMetadata))
	halfway := all(members(member("a", on("t", 0)).to(), member("b").to("t")), generation(4, SourceMemberMetadata))
	after := all(members(member("a", on("t", 0)), member("b", on("t", 1))), generation(5, SourceMemberMetadata))
	es := newWatched(2).steps(t, before, halfway, all(after, preparing), after)
	wantLines(t, briefs(es), "rebalance x2 member_joined moved 1 gained 0 lost 0 kept 1 +b")
	w := newWatched(2)
	es = w.steps(t, before, halfway, halfway, halfway)
	wantLines(t, briefs(es), "rebalance x1 member_joined moved 0 gained 0 lost 1 kept 1 +b")
	if len(es) == 1 && !es[0].At.Equal(epoch.Add(10*time.Second)) {
		t.Errorf("it was over at %v", es[0].At)
	}
	es = newWatched(2).steps(t, before, halfway, empty)
	wantLines(t, briefs(es), "rebalance x1 member_joined moved 0 gained 0 lost 1 kept 1 +b", "state Stable -> Empty")
}

// A static member that stood still over unread records ran out of its session;
// one that had nothing to read, or is dynamic, may have left by itself.
func TestTimedOutIsSaidWhereItIsProved(t *testing.T) {
	for _, c := range []struct {
		why    string
		static bool
		end    int64
		want   Cause
	}{
		{"a static member with unread records", true, 20, CauseMemberTimedOut},
		{"a static member that had read all", true, 10, CauseMemberLeft},
		{"a dynamic member", false, 20, CauseMemberLeft},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := newWatched(2)
			b := member("b", on("t", 1))
			if c.static {
				b = b.static("1", "pod-2")
			}
			both := members(member("a", on("t", 0)), b)
			commit := func(n int64) step { return func(w *watched) { w.groups["g"].commit("t", 1, n) } }
			es := w.steps(t, all(both, commit(5)), all(both, commit(10)),
				all(both, func(w *watched) { w.topic("t", part{0, 10}, part{0, c.end}) }), both, members(member("a", on("t", 0, 1))))
			es = slices.DeleteFunc(es, func(e Event) bool { return e.Kind != EventRebalance })
			if len(es) != 1 || es[0].Cause != c.want {
				t.Errorf("%v, want one by %s", briefs(es), c.want)
			}
		})
	}
}

// Numbers of kinds that have none stay unknown, and words empty.
func TestKeysOfOtherKindsAreNotFilled(t *testing.T) {
	w := newWatched(1)
	es := w.steps(t, members(member("a", on("t", 0))), empty)
	if len(es) != 1 {
		t.Fatal(briefs(es))
	}
	e := es[0]
	if e.Cause != "" || e.Style != "" || e.Count != 0 || e.MembersBefore != Unknown || e.MembersAfter != Unknown || e.GenerationTo.Known() || e.LagAfter != Unknown || !math.IsNaN(e.Seconds) {
		t.Errorf("%+v", e)
	}
}

// During a rebalance an old coordinator sends no assignments, a newer one those
// of the generation before: what is shown is the last one, marked.
func TestTheLastAssignmentStaysDuringARebalance(t *testing.T) {
	for name, bytes := range map[string]bool{"an old coordinator": false, "a newer one": true} {
		t.Run(name, func(t *testing.T) {
			w := newWatched(2)
			before := []Member{member("a", on("t", 0)), member("b", on("t", 1))}
			now := func(w *watched) {
				f := &w.groups["g"].facts
				f.State, f.Assignor = StatePreparingRebalance, ""
				f.Members = []Member{member("a"), member("b"), member("c")}
				for i := range f.Members {
					f.Members[i].Subscribed = nil
					if bytes && i < 2 {
						f.Members[i].Assigned, f.Members[i].Decode = before[i].Assigned, DecodeOK
					}
				}
			}
			es := w.steps(t, members(before...), now, now)
			wantLines(t, briefs(es), "state Stable -> PreparingRebalance")
			g := mustGroup(t, w.prev, "g")
			if !g.AssignmentStale || g.Members[0].Partitions() != 1 || g.Members[1].Partitions() != 1 || g.Members[2].Partitions() != 0 {
				t.Errorf("stale %v, %+v", g.AssignmentStale, g.Members)
			}
		})
	}
}
