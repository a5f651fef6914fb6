package collect

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// thread is a member of a streams group.
func thread(client string, s StreamsMember, active ...TopicPartitions) Member {
	m := member(client, active...)
	m.Epoch, m.HasTarget, m.Target, m.Streams = 5, true, active, &s
	m.Subscribed = []string{"orders", "rp", "rates"}
	return m
}

// shop is a streams group: orders and rates feed subtopology 0, and the
// repartition topic rp subtopology 1.
func (w *world) shop(members ...Member) *fakeGroup {
	w.topic("orders", even(3, 0, 10)...)
	w.topic("rates", even(3, 0, 10)...)
	w.topic("rp", even(3, 0, 10)...)
	g := w.group("shop", members...)
	f := &g.facts
	f.Type, f.ProtocolType, f.Assignor = TypeStreams, "streams", ""
	f.Generation, f.AssignmentEpoch = Generation{Value: 5, Exact: true, Source: SourceEpoch}, 4
	f.Topology = &Topology{Subtopologies: []Subtopology{{ID: "0", Sources: []string{"orders", "rates"}}, {ID: "1", Repartition: []string{"rp"}}}}
	return g
}

func TestStreamsRowsAndCounts(t *testing.T) {
	w := newWorld()
	pending := thread("c", StreamsMember{Warmup: []TopicPartitions{on("rp", 2)}})
	pending.Target = []TopicPartitions{on("rp", 2)}
	w.shop(
		thread("a", StreamsMember{Standby: []TopicPartitions{on("rp", 1)}}, on("orders", 0, 1, 2), on("rates", 0, 1), on("rp", 0)),
		thread("b", StreamsMember{}, on("rates", 2), on("rp", 1)),
		pending,
		thread("d", StreamsMember{Standby: []TopicPartitions{on("orders", 0), on("rates", 0)}}),
		thread("e", StreamsMember{}),
	).commit("orders", 0, 4).commit("orders", 1, 10).commit("old", 7, 3)
	w.topic("old", even(8, 0, 10)...)
	g := mustGroup(t, w.poll(), "shop")
	want := []string{"old/7 0..10 at 3 lag 7 ok"} // of an earlier topology
	want = append(want, "orders/0 0..10 at 4 lag 6 ok", "orders/1 0..10 at 10 lag 0 ok", "orders/2 0..10 at - lag 10 no_commit")
	for _, topic := range []string{"rates", "rp"} {
		for p := range 3 {
			want = append(want, fmt.Sprintf("%s/%d 0..10 at - lag 10 no_commit", topic, p))
		}
	}
	wantLines(t, rowsOf(g), want...)
	a := g.Assignment
	got := fmt.Sprintf("members %d idle %d assigned %d unassigned %d pending %d orphaned %d conflicts %d, colocated %d/%d", a.Members, a.Idle, a.Assigned, a.Unassigned, a.Pending, a.Orphaned, a.Conflicts, a.Colocated, a.Copartitioned)
	// rp is in another subtopology than orders and rates, and has no partner there
	if want := "members 5 idle 1 assigned 8 unassigned 1 pending 1 orphaned 1 conflicts 0, colocated 2/3"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if g.AssignmentEpoch != 4 {
		t.Errorf("assignment epoch %d", g.AssignmentEpoch)
	}
}

func TestStreamsTopicsThatAreMissing(t *testing.T) {
	for _, c := range []struct {
		why    string
		change func(w *world, g *fakeGroup)
		rows   int
		want   []string
	}{
		{"a source topic that does not exist is named", func(w *world, _ *fakeGroup) { w.topics["rates"].unread = ReasonTopicMissing }, 6, []string{"rates"}},
		{"also of an application that ended for it", func(w *world, g *fakeGroup) {
			w.topics["rates"].unread, g.facts.Members, g.facts.State = ReasonTopicMissing, nil, StateEmpty
		}, 6, []string{"rates"}},
		{"one that may not be seen is not missing", func(w *world, _ *fakeGroup) { w.topics["rates"].unread = ReasonDenied }, 6, nil},
		{"one that could not be read is not missing", func(w *world, _ *fakeGroup) { w.topics["rates"].unread = ReasonTimeout }, 6, nil},
		{"one that a filter leaves out was not looked for", func(w *world, _ *fakeGroup) {
			delete(w.topics, "rates")
			w.opts.Filter.Topics = mustPatterns(t, "orders", "rp")
		}, 6, nil},
		{"an internal topic may not be there yet", func(w *world, _ *fakeGroup) { w.topics["rp"].unread = ReasonTopicMissing }, 6, nil},
		{"nothing is known of what it reads: the topics with commits", func(_ *world, g *fakeGroup) {
			g.facts.Described, g.facts.Reason, g.facts.Topology, g.facts.Members = false, ReasonUnsupported, nil, nil
		}, 1, nil},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := newWorld()
			g := w.shop(thread("a", StreamsMember{}))
			g.facts.State = StateNotReady
			g.commit("orders", 1, 4)
			c.change(w, g)
			s := w.poll()
			got := mustGroup(t, s, "shop")
			wantLines(t, got.MissingTopics, c.want...)
			if got.Rows() != c.rows {
				t.Errorf("%d rows, want %d: %q", got.Rows(), c.rows, rowsOf(got))
			}
			var told []string
			for _, p := range s.Problems {
				told = append(told, fmt.Sprint(p.Stage, " ", p.Group, " ", p.Topic, " ", p.Reason))
			}
			var want []string
			for _, topic := range c.want {
				want = append(want, "describe shop "+topic+" topic_missing")
			}
			wantLines(t, told, want...)
			w.after(time.Second)
			w.groups["shop"].facts.Described = false // not due: what was known stands
			if again := mustGroup(t, w.poll(), "shop"); len(again.MissingTopics) != len(c.want) || again.Rows() != c.rows {
				t.Errorf("a poll later: missing %q, %d rows", again.MissingTopics, again.Rows())
			}
		})
	}
}

// The time that Kafka Streams commits finds the record with one question, and
// whatever it says never changes an age for the worse.
func TestTimeSearchWithAClue(t *testing.T) {
	now := epoch
	rnd := rand.New(rand.NewPCG(3, 4))
	newest := func(l *leader, before int64) (at int64) {
		for i, o := range l.offsets {
			if o < before {
				at = max(at, l.times[i])
			}
		}
		return at
	}
	for _, c := range []struct {
		why   string
		ties  bool
		mixed int64 // by how many milliseconds records are stamped out of order
		clue  func(l *leader, commit int64) int64
		hits  bool // most are found with one question
	}{
		{"in order", false, 0, newest, true},
		{"records that share a timestamp", true, 0, newest, false},
		{"out of order: found or not, never believed", false, 120_000, newest, false},
		{"the application goes by its own clock", false, 0, func(*leader, int64) int64 { return now.UnixMilli() }, false},
		{"it goes by something in the records", false, 0, func(*leader, int64) int64 { return rnd.Int64N(2 * now.UnixMilli()) }, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			hit := 0
			const logs = 200
			for range logs {
				l := logOf(2+rnd.IntN(500), now.Add(-24*time.Hour), func(int) int64 {
					if c.ties {
						return max(0, rnd.Int64N(20)-15) * 1000
					}
					return 1 + rnd.Int64N(60_000)
				})
				for i := range l.times {
					l.times[i] += rnd.Int64N(c.mixed+1) - c.mixed/2
				}
				commit := 1 + rnd.Int64N(l.end-1)
				plain, _ := l.searched(t, commit, now)
				questions := l.asked
				l.asked = 0
				r, rounds := l.searchedWith(t, commit, c.clue(l, commit), now)
				truth := float64(now.UnixMilli()-l.unread(commit)) / 1000
				switch {
				case r.Age.Method == MethodExact && math.Abs(r.Age.Seconds-truth) > 1e-3:
					t.Fatalf("offset %d of %d: exactly %g s, in truth %g", commit, l.end, r.Age.Seconds, truth)
				case r.Age.Method != MethodExact && fmt.Sprint(r.Age) != fmt.Sprint(plain.Age):
					t.Fatalf("offset %d of %d: %+v with a clue that was of no use, %+v without", commit, l.end, r.Age, plain.Age)
				case rounds > questions+1:
					t.Fatalf("offset %d of %d: %d questions with a clue, %d without", commit, l.end, rounds, questions)
				}
				if rounds == 1 {
					hit++
				}
			}
			t.Logf("%d of %d found with one question", hit, logs)
			if c.hits && hit < logs*9/10 {
				t.Errorf("%d of %d found with one question", hit, logs)
			}
		})
	}
}
