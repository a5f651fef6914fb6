package report

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/internal/document"
)

// CSV is for programs: the keys of the JSON document as headings, names as they
// are, and an empty field where JSON has null. Times are RFC 3339 in UTC. Only on
// a terminal, where no program reads it, are names spelled as in tables.

// OffsetsCSV writes a record per row of each group. With o.Terminal no control
// byte of a name is written, here as in the others.
func OffsetsCSV(w io.Writer, groups []*collect.Group, o Options) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{ // its error is Error's, below
		"group", "topic", "partition", "log_start", "log_end", "last_stable", "committed", "leader_epoch", "lag", "lag_stable",
		"status", "stale", "reason", "lost_records", "ahead_records", "seconds", "seconds_method", "seconds_error", "seconds_reason", "headroom_seconds",
		"produced", "consumed", "progress_at", "member_id", "client_id", "host", "instance_id", "leader", "as_of",
	})
	for _, g := range groups {
		name := o.csvName(g.Name)
		for _, gt := range g.Topics {
			topic := o.csvName(gt.Topic.Name)
			for i := range gt.Rows() {
				r := gt.Row(i)
				lost, ahead := field(r.Lost), field(r.Ahead)
				if r.Status == collect.StatusUnknown {
					lost, ahead = "", ""
				}
				var m collect.Member
				if r.Owner >= 0 && int(r.Owner) < len(g.Members) {
					m = g.Members[r.Owner]
				}
				_ = c.Write([]string{
					name, topic, strconv.Itoa(int(r.Partition)), field(r.LogStart), field(r.LogEnd), field(r.LastStable), field(r.Committed), field(int64(r.CommitEpoch)),
					field(r.Lag), field(r.LagStable), r.Status.String(), strconv.FormatBool(r.Stale), r.Reason.String(), lost, ahead,
					decimal(r.Age.Seconds), r.Age.Method.String(), bound(r.Age), string(r.Age.Reason), decimal(r.Headroom),
					decimal(r.Produced), decimal(r.Consumed), moment(r.ProgressAt),
					o.csvName(m.ID), o.csvName(m.ClientID), o.csvName(m.Host), o.csvName(m.InstanceID), field(int64(r.Leader)), moment(r.AsOf),
				})
			}
		}
	}
	c.Flush()
	return c.Error()
}

// MembersCSV writes a record per member of each group.
func MembersCSV(w io.Writer, groups []*collect.Group, o Options) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{
		"group", "member_id", "client_id", "host", "instance_id", "rack", "epoch", "first_seen_at", "partitions", "assigned", "target", "decode",
		"lag", "produced", "consumed", "process_id", "standby", "warmup",
	})
	for _, g := range groups {
		totals := g.MemberTotals()
		for i := range g.Members {
			m := &g.Members[i]
			partitions, lag := strconv.Itoa(m.Partitions()), field(totals[i].Lag)
			if !decoded(m) {
				partitions, lag = "", ""
			}
			var s collect.StreamsMember
			if m.Streams != nil {
				s = *m.Streams
			}
			_ = c.Write([]string{
				o.csvName(g.Name), o.csvName(m.ID), o.csvName(m.ClientID), o.csvName(m.Host), o.csvName(m.InstanceID), o.csvName(m.Rack),
				field(int64(m.Epoch)), moment(m.FirstSeenAt), partitions, assignedText(m.Assigned), assignedText(m.Target), string(m.Decode),
				lag, decimal(totals[i].Produced), decimal(totals[i].Consumed), o.csvName(s.ProcessID), assignedText(s.Standby), assignedText(s.Warmup),
			})
		}
	}
	c.Flush()
	return c.Error()
}

// StateCSV writes a record per group.
func StateCSV(w io.Writer, groups []*collect.Group, o Options) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{
		"group", "type", "state", "reason", "protocol_type", "assignor", "coordinator", "generation", "generation_exact",
		"members", "idle", "assigned", "unassigned", "orphaned", "conflicts",
		"records", "max", "seconds", "seconds_method", "seconds_error", "complete", "known", "unknown", "no_commit", "stale", "lost_records", "produced", "consumed",
	})
	for _, g := range groups {
		t, a := &g.Lag, &g.Assignment
		lost, exact := field(t.LostRecords), ""
		if t.Records < 0 {
			lost = ""
		}
		if g.Generation.Known() {
			exact = strconv.FormatBool(g.Generation.Exact)
		}
		_ = c.Write([]string{
			o.csvName(g.Name), o.csvName(string(g.Type)), o.csvName(g.State), g.Reason.String(), o.csvName(g.ProtocolType), o.csvName(g.Assignor),
			field(int64(g.Coordinator)), field(g.Generation.Value), exact,
			field(a.Members), field(a.Idle), field(a.Assigned), field(a.Unassigned), field(a.Orphaned), field(a.Conflicts),
			field(t.Records), field(t.Max), decimal(t.Age.Seconds), t.Age.Method.String(), bound(t.Age), strconv.FormatBool(t.Complete),
			strconv.Itoa(t.Known), strconv.Itoa(t.Unknown), strconv.Itoa(t.NoCommit), strconv.Itoa(t.Stale), lost, decimal(g.Produced), decimal(g.Consumed),
		})
	}
	c.Flush()
	return c.Error()
}

// csvName is a name of the cluster's as a field.
func (o Options) csvName(name string) string {
	if o.Terminal && name != "" {
		return Printable(name)
	}
	return document.Text(name)
}

func field(n int64) string {
	if n < 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func decimal(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return ""
	}
	s := strconv.FormatFloat(f, 'f', 6, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

func bound(a collect.Age) string {
	if !a.Known() {
		return ""
	}
	return decimal(a.Error)
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func assignedText(tps []collect.TopicPartitions) string {
	if len(tps) == 0 {
		return ""
	}
	return assigned(tps)
}
