package exporter

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/klagtop/klagtop/collect"
)

// reference makes the page's object families the plain way: one const metric a
// sample, each number read off the snapshot's rows.
type reference struct {
	snap     *collect.Snapshot
	findings []collect.Finding
}

// Describe implements prometheus.Collector; the collector is unchecked.
func (reference) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (r reference) Collect(ch chan<- prometheus.Metric) {
	table := map[string]Metric{}
	for _, m := range Metrics() {
		table[m.Name] = m
	}
	put := func(name string, v float64, labels ...string) {
		if math.IsNaN(v) {
			return
		}
		m := table[name]
		kind := prometheus.GaugeValue
		if m.Type == Counter {
			kind = prometheus.CounterValue
		}
		desc := prometheus.NewDesc(name, m.Help, append([]string{"kafka_cluster"}, m.Labels...), nil)
		ch <- prometheus.MustNewConstMetric(desc, kind, v, append([]string{"prod"}, labels...)...)
	}
	known := func(name string, n int64, labels ...string) {
		if n >= 0 {
			put(name, float64(n), labels...)
		}
	}
	for _, g := range r.snap.Groups {
		r.group(g, put, known)
		m := table["klagtop_group_rebalance_seconds"]
		desc := prometheus.NewDesc(m.Name, m.Help, []string{"kafka_cluster", "group"}, nil)
		ch <- prometheus.MustNewConstSummary(desc, uint64(g.Counters.RebalanceEvents), g.Counters.RebalanceTime.Seconds(), nil, "prod", g.Name)
		r.rows(g, put, known)
	}
	for _, t := range r.snap.Topics {
		if t.Partitions() == 0 {
			continue
		}
		put("klagtop_topic_partitions", float64(t.Partitions()), t.Name)
		put("klagtop_topic_produced_records_total", float64(t.ProducedTotal), t.Name)
		for p := range t.LogEnd {
			if t.LogEnd[p] < 0 {
				continue
			}
			known("klagtop_partition_log_start_offset", t.LogStart[p], t.Name, fmt.Sprint(p))
			known("klagtop_partition_log_end_offset", t.LogEnd[p], t.Name, fmt.Sprint(p))
			known("klagtop_partition_last_stable_offset", t.LastStable[p], t.Name, fmt.Sprint(p))
			if o := t.OpenTransaction(int32(p)); o != nil {
				put("klagtop_partition_open_transaction_seconds", o.Age.Seconds, t.Name, fmt.Sprint(p))
			}
		}
	}
}

type (
	putFunc   func(name string, v float64, labels ...string)
	knownFunc func(name string, n int64, labels ...string)
)

func (r reference) group(g *collect.Group, put putFunc, known knownFunc) {
	put("klagtop_group_info", 1, g.Name, string(g.Type), g.ProtocolType, g.Assignor)
	known("klagtop_group_coordinator_id", int64(g.Coordinator), g.Name)
	states := g.Type.States()
	for _, s := range states {
		put("klagtop_group_state", map[bool]float64{true: 1}[s == g.State], g.Name, s)
	}
	if !strings.Contains(strings.Join(states, " "), g.State) {
		put("klagtop_group_state", 1, g.Name, g.State)
	}
	put("klagtop_group_complete", map[bool]float64{true: 1}[g.Lag.Complete], g.Name)
	a, l, c := g.Assignment, g.Lag, g.Counters
	for name, n := range map[string]int64{
		"members": a.Members, "idle_members": a.Idle, "assigned_partitions": a.Assigned, "unassigned_partitions": a.Unassigned,
		"pending_partitions": a.Pending, "orphaned_partitions": a.Orphaned, "conflicting_partitions": a.Conflicts,
		"known_partitions": int64(l.Known), "unknown_partitions": int64(l.Unknown), "stale_partitions": int64(l.Stale), "uncommitted_partitions": int64(l.NoCommit),
		"lag_records": l.Records, "max_lag_records": l.Max, "stable_lag_records": l.Stable,
		"produced_records_total": c.Produced, "consumed_records_total": c.Consumed, "overtaken_records_total": c.Overtaken,
		"generation": g.Generation.Value, "rebalances_total": c.Rebalances, "moved_partitions_total": c.Moved,
		"colocated_partitions": a.Colocated, "copartitioned_partitions": a.Copartitioned,
	} {
		known("klagtop_group_"+name, n, g.Name)
	}
	if l.Known > 0 {
		put("klagtop_group_assigned_lag_records", float64(l.AssignedRecords), g.Name)
		put("klagtop_group_orphaned_lag_records", float64(l.OrphanedRecords), g.Name)
		put("klagtop_group_uncommitted_lag_records", float64(l.NoCommitRecords), g.Name)
		put("klagtop_group_lost_records", float64(l.LostRecords), g.Name)
		put("klagtop_group_drain_seconds", g.Drain, g.Name)
	}
	if l.Age.Known() {
		put("klagtop_group_lag_seconds", l.Age.Seconds, g.Name)
		put("klagtop_group_lag_seconds_error_bound", l.Age.Error, g.Name)
	}
	put("klagtop_group_retention_headroom_seconds", l.Headroom, g.Name)
	if !g.ProgressAt.IsZero() {
		put("klagtop_group_last_progress_timestamp_seconds", float64(g.ProgressAt.UnixMilli())/1000, g.Name)
	}
	if !c.LastRebalanceAt.IsZero() {
		put("klagtop_group_last_rebalance_timestamp_seconds", float64(c.LastRebalanceAt.Unix()), g.Name)
	}
	if g.Generation.Value >= 0 {
		put("klagtop_group_generation_exact", map[bool]float64{true: 1}[g.Generation.Exact], g.Name)
	}
	put("klagtop_group_offset_jumps_total", float64(c.JumpsBack), g.Name, "back")
	put("klagtop_group_offset_jumps_total", float64(c.JumpsForward), g.Name, "forward")
	put("klagtop_group_skew_ratio", a.SkewPartitions, g.Name, "partitions")
	put("klagtop_group_skew_ratio", a.SkewLag, g.Name, "lag")
	put("klagtop_group_skew_ratio", a.SkewRate, g.Name, "rate")
	seen := map[string]bool{}
	for _, f := range r.findings {
		if f.Group != g.Name || f.Group == "" || seen[f.Code] {
			continue
		}
		seen[f.Code] = true
		put("klagtop_group_finding", 1, g.Name, f.Code, f.Severity.String())
		if f.Primary {
			put("klagtop_group_primary_finding", 1, g.Name, f.Code, f.Severity.String())
		}
	}
}

func (r reference) rows(g *collect.Group, put putFunc, known knownFunc) {
	lags := make([]float64, len(g.Members))
	for _, gt := range g.Topics {
		sum, any := int64(0), false
		for i := range gt.Rows() {
			row := gt.Row(i)
			at := []string{g.Name, row.Topic, fmt.Sprint(row.Partition)}
			known("klagtop_group_partition_lag_records", row.Lag, at...)
			known("klagtop_group_partition_committed_offset", row.Committed, at...)
			if row.Age.Known() {
				put("klagtop_group_partition_lag_seconds", row.Age.Seconds, at...)
			}
			if row.Lost > 0 {
				put("klagtop_group_partition_lost_records", float64(row.Lost), at...)
			}
			if row.Lag >= 0 {
				sum, any = sum+row.Lag, true
			}
			owners := row.Owners
			if owners == nil && row.Owner >= 0 {
				owners = []int32{row.Owner}
			}
			for _, o := range owners {
				m := g.Members[o]
				put("klagtop_group_partition_owner_info", 1, append(at, m.ID, m.ClientID, m.Host, m.InstanceID)...)
				if row.Lag >= 0 {
					lags[o] += float64(row.Lag)
				}
			}
		}
		if any {
			put("klagtop_group_topic_lag_records", float64(sum), g.Name, gt.Topic.Name)
		}
	}
	for i, m := range g.Members {
		if m.Decode == collect.DecodeUndecodable {
			continue
		}
		put("klagtop_group_member_lag_records", lags[i], g.Name, m.ID, m.ClientID, m.Host, m.InstanceID)
		n := 0
		for _, tp := range m.Assigned {
			n += len(tp.Partitions)
		}
		put("klagtop_group_member_partitions", float64(n), g.Name, m.ID, m.ClientID, m.Host, m.InstanceID)
	}
}

// The encoder by hand must say what client_golang says of the same snapshot,
// family by family and sample by sample.
func TestThePageIsWhatClientGolangMakesOfTheSnapshot(t *testing.T) {
	u := everything()
	page := parse(t, serve(t, Options{Members: true}, u).page(t))
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(reference{u.Snapshot, u.Findings})
	want, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if len(want) < 50 {
		t.Fatalf("the reference has only %d families", len(want))
	}
	for _, mf := range want {
		ours := page[mf.GetName()]
		if ours == nil {
			t.Errorf("%s is not on the page", mf.GetName())
			continue
		}
		if got, want := canonical(t, ours), canonical(t, mf); got != want {
			t.Errorf("the page has\n%swhere client_golang makes\n%s", got, want)
		}
		delete(page, mf.GetName())
	}
	for name := range page {
		for _, m := range Metrics() {
			if m.Name == name && m.Level != LevelSelf {
				t.Errorf("%s is on the page and not in the reference", name)
			}
		}
	}
}
