package collect

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// churn drives a model group with choices and looks at it at random times.
// What must hold: each rebalance is told of once and none invented, its cause
// is one that was, or unknown, its counts are the model's, and the sum of
// counts is the generation's growth where that is exact.
type churn struct {
	*watched
	t     *testing.T
	group *modelGroup
	steps []string // what was seen, for the message of a failure

	base    int64 // generation at the first look
	settled settledLook
	began   []time.Time // looks in the middle of a rebalance since then
	halfway bool        // one of them between two rounds
}

// settledLook is what the model was at the last look that an event can follow.
type settledLook struct {
	generation int64
	owners     map[int32]string
	keys       []string
	ids        []string
	assignor   string
	between    bool // two rounds: partitions wait for their new owners
	counted    int64
	shown      Generation
}

func runChurn(t *testing.T, kind modelKind, choices []byte) {
	c := &churn{watched: watch(newWorld()), t: t, group: newModelGroup(kind, &chooser{choices})}
	c.world.group("g")
	c.group.join()
	for range 20 {
		c.group.proceed()
	}
	c.look(true)
	for len(c.group.choose.b) > 0 && !t.Failed() {
		for range 1 + c.group.choose.n(5) {
			c.group.step()
		}
		c.after(time.Duration(100+c.group.choose.n(5000)) * time.Millisecond)
		c.look(false)
	}
	for range 60 { // what is under way comes to its end
		c.group.proceed()
	}
	for range 2 {
		c.after(time.Second)
		c.look(false)
	}
	if t.Failed() {
		for _, s := range c.steps[max(0, len(c.steps)-12):] {
			t.Log(s)
		}
	}
}

func (c *churn) look(first bool) {
	g := c.group
	c.topic("t", even(int(g.partitions), 0, 100)...)
	c.groups["g"].facts = g.facts()
	shown, es := c.watched.look(c.t)
	c.steps = append(c.steps, fmt.Sprintf("%s gen %d %s %v: %v", c.now.Format("05.000"), g.generation, g.state, g.owners(), briefs(es)))
	if first {
		c.base = g.generation
		c.remember(shown)
		return
	}
	var rebalances []Event
	for _, e := range es {
		if e.Kind == EventRebalance {
			rebalances = append(rebalances, e)
		}
	}
	if shown.Generation.Known() && c.settled.shown.Known() && shown.Generation.Value < c.settled.shown.Value {
		c.t.Errorf("the generation went from %v to %v", c.settled.shown, shown.Generation)
	}
	if shown.Generation.Value > g.generation {
		c.t.Errorf("generation %d is shown, and it is %d", shown.Generation.Value, g.generation)
	}
	// A group that empties after its first round of two was seen: both are told.
	twice := c.halfway && g.state == StateEmpty
	if len(rebalances) > 1 && !twice {
		c.t.Errorf("%d rebalance events of one look: %v", len(rebalances), briefs(rebalances))
	}
	switch {
	case g.state == StateStable, g.state == StateEmpty,
		g.state == "between rounds" && len(rebalances) > 0: // it is held open for one look only
		if !twice {
			c.compare(shown, es, rebalances)
		}
		c.remember(shown)
	default:
		if len(rebalances) > 0 {
			c.t.Errorf("a rebalance event in the middle of one: %v", briefs(rebalances))
		}
		if c.halfway = c.halfway || g.state == "between rounds"; g.state != "between rounds" {
			c.began = append(c.began, c.now)
		}
	}
}

func (c *churn) remember(shown *Group) {
	s := settledLook{between: c.group.state == "between rounds", generation: c.group.generation, owners: c.group.owners(), assignor: c.group.assignor, counted: shown.Counters.Rebalances, shown: shown.Generation}
	if !s.shown.Known() {
		s.shown = c.settled.shown
	}
	for _, m := range c.group.members {
		s.keys, s.ids = append(s.keys, m.key()), append(s.ids, m.id)
	}
	c.settled, c.group.triggers, c.group.restarts, c.began, c.halfway = s, nil, 0, nil, false
}

// compare holds the events of a settled look against what the model went
// through since the last one.
func (c *churn) compare(shown *Group, es, rebalances []Event) {
	g, was := c.group, c.settled
	rounds := g.generation - was.generation
	counted := shown.Counters.Rebalances
	exact := g.source == SourceEpoch || g.source == SourceOffsetsTopic
	emptied := len(g.members) == 0
	if exact && counted != g.generation-c.base {
		c.t.Errorf("%d rebalances are counted, the generation grew by %d", counted, g.generation-c.base)
	}
	if counted > g.generation-c.base {
		c.t.Errorf("%d rebalances are counted, more than the %d that were", counted, g.generation-c.base)
	}
	if rounds == 0 && len(rebalances) > 0 {
		c.t.Errorf("invented: %v", briefs(rebalances))
	}
	if counted-was.counted != sumOf(rebalances) {
		c.t.Errorf("the counter grew by %d, the events tell of %d", counted-was.counted, sumOf(rebalances))
	}
	keys := make([]string, 0, len(g.members))
	for _, m := range g.members {
		keys = append(keys, m.key())
	}
	visible := rounds > 0 && (exact || !emptied && (len(c.began) > 0 || !maps.Equal(g.owners(), was.owners) || g.assignor != was.assignor || !slices.Equal(keys, was.keys)))
	if visible && len(rebalances) == 0 {
		c.t.Errorf("%d rebalances, by %v, and no event: %v", rounds, g.triggers, briefs(es))
	}
	for _, e := range rebalances {
		c.judge(&e, was)
	}
	if rounds == 0 && g.restarts > 0 {
		returned := 0
		for i, m := range g.members {
			if m.id != was.ids[i] {
				returned++
			}
		}
		if got := kinds(es, EventMember); got != returned {
			c.t.Errorf("%d static members returned, %d events say so", returned, got)
		}
	} else if kinds(es, EventMember) > 0 {
		c.t.Errorf("a member event beside a rebalance, or for nothing: %v", briefs(es))
	}
}

// judge holds one event against the model.
func (c *churn) judge(e *Event, was settledLook) {
	g := c.group
	// That a static member restarted, and nothing else is to be seen, is given
	// as the cause, although more may have come and gone.
	excused := e.Cause == CauseUnknown || e.Cause == CauseEpoch || e.Cause == CauseStaticRestart && g.restarts > 0
	if !excused && !slices.Contains(g.triggers, e.Cause) {
		c.t.Errorf("cause %s, it was %v", e.Cause, g.triggers)
	}
	if len(g.triggers) == 1 && g.restarts == 0 && !was.between && e.Cause != g.triggers[0] {
		c.t.Errorf("cause %s, it was %s alone", e.Cause, g.triggers[0])
	}
	var moved, kept, lost, gained int64
	is := g.owners()
	for p, owner := range was.owners {
		switch is[p] {
		case "":
			lost++
		case owner:
			kept++
		default:
			moved++
		}
	}
	for p := range is {
		if was.owners[p] == "" {
			gained++
		}
	}
	if e.Moved != moved || e.Kept != kept || e.Lost != lost || e.Gained != gained {
		c.t.Errorf("moved %d kept %d lost %d gained %d, the model %d %d %d %d", e.Moved, e.Kept, e.Lost, e.Gained, moved, kept, lost, gained)
	}
	if e.MembersBefore != int64(len(was.keys)) || e.MembersAfter != int64(len(g.members)) {
		c.t.Errorf("members %d to %d, the model %d to %d", e.MembersBefore, e.MembersAfter, len(was.keys), len(g.members))
	}
	want := []Style{StyleUnknown, StyleEager}
	switch {
	case g.typ == TypeConsumer:
		want = []Style{StyleReconcile}
	case g.cooperative:
		want[1] = StyleCooperative
	case g.source == SourceNone:
		want = want[:1]
	}
	if !slices.Contains(want, e.Style) {
		c.t.Errorf("style %s, want one of %v", e.Style, want)
	}
	if len(c.began) > 0 && g.state == StateStable {
		if seconds := c.now.Sub(c.began[0]).Seconds(); !e.StartedAt.IsZero() && (!e.StartedAt.Equal(c.began[0]) || !same(e.Seconds, seconds)) {
			c.t.Errorf("from %v for %g s, seen from %v for %g s", e.StartedAt, e.Seconds, c.began[0], seconds)
		}
	}
}

func sumOf(es []Event) (n int64) {
	for _, e := range es {
		n += e.Count
	}
	return n
}

func kinds(es []Event, k EventKind) (n int) {
	for _, e := range es {
		if e.Kind == k {
			n++
		}
	}
	return n
}

func TestChurn(t *testing.T) {
	runs := uint64(30)
	if testing.Short() {
		runs = 10
	}
	for _, kind := range modelKinds() {
		t.Run(kind.name, func(t *testing.T) {
			for seed := range runs {
				random := rand.New(rand.NewPCG(seed, 7))
				choices := make([]byte, 1500)
				for i := range choices {
					choices[i] = byte(random.Uint32())
				}
				if runChurn(t, kind, choices); t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}

func FuzzChurn(f *testing.F) {
	f.Add(0, []byte("a group that grows, shrinks, empties and fills again"))
	f.Add(1, []byte{0, 7, 7, 7, 2, 7, 7, 7, 3, 8, 8, 5, 5, 6, 6, 0, 0, 0})
	f.Fuzz(func(t *testing.T, kind int, choices []byte) {
		kinds := modelKinds()
		choices = choices[:min(len(choices), 2000)]
		runChurn(t, kinds[((kind%len(kinds))+len(kinds))%len(kinds)], choices)
	})
}
