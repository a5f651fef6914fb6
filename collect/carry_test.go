package collect

import (
	"testing"
	"time"
)

// keeper is a cluster with one row, polled once: 0..100 at 40.
func keeper() *world {
	w := newWorld()
	w.topic("a", part{0, 100})
	w.group("g", member("m", on("a", 0))).commit("a", 0, 40)
	w.poll()
	return w.after(time.Second)
}

func TestWhatIsKept(t *testing.T) {
	for _, c := range []struct {
		why    string
		change func(w *world)
		want   []string
		asOf   time.Time // zero: now
	}{
		{"nothing failed: everything is new", func(w *world) {}, []string{"a/0 5..200 at 150 lag 50 ok"}, time.Time{}},
		{"the end was not read: the whole row stays, its commit too", func(w *world) {
			w.topics["a"].endUnread[0] = ReasonBrokerDown
		}, []string{"a/0 0..100 at 40 lag 60 ok stale broker_down"}, epoch},
		{"the end was not asked for at all", func(w *world) {
			w.topics["a"].endUnread[0] = ReasonTimeout
		}, []string{"a/0 0..100 at 40 lag 60 ok stale timeout"}, epoch},
		{"commits were not read: kept with the end that was read with them", func(w *world) {
			w.groups["g"].commitsUnread = ReasonLoading
		}, []string{"a/0 0..100 at 40 lag 60 ok stale loading"}, epoch},
		{"metadata was not read: what was known stands", func(w *world) {
			why := ReasonBrokerDown
			w.keepTopics = &why
			w.topics["a"].endUnread[0] = ReasonBrokerDown
		}, []string{"a/0 0..100 at 40 lag 60 ok stale broker_down"}, epoch},
		{"metadata was not due: nothing is old", func(w *world) {
			why := ReasonNone
			w.keepTopics = &why
		}, []string{"a/0 5..200 at 150 lag 50 ok"}, time.Time{}},
		{"metadata of the topic failed", func(w *world) {
			w.topics["a"].unread = ReasonTimeout
			w.topics["a"].endUnread[0] = ReasonTimeout
		}, []string{"a/0 0..100 at 40 lag 60 ok stale timeout"}, epoch},
		{"no leader and too long ago", func(w *world) {
			w.after(5 * time.Minute)
			w.topics["a"].endUnread[0] = ReasonNoLeader
		}, []string{"a/0 ?..? at 150 lag ? unknown no_leader"}, time.Time{}},
		{"commits not read for too long", func(w *world) {
			w.after(5 * time.Minute)
			w.groups["g"].commitsUnread = ReasonLoading
		}, []string{"a/0 5..200 at ? lag ? unknown loading"}, time.Time{}},
		{"denied is an answer: unknown at once", func(w *world) { w.topics["a"].unread = ReasonDenied }, []string{"a/0 ?..? at 150 lag ? unknown denied"}, time.Time{}},
		{"the topic was deleted: unknown at once", func(w *world) { delete(w.topics, "a") }, []string{"a/0 ?..? at 150 lag ? unknown topic_missing"}, time.Time{}},
		{"commits are denied: unknown at once", func(w *world) { w.groups["g"].commitsUnread = ReasonDenied }, []string{"a/0 5..200 at ? lag ? unknown denied"}, time.Time{}},
		{"a new topic id forgets the numbers", func(w *world) {
			w.topics["a"].id, w.topics["a"].endUnread[0] = 2, ReasonNoLeader
		}, []string{"a/0 ?..? at 150 lag ? unknown no_leader"}, time.Time{}},
		{"a lower leader epoch comes from the past", func(w *world) { w.topics["a"].epoch = 6 }, []string{"a/0 0..100 at 40 lag 60 ok stale no_leader"}, epoch},
		{"a new topic id begins its epochs anew", func(w *world) { w.topics["a"].epoch, w.topics["a"].id = 6, 2 }, []string{"a/0 5..200 at 150 lag 50 ok"}, time.Time{}},
		{"another cluster begins its epochs anew", func(w *world) {
			w.topics["a"].epoch, w.cluster = 6, &Cluster{ID: "another"}
		}, []string{"a/0 5..200 at 150 lag 50 ok"}, time.Time{}},
		{"a broker that tells no epoch is believed", func(w *world) { w.topics["a"].epoch = -1 }, []string{"a/0 5..200 at 150 lag 50 ok"}, time.Time{}},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := newWorld()
			w.topic("a", part{0, 100}).epoch = 7
			w.group("g", member("m", on("a", 0))).commit("a", 0, 40)
			w.poll()
			w.after(time.Second)
			w.topic("a", part{5, 200})
			w.groups["g"].commit("a", 0, 150)
			c.change(w)
			g := mustGroup(t, w.poll(), "g")
			wantLines(t, rowsOf(g), c.want...)
			r := g.Topics[0].Row(0)
			if want := c.asOf; r.Lag >= 0 {
				if want.IsZero() {
					want = w.now
				}
				if !r.AsOf.Equal(want) {
					t.Errorf("as of %v, want %v", r.AsOf, want)
				}
			}
		})
	}
}

func TestKeptRowsExpireWhileTheFailureLasts(t *testing.T) {
	w := keeper()
	w.groups["g"].commitsUnread = ReasonLoading
	for range 4 {
		wantLines(t, rowsOf(mustGroup(t, w.poll(), "g")), "a/0 0..100 at 40 lag 60 ok stale loading")
		w.after(time.Minute)
	}
	w.after(time.Minute)
	wantLines(t, rowsOf(mustGroup(t, w.poll(), "g")), "a/0 0..100 at ? lag ? unknown loading")
	w.after(time.Second).groups["g"].commitsUnread = ReasonNone
	wantLines(t, rowsOf(mustGroup(t, w.poll(), "g")), "a/0 0..100 at 40 lag 60 ok")
}

func TestKeptRowIsNoOlderThanItsOldestNumber(t *testing.T) {
	w := keeper()
	w.topics["a"].endUnread[0] = ReasonNoLeader
	for range 4 {
		w.after(time.Minute)
		w.poll()
	}
	// the end is four minutes old and was kept with commits that were read;
	// now these fail, and must not give the end five more minutes
	w.after(2 * time.Minute).groups["g"].commitsUnread = ReasonLoading
	if r := mustGroup(t, w.poll(), "g").Topics[0].Row(0); r.Lag >= 0 {
		t.Errorf("an end of %v ago still stands: %s", w.now.Sub(r.AsOf), rowText(r))
	}
}

func TestCoordinatorAndLeaderFailOneAfterTheOther(t *testing.T) {
	w := newWorld()
	w.topic("a", part{0, 100}, part{0, 100})
	w.group("g", member("m", on("a", 0, 1))).commit("a", 0, 90).commit("a", 1, 90)
	w.poll()
	began := w.now
	// the group keeps pace, whatever can be seen of it
	w.after(time.Minute).topic("a", part{0, 9000}, part{0, 9000})
	w.groups["g"].commit("a", 0, 8990).commit("a", 1, 8990).commitsUnread = ReasonBrokerDown
	w.poll()
	w.groups["g"].commitsUnread = ReasonNone
	w.topics["a"].endUnread[0] = ReasonBrokerDown
	for range 3 {
		g := mustGroup(t, w.after(time.Minute).poll(), "g")
		wantLines(t, rowsOf(g), "a/0 0..100 at 90 lag 10 ok stale broker_down", "a/1 0..9000 at 8990 lag 10 ok")
		if at := g.Topics[0].Row(0).AsOf; !at.Equal(began) {
			t.Errorf("as of %v, want when both were read, %v", at, began)
		}
		if e := w.prev.expires; !e.Equal(began.Add(w.opts.StaleAfter)) {
			t.Errorf("expires at %v", e)
		}
	}
	wantLines(t, rowsOf(mustGroup(t, w.after(2*time.Minute).poll(), "g")), "a/0 ?..? at 90 lag ? unknown broker_down", "a/1 0..9000 at 8990 lag 10 ok")
}

func TestTopicsThatCannotBeReadForSeveralPolls(t *testing.T) {
	unread := func(w *world) {
		w.topics["a"].unread, w.topics["a"].endUnread[0] = ReasonTimeout, ReasonTimeout
	}
	unlisted := func(w *world) {
		why := ReasonTimeout
		w.keepTopics, w.topics["a"].endUnread[0] = &why, ReasonTimeout
	}
	for why, fail := range map[string]func(w *world){"one topic's metadata": unread, "all metadata": unlisted} {
		t.Run(why, func(t *testing.T) {
			w := keeper()
			fail(w)
			for range 3 {
				wantLines(t, rowsOf(mustGroup(t, w.poll(), "g")), "a/0 0..100 at 40 lag 60 ok stale timeout")
				w.after(time.Minute)
			}
			w.after(3 * time.Minute)
			wantLines(t, rowsOf(mustGroup(t, w.poll(), "g")), "a/0 ?..? at 40 lag ? unknown timeout")
		})
	}
	t.Run("denied before, and no metadata now", func(t *testing.T) {
		w := keeper()
		w.topics["a"].unread = ReasonDenied
		w.poll()
		why := ReasonTimeout
		w.keepTopics = &why
		wantLines(t, rowsOf(mustGroup(t, w.after(time.Second).poll(), "g")), "a/0 ?..? at 40 lag ? unknown denied")
	})
}

func TestWhatASourceWritesStaysInItsPoll(t *testing.T) {
	w := keeper()
	w.cluster = &Cluster{ID: "id", Brokers: []Broker{{ID: 1}}}
	first := w.poll()
	b := NewBuilder(first, w.opts)
	b.Cluster().Brokers[0].Reason = ReasonTimeout
	if first.Cluster.Brokers[0].Reason != ReasonNone {
		t.Error("the snapshot before was changed")
	}
	if s := b.Finish(w.now, 0); s.Cluster.ID != "id" || s.Cluster.Brokers[0].Reason != ReasonTimeout {
		t.Errorf("cluster %+v", s.Cluster)
	}
}

func TestZombieStaysRejected(t *testing.T) {
	w := newWorld()
	w.topic("a", part{0, 100}).epoch = 7
	w.solo("g").commit("a", 0, 40)
	w.poll()
	w.after(time.Second).topics["a"].epoch = -1 // answered by a broker that tells none
	w.poll()
	w.after(time.Second).topics["a"].epoch = 6
	if r := mustGroup(t, w.poll(), "g").Topics[0].Row(0); !r.Stale {
		t.Errorf("epoch 6 after 7 was believed: %s", rowText(r))
	}
	w.after(6 * time.Minute) // the kept number is too old, the epoch is not
	w.poll()
	w.after(time.Second)
	if r := mustGroup(t, w.poll(), "g").Topics[0].Row(0); r.Lag >= 0 {
		t.Errorf("epoch 6 after 7 was believed once the numbers had expired: %s", rowText(r))
	}
}

func TestATopicWithoutAnIDMadeAnewIsReadAgain(t *testing.T) {
	w := newWorld()
	a := w.topic("a", part{0, 100})
	a.id, a.epoch = 0, 7
	w.group("g", member("m", on("a", 0))).commit("a", 0, 90)
	w.poll()
	w.topic("a", part{0, 50})
	a.epoch = 0
	w.groups["g"].commit("a", 0, 20)
	// it may be a zombie that answers
	wantLines(t, rowsOf(mustGroup(t, w.after(4*time.Minute).poll(), "g")), "a/0 0..100 at 90 lag 10 ok stale no_leader")
	w.after(2 * time.Minute).poll()
	wantLines(t, rowsOf(mustGroup(t, w.after(time.Second).poll(), "g")), "a/0 0..50 at 20 lag 30 ok")
}

func TestLogStartsThatCannotBeRead(t *testing.T) {
	w := newWorld()
	w.topic("a", even(3, 50, 100)...)
	w.group("g", member("m", on("a", 0, 1, 2))).commit("a", 0, 90).commit("a", 1, 10)
	w.poll()
	look := func(d time.Duration) []string {
		w.after(d)
		b := w.builder()
		n := b.Needs()[0]
		for p := range int32(3) {
			b.StartUnread(n.Topic, p, ReasonTimeout)
			b.SetEnd(n.Topic, p, 200, 0, w.now)
		}
		w.prev = b.Finish(w.now, 0)
		return rowsOf(mustGroup(t, w.prev, "g"))
	}
	wantLines(t, look(time.Minute), "a/0 50..200 at 90 lag 110 ok", "a/1 50..200 at 10 lag 150 lost lost 40 stale timeout", "a/2 50..200 at - lag 150 no_commit stale timeout")
	wantLines(t, look(5*time.Minute), "a/0 ?..200 at 90 lag ? unknown timeout", "a/1 ?..200 at 10 lag ? unknown timeout", "a/2 ?..200 at - lag ? unknown timeout")
}

func TestTwoBrokersClaimOnePartition(t *testing.T) {
	for _, c := range []struct {
		why    string
		epochs []int32
	}{{"the zombie answers last", []int32{7, 6}}, {"the zombie answers first", []int32{6, 7}}} {
		t.Run(c.why, func(t *testing.T) {
			w := newWorld()
			w.topic("a", part{0, 100})
			w.solo("g").commit("a", 0, 40)
			b := w.builder()
			topic := b.Needs()[0].Topic
			b.SetStart(topic, 0, 0, w.now)
			for _, e := range c.epochs {
				b.SetEnd(topic, 0, int64(e)*100, e, w.now)
			}
			wantLines(t, rowsOf(mustGroup(t, b.Finish(w.now, 0), "g")), "a/0 0..700 at 40 lag 660 ok")
		})
	}
}

func TestPartitionsAddedWhileCommitsCannotBeRead(t *testing.T) {
	w := keeper()
	w.topic("a", part{0, 200}, part{0, 9})
	w.groups["g"].commitsUnread = ReasonLoading
	wantLines(t, rowsOf(mustGroup(t, w.poll(), "g")), "a/0 0..100 at 40 lag 60 ok stale loading", "a/1 ?..? at ? lag ? unknown loading")
}

func TestRowsOfAStandaloneCommitterWhileItsCommitsCannotBeRead(t *testing.T) {
	w := newWorld()
	w.topic("a", even(4, 0, 100)...)
	g := w.solo("g").commit("a", 2, 90)
	w.poll()
	g.commitsUnread = ReasonBrokerDown
	for range 3 { // beyond what may be kept, and on
		w.after(4 * time.Minute).poll()
	}
	wantLines(t, rowsOf(mustGroup(t, w.prev, "g")), "a/2 0..100 at ? lag ? unknown broker_down")
}

func TestSingleCommitUnread(t *testing.T) {
	w := keeper()
	poll := func(why Reason) *Group {
		b := NewBuilder(w.prev, w.opts)
		b.SetCluster(Cluster{ID: "id"})
		b.Reached()
		b.AddTopic(TopicMeta{Name: "a", ID: [16]byte{1}, Leaders: []int32{1}})
		f := w.groups["g"].facts
		f.At, f.Members = w.now, append([]Member(nil), f.Members...)
		b.AddGroup(f)
		b.AddCommits("g", w.now, []TopicCommits{{Topic: "a", Partitions: []int32{0}, Offsets: []int64{-1}, Epochs: []int32{-1}, Reasons: []Reason{why}}})
		b.Layout()
		w.offsets(b)
		return mustGroup(t, b.Finish(w.now, 0), "g")
	}
	wantLines(t, rowsOf(poll(ReasonError)), "a/0 0..100 at 40 lag 60 ok stale error")
	wantLines(t, rowsOf(poll(ReasonDenied)), "a/0 0..100 at ? lag ? unknown denied")
}

func TestDescriptions(t *testing.T) {
	for _, c := range []struct {
		why                 string
		change              func(w *world, f *GroupFacts)
		state               string
		members             int // -1: not known
		stale               bool
		owner               int32
		described           time.Time
		listedAssignorKept  bool
		generationForgotten bool
	}{
		{"described again", func(w *world, f *GroupFacts) {}, StateStable, 1, false, 0, epoch.Add(time.Second), true, false},
		{"not due: the last description stands and is not stale", func(w *world, f *GroupFacts) { f.Described, f.State = false, "" }, StateStable, 1, false, 0, epoch, true, false},
		{"the coordinator is down: the last one stands, stale", func(w *world, f *GroupFacts) {
			f.Described, f.Reason, f.State = false, ReasonBrokerDown, ""
		}, StateStable, 1, true, 0, epoch, true, false},
		{"down for too long: unknown, but not gone", func(w *world, f *GroupFacts) {
			w.after(6 * time.Minute)
			f.Described, f.Reason, f.State, f.At = false, ReasonBrokerDown, "", w.now
		}, StateUnknown, -1, false, -1, epoch, true, true},
		{"denied is an answer: what is listed, and no members", func(w *world, f *GroupFacts) {
			f.Described, f.Reason, f.State = false, ReasonDenied, StateStable
		}, StateStable, -1, false, -1, time.Time{}, true, true},
		{"the broker does not know the type", func(w *world, f *GroupFacts) {
			f.Described, f.Reason, f.State = false, ReasonUnsupported, ""
		}, StateUnknown, -1, false, -1, time.Time{}, true, true},
		{"the type changed and is not described yet: nothing of the old one stands", func(w *world, f *GroupFacts) {
			f.Described, f.Type, f.State = false, TypeConsumer, StateAssigning
		}, StateAssigning, -1, false, -1, time.Time{}, true, true},
		{"described without members", func(w *world, f *GroupFacts) { f.MembersKnown, f.Members = false, nil }, StateStable, -1, false, -1, epoch.Add(time.Second), true, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := keeper()
			w.groups["g"].facts.Generation = Generation{Value: 4, Source: SourceMemberMetadata}
			w.now = epoch
			w.prev = nil
			w.poll()
			w.after(time.Second)
			c.change(w, &w.groups["g"].facts)
			g := mustGroup(t, w.poll(), "g")
			members := len(g.Members)
			if !g.MembersKnown {
				members = -1
			}
			if g.State != c.state || members != c.members || g.AssignmentStale != c.stale || !g.DescribedAt.Equal(c.described) {
				t.Errorf("state %s, members %d, stale %v, described %v; want %s, %d, %v, %v", g.State, members, g.AssignmentStale, g.DescribedAt, c.state, c.members, c.stale, c.described)
			}
			if got := g.Topics[0].Owner[0]; got != c.owner {
				t.Errorf("owner %d, want %d", got, c.owner)
			}
			if g.Coordinator != 1 {
				t.Errorf("coordinator %d", g.Coordinator)
			}
			if c.generationForgotten == g.Generation.Known() {
				t.Errorf("generation %+v", g.Generation)
			}
			if g.Assignment.Members >= 0 != g.MembersKnown {
				t.Errorf("assignment.members is %d with members known %v", g.Assignment.Members, g.MembersKnown)
			}
			wantLines(t, rowsOf(g), "a/0 0..100 at 40 lag 60 ok")
		})
	}
}

func TestClassicGroupRebalances(t *testing.T) {
	hidden := func(client string) Member {
		m := member(client)
		m.Subscribed = nil
		return m
	}
	for _, c := range []struct {
		why     string
		members []Member
		owners  []int32
	}{
		{"an old coordinator sends no bytes: the last stable assignment", []Member{hidden("m"), hidden("n")}, []int32{0, 1}},
		{"a newer one sends those of the generation before", []Member{member("m", on("a", 0)), member("n", on("a", 1))}, []int32{0, 1}},
		{"a new member has none", []Member{hidden("m"), hidden("n"), hidden("o")}, []int32{0, 1}},
		{"one that left owns nothing", []Member{hidden("n")}, []int32{-1, 0}},
	} {
		for _, state := range []string{StatePreparingRebalance, StateCompletingRebalance} {
			t.Run(c.why+", "+state, func(t *testing.T) {
				w := newWorld()
				w.topic("a", part{0, 10}, part{0, 10})
				g := w.group("g", member("m", on("a", 0)), member("n", on("a", 1))).commit("a", 0, 4)
				g.facts.Generation = Generation{Value: 3, Source: SourceMemberMetadata}
				w.poll()
				for range 3 { // however many polls it lasts
					w.after(time.Second)
					g.facts.State, g.facts.Assignor, g.facts.Members = state, "", c.members
					g.facts.Generation = Generation{Value: Unknown}
					got := mustGroup(t, w.poll(), "g")
					if !got.AssignmentStale || got.State != state || got.Assignor != "range" || got.Generation.Value != 3 {
						t.Errorf("stale %v, state %s, assignor %q, generation %d", got.AssignmentStale, got.State, got.Assignor, got.Generation.Value)
					}
					for p, want := range c.owners {
						if o := got.Topics[0].Owner[p]; o != want {
							t.Errorf("owner of %d: %d, want %d", p, o, want)
						}
					}
					if got.Assignment.Idle != 0 {
						t.Errorf("%d idle members while nobody can tell", got.Assignment.Idle)
					}
					if got.Topics[0].Orphaned {
						t.Error("the topic is called orphaned while subscriptions are hidden")
					}
				}
			})
		}
	}
	t.Run("the first look falls into a rebalance", func(t *testing.T) {
		w := newWorld()
		w.topic("a", part{0, 10})
		g := w.group("g", hidden("m")).commit("a", 0, 4)
		g.facts.State, g.facts.Assignor = StatePreparingRebalance, ""
		got := mustGroup(t, w.poll(), "g")
		if !got.AssignmentStale || got.Topics[0].Owner[0] != -1 || got.Lag.Records != 6 || got.Assignment.Members != 1 {
			t.Errorf("stale %v, owner %d, lag %d, members %d", got.AssignmentStale, got.Topics[0].Owner[0], got.Lag.Records, got.Assignment.Members)
		}
	})
}

func TestASnapshotIsNeverChangedByTheNext(t *testing.T) {
	w := newWorld()
	w.topic("a", part{0, 10}, part{0, 10})
	w.topic("b", part{0, 10})
	w.group("g", member("m", on("a", 0, 1)), member("n", on("b", 0))).commit("a", 0, 4).commit("b", 0, 4)
	w.solo("solo").commit("a", 1, 2)
	tr := newTracker("default", "boot")
	var all []*Snapshot
	var was [][]string
	look := func(s *Snapshot) (out []string) {
		for _, g := range s.Groups {
			out = append(out, rowsOf(g)...)
			out = append(out, g.State, sums(g.Lag))
			for _, m := range g.Members {
				out = append(out, m.ID+" "+m.Host+" "+m.FirstSeenAt.String())
			}
		}
		return out
	}
	for _, change := range []func(){
		func() {},
		func() { w.topics["a"].endUnread[0] = ReasonNoLeader },
		func() { w.groups["g"].commitsUnread = ReasonLoading },
		func() { delete(w.topics["a"].endUnread, 0); w.topic("a", part{5, 50}, part{7, 70}) },
		func() { w.groups["g"].facts.Described, w.groups["g"].facts.Reason = false, ReasonBrokerDown },
		func() { w.groups["g"].commitsUnread = ReasonNone; w.groups["g"].commit("a", 1, 60) },
		func() { delete(w.topics, "b") },
		func() { w.after(10 * time.Minute) },
	} {
		change()
		w.after(time.Second)
		s := w.poll()
		tr.advance(s)
		all, was = append(all, s), append(was, look(s))
		s.At(w.now.Add(time.Hour))
	}
	for i, s := range all {
		wantLines(t, look(s), was[i]...)
	}
}

// One commit that cannot be read for a while keeps the end it was read with:
// beside the new end the group would seem to fall behind, and for ever.
func TestOneCommitUnreadKeepsItsEnd(t *testing.T) {
	w := newWorld()
	w.topic("a", part{0, 10}, part{0, 10})
	w.solo("g").commit("a", 0, 10).commit("a", 1, 10)
	w.poll()
	unread := []TopicCommits{{
		Topic: "a", Partitions: []int32{0, 1}, Offsets: []int64{-1, 100}, Epochs: []int32{-1, 0}, Reasons: []Reason{ReasonError, ReasonNone},
	}}
	for _, tt := range []struct {
		after time.Duration
		want  string
	}{
		{2 * time.Minute, "a/0 0..10 at 10 lag 0 ok stale error"},
		{2 * time.Minute, "a/0 0..10 at 10 lag 0 ok stale error"},
		{2 * time.Minute, "a/0 ?..? at 10 lag ? unknown error"},
	} {
		w.after(tt.after).topic("a", part{0, 100}, part{0, 100})
		b := w.builder()
		b.AddCommits("g", w.now, unread)
		b.Layout()
		w.offsets(b)
		w.prev = b.Finish(w.now, 0)
		wantLines(t, rowsOf(mustGroup(t, w.prev, "g")), tt.want, "a/1 0..100 at 100 lag 0 ok")
	}
}
