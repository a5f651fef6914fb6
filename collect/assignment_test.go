package collect

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// deal prints an assignment in one line.
func deal(a Assignment) string {
	return fmt.Sprintf("members %d idle %d assigned %d unassigned %d pending %d orphaned %d conflicts %d colocated %d/%d",
		a.Members, a.Idle, a.Assigned, a.Unassigned, a.Pending, a.Orphaned, a.Conflicts, a.Colocated, a.Copartitioned)
}

func TestAssignment(t *testing.T) {
	kip848 := func(m Member, target ...TopicPartitions) Member {
		m.HasTarget, m.Target, m.Epoch = true, target, 3
		return m
	}
	for _, c := range []struct {
		why  string
		make func(w *world)
		want string
	}{
		{"every partition has an owner", func(w *world) {
			w.group("g", member("m", on("a", 0)), member("n", on("a", 1)))
		}, "members 2 idle 0 assigned 2 unassigned 0 pending 0 orphaned 0 conflicts 0 colocated -1/-1"},
		{"a member without partitions is idle, a partition without a member unassigned", func(w *world) {
			w.group("g", member("m", on("a", 0)), member("n").to("a"))
		}, "members 2 idle 1 assigned 1 unassigned 1 pending 0 orphaned 0 conflicts 0 colocated -1/-1"},
		{"one that cannot be decoded is not idle", func(w *world) {
			m := member("n").to("a")
			m.Decode = DecodeUndecodable
			w.group("g", member("m", on("a", 0, 1)), m)
		}, "members 2 idle 0 assigned 2 unassigned 0 pending 0 orphaned 0 conflicts 0 colocated -1/-1"},
		{"decoded to nothing is idle too", func(w *world) {
			m := member("n").to("a")
			m.Decode = DecodeOK
			w.group("g", member("m", on("a", 0, 1)), m)
		}, "members 2 idle 1 assigned 2 unassigned 0 pending 0 orphaned 0 conflicts 0 colocated -1/-1"},
		{"revoked here and not yet taken there is pending, and its taker is not idle", func(w *world) {
			w.group("g", kip848(member("m", on("a", 0)), on("a", 0)), kip848(member("n").to("a"), on("a", 1))).facts.Type = TypeConsumer
		}, "members 2 idle 0 assigned 1 unassigned 1 pending 1 orphaned 0 conflicts 0 colocated -1/-1"},
		{"KIP-848: no target and nothing owned is idle", func(w *world) {
			w.group("g", kip848(member("m", on("a", 0, 1)), on("a", 0, 1)), kip848(member("n").to("a"))).facts.Type = TypeConsumer
		}, "members 2 idle 1 assigned 2 unassigned 0 pending 0 orphaned 0 conflicts 0 colocated -1/-1"},
		{"orphaned rows are neither unassigned nor pending", func(w *world) {
			w.topic("left", even(2, 0, 9)...)
			w.group("g", member("m", on("a", 0, 1))).commit("left", 0, 1)
		}, "members 1 idle 0 assigned 2 unassigned 0 pending 0 orphaned 2 conflicts 0 colocated -1/-1"},
		{"two owners are a conflict, and one partition", func(w *world) {
			w.group("g", member("m", on("a", 0, 1)), member("n", on("a", 1)))
		}, "members 2 idle 0 assigned 2 unassigned 0 pending 0 orphaned 0 conflicts 1 colocated -1/-1"},
		{"three owners are one conflict, and one partition", func(w *world) {
			w.group("g", member("m", on("a", 0, 1)), member("n", on("a", 1)), member("o", on("a", 1)))
		}, "members 3 idle 0 assigned 2 unassigned 0 pending 0 orphaned 0 conflicts 1 colocated -1/-1"},
		{"a member that names a partition twice is no conflict with itself", func(w *world) {
			w.group("g", member("m", on("a", 0, 1, 1)))
		}, "members 1 idle 0 assigned 2 unassigned 0 pending 0 orphaned 0 conflicts 0 colocated -1/-1"},
		{"a share group's partition may have several owners", func(w *world) {
			g := w.group("g", member("m", on("a", 0, 1)), member("n", on("a", 1)))
			g.facts.Type, g.facts.ProtocolType = TypeShare, "share"
		}, "members 2 idle 0 assigned 2 unassigned 0 pending 0 orphaned 0 conflicts 0 colocated -1/-1"},
		{"without members everything is unassigned", func(w *world) {
			w.group("g").commit("a", 0, 1)
		}, "members 0 idle 0 assigned 0 unassigned 2 pending 0 orphaned 0 conflicts 0 colocated -1/-1"},
		{"a standalone committer's rows cannot be unassigned", func(w *world) {
			w.solo("g").commit("a", 0, 1)
		}, "members 0 idle 0 assigned 0 unassigned -1 pending 0 orphaned 0 conflicts 0 colocated -1/-1"},
		{"members that could not be read", func(w *world) {
			g := w.group("g").commit("a", 0, 1)
			g.facts.Described, g.facts.Reason = false, ReasonDenied
		}, "members -1 idle -1 assigned -1 unassigned -1 pending -1 orphaned -1 conflicts -1 colocated -1/-1"},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := newWorld()
			w.topic("a", even(2, 0, 10)...)
			c.make(w)
			if got := deal(mustGroup(t, w.poll(), "g").Assignment); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Partitions without an owner may be those of a member whose assignment cannot be
// read. Where all have an owner, it has none.
// A topic filter takes rows away and leaves counts of what members own whole.
func TestAssignmentUnderATopicFilter(t *testing.T) {
	w := newWorld()
	w.opts.Filter = Filter{Topics: mustPatterns(t, "a")}
	w.topic("a", even(2, 0, 10)...)
	w.topic("b", even(3, 0, 10)...)
	w.group("g", member("m", on("a", 0), on("b", 0, 1, 1)), member("n", on("a", 1), on("b", 1, 2)))
	g, _ := w.poll().Group("g")
	if a := g.Assignment; g.Rows() != 2 || a.Assigned != 5 || a.Conflicts != 1 || a.Unassigned != 0 || a.SkewPartitions != 4./3.5 {
		t.Errorf("%d rows, %+v", g.Rows(), a)
	}
}

func TestWhatOneMemberOwnsCannotBeRead(t *testing.T) {
	for _, c := range []struct {
		why  string
		last int32 // partition of notifications that pod-1 owns beside 0
		want string
	}{
		{"the rest may be its", 0, "skew NaN NaN, colocated -1/-1, 0 join sets"},
		{"there is no rest", 1, "skew 2 2, colocated 2/2, 1 join sets"},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := newWorld()
			w.topic("market-updates", even(2, 0, 10)...)
			w.topic("notifications", even(2, 0, 10)...)
			m := member("pod-2").to("market-updates", "notifications")
			m.Decode = DecodeUndecodable
			w.group("g", member("pod-1", on("market-updates", 0, 1), on("notifications", 0, c.last)), m)
			g := mustGroup(t, w.poll(), "g")
			a := g.Assignment
			if got := fmt.Sprintf("skew %v %v, colocated %d/%d, %d join sets", a.SkewPartitions, a.SkewLag, a.Colocated, a.Copartitioned, len(g.JoinSets())); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestColocation(t *testing.T) {
	both := func(client string, m, n []int32) Member {
		return member(client, on("market-updates", m...), on("notifications", n...))
	}
	for _, c := range []struct {
		why  string
		make func(w *world)
		want string
	}{
		{"dealt by index: every one", func(w *world) {
			w.group("g", both("pod-1", []int32{0, 4}, []int32{0, 4}), both("pod-2", []int32{1, 5}, []int32{1, 5}), both("pod-3", []int32{2}, []int32{2}), both("pod-4", []int32{3}, []int32{3}))
		}, "6/6"},
		{"KafkaJS' round robin over four pods: none", func(w *world) {
			w.group("g", both("pod-1", []int32{0, 4}, []int32{2}), both("pod-2", []int32{1, 5}, []int32{3}), both("pod-3", []int32{2}, []int32{0, 4}), both("pod-4", []int32{3}, []int32{1, 5}))
		}, "0/6"},
		{"some", func(w *world) {
			w.group("g", both("pod-1", []int32{0, 1, 2}, []int32{0, 1, 3}), both("pod-2", []int32{3, 4, 5}, []int32{2, 4, 5}))
		}, "4/6"},
		{"an index without an owner is located nowhere", func(w *world) {
			w.group("g", both("pod-1", []int32{0, 1, 2}, []int32{0, 1, 2}))
		}, "3/6"},
		{"an owner on one topic only", func(w *world) {
			w.group("g", both("pod-1", []int32{0, 1, 2, 3, 4, 5}, nil))
		}, "0/6"},
		{"unequal partition counts do not compare", func(w *world) {
			w.topic("notifications", even(4, 0, 10)...)
			w.group("g", both("pod-1", []int32{0, 1, 2, 3, 4, 5}, []int32{0, 1, 2, 3}))
		}, "-1/-1"},
		{"two pairs of equal counts are added up", func(w *world) {
			w.topic("x", even(2, 0, 10)...)
			w.topic("y", even(2, 0, 10)...)
			w.group("g", member("pod-1", on("market-updates", 0, 1, 2, 3, 4, 5), on("notifications", 0, 1, 2, 3, 4, 5), on("x", 0)), member("pod-2", on("x", 1), on("y", 0, 1)))
		}, "7/8"},
		{"one topic is no question", func(w *world) {
			w.group("g", member("pod-1", on("market-updates", 0, 1, 2, 3, 4, 5)))
		}, "-1/-1"},
		{"a topic nobody subscribes to any more is no part of it", func(w *world) {
			w.group("g", member("pod-1", on("market-updates", 0, 1, 2, 3, 4, 5))).commit("notifications", 0, 1)
		}, "-1/-1"},
		{"nobody there", func(w *world) { w.group("g").commit("market-updates", 0, 1).commit("notifications", 0, 1) }, "-1/-1"},
		{"Kafka Streams deals out tasks", func(w *world) {
			w.group("g", both("pod-1", []int32{0}, []int32{0})).facts.Assignor = "stream"
		}, "-1/-1"},
		{"a share group spreads as it likes", func(w *world) {
			g := w.group("g", both("pod-1", []int32{0}, []int32{0}))
			g.facts.Type, g.facts.ProtocolType = TypeShare, "share"
		}, "-1/-1"},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := newWorld()
			w.topic("market-updates", even(6, 0, 10)...)
			w.topic("notifications", even(6, 0, 10)...)
			c.make(w)
			a := mustGroup(t, w.poll(), "g").Assignment
			if got := fmt.Sprintf("%d/%d", a.Colocated, a.Copartitioned); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestSkew(t *testing.T) {
	for _, c := range []struct {
		why             string
		make            func(w *world)
		partitions, lag float64
	}{
		{"even", func(w *world) { w.group("g", member("m", on("a", 0, 1)), member("n", on("a", 2, 3))) }, 1, 1},
		{"all on one of two", func(w *world) { w.group("g", member("m", on("a", 0, 1, 2, 3)), member("n").to("a")) }, 2, 2},
		{"three to one", func(w *world) { w.group("g", member("m", on("a", 0, 1, 2)), member("n", on("a", 3))) }, 1.5, 1.5},
		{"even by partitions, all lag on one", func(w *world) {
			g := w.group("g", member("m", on("a", 0, 1)), member("n", on("a", 2, 3)))
			g.commit("a", 0, 10).commit("a", 1, 10).commit("a", 2, 0).commit("a", 3, 0)
		}, 1, 2},
		{"no lag at all has no skew", func(w *world) {
			g := w.group("g", member("m", on("a", 0, 1)), member("n", on("a", 2, 3)))
			g.commit("a", 0, 10).commit("a", 1, 10).commit("a", 2, 10).commit("a", 3, 10)
		}, 1, math.NaN()},
		{"nobody", func(w *world) { w.group("g").commit("a", 0, 1) }, math.NaN(), math.NaN()},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := newWorld()
			w.topic("a", even(4, 0, 10)...)
			c.make(w)
			a := mustGroup(t, w.poll(), "g").Assignment
			if !same(a.SkewPartitions, c.partitions) || !same(a.SkewLag, c.lag) {
				t.Errorf("partitions %g, lag %g; want %g, %g", a.SkewPartitions, a.SkewLag, c.partitions, c.lag)
			}
			if !math.IsNaN(a.SkewRate) {
				t.Errorf("skew of rates is %g before any rate is known", a.SkewRate)
			}
		})
	}
}

func TestAtALaterMoment(t *testing.T) {
	make := func() *Snapshot {
		w := newWorld()
		w.topic("a", part{0, 10}, part{0, 10})
		w.group("g", member("m", on("a", 0, 1))).commit("a", 0, 4)
		w.group("other")
		return w.poll()
	}
	t.Run("the same snapshot while its numbers may stand", func(t *testing.T) {
		s := make()
		for _, d := range []time.Duration{0, time.Minute, 5 * time.Minute} {
			if s.At(epoch.Add(d)) != s {
				t.Errorf("after %v it is another", d)
			}
		}
	})
	t.Run("unknown afterwards, and the original is as it was", func(t *testing.T) {
		s := make()
		old := s.At(epoch.Add(5*time.Minute + time.Second))
		g := mustGroup(t, old, "g")
		wantLines(t, rowsOf(g), "a/0 ?..? at ? lag ? unknown timeout", "a/1 ?..? at ? lag ? unknown timeout")
		if g.State != StateUnknown || g.MembersKnown || g.Members != nil || g.Reason != ReasonTimeout {
			t.Errorf("state %s, members known %v, reason %s", g.State, g.MembersKnown, g.Reason)
		}
		if g.Lag.Records != Unknown || g.Lag.Complete || old.Complete || g.Assignment.Members != Unknown {
			t.Errorf("%s; snapshot complete %v; members %d", sums(g.Lag), old.Complete, g.Assignment.Members)
		}
		if !g.DescribedAt.Equal(epoch) {
			t.Errorf("described at %v", g.DescribedAt)
		}
		if _, ok := old.Topic("a"); !ok || old.Topics[0].LogEnd[0] != Unknown {
			t.Error("the topic still shows its end")
		}
		wantLines(t, rowsOf(mustGroup(t, s, "g")), "a/0 0..10 at 4 lag 6 ok", "a/1 0..10 at - lag 10 no_commit")
		if !s.Complete || mustGroup(t, s, "g").State != StateStable {
			t.Error("the original was changed")
		}
		if later := old.At(epoch.Add(time.Hour)); rowText(mustGroup(t, later, "g").Topics[0].Row(0)) != "a/0 ?..? at ? lag ? unknown timeout" {
			t.Error("an hour later it is something else")
		}
		again := s.At(epoch.Add(5*time.Minute + 2*time.Second))
		if again != old || old.At(epoch.Add(time.Hour)) != old {
			t.Error("a reader that comes back before more expires makes another copy")
		}
	})
	t.Run("what is kept expires by its own age", func(t *testing.T) {
		w := newWorld()
		w.topic("a", part{0, 10}, part{0, 10})
		w.solo("g").commit("a", 0, 4).commit("a", 1, 4)
		w.poll()
		w.after(4 * time.Minute).topics["a"].endUnread[1] = ReasonNoLeader
		s := w.poll()
		g := mustGroup(t, s.At(epoch.Add(5*time.Minute+time.Second)), "g")
		wantLines(t, rowsOf(g), "a/0 0..10 at 4 lag 6 ok", "a/1 ?..? at 4 lag ? unknown no_leader")
		if g.Lag.Records != 6 || g.Lag.Unknown != 1 {
			t.Error(sums(g.Lag))
		}
	})
	t.Run("an old description expires on time beside fresh numbers", func(t *testing.T) {
		w := newWorld()
		w.topic("a", part{0, 10})
		g := w.group("g", member("m", on("a", 0))).commit("a", 0, 4)
		w.poll()
		w.after(4 * time.Minute)
		g.facts.Described, g.facts.Reason = false, ReasonBrokerDown
		s := w.poll()
		late := mustGroup(t, s.At(epoch.Add(5*time.Minute+time.Second)), "g")
		if late.State != StateUnknown || late.MembersKnown || late.Reason != ReasonBrokerDown {
			t.Errorf("state %s, members known %v, reason %s", late.State, late.MembersKnown, late.Reason)
		}
		wantLines(t, rowsOf(late), "a/0 0..10 at 4 lag 6 ok")
		if late.Topics[0].Owner[0] != -1 {
			t.Error("a row names an owner that is not listed")
		}
	})
	t.Run("commits kept on an end of their own expire with it", func(t *testing.T) {
		w := newWorld()
		w.topic("a", part{0, 10})
		w.solo("g").commit("a", 0, 4)
		w.poll()
		w.after(4 * time.Minute).groups["g"].commitsUnread = ReasonLoading
		s := w.poll()
		wantLines(t, rowsOf(mustGroup(t, s.At(epoch.Add(5*time.Minute+time.Second)), "g")), "a/0 ?..? at ? lag ? unknown loading")
	})
	t.Run("nothing was ever read", func(t *testing.T) {
		s := NewBuilder(nil, BuildOptions{}).Finish(epoch, 0)
		if s.At(epoch.Add(time.Hour)) != s {
			t.Error("nothing can expire")
		}
	})
}

// Large clusters describe a group each half minute; StaleAfter may be shorter.
// A description that was merely not due is none the worse, but it ages with
// the poll once the loop hangs.
func TestDescriptionThatWasNotDueStands(t *testing.T) {
	w := newWorld()
	w.opts.StaleAfter = 10 * time.Second
	w.topic("a", part{0, 10})
	g := w.group("g", member("m", on("a", 0))).commit("a", 0, 4)
	w.poll()
	g.facts.Described = false
	w.after(8 * time.Second)
	w.poll()
	w.after(8 * time.Second)
	s := w.poll()
	now := mustGroup(t, s.At(w.now.Add(time.Second)), "g")
	if now.State != StateStable || !now.MembersKnown {
		t.Errorf("16 s after its description: state %s, members known %v", now.State, now.MembersKnown)
	}
	hung := mustGroup(t, s.At(w.now.Add(11*time.Second)), "g")
	if hung.State != StateUnknown || hung.MembersKnown {
		t.Errorf("11 s after the newest poll: state %s, members known %v", hung.State, hung.MembersKnown)
	}
}

// A group first seen while it rebalances owns what nobody can tell: that is not
// the same as nothing.
func TestOwnersHiddenFromTheStart(t *testing.T) {
	w := newWorld()
	w.topic("a", part{0, 10}, part{0, 10})
	g := w.group("g", member("m").to("a")).commit("a", 0, 4)
	g.facts.State = StatePreparingRebalance
	first := mustGroup(t, w.poll(), "g").Assignment
	if first.Assigned != Unknown || first.Unassigned != Unknown || first.Pending != Unknown || first.Idle != Unknown || first.Members != 1 {
		t.Errorf("at first sight: %+v", first)
	}
	g.facts.State, g.facts.Members = StateStable, []Member{member("m", on("a", 0, 1))}
	w.poll()
	g.facts.State, g.facts.Members = StatePreparingRebalance, []Member{member("m").to("a")}
	later := mustGroup(t, w.poll(), "g").Assignment
	if later.Assigned != 2 || later.Unassigned != 0 {
		t.Errorf("after a stable generation was seen: %+v", later)
	}
}
