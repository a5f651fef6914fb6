package tui

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/klagtop/klagtop/collect"
)

// explanation says the chosen row's numbers in sentences.
type explanation struct{ top int }

func (*explanation) scope() scope { return inExplain }

// draw explains the row as it is now: the numbers go on while it is read.
func (o *explanation) draw(m *model, w, h int) []string {
	body := o.sentences(m, w)
	room := max(1, h-1)
	top := max(0, min(o.top, len(body)-room))
	title := "explain"
	if len(body) > room {
		title += ", j k for the rest"
	}
	return append([]string{rule(m.look, title, w)}, body[top:min(len(body), top+room)]...)
}

func (o *explanation) sentences(m *model, w int) []string {
	var lines []string
	for _, s := range m.pane().explain(&m.scene) {
		for i, l := range wrap(s, w-4) {
			indent := "  "
			if i > 0 {
				indent = "    "
			}
			lines = append(lines, cutEnd(indent+l, w, m.look.glyphs.more))
		}
	}
	if len(lines) == 0 {
		return []string{"  there is no row to explain"}
	}
	return lines
}

func (o *explanation) scroll(m *model, by int) {
	last := len(o.sentences(m, m.width)) - (m.bodyHeight() - 1)
	o.top = max(0, min(o.top+by, last))
}

func (m *model) openExplain() {
	m.pane().hold()
	m.overlay = &explanation{}
}

func explainPartition(s *scene, g *collect.Group, r *partitionRow) []string {
	if g == nil {
		return nil
	}
	name := fmt.Sprintf("%s-%d", r.label, r.Partition)
	var out []string
	switch share := g.Type == collect.TypeShare && r.Status != collect.StatusUnknown; {
	case share:
		out = append(out, explainShare(s.look.name(g.Name), name, r))
	case r.Status == collect.StatusOK:
		out = append(out, fmt.Sprintf("%s is %s behind on %s: the log ends at %d and %d is committed.", s.look.name(g.Name), records(r.Lag), name, r.LogEnd, r.Committed))
	case r.Status == collect.StatusNoCommit:
		out = append(out, fmt.Sprintf("%s has no commit on %s, so its lag is counted from the log start: %d - %d = %s, all that the log still holds, on the assumption that the group will begin there.",
			s.look.name(g.Name), name, r.LogEnd, r.LogStart, records(r.Lag)))
	case r.Status == collect.StatusLost:
		out = append(out, fmt.Sprintf("%s committed %d on %s, but the log now starts at %d: retention took %s before they were read. They are lost and not counted; the lag is what is left, %d - %d = %s.",
			s.look.name(g.Name), r.Committed, name, r.LogStart, records(r.Lost), r.LogEnd, r.LogStart, records(r.Lag)))
	case r.Status == collect.StatusAhead:
		out = append(out, fmt.Sprintf("%s committed %d on %s, %s beyond the log end %d: the topic was recreated or truncated, or the commit was set by hand. The lag counts as 0.",
			s.look.name(g.Name), r.Committed, name, records(r.Ahead), r.LogEnd))
	default:
		out = append(out, fmt.Sprintf("The lag of %s on %s is not known: %s.", s.look.name(g.Name), name, reasonWords(r.Reason)))
	}
	if r.Truncated > 0 {
		out = append(out, fmt.Sprintf("The log was cut below that commit, by %s, when another leader was elected: what the group read there is gone, and what stands there now it will not read before it goes back.", records(r.Truncated)))
	}
	if r.Stale {
		out = append(out, fmt.Sprintf("The newest poll could not read it (%s); these are the last numbers.", reasonWords(r.Reason)))
	}
	if r.LastStable >= 0 && r.LastStable < r.LogEnd {
		out = append(out, fmt.Sprintf("An open transaction holds the last stable offset at %d: a read_committed consumer can read %s of them now.", r.LastStable, records(r.LagStable)))
		if r.Open != nil {
			out = append(out, explainTransaction(s, r.Open))
		}
	}
	out = append(out, explainAge(r.Lag, r.Age))
	out = append(out, explainHeadroom(r.Headroom)...)
	owner := "No member owns it."
	if r.owner != "" {
		owner = "Its owner is " + r.owner + "."
		if r.stale {
			owner = "Its owner before the rebalance was " + r.owner + "."
		}
	}
	return append(out, owner+" The numbers are "+ago(s.look.now, r.AsOf)+" old.")
}

// explainTransaction says whose transaction is waited for.
func explainTransaction(s *scene, o *collect.OpenTransaction) string {
	who := "a producer that this principal may not see"
	switch {
	case o.TransactionalID != "":
		who = fmt.Sprintf("%s (producer %d, epoch %d)", s.look.text(o.TransactionalID), o.ProducerID, o.ProducerEpoch)
	case o.ProducerID >= 0:
		who = fmt.Sprintf("producer %d, epoch %d", o.ProducerID, o.ProducerEpoch)
	}
	age := "for an unknown time"
	switch {
	case o.Age.Method == collect.MethodAtLeast:
		age = "for at least " + seconds(o.Age.Seconds)
	case o.Age.Known():
		age = "for " + seconds(o.Age.Seconds)
	}
	end := ""
	switch {
	case o.Hanging:
		end = " It hangs: its coordinator has forgotten it, and it will not end by itself."
	case o.Timeout > 0:
		end = " It times out after " + seconds(o.Timeout.Seconds()) + "."
	}
	return "It is that of " + who + ", open " + age + "." + end
}

// explainShare explains a share partition's lag, which does not follow from its
// start offset.
func explainShare(group, name string, r *partitionRow) string {
	switch r.Status {
	case collect.StatusLost:
		return fmt.Sprintf("Of %s the log now starts at %d, and the share group %s at %d: retention took up to %s before they were done. Of the others, %s are not done, those that members hold among them.",
			name, r.LogStart, group, r.Committed, records(r.Lost), records(r.Lag))
	case collect.StatusAhead:
		return fmt.Sprintf("The share group %s starts at %d on %s, %s beyond the log end %d: the topic was recreated or truncated. The lag counts as 0.",
			group, r.Committed, name, records(r.Ahead), r.LogEnd)
	}
	return fmt.Sprintf("The share group %s is %s behind on %s: so many, from its start offset %d to the log end %d, are not done, those that members hold among them. The broker counts them; the start offset trails.",
		group, records(r.Lag), name, r.Committed, r.LogEnd)
}

func explainGroup(s *scene, r *groupRow) []string {
	t := &r.Lag
	var out []string
	switch {
	case t.Records < 0:
		out = append(out, fmt.Sprintf("The lag of %s is not known: none of its rows could be read.", r.label))
	case t.Known+t.Unknown == 0:
		out = append(out, fmt.Sprintf("%s has no assigned partitions and no committed offsets: there is nothing to be behind on.", r.label))
	default:
		out = append(out, fmt.Sprintf("%s is %s behind, summed over %s.", r.label, records(t.Records), things(t.Known, "partition")))
	}
	if t.Unknown > 0 && t.Records >= 0 {
		out = append(out, fmt.Sprintf("%s could not be read, so the lag is at least that.", things(t.Unknown, "further partition")))
	}
	if t.Stale > 0 {
		out = append(out, fmt.Sprintf("%s of them kept from an earlier poll.", things(t.Stale, "number")))
	}
	if t.NoCommit > 0 {
		out = append(out, fmt.Sprintf("%s without a commit, counted from the log start: %s.", things(t.NoCommit, "partition"), records(t.NoCommitRecords)))
	}
	if t.OrphanedRecords > 0 {
		out = append(out, fmt.Sprintf("%s lie on topics that no member subscribes to any more.", records(t.OrphanedRecords)))
	}
	if t.LostRecords > 0 {
		out = append(out, fmt.Sprintf("Retention took %s before they were read; they are not counted.", records(t.LostRecords)))
	}
	for _, topic := range r.MissingTopics {
		out = append(out, "It cannot work without its source topic "+s.look.name(topic)+", which does not exist.")
	}
	if r.Reason != collect.ReasonNone {
		out = append(out, "The group could not be described: "+reasonWords(r.Reason)+".")
	}
	if r.CommitsReason != collect.ReasonNone {
		out = append(out, "Its commits could not be read: "+reasonWords(r.CommitsReason)+".")
	}
	out = append(out, explainAge(t.Records, t.Age))
	out = append(out, explainHeadroom(t.Headroom)...)
	out = append(out, explainPace(r.Group)...)
	if f := r.finding; f != nil {
		out = append(out, s.look.text(f.Code+": "+f.Summary))
		if f.Advice != "" {
			out = append(out, s.look.text(f.Advice))
		}
	}
	return append(out, "The commits were read "+ago(s.look.now, r.CommitsAt)+" ago.")
}

func explainMember(s *scene, g *collect.Group, r *memberRow) []string {
	if g == nil {
		return nil
	}
	var out []string
	switch {
	case r.Decode == collect.DecodeUndecodable:
		out = append(out, r.label+" has an assignment that cannot be decoded: what it owns is not known.")
	case r.Decode == collect.DecodeNotConsumer:
		out = append(out, r.label+" has an assignment of another protocol: it owns no topic partitions.")
	case r.Idle() && !r.stale:
		out = append(out, r.label+" owns no partitions: the group has more members than partitions for them, or its subscription matches nothing.")
	default:
		out = append(out, fmt.Sprintf("%s owns %s of %s and is %s behind on them.", r.label, things(r.Partitions(), "partition"), s.look.name(g.Name), records(r.totals.Lag)))
	}
	if r.totals.Unknown > 0 {
		out = append(out, fmt.Sprintf("The lag of %s is not known.", things(r.totals.Unknown, "of its partitions")))
	}
	if r.totals.Stale > 0 {
		out = append(out, fmt.Sprintf("The lag of %s is kept from an earlier poll.", things(r.totals.Stale, "of its partitions")))
	}
	if r.stale {
		out = append(out, "The group rebalances: this is what the member owned before.")
	}
	if r.HasTarget {
		if take, leave := difference(r.Target, r.Assigned); take+leave > 0 {
			out = append(out, fmt.Sprintf("Its target differs: it has yet to take %d and to give up %d.", take, leave))
		}
	}
	out = append(out, explainCopies(s.look, r.Streams)...)
	return append(out, "It connects from "+orElse(s.look.text(r.Host), "an unknown host")+", member id "+s.look.text(r.ID)+".")
}

func explainTopic(s *scene, g *collect.Group, r *topicRow) []string {
	if g == nil {
		return nil
	}
	t := &r.totals
	out := []string{fmt.Sprintf("%s is %s behind on %s, over %s.", s.look.name(g.Name), records(t.Records), r.label, things(r.Rows(), "partition"))}
	if t.Records < 0 {
		out = []string{fmt.Sprintf("The lag of %s on %s is not known.", s.look.name(g.Name), r.label)}
	}
	if t.Unknown > 0 && t.Records >= 0 {
		out = append(out, fmt.Sprintf("%s could not be read, so it is at least that.", things(t.Unknown, "partition")))
	}
	if t.Stale > 0 {
		out = append(out, fmt.Sprintf("%s of them kept from an earlier poll.", things(t.Stale, "number")))
	}
	if t.NoCommit > 0 {
		out = append(out, fmt.Sprintf("%s without a commit, counted from the log start: %s.", things(t.NoCommit, "partition"), records(t.NoCommitRecords)))
	}
	if r.Orphaned {
		out = append(out, "No member subscribes to the topic any more: its commits are left over.")
	}
	if r.Topic.Reason != collect.ReasonNone {
		out = append(out, "The topic could not be read: "+reasonWords(r.Topic.Reason)+".")
	}
	return out
}

// explainAge says how old the first unread record is and how that is known.
func explainAge(lag int64, a collect.Age) string {
	switch {
	case lag == 0:
		return "Nothing is unread, so the time lag is 0."
	case !a.Known() || math.IsNaN(a.Seconds):
		return "How old the first unread record is, is not known" + agePart(a.Reason) + "."
	case a.Method == collect.MethodAtLeast:
		return "The first unread record is at least " + seconds(a.Seconds) + " old."
	case a.Method == collect.MethodInterpolated:
		return "The first unread record is about " + seconds(a.Seconds) + " old, give or take " + seconds(a.Error) + "."
	}
	return "The first unread record is " + seconds(a.Seconds) + " old."
}

// explainHeadroom says how long retention leaves the first unread record.
func explainHeadroom(h float64) []string {
	if math.IsNaN(h) {
		return nil
	}
	return []string{"Retention may delete the first unread record in " + seconds(h) + ", no sooner."}
}

// explainPace says what the rates are taken over, and where they lead.
func explainPace(g *collect.Group) []string {
	var out []string
	if g.CommitInterval > 0 {
		out = append(out, fmt.Sprintf("Its commits advance about every %s; one that has not moved for %s stands still.", wholeSeconds(g.CommitInterval.Round(time.Second)), wholeSeconds(g.Window.Round(time.Second))))
	}
	switch {
	case math.IsNaN(g.Consumed) && !math.IsNaN(g.Produced):
		out = append(out, "How much it consumes is not known yet: some partition has not been seen to commit twice.")
	case !math.IsNaN(g.Drain):
		out = append(out, fmt.Sprintf("It consumes %s a second more than is produced: the backlog is gone in %s, if that goes on.", perSecond(g.Consumed-g.Produced), seconds(g.Drain)))
	}
	return out
}

// perSecond is a rate in words.
func perSecond(r float64) string {
	if r < 10 {
		return fmt.Sprintf("%.1f records", r)
	}
	return records(int64(math.Round(r)))
}

func agePart(r collect.SecondsReason) string {
	switch r {
	case "":
		return " yet"
	case collect.SecondsControlRecords:
		return ": what is unread may be transaction markers only"
	case collect.SecondsClockSkew:
		return ": timestamps lie in the future"
	case collect.SecondsBudget:
		return ": the search has not come to it yet"
	}
	return ": " + strings.ReplaceAll(string(r), "_", " ")
}

func reasonWords(r collect.Reason) string {
	switch r {
	case collect.ReasonDenied:
		return "this principal may not see it"
	case collect.ReasonNoLeader:
		return "the partition has no leader"
	case collect.ReasonTopicMissing:
		return "the topic or partition does not exist"
	case collect.ReasonBrokerDown:
		return "the broker that would know cannot be reached"
	case collect.ReasonLoading:
		return "the coordinator is still loading its offsets"
	case collect.ReasonTimeout:
		return "no answer came in time"
	case collect.ReasonUnsupported:
		return "this broker does not support it"
	case collect.ReasonNotReported:
		return "the broker gives no number"
	case collect.ReasonError:
		return "an error"
	}
	return "no reason was given"
}

func records(n int64) string {
	switch {
	case n < 0:
		return "an unknown number of records"
	case n == 1:
		return "1 record"
	}
	return grouped(n) + " records"
}

func things(n int, what string) string {
	if n == 1 || strings.HasPrefix(what, "of ") {
		return fmt.Sprintf("%d %s", n, what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}
