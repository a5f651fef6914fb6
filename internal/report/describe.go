package report

import (
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/klagtop/klagtop/collect"
)

// Offsets prints, for each group, a sentence and a table of its rows in the
// columns of `kafka-consumer-groups --describe`, with ours after them.
func Offsets(w io.Writer, s *collect.Snapshot, groups []*collect.Group, o Options) error {
	return eachGroup(w, groups, o, func(g *collect.Group) *table { return offsetsTable(s, g, o) }, o.openTransactions)
}

// Members prints, for each group, a sentence and a table of its members in the
// columns of `kafka-consumer-groups --describe --members`, with ours after them.
func Members(w io.Writer, groups []*collect.Group, o Options) error {
	return eachGroup(w, groups, o, func(g *collect.Group) *table { return membersTable(g, o) }, nil)
}

func eachGroup(w io.Writer, groups []*collect.Group, o Options, lay func(*collect.Group) *table, after func(*collect.Group) string) error {
	for i, g := range groups {
		gap := "\n"
		if i == 0 {
			gap = ""
		}
		if _, err := io.WriteString(w, gap+Sentence(g, o)+"\n"+unevenness(g)+missingTopics(g)); err != nil {
			return err
		}
		if t := lay(g); len(t.rows) > 0 {
			if err := t.write(w); err != nil {
				return err
			}
		}
		if after == nil {
			continue
		}
		if _, err := io.WriteString(w, after(g)); err != nil {
			return err
		}
	}
	return nil
}

// Sentence says in one line how a group is.
func Sentence(g *collect.Group, o Options) string {
	parts := []string{string(g.Type), g.State}
	if g.Reason != collect.ReasonNone {
		parts = append(parts, "not described: "+g.Reason.String())
	}
	if g.Assignor != "" {
		parts = append(parts, g.Assignor)
	}
	a := &g.Assignment
	if a.Members >= 0 {
		members := plural(a.Members, "member")
		if a.Idle > 0 {
			members += fmt.Sprintf(" (%d idle)", a.Idle)
		}
		parts = append(parts, members)
	}
	partitions := rows(g) + " partitions"
	if g.Rows() == 1 {
		partitions = "1 partition"
	}
	if a.Unassigned > 0 && a.Members > 0 {
		partitions += fmt.Sprintf(" (%d unassigned)", a.Unassigned)
	}
	parts = append(parts, partitions, "lag "+o.total(&g.Lag))
	if g.Lag.Records != 0 {
		parts = append(parts, "behind "+o.age(g.Lag.Age))
	}
	parts = append(parts, doubts(g)...)
	if g.AssignmentStale {
		parts = append(parts, "members as they were")
	}
	for i := range parts {
		parts[i] = Printable(parts[i])
	}
	return Printable(g.Name) + ": " + strings.Join(parts, ", ")
}

// doubts are the counts that say how a group's total was formed, where they are
// not 0. What a share group lost is known as an upper bound only.
func doubts(g *collect.Group) []string {
	t, most := &g.Lag, ""
	if g.Type == collect.TypeShare {
		most = "up to "
	}
	var out []string
	for _, c := range []struct {
		n    int
		what string
	}{{t.NoCommit, "without a commit"}, {t.Unknown, "unknown"}, {t.Stale, "stale"}} {
		if c.n > 0 {
			out = append(out, strconv.Itoa(c.n)+" "+c.what)
		}
	}
	if t.LostRecords > 0 {
		out = append(out, most+plural(t.LostRecords, "record")+" lost")
	}
	return out
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.FormatInt(n, 10) + " " + what + "s"
}

func offsetsTable(s *collect.Snapshot, g *collect.Group, o Options) *table {
	t := &table{columns: []column{
		text("GROUP"), text("TOPIC"), number("PARTITION"), number("CURRENT-OFFSET"), number("LOG-END-OFFSET"), number("LAG"),
		text("CONSUMER-ID"), text("HOST"), text("CLIENT-ID"), number("TIME-LAG"),
	}}
	if o.Wide {
		t.columns = append(t.columns, number("TIME-ERROR"), number("LOG-START-OFFSET"), number("LAST-STABLE-OFFSET"), number("STABLE-LAG"),
			number("PRODUCED/S"), number("CONSUMED/S"), number("HEADROOM"), number("LEADER"), number("AGE"))
	}
	t.columns = append(t.columns, text("STATUS"))
	group := Printable(g.Name)
	for _, gt := range g.Topics {
		topic := Printable(gt.Topic.Name)
		for i := range gt.Rows() {
			r := gt.Row(i)
			id, host, client := owner(g, &r)
			row := []string{
				group, topic, strconv.Itoa(int(r.Partition)), committed(r.Committed), count(r.LogEnd), count(r.Lag),
				id, host, client, o.age(r.Age),
			}
			if o.Wide {
				bound := "?"
				if r.Age.Known() {
					bound = span(r.Age.Error)
				}
				row = append(row, bound, count(r.LogStart), count(r.LastStable), count(r.LagStable),
					rate(r.Produced), rate(r.Consumed), span(r.Headroom), brokerID(r.Leader), since(r.AsOf, s.TakenAt))
			}
			t.add(append(row, status(g, &r))...)
		}
	}
	for i := range g.Members { // as Kafka's tool has them: a line without a partition
		m := &g.Members[i]
		if !m.Idle() || g.AssignmentStale {
			continue
		}
		row := make([]string, len(t.columns))
		for k := range row {
			row[k] = "-"
		}
		row[0], row[6], row[7], row[8], row[len(row)-1] = group, Printable(m.ID), orDash(m.Host), orDash(m.ClientID), "idle"
		t.add(row...)
	}
	return t
}

// status is a row's status with what it counts and why: no blanks in it, so
// that a line splits into columns.
func status(g *collect.Group, r *collect.Row) string {
	b := r.Status.String()
	switch r.Status {
	case collect.StatusLost:
		b += "=" + strconv.FormatInt(r.Lost, 10)
	case collect.StatusAhead:
		b += "=" + strconv.FormatInt(r.Ahead, 10)
	case collect.StatusUnknown:
		return b + ":" + r.Reason.String()
	}
	if r.Stale {
		b += ",stale:" + r.Reason.String()
	}
	if r.Truncated > 0 {
		b += ",truncated=" + strconv.FormatInt(r.Truncated, 10)
	}
	if r.Open != nil {
		b += ",open-transaction"
	}
	if r.Orphaned {
		b += ",orphaned"
	}
	if len(r.Owners) > 1 && g.Type != collect.TypeShare {
		b += ",conflict"
	}
	return b
}

// owner gives a row's owner; where there are several, the first and how many more.
func owner(g *collect.Group, r *collect.Row) (id, host, client string) {
	if r.Owner < 0 || int(r.Owner) >= len(g.Members) {
		return "-", "-", "-"
	}
	m := &g.Members[r.Owner]
	id = Printable(m.ID)
	if n := len(r.Owners); n > 1 {
		id += "+" + strconv.Itoa(n-1)
	}
	return id, orDash(m.Host), orDash(m.ClientID)
}

func membersTable(g *collect.Group, o Options) *table {
	static, streams := false, false
	for i := range g.Members {
		static = static || g.Members[i].InstanceID != ""
		streams = streams || g.Members[i].Streams != nil
	}
	t := &table{columns: []column{text("GROUP"), text("CONSUMER-ID")}}
	if static {
		t.columns = append(t.columns, text("GROUP-INSTANCE-ID"))
	}
	t.columns = append(t.columns, text("HOST"), text("CLIENT-ID"), number("#PARTITIONS"), number("LAG"))
	if o.Wide {
		t.columns = append(t.columns, number("CONSUMED/S"), text("RACK"), number("CURRENT-EPOCH"), text("CURRENT-ASSIGNMENT"), text("TARGET-ASSIGNMENT"))
	}
	if streams {
		t.columns = append(t.columns, streamsColumns(o.Wide)...)
	}
	totals := g.MemberTotals()
	for i := range g.Members {
		m := &g.Members[i]
		row := []string{Printable(g.Name), Printable(m.ID)}
		if static {
			row = append(row, orDash(m.InstanceID))
		}
		partitions := strconv.Itoa(m.Partitions())
		if !decoded(m) {
			partitions = "?"
		}
		row = append(row, orDash(m.Host), orDash(m.ClientID), partitions, o.memberLag(m, &totals[i]))
		if o.Wide {
			target := "-"
			if m.HasTarget {
				target = assigned(m.Target)
			}
			current := assigned(m.Assigned)
			if !decoded(m) {
				current = string(m.Decode)
			}
			row = append(row, rate(totals[i].Consumed), orDash(m.Rack), brokerID(m.Epoch), current, target)
		}
		if streams {
			row = append(row, streamsCells(m.Streams, o.Wide)...)
		}
		t.add(row...)
	}
	return t
}

// decoded reports whether what a member owns is known.
func decoded(m *collect.Member) bool {
	return m.Decode == collect.DecodeOK || m.Decode == collect.DecodeEmpty
}

// assigned writes partitions as Kafka's tool does: topic:0,1,2;topic2:0.
func assigned(tps []collect.TopicPartitions) string {
	if len(tps) == 0 {
		return "-"
	}
	var b strings.Builder
	for i, tp := range tps {
		if i > 0 {
			b.WriteByte(';')
		}
		b.WriteString(Printable(tp.Topic) + ":")
		for k, p := range tp.Partitions {
			if k > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.Itoa(int(p)))
		}
	}
	return b.String()
}

// State prints one table of all groups in the columns of
// `kafka-consumer-groups --describe --state`, with ours after them.
func State(w io.Writer, s *collect.Snapshot, groups []*collect.Group, o Options) error {
	t := &table{columns: []column{
		text("GROUP"), text("COORDINATOR (ID)"), text("ASSIGNMENT-STRATEGY"), text("STATE"), number("#MEMBERS"),
		text("TYPE"), number("GENERATION"), number("LAG"), number("TIME-LAG"), text("STATUS"),
	}}
	for _, g := range groups {
		generation := "?"
		if g.Generation.Known() {
			generation = strconv.FormatInt(g.Generation.Value, 10)
			if !g.Generation.Exact {
				generation = o.atLeast() + generation
			}
		}
		status := "ok"
		switch {
		case g.Reason != collect.ReasonNone:
			status = g.Reason.String()
		case g.AssignmentStale:
			status = "stale"
		}
		t.add(Printable(g.Name), coordinator(s, g.Coordinator), orDash(g.Assignor), Printable(g.State), count(g.Assignment.Members),
			Printable(string(g.Type)), generation, o.total(&g.Lag), o.age(g.Lag.Age), status)
	}
	return t.write(w)
}

func coordinator(s *collect.Snapshot, id int32) string {
	for _, b := range s.Cluster.Brokers {
		if b.ID == id {
			return Printable(net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))) + " (" + strconv.Itoa(int(id)) + ")"
		}
	}
	return brokerID(id)
}
