package collect

import (
	"math"
	"sort"
	"time"
)

// A tracker gives snapshots their memory: rates, progress, ages, counters and
// what changed. One goroutine uses it, the loop's; it finishes a snapshot
// before anybody else sees it.
type tracker struct {
	cluster, boot string
	clusterID     string // "" until a broker told
	seq           uint64
	transactions  transactions
	interval      time.Duration // between polls
	polled        int           // polls of the long window
	takenAt       time.Time     // of the newest snapshot
	polls         int           // snapshots that were tracked
	recent        [][]*Topic    // the topics of the newest snapshots, ShortWindow of them, the newest last
	topics        map[string]*topicTimes
	budget        int  // of topics, in bytes
	room          room // of each of their partitions
	sharers       int  // how many partitions it was shared out among
	produced      map[string]*producedTotal
	groups        map[string]*groupMemory
	pastRates     map[string][]float32 // by topic, at the first look only; see askPastEnds
	cuts          cuts
	open          map[string]*openTopic // topics whose last stable offsets were seen below the log end
	tails         tails
	rebalanced    Durations // of all groups, those that are gone too
}

// ShortWindow is the number of polls that shown rates are taken over.
const ShortWindow = 3

// maxDrain is the longest drain time worth showing.
const maxDrain = 30 * 24 * time.Hour

func newTracker(cluster, boot string) *tracker {
	return &tracker{
		cluster: cluster, boot: boot,
		topics: map[string]*topicTimes{}, budget: historyBudget, produced: map[string]*producedTotal{}, groups: map[string]*groupMemory{}, open: map[string]*openTopic{},
	}
}

// advance finishes a snapshot and tells what changed since the one before.
func (t *tracker) advance(s *Snapshot) []Event {
	t.meet(s.Cluster.ID)
	t.followClock(s.TakenAt)
	t.noteEnds(s)
	t.dateRows(s)
	t.rateTopics(s)
	var events []Event
	for _, g := range s.Groups {
		m := t.groups[g.Name]
		if m == nil {
			m = &groupMemory{rows: map[string]*rowMemory{}, counters: GroupCounters{RebalancesLower: true}, rebalance: newRebalanceMemory()}
			t.groups[g.Name] = m
		}
		m.known.recognise(g, s.TakenAt)
		shifts := t.rateGroup(g, m, s)
		m.stall(g, s.TakenAt)
		events = append(events, t.offsetEvents(g, append(t.markCuts(g, m), shifts...))...)
		events = append(events, t.topicChanges(g, m, s)...)
		events = append(events, t.rebalances(g, m)...)
		g.Counters = m.counters
		m.lag = g.Lag.Records
	}
	events = append(events, t.forget(s)...)
	lasted := t.rebalanced
	s.Rebalances = &lasted
	t.recent = append(t.recent, s.Topics)
	if len(t.recent) > ShortWindow {
		t.recent = append([][]*Topic(nil), t.recent[1:]...)
	}
	t.polls++
	t.pastRates = nil
	return events
}

// meet forgets everything when another cluster answers behind the same address.
func (t *tracker) meet(id string) {
	if id == "" || id == t.clusterID {
		return
	}
	if t.clusterID != "" {
		fresh := newTracker(t.cluster, t.boot)
		fresh.seq, fresh.transactions, fresh.interval, fresh.polled = t.seq, t.transactions, t.interval, t.polled // those of this poll
		fresh.rebalanced = t.rebalanced                                                                           // a counter of the process
		*t = *fresh
	}
	t.clusterID = id
}

// forget drops what is gone, so that nothing is left of it. A group that only
// the topic filter hides is not gone: its counters go on when it is back.
func (t *tracker) forget(s *Snapshot) []Event {
	var gone []string
	for name := range t.groups {
		if _, ok := s.Group(name); !ok && !s.hides(name) {
			gone = append(gone, name)
		}
	}
	sort.Strings(gone)
	var events []Event
	for _, name := range gone {
		m := t.groups[name]
		delete(t.groups, name)
		e := t.event(name, EventGroup, s.TakenAt)
		e.StateFrom, e.Text = m.state, "group "+name+" is gone"
		events = append(events, e)
	}
	for name := range t.produced {
		if _, ok := s.Topic(name); !ok {
			delete(t.produced, name)
		}
	}
	return events
}

// event starts an event; numbers that are not known stay so.
func (t *tracker) event(group string, kind EventKind, at time.Time) Event {
	t.seq++
	return Event{
		Seq: t.seq, Boot: t.boot, Cluster: t.cluster, Group: group, Kind: kind, At: at, Seconds: math.NaN(), MembersBefore: Unknown, MembersAfter: Unknown, LagBefore: Unknown, LagAfter: Unknown,
		GenerationFrom: Generation{Value: Unknown}, GenerationTo: Generation{Value: Unknown},
	}
}

// groupMemory is what is remembered of a group.
type groupMemory struct {
	rows     map[string]*rowMemory // by topic
	stalled  time.Time             // Group.stalledAt
	last     *Group                // as the poll before left it
	counters GroupCounters
	habit    habit
	known    acquaintance
	lag      int64 // at the snapshot before
	topics   map[string]topicSeen
	jumps    jumpMemory
	cut      map[topicPartition]cutCommit // commits below which the log was cut

	rebalance rebalanceMemory
	state     string
	typ       GroupType
}
