package collect

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

// snapshotText is everything that follows from a snapshot's rows.
func snapshotText(s *Snapshot) string {
	var b strings.Builder
	for _, g := range s.Groups {
		fmt.Fprintf(&b, "%s complete=%v lag=%+v assignment=%+v\n", g.Name, s.Complete, g.Lag, g.Assignment)
		for _, gt := range g.Topics {
			fmt.Fprintf(&b, "  %s subscribed=%v orphaned=%v more=%v parts=%v\n", gt.Topic.Name, gt.Subscribed, gt.Orphaned, gt.MoreOwners, gt.Parts)
			for i := range gt.Committed {
				fmt.Fprintf(&b, "  %+v\n", gt.Row(i))
			}
		}
	}
	return b.String()
}

// Rows that repeat those of a poll ago are the ones that laying them out anew
// would give, whatever happens to the cluster between two polls.
func TestRowsRepeatThemselves(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 7))
		w := newWorld()
		for _, name := range []string{"a", "b", "c"} {
			w.topic(name, even(1+rng.IntN(4), 0, 100)...)
		}
		w.group("crew", member("one", on("a", 0)), member("two", on("b", 0))).commit("a", 0, 5).commit("b", 0, 5)
		w.group("idle").commit("c", 0, 7)
		w.solo("solo").commit("a", 0, 9).commit("c", 0, 3)
		repeated := 0
		for step := range 12 {
			w.after(time.Second)
			if step > 0 && rng.IntN(3) > 0 {
				w.disturb(rng)
			}
			fresh := *w.prevOr()
			fresh.Groups = nil
			for _, g := range w.prevOr().Groups {
				n := *g
				n.source = nil
				fresh.Groups = append(fresh.Groups, &n)
			}
			build := func(prev *Snapshot) *Snapshot {
				w.prev = prev
				b := w.builder()
				w.offsets(b)
				return b.Finish(w.now, time.Millisecond)
			}
			prev := w.prev
			again := build(prev)
			w.prev = prev
			for _, g := range again.Groups {
				if p, ok := w.prevOr().Group(g.Name); ok && len(g.Topics) > 0 && g.source != nil && p.source != nil && shared(g.source.of, p.source.of) {
					repeated++
				}
			}
			var base *Snapshot
			if prev != nil {
				base = &fresh
			}
			if got, want := snapshotText(again), snapshotText(build(base)); got != want {
				t.Fatalf("seed %d, step %d:\n%s\nwant:\n%s", seed, step, got, want)
			}
			w.prev = again
		}
		if repeated == 0 {
			t.Errorf("seed %d: nothing was repeated", seed)
		}
	}
}

// What a row must be given beside its commit is not lost where rows take commits
// as they are: this test fails where a new field is not thought of.
func TestOnlyPlainCommitsAreTakenAsTheyAre(t *testing.T) {
	v := reflect.ValueOf(&TopicCommits{}).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		switch name {
		case "Topic", "Partitions", "Offsets", "Epochs":
			continue
		}
		c := TopicCommits{Topic: "a", Partitions: []int32{0}, Offsets: []int64{4}, Epochs: []int32{1}}
		if !c.plain() {
			t.Fatal("an offset is not plain")
		}
		f := reflect.ValueOf(&c).Elem().Field(i)
		f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		if c.plain() {
			t.Errorf("commits with %s are taken for plain ones", name)
		}
	}
}

func (w *world) prevOr() *Snapshot {
	if w.prev == nil {
		return &Snapshot{}
	}
	return w.prev
}

// disturb changes one thing.
func (w *world) disturb(rng *rand.Rand) {
	topics, groups := []string{"a", "b", "c"}, []string{"crew", "idle", "solo"}
	name := topics[rng.IntN(3)]
	topic, g := w.topics[name], w.groups[groups[rng.IntN(3)]]
	if topic == nil {
		w.topic(name, even(2, 0, 50)...)
		return
	}
	p := int32(rng.IntN(len(topic.parts)))
	switch rng.IntN(14) {
	case 0: // records arrive
		topic.parts[p].end += int64(rng.IntN(5))
	case 1: // retention
		topic.parts[p].start += int64(rng.IntN(20))
	case 2: // progress, or a jump back
		g.commit(name, p, int64(rng.IntN(120)))
	case 3: // a commit that is none
		g.commit(name, p, -1)
	case 4: // a commit goes, with its topic
		delete(g.commits, name)
	case 5: // partitions are added
		topic.parts = append(topic.parts, part{0, 10})
	case 6: // the topic is made anew
		topic.id++
	case 7:
		delete(w.topics, name)
	case 8: // a leader is away, or back
		if topic.endUnread[p] == ReasonNone {
			topic.endUnread[p] = ReasonNoLeader
		} else {
			delete(topic.endUnread, p)
		}
	case 9: // commits cannot be read, or can again
		if g.commitsUnread == ReasonNone {
			g.commitsUnread = ReasonTimeout
		} else {
			g.commitsUnread = ReasonNone
		}
	case 10: // members come and go
		if len(g.facts.Members) > 1 {
			g.facts.Members = g.facts.Members[:1]
		} else {
			g.facts.Members = append([]Member(nil), append(g.facts.Members, member("new", on(name, p)))...)
		}
	case 11: // an assignment moves
		if len(g.facts.Members) > 0 {
			g.facts.Members = append([]Member{member("one", on(name, p))}, g.facts.Members[1:]...)
		}
	case 12: // not described this time, or again
		g.facts.Described = !g.facts.Described
	case 13: // a rebalance begins or ends
		if g.facts.State == StateStable {
			g.facts.State = StatePreparingRebalance
		} else {
			g.facts.State = StateStable
		}
	}
}

// Rows that repeat themselves are not summed up as they were once the group may
// not be described any more.
func TestADeniedGroupIsNotAsCompleteAsBefore(t *testing.T) {
	w := newWorld()
	w.topic("a", part{0, 100})
	g := w.solo("g").commit("a", 0, 90)
	g.facts.Described, g.facts.Reason = false, ReasonUnsupported
	for range 2 {
		if got := mustGroup(t, w.poll(), "g"); !got.Lag.Complete || got.Lag.Records != 10 {
			t.Errorf("not supported: %+v", got.Lag)
		}
		w.after(time.Second)
	}
	g.facts.Reason = ReasonDenied
	if got := mustGroup(t, w.poll(), "g"); got.Lag.Complete {
		t.Error("denied, and its lag is called complete")
	}
}
