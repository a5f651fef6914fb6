package collect

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestRowSets(t *testing.T) {
	for _, c := range []struct {
		why  string
		make func(w *world)
		want []string
	}{
		{"a consumer group has all partitions of what it subscribes to", func(w *world) {
			w.topic("a", even(3, 0, 10)...)
			w.group("g", member("m", on("a", 0)).to("b")).commit("a", 1, 4)
			w.topic("b", even(1, 0, 7)...)
			w.topic("other", even(9, 0, 7)...)
		}, []string{"a/0 0..10 at - lag 10 no_commit", "a/1 0..10 at 4 lag 6 ok", "a/2 0..10 at - lag 10 no_commit", "b/0 0..7 at - lag 7 no_commit"}},
		{"an empty consumer group: all partitions of topics with commits", func(w *world) {
			w.topic("a", even(2, 0, 10)...)
			w.group("g").commit("a", 1, 4)
		}, []string{"a/0 0..10 at - lag 10 no_commit", "a/1 0..10 at 4 lag 6 ok"}},
		{"a standalone committer: what it committed and no more", func(w *world) {
			w.topic("a", even(4, 0, 10)...)
			w.solo("g").commit("a", 2, 4)
		}, []string{"a/2 0..10 at 4 lag 6 ok"}},
		{"connect: what it committed, its topics are not its members' own", func(w *world) {
			w.topic("a", even(3, 0, 10)...)
			m := member("worker")
			m.Decode, m.Subscribed = DecodeNotConsumer, nil
			w.group("g", m).commit("a", 0, 4).facts.ProtocolType = "connect"
		}, []string{"a/0 0..10 at 4 lag 6 ok"}},
		{"KIP-848: all partitions, and targets make rows too", func(w *world) {
			w.topic("a", even(2, 0, 10)...)
			w.topic("b", even(1, 0, 5)...)
			m := member("m", on("a", 0))
			m.HasTarget, m.Target, m.Epoch = true, []TopicPartitions{on("a", 0), on("b", 0)}, 4
			w.group("g", m).commit("a", 0, 4).facts.Type = TypeConsumer
		}, []string{"a/0 0..10 at 4 lag 6 ok", "a/1 0..10 at - lag 10 no_commit", "b/0 0..5 at - lag 5 no_commit"}},
		{"streams without a topology: what tasks read and what was committed", func(w *world) {
			w.topic("a", even(3, 0, 10)...)
			w.topic("b", even(3, 0, 10)...)
			g := w.group("g", member("m", on("a", 0)).to("b")).commit("a", 2, 4)
			g.facts.Type, g.facts.ProtocolType = TypeStreams, "streams"
		}, []string{"a/0 0..10 at - lag 10 no_commit", "a/2 0..10 at 4 lag 6 ok"}},
		{"fewer partitions than assigned: those beyond do not exist", func(w *world) {
			w.topic("a", even(2, 0, 10)...)
			w.group("g", member("m", on("a", 0, 1, 2, 3))).commit("a", 0, 4).commit("a", 1, 10).commit("a", 2, 10)
		}, []string{"a/0 0..10 at 4 lag 6 ok", "a/1 0..10 at 10 lag 0 ok", "a/2 ?..? at 10 lag ? unknown topic_missing", "a/3 ?..? at - lag ? unknown topic_missing"}},
		{"a deleted topic keeps the rows that somebody owns", func(w *world) {
			w.group("g", member("m", on("a", 0, 1)))
		}, []string{"a/0 ?..? at - lag ? unknown topic_missing", "a/1 ?..? at - lag ? unknown topic_missing"}},
		{"a deleted topic that is only subscribed has no rows", func(w *world) {
			w.group("g", member("m").to("a"))
		}, nil},
		{"a denied topic keeps its owners' rows, without numbers", func(w *world) {
			w.topic("a", even(2, 0, 10)...).unread = ReasonDenied
			w.group("g", member("m", on("a", 0, 1))).commit("a", 0, 4)
		}, []string{"a/0 ?..? at 4 lag ? unknown denied", "a/1 ?..? at - lag ? unknown denied"}},
		{"an undecodable member owns nothing, the group's rows stay", func(w *world) {
			w.topic("a", even(1, 0, 10)...)
			m := member("m").to("a")
			m.Decode = DecodeUndecodable
			w.group("g", m).commit("a", 0, 4)
		}, []string{"a/0 0..10 at 4 lag 6 ok"}},
		{"a group without members and commits has no rows", func(w *world) {
			w.topic("a", even(1, 0, 10)...)
			w.group("g")
		}, nil},
		{"a topic without partitions makes no rows", func(w *world) {
			w.topic("a")
			w.group("g", member("m").to("a"))
		}, nil},
		{"a partition that cannot be is no row", func(w *world) {
			w.topic("a", even(1, 0, 10)...)
			w.group("g", member("m", on("a", -3, 0)))
		}, []string{"a/0 0..10 at - lag 10 no_commit"}},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := newWorld()
			c.make(w)
			wantLines(t, rowsOf(mustGroup(t, w.poll(), "g")), c.want...)
		})
	}
}

func TestSubscriptionAndOrphans(t *testing.T) {
	for _, c := range []struct {
		why                  string
		make                 func(w *world)
		subscribed, orphaned bool
	}{
		{"somebody subscribes", func(w *world) { w.group("g", member("m", on("a", 0))) }, true, false},
		{"nobody does any more", func(w *world) { w.group("g", member("m", on("other", 0))).commit("a", 0, 1) }, false, true},
		{"nobody is there to subscribe", func(w *world) { w.group("g").commit("a", 0, 1) }, true, false},
		{"a pattern does", func(w *world) {
			m := member("m")
			m.Regex = "a|b"
			w.group("g", m).commit("a", 0, 1).facts.Type = TypeConsumer
		}, true, false},
		{"a pattern must match the whole name", func(w *world) {
			w.group("g", Member{ID: "m", Subscribed: []string{}, Regex: "aa?a"}).commit("a", 0, 1).facts.Type = TypeConsumer
			w.groups["g"].facts.Members[0].Regex = "b"
		}, false, true},
		{"a pattern that Go cannot read proves nothing", func(w *world) {
			w.group("g", Member{ID: "m", Regex: "(?=b)b"}).commit("a", 0, 1).facts.Type = TypeConsumer
		}, true, false},
		{"one member's subscription is hidden", func(w *world) {
			m := member("n")
			m.Subscribed = nil
			w.group("g", member("m", on("other", 0)), m).commit("a", 0, 1)
		}, true, false},
		{"given up, but not yet handed back", func(w *world) {
			m := member("m", on("a", 0))
			m.Subscribed = []string{"other"}
			w.group("g", m)
		}, false, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := newWorld()
			w.topic("a", even(1, 0, 10)...)
			w.topic("other", even(1, 0, 10)...)
			c.make(w)
			gt, ok := mustGroup(t, w.poll(), "g").Topic("a")
			if !ok {
				t.Fatal("no rows on a")
			}
			if gt.Subscribed != c.subscribed || gt.Orphaned != c.orphaned {
				t.Errorf("subscribed %v, orphaned %v; want %v, %v", gt.Subscribed, gt.Orphaned, c.subscribed, c.orphaned)
			}
		})
	}
}

func TestFilters(t *testing.T) {
	make := func(f Filter) *Snapshot {
		w := newWorld()
		w.opts.Filter = f
		w.topic("a", even(1, 0, 10)...)
		w.topic("b", even(1, 0, 10)...)
		w.group("g", member("m", on("a", 0), on("b", 0)))
		w.group("only-b", member("m", on("b", 0)))
		w.group("nothing", member("m"))
		return w.poll()
	}
	names := func(s *Snapshot) (out []string) {
		for _, g := range s.Groups {
			out = append(out, fmt.Sprint(g.Name, " ", g.Rows()))
		}
		return out
	}
	all := make(Filter{})
	wantLines(t, names(all), "g 2", "nothing 0", "only-b 1")
	if all.Filtered {
		t.Error("filtered without a filter")
	}
	byGroup := make(Filter{Groups: mustPatterns(t, "*g*")})
	wantLines(t, names(byGroup), "g 2", "nothing 0")
	byTopic := make(Filter{Topics: mustPatterns(t, "a")})
	wantLines(t, names(byTopic), "g 1")
	if !byGroup.Filtered || !byTopic.Filtered {
		t.Error("a filter is in force and not said")
	}
	if _, ok := byTopic.Topic("b"); ok {
		t.Error("a topic that the filter leaves out is in the snapshot")
	}
}

func TestNeedsAndMissingTopics(t *testing.T) {
	w := newWorld()
	w.opts.Filter = Filter{ExcludeTopics: mustPatterns(t, "hidden")}
	w.topic("a", even(2, 0, 10)...)
	w.topic("unused", even(9, 0, 10)...)
	w.group("g", member("m", on("a", 0)), member("n", on("gone", 0), on("hidden", 0)))
	w.solo("solo").commit("lost", 3, 4)
	b := NewBuilder(nil, w.opts)
	b.AddTopic(TopicMeta{Name: "a", Leaders: []int32{1, 1}})
	for name, g := range w.groups {
		b.AddGroup(g.facts)
		w.giveCommits(b, name, g)
	}
	if got := b.MissingTopics(); !slices.Equal(got, []string{"gone", "lost"}) {
		t.Errorf("to ask for by name: %q", got)
	}
	b.TopicUnread("gone", ReasonDenied)
	if got := b.MissingTopics(); !slices.Equal(got, []string{"lost"}) {
		t.Errorf("to ask for by name, after one answer: %q", got)
	}
	b.Layout()
	if got := fmt.Sprint(needs(b.Needs())); got != "[a[0 1] new[0 1]]" {
		t.Errorf("offsets wanted: %s", got)
	}

	w = newWorld()
	w.topic("a", even(2, 0, 10)...)
	w.solo("g").commit("a", 1, 4)
	w.poll()
	w.after(time.Second)
	w.groups["g"].commit("a", 0, 4)
	if got := fmt.Sprint(needs(w.builder().Needs())); got != "[a[0 1] new[0]]" {
		t.Errorf("offsets wanted where one start is known: %s", got)
	}
}

func needs(ns []Need) (out []string) {
	for _, n := range ns {
		s := fmt.Sprint(n.Topic.Name, n.Partitions)
		if n.New != nil {
			s += fmt.Sprint(" new", n.New)
		}
		out = append(out, s)
	}
	return out
}

func TestCommitsToReread(t *testing.T) {
	for _, c := range []struct {
		why        string
		commit     int64
		start      int64
		startAfter time.Duration
		want       []string
	}{
		{"below a start that was read later: perhaps a purge followed a newer commit", 5, 10, time.Millisecond, []string{"g"}},
		{"below a start that was read in the same moment", 5, 10, 0, []string{"g"}},
		{"below a start that was read before: lost, no doubt", 5, 10, -time.Millisecond, nil},
		{"at the start", 10, 10, time.Millisecond, nil},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := newWorld()
			w.topic("a", part{c.start, 20})
			g := w.solo("g").commit("a", 0, c.commit)
			b := w.builder()
			topic := b.Needs()[0].Topic
			b.SetStart(topic, 0, c.start, w.now.Add(c.startAfter))
			if got := b.CommitsToReread(); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if c.want == nil {
				return
			}
			g.commit("a", 0, 15).commit("young", 0, 1)
			w.after(time.Second).giveCommits(b, "g", g)
			if got := b.MissingTopics(); !slices.Equal(got, []string{"young"}) {
				t.Errorf("topics to ask for that the newer commits are the first to tell of: %q", got)
			}
			b.AddTopic(TopicMeta{Name: "young", Leaders: []int32{1}})
			b.Layout()
			if got := b.CommitsToReread(); got != nil {
				t.Errorf("read once more, and again wanted: %q", got)
			}
			b.SetEnd(topic, 0, 20, 0, w.now)
			young := b.Needs()[1].Topic
			b.SetStart(young, 0, 0, w.now)
			b.SetEnd(young, 0, 3, 0, w.now)
			wantLines(t, rowsOf(mustGroup(t, b.Finish(w.now, 0), "g")), "a/0 10..20 at 15 lag 5 ok", "young/0 0..3 at 1 lag 2 ok")
		})
	}
}

func TestStartsToReread(t *testing.T) {
	w := newWorld()
	w.topic("a", even(5, 0, 10)...)
	w.solo("g").commit("a", 0, 5).commit("a", 1, 5).commit("a", 2, 5).commit("a", 3, 5)
	b := w.builder()
	topic := b.Needs()[0].Topic
	b.SetStart(topic, 0, 0, w.now)
	b.SetStart(topic, 1, 80, w.now) // beyond the end: the log was cut between the two
	b.StartUnread(topic, 3, ReasonNoLeader)
	for p := range int32(4) { // 2: its start was not due, and is not known
		b.SetEnd(topic, p, 10, 0, w.now)
	}
	if got := fmt.Sprint(needs(b.StartsToReread())); got != "[a[1 2]]" {
		t.Errorf("got %s", got)
	}
	b.SetStart(topic, 1, 3, w.now)
	b.SetStart(topic, 2, 0, w.now)
	if got := b.StartsToReread(); got != nil {
		t.Errorf("read again, and still wanted: %v", needs(got))
	}
}

func TestSuspects(t *testing.T) {
	w := newWorld()
	w.topic("a", even(4, 0, 10)...)
	w.solo("g").commit("a", 0, 10).commit("a", 1, 9).commit("a", 2, 30)
	w.solo("h").commit("a", 3, 1)
	w.cluster = &Cluster{ID: "id"}
	b := w.builder()
	w.offsets(b)
	if got := b.Suspects(); got != nil {
		t.Errorf("no transactions in the cluster, and yet suspects %v", needs(got))
	}
	w.cluster.TransactionState = true
	b = w.builder()
	w.offsets(b)
	if got := fmt.Sprint(needs(b.Suspects())); got != "[a[1 3]]" {
		t.Errorf("rows with lag: %s", got)
	}
}

func TestComplete(t *testing.T) {
	denied := func(w *world) {
		w.topic("a", even(1, 0, 10)...).unread = ReasonDenied
		w.group("g", member("m", on("a", 0)))
	}
	for _, c := range []struct {
		why    string
		make   func(w *world)
		accept bool
		want   bool
	}{
		{"everything was read", func(w *world) {}, false, true},
		{"a group list was not", func(w *world) {
			w.problems = []Problem{{Stage: StageListGroups, Broker: 2, Reason: ReasonTimeout}}
		}, false, false},
		{"metadata was not", func(w *world) { w.problems = []Problem{{Stage: StageMetadata, Reason: ReasonError}} }, false, false},
		{"a problem that is in the rows, and they are whole", func(w *world) {
			w.problems = []Problem{{Stage: StageTimeSearch, Reason: ReasonTimeout}}
		}, false, true},
		{"a row is stale", func(w *world) {
			w.poll()
			w.topics["ok"].endUnread[0] = ReasonNoLeader
		}, false, false},
		{"a row is unknown", func(w *world) { w.topics["ok"].endUnread[0] = ReasonNoLeader }, false, false},
		{"a row's reason is an answer: nothing was missed", func(w *world) { w.group("g", member("m", on("deleted", 0))) }, false, true},
		{"a group is not supported by this broker", func(w *world) {
			g := w.group("g")
			g.facts.Described, g.facts.Reason, g.commitsUnread = false, ReasonUnsupported, ReasonUnsupported
		}, false, true},
		{"a denied row", denied, false, false},
		{"a denied row, and that is accepted", denied, true, true},
		{"a denied group", func(w *world) {
			g := w.group("g")
			g.facts.Described, g.facts.Reason, g.commitsUnread = false, ReasonDenied, ReasonDenied
		}, false, false},
		{"a denied group, and that is accepted", func(w *world) {
			g := w.group("g")
			g.facts.Described, g.facts.Reason, g.commitsUnread = false, ReasonDenied, ReasonDenied
		}, true, true},
		{"a coordinator did not answer", func(w *world) { w.group("g").facts.Described, w.groups["g"].facts.Reason = false, ReasonBrokerDown }, false, false},
		{"commits were not read", func(w *world) { w.group("g").commitsUnread = ReasonLoading }, false, false},
		{"denied is accepted, a timeout is not", func(w *world) {
			denied(w)
			w.topics["ok"].endUnread[0] = ReasonTimeout
		}, true, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			w := newWorld()
			w.opts.AcceptDenied = c.accept
			w.topic("ok", even(1, 0, 10)...)
			w.solo("ok").commit("ok", 0, 3)
			c.make(w)
			if got := w.poll().Complete; got != c.want {
				t.Errorf("complete: got %v, want %v", got, c.want)
			}
		})
	}
	if NewBuilder(nil, BuildOptions{}).Finish(epoch, 0).Complete {
		t.Error("a poll that reached no broker is called complete")
	}
}

func TestFirstSeen(t *testing.T) {
	w := newWorld()
	w.topic("a", even(1, 0, 10)...)
	static := member("s")
	static.InstanceID = "pod-1"
	w.group("g", member("m", on("a", 0)), static)
	w.poll()
	w.after(time.Minute)
	restarted := static
	restarted.ID = "another-uuid"
	w.groups["g"].facts.Members = []Member{member("m", on("a", 0)), restarted, member("new")}
	g := mustGroup(t, w.poll(), "g")
	if !g.FirstSeenAt.Equal(epoch) {
		t.Errorf("the group was first seen at %v", g.FirstSeenAt)
	}
	for i, want := range []time.Time{epoch, w.now, epoch} { // m, new, s
		if m := g.Members[i]; !m.FirstSeenAt.Equal(want) {
			t.Errorf("member %s was first seen at %v, want %v", m.ClientID, m.FirstSeenAt, want)
		}
	}
	if g.Members[0].Host != "10.0.0.1" {
		t.Errorf("host %q, want it without Kafka's slash", g.Members[0].Host)
	}
}

func TestMembersComeInOrder(t *testing.T) {
	w := newWorld()
	b, a2, a1 := member("b"), member("a"), member("a")
	a2.ID, a1.ID = "2", "1"
	w.group("g", b, a2, a1)
	var got []string
	for _, m := range mustGroup(t, w.poll(), "g").Members {
		got = append(got, m.ClientID+" "+m.ID)
	}
	wantLines(t, got, "a 1", "a 2", "b b-uuid")
}
