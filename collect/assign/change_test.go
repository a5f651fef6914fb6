package assign

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/klagtop/klagtop/collect"
)

func members(text string) collect.Change {
	c, err := collect.ParseMembers(text)
	if err != nil {
		panic(err)
	}
	return collect.Change{Members: c}
}

// trio is three pods that range dealt two topics of six to.
func trio() *bed {
	return classic(rangeName, "market-updates:6 notifications:6").
		member("pod1-a1", "", "market-updates:0,1 notifications:0,1").
		member("pod2-a2", "", "market-updates:2,3 notifications:2,3").
		member("pod3-a3", "", "market-updates:4,5 notifications:4,5")
}

func TestChangesOfMembers(t *testing.T) {
	for _, c := range []struct {
		reason, members, who string
		exact                bool
		moved, lost, kept    int64
	}{
		{"nothing changes", "3", "", true, 0, 0, 12},
		{"who leaves may be named by client id, and all else is decided", "-pod1", "-pod1-a1", true, 6, 0, 6},
		{"or by member id", "-pod1-a1", "-pod1-a1", true, 6, 0, 6},
		{"if nobody is named, the last leave", "-2", "-pod3-a3 -pod2-a2", true, 8, 0, 4},
		{"a number in all, fewer than now", "1", "-pod3-a3 -pod2-a2", true, 8, 0, 4},
		{"a number in all, more than now", "5", "+new-1 +new-2", false, 6, 0, 6},
		{"a client id decides where its member comes", "+pod2b", "+pod2b", true, 2, 0, 10},
		{"unless another has the same", "+pod2", "+pod2", false, 6, 0, 6},
		{"several of one client id are told apart", "+pod4,+pod4,+pod4", "+pod4 +pod4-2 +pod4-3", false, 10, 0, 2},
		{"one joins as another leaves", "+pod4,-pod1", "+pod4 -pod1-a1", true, 12, 0, 0},
	} {
		w := trio().what(t, collect.Change{Assignor: rangeName, Members: members(c.members).Members})
		p := w.Plans[0]
		var who []string
		for _, m := range w.Added {
			who = append(who, "+"+m.MemberID)
		}
		for _, m := range w.Removed {
			who = append(who, "-"+m.MemberID)
		}
		if strings.Join(who, " ") != c.who || p.Exact != c.exact || p.Moved != c.moved || p.Kept != c.kept || p.Lost != c.lost || p.Gained != 0 || p.Stopped != 12 {
			t.Errorf("%s: %v, exact %v, moved %d, kept %d, lost %d, stopped %d: %v", c.reason, who, p.Exact, p.Moved, p.Kept, p.Lost, p.Stopped, shares(&p))
		}
	}
}

func TestAnIdentityOfAStaticGroupIsAnInstanceID(t *testing.T) {
	b := server(rangeName, "t:6").member("x@pod-1", "", "t:0,1").member("y@pod-2", "", "t:2,3").member("z@pod-4", "", "t:4,5")
	w := b.what(t, collect.Change{Assignor: rangeName, Members: members("+pod-3").Members})
	wantShares(t, &w.Plans[0], map[string]string{"x": "t:0,1", "y": "t:2,3", "pod-3": "t:4", "z": "t:5"})
	if !w.Plans[0].Exact || w.Added[0].InstanceID != "pod-3" {
		t.Errorf("exact %v, added %+v", w.Plans[0].Exact, w.Added)
	}
	// a dynamic member of a KIP-848 group draws its id at random
	w = server(rangeName, "t:6").member("x", "", "t:0,1,2,3,4,5").what(t, collect.Change{Assignor: rangeName, Members: members("+pod-3").Members})
	if w.Plans[0].Exact {
		t.Error("owners are promised though a random id decides")
	}
}

func TestWhatCannotBeIsNamed(t *testing.T) {
	twins := classic(rangeName, "t:6").member("pod-a1", "", "").member("pod-a2", "", "")
	statics := classic(rangeName, "t:6").member("x@i1", "", "").member("y@i2", "", "")
	for _, c := range []struct {
		reason string
		bed    *bed
		change collect.Change
		part   collect.ChangePart
		says   []string
	}{
		{"an unknown assignor", trio(), collect.Change{Assignor: "fair"}, collect.ChangeAssignor, []string{`"fair"`, "range", "uniform"}},
		{"a member that is not there", trio(), members("-pod9"), collect.ChangeMembers, []string{`"-pod9"`, "no such member", "pod1 (pod1-a1), pod2 (pod2-a2), pod3"}},
		{"a client id that two have", twins, members("-pod"), collect.ChangeMembers, []string{"2 members of that name", "pod-a1, pod-a2"}},
		{"a member that is gone already", trio(), members("-pod1,-pod1"), collect.ChangeMembers, []string{"no such member", "pod2"}},
		{"more than there are", trio(), members("-4"), collect.ChangeMembers, []string{`"-4"`, "3 members"}},
		{"all of them", trio(), members("-3"), collect.ChangeMembers, []string{`"-3"`, "without members"}},
		{"an instance id that is taken", statics, members("+i1"), collect.ChangeMembers, []string{`"+i1"`, "a member already", "i1, i2"}},
		{"a topic it does not read", trio(), collect.Change{Partitions: map[string]int32{"x": 3}}, collect.ChangePartitions, []string{`"x=3"`, "market-updates, notifications"}},
	} {
		_, err := Planner{}.Plan(c.bed.group, c.bed.snapshot, c.change)
		ce, ok := errors.AsType[*collect.ChangeError](err)
		if !ok || ce.Part != c.part {
			t.Errorf("%s: %v", c.reason, err)
			continue
		}
		for _, s := range c.says {
			if text := ce.Error() + " " + ce.Hint; !strings.Contains(text, s) {
				t.Errorf("%s: %q has no %q", c.reason, text, s)
			}
		}
	}
}

func TestGroupsThatNoAssignorDealsFor(t *testing.T) {
	alter := func(f func(*collect.Group)) *bed {
		b := trio()
		f(b.group)
		return b
	}
	for reason, c := range map[string]struct {
		bed  *bed
		says string
	}{
		"share":            {alter(func(g *collect.Group) { g.Type, g.Assignor = collect.TypeShare, "simple" }), "share group"},
		"streams":          {alter(func(g *collect.Group) { g.Type = collect.TypeStreams }), "tasks"},
		"classic streams":  {alter(func(g *collect.Group) { g.Assignor = "stream" }), "tasks"},
		"connect":          {alter(func(g *collect.Group) { g.ProtocolType = "connect" }), `"connect"`},
		"a type to come":   {alter(func(g *collect.Group) { g.Type = "queue" }), `"queue"`},
		"denied":           {alter(func(g *collect.Group) { g.MembersKnown, g.Members, g.Reason = false, nil, collect.ReasonDenied }), "denied"},
		"no topics":        {classic(rangeName, "").member("a", "", ""), "topics"},
		"nobody, no wish":  {classic("", "t:3"), "no member"},
		"nobody but topic": {classic("", "t:3"), "no member"},
	} {
		_, err := Planner{}.Plan(c.bed.group, c.bed.snapshot, collect.Change{})
		if np, ok := errors.AsType[*collect.NoPlanError](err); !ok || !strings.Contains(np.Reason, c.says) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

func TestAGroupWithoutMembers(t *testing.T) {
	b := classic("", "a:6 b:6")
	b.group.State, b.group.ProtocolType = collect.StateEmpty, ""
	w := b.what(t, members("4"))
	for i := range w.Plans {
		p := &w.Plans[i]
		whole(t, b, w, p)
		if p.Moved != 0 || p.Gained != 12 || p.Stopped != 0 || p.Assignment.Members != 4 {
			t.Errorf("%s: %+v", p.Assignor, p)
		}
	}
	if len(w.Plans) != 7 || w.Advice.Assignor != rangeName || len(w.Now.Members) != 0 || w.Now.Most != collect.Unknown {
		t.Errorf("%d plans, %+v, %+v", len(w.Plans), w.Advice, w.Now)
	}
}

// Six partitions are the most that members can be of use; a seventh idles, and
// more partitions would help it.
func TestPartitionsAreTheCeiling(t *testing.T) {
	b := classic(rangeName, "t:6")
	for i := range 6 {
		b.member(fmt.Sprintf("pod%d-u", i+1), "", fmt.Sprintf("t:%d", i))
	}
	w := b.what(t, members("+1"))
	for i := range w.Plans {
		if p := &w.Plans[i]; p.Assignment.Idle != 1 || p.Most != 1 || p.Assignment.SkewPartitions != 7.0/6 {
			t.Errorf("%s: %+v", p.Assignor, p.Assignment)
		}
	}
	if !strings.Contains(w.Advice.Reason, "1 member of 7 stays idle under any assignor: 6 partitions are the ceiling") {
		t.Error(w.Advice.Reason)
	}
	c := members("+1")
	c.Partitions = map[string]int32{"t": 7}
	w = b.what(t, c)
	for i := range w.Plans {
		if p := &w.Plans[i]; p.Assignment.Idle != 0 || p.Gained != 1 {
			t.Errorf("%s with 7 partitions: %+v", p.Assignor, p)
		}
	}
	if strings.Contains(w.Advice.Reason, "ceiling") || !strings.Contains(strings.Join(w.Notes, " "), "keys fall on other partitions") {
		t.Errorf("%s %q", w.Advice.Reason, w.Notes)
	}
	c = collect.Change{Assignor: sticky, Partitions: map[string]int32{"t": 4}}
	if w = b.what(t, c); w.Plans[0].Lost != 2 || w.Plans[0].Assignment.Idle != 2 || !strings.Contains(strings.Join(w.Notes, " "), "made anew") {
		t.Errorf("with 4 partitions: %+v %q", w.Plans[0], w.Notes)
	}
}

// Who is gone takes only its own along under the sticky family.
func TestStickyMovesOnlyWhatWasTheLeavers(t *testing.T) {
	for _, name := range []string{sticky, cooperative} {
		b := trio()
		b.group.Assignor = name
		p := b.what(t, collect.Change{Assignor: name, Members: members("-pod3").Members}).Plans[0]
		for i := range p.Members {
			if m := &p.Members[i]; m.GivenUp != nil || m.Partitions() != 6 {
				t.Errorf("%s: %s gives up %s, has %d", name, m.MemberID, spell(m.GivenUp), m.Partitions())
			}
		}
		stopped := map[string]int64{sticky: 12, cooperative: 4}[name]
		if p.Moved != 4 || p.Rounds != 1 || p.Stopped != stopped {
			t.Errorf("%s: moved %d in %d rounds, %d stop", name, p.Moved, p.Rounds, p.Stopped)
		}
	}
}

func TestRates(t *testing.T) {
	b := trio().rates("market-updates", 10, 10, 20, 20, 30, 30).rates("notifications", 0, 0, 0, 0, 0, 0)
	p := b.plan(t, rangeName)
	if m := p.Members[2]; m.Rate != 60 || !same(p.Assignment.SkewRate, 1.5) {
		t.Errorf("%g, skew %g", m.Rate, p.Assignment.SkewRate)
	}
	// one that is not known spoils a member's, and the skew
	nan := trio().rates("market-updates", 10, 10, 20, 20, 30)
	if p := nan.plan(t, rangeName); p.Members[0].Rate == p.Members[0].Rate || p.Assignment.SkewRate == p.Assignment.SkewRate {
		t.Errorf("%g, skew %g of rates that are not known", p.Members[0].Rate, p.Assignment.SkewRate)
	}
	// keys fall elsewhere when partitions are added: what was measured is void
	w := b.what(t, collect.Change{Assignor: rangeName, Partitions: map[string]int32{"market-updates": 12}})
	if r := w.Plans[0].Members[0].Rate; r == r || w.Now.Members[0].Rate != 20 {
		t.Errorf("%g then, %g now", r, w.Now.Members[0].Rate)
	}
}

func TestWhatIsNotKnownIsSaid(t *testing.T) {
	has := func(w *collect.WhatIf, text string) bool {
		all := strings.Join(w.Notes, " ")
		for i := range w.Plans {
			all += strings.Join(w.Plans[i].Notes, " ")
		}
		return strings.Contains(all, text)
	}
	b := trio()
	b.group.Members[1].Assigned, b.group.Members[1].Decode = nil, collect.DecodeUndecodable
	if w := b.what(t, collect.Change{Assignor: sticky}); w.Plans[0].Moved != collect.Unknown || w.Plans[0].Stopped != collect.Unknown || w.Plans[0].Moves != nil || w.Now.Most != collect.Unknown || !has(w, "cannot be read") {
		t.Errorf("bytes that cannot be read: %+v %+v", w.Plans[0], w.Now)
	}
	b = trio()
	b.group.Members[1].Rack, b.snapshot.Cluster.Brokers = "a", []collect.Broker{{Rack: "a"}}
	if w := b.what(t, collect.Change{}); !has(w, "KIP-881") || w.Plans[0].Exact || !w.Plans[1].Exact {
		t.Errorf("racks: range exact %v, round robin %v", w.Plans[0].Exact, w.Plans[1].Exact)
	}
	b.snapshot.Cluster.Brokers = nil
	if w := b.what(t, collect.Change{}); has(w, "KIP-881") || !w.Plans[0].Exact {
		t.Error("members' racks without brokers' play no part")
	}
	b = trio()
	b.group.Members[0].Subscribed, b.snapshot.Cluster.SeesAllTopics = []string{"market-updates", "notifications", "secret"}, collect.No
	if w := b.what(t, collect.Change{Assignor: rangeName}); w.Plans[0].Exact || !has(w, "cannot be seen") {
		t.Errorf("a topic that may not be seen: exact %v, %q", w.Plans[0].Exact, w.Notes)
	}
	b = trio()
	b.group.State, b.group.AssignmentStale = collect.StatePreparingRebalance, true
	for i := range b.group.Members {
		b.group.Members[i].Subscribed = nil
	}
	if w := b.what(t, collect.Change{Assignor: rangeName}); !w.Stale || !has(w, "subscribe to is hidden") || !has(w, "The group rebalances") || w.Plans[0].Kept != 12 {
		t.Errorf("in a rebalance: %+v %q", w.Plans[0], w.Notes)
	}
	b = trio()
	b.group.AssignmentStale, b.group.Reason = true, collect.ReasonBrokerDown
	if w := b.what(t, collect.Change{Assignor: rangeName}); has(w, "rebalances") || !has(w, "not be described just now (broker_down)") {
		t.Errorf("its broker is down: %q", w.Notes)
	}
	b = server(uniform, "t:4").member("A", "", "t:0,1,2,3").member("B", "", "")
	b.group.Members[0].Target, b.group.Members[1].Target = parse("t:0,1"), parse("t:2,3")
	if w := b.what(t, collect.Change{Assignor: uniform}); w.Plans[0].Moved != 0 || !has(w, "reconciling") {
		t.Errorf("reconciling: %+v %q", w.Plans[0], w.Notes)
	}
	// members that are started anew get new ids: only client ids that differ decide
	b = classic(rangeName, "t:6").member("pod-a1", "", "t:0,1,2").member("pod-a2", "", "t:3,4,5")
	if w := b.what(t, collect.Change{}); !w.Plans[0].Exact || w.Plans[1].Exact {
		t.Errorf("its own range exact %v, round robin after a restart %v", w.Plans[0].Exact, w.Plans[1].Exact)
	}
}

// A pattern subscribes to what it matches, and to what the member owns already.
func TestPatternSubscriptions(t *testing.T) {
	b := server(rangeName, "a-1:2 a-2:2 b:2").member("A", "", "").member("B", "", "b:0")
	for i, re := range []string{"a-.*", "("} { // the second is none that Go knows
		b.group.Members[i].Subscribed, b.group.Members[i].Regex = nil, re
	}
	wantShares(t, b.plan(t, rangeName), map[string]string{"A": "a-1:0,1 a-2:0,1", "B": "b:0,1"})
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"range": rangeName, "org.apache.kafka.clients.consumer.RangeAssignor": rangeName, "RoundRobinAssignor": roundRobin,
		"round-robin": roundRobin, "RoundRobinAssigner": kafkaJS, "roundrobinassigner": kafkaJS, "Cooperative_Sticky": cooperative,
		"org.apache.kafka.clients.consumer.CooperativeStickyAssignor": cooperative, "StickyAssignor": sticky,
		"CoPartitionAssigner": byIndex, "co-partition": byIndex, "UNIFORM": uniform, "server-range": serverRangeWord, "": "", "fair": "", "simple": "",
	} {
		if got := word(name); got != want {
			t.Errorf("%q means %q, want %q", name, got, want)
		}
	}
	for _, name := range Names() {
		if w := trio().what(t, collect.Change{Assignor: name}); len(w.Plans) != 1 || w.Advice.Assignor != "" {
			t.Errorf("%s: %d plans, %+v", name, len(w.Plans), w.Advice)
		}
	}
}
