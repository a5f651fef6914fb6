package collect

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// sums prints totals in one line.
func sums(t Totals) string {
	n := func(v int64) string {
		if v == Unknown {
			return "?"
		}
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("records %s max %s stable %s known %d unknown %d no_commit %d stale %d assigned %d orphaned %d uncommitted %d lost %d complete %v",
		n(t.Records), n(t.Max), n(t.Stable), t.Known, t.Unknown, t.NoCommit, t.Stale, t.AssignedRecords, t.OrphanedRecords, t.NoCommitRecords, t.LostRecords, t.Complete)
}

func TestTotals(t *testing.T) {
	for _, c := range []struct {
		why  string
		make func(w *world)
		want string
	}{
		{"rows add up, and it is said how", func(w *world) {
			w.topic("a", part{0, 10}, part{4, 20}, part{50, 60})
			w.group("g", member("m", on("a", 0, 1))).commit("a", 0, 3).commit("a", 2, 20)
		}, "records 33 max 16 stable 33 known 3 unknown 0 no_commit 1 stale 0 assigned 23 orphaned 0 uncommitted 16 lost 30 complete true"},
		{"no rows at all is 0", func(w *world) {
			w.group("g", member("m"))
		}, "records 0 max 0 stable 0 known 0 unknown 0 no_commit 0 stale 0 assigned 0 orphaned 0 uncommitted 0 lost 0 complete true"},
		{"no rows because commits were not read is not 0", func(w *world) {
			w.group("g").commitsUnread = ReasonLoading
		}, "records ? max ? stable ? known 0 unknown 0 no_commit 0 stale 0 assigned 0 orphaned 0 uncommitted 0 lost 0 complete false"},
		{"one unknown row: at least the rest, not complete", func(w *world) {
			w.topic("a", part{0, 10}, part{0, 10}).endUnread[1] = ReasonNoLeader
			w.solo("g").commit("a", 0, 3).commit("a", 1, 3)
		}, "records 7 max 7 stable 7 known 1 unknown 1 no_commit 0 stale 0 assigned 0 orphaned 0 uncommitted 0 lost 0 complete false"},
		{"no row known: null, not 0", func(w *world) {
			w.topic("a", part{0, 10}).endUnread[0] = ReasonNoLeader
			w.solo("g").commit("a", 0, 3)
		}, "records ? max ? stable ? known 0 unknown 1 no_commit 0 stale 0 assigned 0 orphaned 0 uncommitted 0 lost 0 complete false"},
		{"a stale row counts, and the total is not complete", func(w *world) {
			w.topic("a", part{0, 10})
			w.solo("g").commit("a", 0, 3)
			w.poll()
			w.after(time.Second)
			w.topics["a"].endUnread[0] = ReasonTimeout
		}, "records 7 max 7 stable 7 known 1 unknown 0 no_commit 0 stale 1 assigned 0 orphaned 0 uncommitted 0 lost 0 complete false"},
		{"a topic nobody subscribes to any more is counted apart", func(w *world) {
			w.topic("a", part{0, 10})
			w.topic("b", part{0, 250})
			w.group("g", member("m", on("a", 0))).commit("a", 0, 10).commit("b", 0, 100)
		}, "records 150 max 150 stable 150 known 2 unknown 0 no_commit 0 stale 0 assigned 0 orphaned 150 uncommitted 0 lost 0 complete true"},
		{"an open transaction: the stable sum is smaller", func(w *world) {
			w.cluster = &Cluster{ID: "id", TransactionState: true}
			w.topic("a", part{0, 10}, part{0, 10}).stable[0] = 5
			w.solo("g").commit("a", 0, 3).commit("a", 1, 10)
		}, "records 7 max 7 stable 2 known 2 unknown 0 no_commit 0 stale 0 assigned 0 orphaned 0 uncommitted 0 lost 0 complete true"},
		{"a row with lag whose stable offset is not known: no stable sum", func(w *world) {
			w.cluster = &Cluster{ID: "id", TransactionState: true}
			w.topic("a", part{0, 10}, part{0, 10}).stable[0] = 5
			w.solo("g").commit("a", 0, 3).commit("a", 1, 3)
		}, "records 14 max 7 stable ? known 2 unknown 0 no_commit 0 stale 0 assigned 0 orphaned 0 uncommitted 0 lost 0 complete true"},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := newWorld()
			c.make(w)
			g := mustGroup(t, w.poll(), "g")
			if got := sums(g.Lag); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestWorstAge(t *testing.T) {
	type row struct {
		topic  string
		commit int64
		age    Age
	}
	known := func(s float64) Age { return Age{Seconds: s, Error: s / 10, Method: MethodInterpolated} }
	for _, c := range []struct {
		why  string
		rows []row
		want string
	}{
		{"the worst row's, with its method and error", []row{{"a", 1, known(30)}, {"a", 2, known(70)}, {"a", 3, known(5)}}, "70 ±7 interpolated"},
		{"no lag anywhere is 0 seconds", []row{{"a", 100, Age{}}}, "0 ±0 exact"},
		{"a row with lag and without age: at least", []row{{"a", 1, known(30)}, {"a", 2, unknownAge(SecondsBudget)}}, "30 ±3 at_least"},
		{"none has an age: not known", []row{{"a", 2, unknownAge(SecondsBudget)}}, "unknown budget"},
		{"what may be control records only is left aside", []row{{"a", 99, unknownAge(SecondsControlRecords)}, {"a", 1, known(30)}}, "30 ±3 interpolated"},
		{"nothing else than control records", []row{{"a", 99, unknownAge(SecondsControlRecords)}}, "0 ±0 exact"},
		{"a row without a commit is a guess while others have one", []row{{"a", NoCommit, known(9000)}, {"a", 1, known(30)}}, "30 ±3 interpolated"},
		{"nobody has a commit: the guess is all there is", []row{{"a", NoCommit, known(9000)}}, "9000 ±900 interpolated"},
		{"an orphaned row is nobody's work", []row{{"left", 1, known(9000)}, {"a", 1, known(30)}}, "30 ±3 interpolated"},
		{"at_least stays at_least", []row{{"a", 1, Age{Seconds: 600, Method: MethodAtLeast}}, {"a", 1, known(30)}}, "600 ±0 at_least"},
		{"just produced: known, and 0", []row{{"a", 1, Age{Method: MethodExact}}}, "0 ±0 exact"},
	} {
		t.Run(c.why, func(t *testing.T) {
			g := &Group{}
			byTopic := map[string]*GroupTopic{}
			for _, r := range c.rows {
				gt := byTopic[r.topic]
				if gt == nil {
					gt = &GroupTopic{Topic: &Topic{Name: r.topic}, Orphaned: r.topic == "left"}
					byTopic[r.topic] = gt
					g.Topics = append(g.Topics, gt)
				}
				gt.Topic.LogStart, gt.Topic.LogEnd = append(gt.Topic.LogStart, 0), append(gt.Topic.LogEnd, 100)
				gt.Topic.LastStable = append(gt.Topic.LastStable, 100)
				gt.Committed, gt.Ages, gt.Owner = append(gt.Committed, r.commit), append(gt.Ages, r.age), append(gt.Owner, -1)
			}
			a := g.totals(nil).Age
			got := fmt.Sprintf("%g ±%g %s", a.Seconds, a.Error, a.Method)
			if !a.Known() {
				got = "unknown " + string(a.Reason)
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestTopicAndMemberTotals(t *testing.T) {
	w := newWorld()
	w.topic("a", even(4, 0, 10)...).endUnread[3] = ReasonNoLeader
	w.topic("b", even(1, 0, 100)...)
	w.group("g", member("m1", on("a", 0, 1)), member("m2", on("a", 2), on("b", 0)), member("m3", on("a", 3)), member("m4")).
		commit("a", 0, 5).commit("a", 1, 10).commit("a", 3, 1).commit("b", 0, 40)
	g := mustGroup(t, w.poll(), "g")
	a, _ := g.Topic("a")
	if got, want := sums(a.TopicTotals()), "records 15 max 10 stable 15 known 3 unknown 1 no_commit 1 stale 0 assigned 15 orphaned 0 uncommitted 10 lost 0 complete false"; got != want {
		t.Errorf("topic a: got  %s\n         want %s", got, want)
	}
	var got []string
	for i, m := range g.MemberTotals() {
		got = append(got, fmt.Sprintf("%s %d unknown %d", g.Members[i].ClientID, m.Lag, m.Unknown))
	}
	wantLines(t, got, "m1 5 unknown 0", "m2 70 unknown 0", "m3 -1 unknown 1", "m4 0 unknown 0")
}

func TestTopicTotalsWithoutAKnownRow(t *testing.T) {
	w := newWorld()
	w.topic("a", even(1, 0, 10)...).unread = ReasonDenied
	w.solo("g").commit("a", 0, 5)
	a, _ := mustGroup(t, w.poll(), "g").Topic("a")
	if got := a.TopicTotals(); got.Records != Unknown || got.Max != Unknown || got.Complete {
		t.Errorf("got %s", sums(got))
	}
}

func TestMemberTotalsOfSharedPartitions(t *testing.T) {
	w := newWorld()
	w.topic("a", part{0, 10})
	w.group("g", member("m1", on("a", 0)), member("m2", on("a", 0))).commit("a", 0, 4)
	g := mustGroup(t, w.poll(), "g")
	for i, m := range g.MemberTotals() {
		if m.Lag != 6 || !math.IsNaN(m.Consumed) {
			t.Errorf("member %d: %+v, want lag 6 for each owner", i, m)
		}
	}
	if g.Lag.Records != 6 || g.Lag.AssignedRecords != 6 {
		t.Errorf("the row counts more than once: %s", sums(g.Lag))
	}
}

// A group that rebalances before its first commit hides what it subscribes to:
// it has no rows, and is not at lag 0 for that.
func TestGroupThatHidesItsTopicsHasNoTotal(t *testing.T) {
	hidden := Member{ID: "m", ClientID: "pod-1", Generation: -1, Epoch: -1, Decode: DecodeEmpty}
	tests := []struct {
		name    string
		state   string
		ptype   string
		members []Member
		want    int64
	}{
		{"preparing, subscription hidden", StatePreparingRebalance, "consumer", []Member{hidden}, Unknown},
		{"completing, subscription hidden", StateCompletingRebalance, "consumer", []Member{hidden}, Unknown},
		{"stable members that subscribe to nothing", StateStable, "consumer", []Member{hidden}, 0},
		{"no members left", StateEmpty, "consumer", nil, 0},
		{"another protocol has no topics", StatePreparingRebalance, "connect", []Member{hidden}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := NewBuilder(nil, BuildOptions{StaleAfter: time.Minute})
			b.Reached()
			b.AddGroup(GroupFacts{
				Name: "g", Type: TypeClassic, State: tt.state, ProtocolType: tt.ptype, Generation: Generation{Value: Unknown},
				Described: true, At: epoch, MembersKnown: true, Members: tt.members,
			})
			b.AddCommits("g", epoch, nil)
			b.Layout()
			s := b.Finish(epoch, 0)
			newTracker("default", "boot").advance(s) // dates the rows anew
			g, _ := s.Group("g")
			if g.Lag.Records != tt.want || g.Lag.Complete != (tt.want == 0) || g.Lag.Age.Known() != (tt.want == 0) {
				t.Errorf("records %d, complete %v, age %v; want %d", g.Lag.Records, g.Lag.Complete, g.Lag.Age, tt.want)
			}
		})
	}
}

// A member whose work cannot be seen is not without lag.
func TestMemberWhoseWorkIsHidden(t *testing.T) {
	tests := []struct {
		name   string
		decode Decode
		state  string
		want   int64
	}{
		{"idle", DecodeEmpty, StateStable, 0},
		{"undecodable", DecodeUndecodable, StateStable, Unknown},
		{"of another protocol", DecodeNotConsumer, StateStable, Unknown},
		{"new while the group rebalances", DecodeEmpty, StatePreparingRebalance, Unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			w.topic("a", part{0, 10})
			other := member("other").to("a")
			other.Decode = tt.decode
			w.group("g", member("m", on("a", 0)), other).commit("a", 0, 4).facts.State = tt.state
			totals := mustGroup(t, w.poll(), "g").MemberTotals()
			if totals[0].Lag != 6 || totals[1].Lag != tt.want {
				t.Errorf("lags %d and %d, want 6 and %d", totals[0].Lag, totals[1].Lag, tt.want)
			}
		})
	}
}
