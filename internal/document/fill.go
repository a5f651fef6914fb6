package document

import (
	"math"
	"time"

	"github.com/klagtop/klagtop/collect"
)

// The rules by which what is not known becomes null.

func count(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}

func broker(id int32) *int32 {
	if id < 0 {
		return nil
	}
	return &id
}

func float(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	f = rounded(f)
	return &f
}

func moment(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := timestamp(t)
	return &s
}

func tri(t collect.Tri) *bool {
	if t == collect.Maybe {
		return nil
	}
	yes := t == collect.Yes
	return &yes
}

func rates(produced, consumed float64) Rates {
	return Rates{Produced: float(produced), Consumed: float(consumed)}
}

func texts(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = Text(n)
	}
	return out
}

func cluster(c *collect.Cluster) Cluster {
	out := Cluster{
		Name: Text(c.Name), ID: Text(c.ID), Controller: broker(c.Controller),
		SeesAllGroups: tri(c.SeesAllGroups), SeesAllTopics: tri(c.SeesAllTopics),
	}
	if n := len(c.Brokers); n > 0 { // a cluster has one at least: 0 would be an unread number
		out.Brokers = &n
	}
	return out
}

func problems(ps []collect.Problem) []Problem {
	out := make([]Problem, len(ps))
	for i, p := range ps {
		out[i] = Problem{
			Stage: string(p.Stage), Broker: broker(p.Broker), Group: Text(p.Group), Topic: Text(p.Topic),
			Partition: broker(p.Partition), Reason: p.Reason.String(), Error: Text(p.Error),
		}
	}
	return out
}

func generation(g collect.Generation) *Generation {
	if !g.Known() {
		return nil
	}
	return &Generation{Value: g.Value, Exact: g.Exact, Source: string(g.Source)}
}

func lag(t *collect.Totals) Lag {
	seconds, bound := ageNumbers(t.Age)
	out := Lag{
		Records: count(t.Records), Max: count(t.Max),
		Seconds: float(seconds), SecondsMethod: ageMethod(t.Age).String(), SecondsError: float(bound),
		Complete: t.Complete, Known: t.Known, Unknown: t.Unknown, NoCommit: t.NoCommit, Stale: t.Stale,
		HeadroomSeconds: float(t.Headroom),
	}
	if t.Records >= 0 { // sums over no known row are not 0
		out.AssignedRecords, out.OrphanedRecords = count(t.AssignedRecords), count(t.OrphanedRecords)
		out.NoCommitRecords, out.LostRecords = count(t.NoCommitRecords), count(t.LostRecords)
	}
	return out
}

func rebalances(c *collect.GroupCounters) Rebalances {
	return Rebalances{Observed: c.Rebalances, LowerBound: c.RebalancesLower, Last: moment(c.LastRebalanceAt)}
}

func assignment(g *collect.Group) Assignment {
	a := &g.Assignment
	out := Assignment{
		Members: count(a.Members), Idle: count(a.Idle), Assigned: count(a.Assigned), Unassigned: count(a.Unassigned),
		Pending: count(a.Pending), Orphaned: count(a.Orphaned), Conflicts: count(a.Conflicts),
		Skew:  Skew{Partitions: float(a.SkewPartitions), Lag: float(a.SkewLag), Rate: float(a.SkewRate)},
		Stale: g.AssignmentStale, Epoch: count(g.AssignmentEpoch),
	}
	if a.Copartitioned >= 0 {
		out.Colocation = &Colocation{Colocated: a.Colocated, Total: a.Copartitioned, Apart: aparts(g)}
	}
	for _, gt := range g.PartitionCounts() {
		out.PartitionCounts = append(out.PartitionCounts, TopicCount{Topic: Text(gt.Topic.Name), Partitions: gt.Rows()})
	}
	if im := g.Imbalance(); im.Cause != collect.ImbalanceNone {
		out.Skew.ExplainedBy = &Imbalance{Cause: string(im.Cause), MemberID: Text(g.Members[im.Member].ID)}
	}
	return out
}

func aparts(g *collect.Group) (out []Apart) {
	if g.Assignment.Colocated == g.Assignment.Copartitioned {
		return nil
	}
	for _, set := range g.JoinSets() {
		if set.Apart == nil {
			continue
		}
		a := Apart{Partitions: set.Apart}
		for _, gt := range set.Topics {
			a.Topics = append(a.Topics, Text(gt.Topic.Name))
		}
		out = append(out, a)
	}
	return out
}

func member(m *collect.Member, t *collect.MemberTotals) Member {
	out := Member{
		MemberID: Text(m.ID), ClientID: Text(m.ClientID), Host: Text(m.Host), InstanceID: Text(m.InstanceID), Rack: Text(m.Rack),
		Epoch: broker(m.Epoch), FirstSeenAt: timestamp(m.FirstSeenAt),
		Assigned: partitionsByTopic(m.Assigned), Decode: string(m.Decode), Rates: rates(t.Produced, t.Consumed),
		StreamsMember: streamsMember(m.Streams),
	}
	if m.HasTarget {
		out.Target = partitionsByTopic(m.Target)
	}
	if m.Decode == collect.DecodeOK || m.Decode == collect.DecodeEmpty { // what it owns is not known otherwise
		out.Lag = count(t.Lag)
	}
	if t.ProgressAt > 0 {
		out.ProgressAt = moment(time.Unix(0, t.ProgressAt))
	}
	return out
}

func partitionsByTopic(tps []collect.TopicPartitions) map[string][]int32 {
	out := make(map[string][]int32, len(tps))
	for _, tp := range tps {
		name := Text(tp.Topic)
		// A member's bytes may name a topic twice; a nil slice would be null.
		out[name] = append(out[name], tp.Partitions...)
		if out[name] == nil {
			out[name] = []int32{}
		}
	}
	return out
}

func findings(fs []collect.Finding) []Finding {
	out := make([]Finding, len(fs))
	for i, f := range fs {
		out[i] = Finding{
			Code: f.Code, Severity: f.Severity.String(), Primary: f.Primary, Since: timestamp(f.Since), Where: where(f.Where),
			CausedBy: f.CausedBy, Summary: Text(f.Summary), Evidence: evidence(f.Evidence), Advice: Text(f.Advice),
		}
	}
	return out
}

func where(w collect.Where) Where {
	out := Where{Topics: texts(w.Topics), Partitions: make([]PartitionRef, len(w.Partitions)), Members: texts(w.Members)}
	for i, p := range w.Partitions {
		out.Partitions[i] = PartitionRef{Topic: Text(p.Topic), Partition: p.Partition}
	}
	return out
}

// evidence keeps JSON valid whatever a rule measured: NaN has no spelling there.
func evidence(es []collect.Evidence) map[string]any {
	out := make(map[string]any, len(es))
	for _, e := range es {
		switch v := e.Value.(type) {
		case float64:
			out[e.Name] = float(v)
		case string:
			out[e.Name] = Text(v)
		default:
			out[e.Name] = v
		}
	}
	return out
}

func event(e collect.Event) Event {
	return Event{
		Schema: Schema, Boot: e.Boot, Seq: e.Seq, Cluster: Text(e.Cluster), Group: Text(e.Group), Kind: string(e.Kind),
		At: timestamp(e.At), StartedAt: moment(e.StartedAt), Seconds: float(e.Seconds), Topic: Text(e.Topic),
		Generation: generationRange(e.GenerationFrom, e.GenerationTo), Count: e.Count,
		Members: MemberCounts{Before: count(e.MembersBefore), After: count(e.MembersAfter)},
		Cause:   string(e.Cause), Style: string(e.Style), Joined: memberRefs(e.Joined), Left: memberRefs(e.Left),
		State: StateChange{From: Text(e.StateFrom), To: Text(e.StateTo)}, Offsets: offsetChanges(e.Offsets),
		Partitions: PartitionCounts{Moved: e.Moved, Gained: e.Gained, Lost: e.Lost, Kept: e.Kept}, Moves: moves(e.Moves),
		Lag: LagChange{Before: count(e.LagBefore), After: count(e.LagAfter)}, Text: Text(e.Text),
	}
}

func generationRange(from, to collect.Generation) *GenerationRange {
	if !from.Known() && !to.Known() {
		return nil
	}
	out := &GenerationRange{From: count(from.Value), To: count(to.Value), Exact: from.Exact && to.Exact, Source: string(to.Source)}
	if !to.Known() {
		out.Source = string(from.Source)
	}
	return out
}

func memberRefs(ms []collect.MemberRef) []MemberRef {
	out := make([]MemberRef, len(ms))
	for i, m := range ms {
		out[i] = MemberRef{MemberID: Text(m.MemberID), ClientID: Text(m.ClientID), Host: Text(m.Host), InstanceID: Text(m.InstanceID)}
	}
	return out
}

func offsetChanges(cs []collect.OffsetChange) []OffsetChange {
	out := make([]OffsetChange, len(cs))
	for i, c := range cs {
		out[i] = OffsetChange{Topic: Text(c.Topic), Partition: c.Partition, From: count(c.From), To: count(c.To)}
	}
	return out
}

func moves(ms []collect.Move) []Move {
	out := make([]Move, len(ms))
	for i, m := range ms {
		out[i] = Move{Topic: Text(m.Topic), Partition: m.Partition, From: Text(m.From), To: Text(m.To)}
	}
	return out
}

func openTransaction(o *collect.OpenTransaction) *OpenTransaction {
	if o == nil {
		return nil
	}
	out := &OpenTransaction{
		StartOffset: o.Start, Seconds: float(o.Age.Seconds), SecondsMethod: ageMethod(o.Age).String(), TransactionalID: Text(o.TransactionalID),
		ProducerID: count(o.ProducerID), ProducerEpoch: count(int64(o.ProducerEpoch)), Coordinator: count(int64(o.Coordinator)),
		State: Text(o.State), Hanging: o.Hanging, Reason: o.Reason.String(),
	}
	if o.Timeout > 0 {
		out.TimeoutSeconds = float(o.Timeout.Seconds())
	}
	return out
}
