package exporter

import "github.com/klagtop/klagtop/collect"

// Level is how fine the objects are that a metric has series for.
type Level string

// The levels. Group and self are always on the page.
const (
	LevelGroup     Level = "group"
	LevelTopic     Level = "topic"
	LevelPartition Level = "partition"
	LevelMember    Level = "member"
	LevelSelf      Level = "self"
)

// Type is a metric's type as the text format spells it.
type Type string

// The types in use.
const (
	Gauge     Type = "gauge"
	Counter   Type = "counter"
	Summary   Type = "summary"
	Histogram Type = "histogram"
)

// A Metric is one family that the page can have.
type Metric struct {
	Name  string
	Type  Type
	Level Level
	// Labels beside the cluster's, which every family but the process's own has.
	Labels []string
	Help   string
}

// Metrics lists every family klagtop itself puts on the page, in the order of
// the page. Go, process and client metrics come on top.
func Metrics() []Metric {
	var out []Metric
	for _, f := range families() {
		out = append(out, f.Metric)
	}
	return append(out, selfMetrics()...)
}

// A family is a metric with how its samples come about.
type family struct {
	Metric
	write func(e *encoder, c *cluster)
}

// families lists the families of the cluster's objects.
func families() []family {
	var out []family
	for _, fs := range [][]family{groupFamilies(), lagFamilies(), changeFamilies(), topicFamilies(), partitionFamilies(), memberFamilies()} {
		out = append(out, fs...)
	}
	return out
}

func groupMetric(name string, t Type, help string, labels ...string) Metric {
	return Metric{Name: name, Type: t, Level: LevelGroup, Labels: append([]string{"group"}, labels...), Help: help}
}

func groupGauge(name, help string, value func(g *collect.Group) float64) family {
	return family{groupMetric(name, Gauge, help), perGroup(value)}
}

func groupCounter(name, help string, value func(g *collect.Group) float64) family {
	return family{groupMetric(name, Counter, help), perGroup(value)}
}

// groupFamilies are what a group is and who works in it.
func groupFamilies() []family {
	return []family{
		{groupMetric("klagtop_group_info", Gauge, "Always 1; the labels say what the group is. The assignor is that of the last stable assignment.", "type", "protocol_type", "assignor"), writeInfo},
		groupGauge("klagtop_group_coordinator_id", "Id of the broker that coordinates the group.", func(g *collect.Group) float64 { return count(int64(g.Coordinator)) }),
		{groupMetric("klagtop_group_state", Gauge, "1 for the state the group is in, 0 for every other state of its type.", "state"), writeState},
		groupGauge("klagtop_group_complete", "1 when every row of the group was read: its sums are then exact. 0 when rows are unknown or kept from an earlier poll.", func(g *collect.Group) float64 { return truth(g.Lag.Complete) }),
		groupGauge("klagtop_group_members", "Members of the group.", func(g *collect.Group) float64 { return count(g.Assignment.Members) }),
		groupGauge("klagtop_group_idle_members", "Members that own no partition and are given none.", func(g *collect.Group) float64 { return count(g.Assignment.Idle) }),
		groupGauge("klagtop_group_assigned_partitions", "Partitions that a member owns.", func(g *collect.Group) float64 { return count(g.Assignment.Assigned) }),
		groupGauge("klagtop_group_unassigned_partitions", "Partitions that no member owns, those of orphaned topics aside.", func(g *collect.Group) float64 { return count(g.Assignment.Unassigned) }),
		groupGauge("klagtop_group_pending_partitions", "Unassigned partitions that some member is about to take.", func(g *collect.Group) float64 { return count(g.Assignment.Pending) }),
		groupGauge("klagtop_group_orphaned_partitions", "Partitions with commits on topics that no member subscribes to any more.", func(g *collect.Group) float64 { return count(g.Assignment.Orphaned) }),
		groupGauge("klagtop_group_conflicting_partitions", "Partitions that two members own at once.", func(g *collect.Group) float64 { return count(g.Assignment.Conflicts) }),
		groupGauge("klagtop_group_known_partitions", "Partitions whose lag is known.", func(g *collect.Group) float64 { return float64(g.Lag.Known) }),
		groupGauge("klagtop_group_unknown_partitions", "Partitions whose lag is not known; the group's sums are lower bounds while there are any.", func(g *collect.Group) float64 { return float64(g.Lag.Unknown) }),
		groupGauge("klagtop_group_stale_partitions", "Partitions whose numbers are kept from an earlier poll.", func(g *collect.Group) float64 { return float64(g.Lag.Stale) }),
		groupGauge("klagtop_group_uncommitted_partitions", "Partitions without a commit; their lag is all that the log still holds.", func(g *collect.Group) float64 { return float64(g.Lag.NoCommit) }),
	}
}

// lagFamilies are how far behind a group is.
func lagFamilies() []family {
	return []family{
		groupGauge("klagtop_group_lag_records", "Lag in records, the sum over the partitions whose lag is known: a lower bound while klagtop_group_complete is 0.", func(g *collect.Group) float64 { return count(g.Lag.Records) }),
		groupGauge("klagtop_group_max_lag_records", "Largest lag of one partition in records.", func(g *collect.Group) float64 { return count(g.Lag.Max) }),
		groupGauge("klagtop_group_stable_lag_records", "Lag in records below the last stable offset: what a read_committed consumer could read now.", func(g *collect.Group) float64 { return count(g.Lag.Stable) }),
		groupGauge("klagtop_group_assigned_lag_records", "Lag in records on partitions that a member owns.", func(g *collect.Group) float64 { return part(g, g.Lag.AssignedRecords) }),
		groupGauge("klagtop_group_orphaned_lag_records", "Lag in records on topics that no member subscribes to any more.", func(g *collect.Group) float64 { return part(g, g.Lag.OrphanedRecords) }),
		groupGauge("klagtop_group_uncommitted_lag_records", "Lag in records on partitions without a commit.", func(g *collect.Group) float64 { return part(g, g.Lag.NoCommitRecords) }),
		groupGauge("klagtop_group_lag_seconds", "Age in seconds of the oldest unread record. A lower bound where records on some partition have no known age.", func(g *collect.Group) float64 { return g.Lag.Age.Seconds }),
		groupGauge("klagtop_group_lag_seconds_error_bound", "Bound in seconds of the error of klagtop_group_lag_seconds.", func(g *collect.Group) float64 { return ageError(g.Lag.Age) }),
		groupGauge("klagtop_group_lost_records", "Records between commits and log starts: deleted before the group read them; of share groups an upper bound. Not part of the lag.", func(g *collect.Group) float64 { return part(g, g.Lag.LostRecords) }),
		groupGauge("klagtop_group_retention_headroom_seconds", "Seconds until retention deletes a record that the group has not read, on its worst partition.", func(g *collect.Group) float64 { return g.Lag.Headroom }),
		groupGauge("klagtop_group_drain_seconds", "Seconds until the lag is 0 at the present rates; no sample while the lag grows.", drain),
		groupGauge("klagtop_group_last_progress_timestamp_seconds", "When a commit of the group was last seen to advance, in seconds since 1970.", func(g *collect.Group) float64 { return unix(g.ProgressAt) }),
	}
}

// changeFamilies are what happened to a group since klagtop first saw it.
func changeFamilies() []family {
	return []family{
		groupCounter("klagtop_group_produced_records_total", "Records appended to the group's partitions since klagtop first saw it.", func(g *collect.Group) float64 { return float64(g.Counters.Produced) }),
		groupCounter("klagtop_group_consumed_records_total", "Records by which the group's commits advanced since klagtop first saw it.", func(g *collect.Group) float64 { return float64(g.Counters.Consumed) }),
		groupCounter("klagtop_group_overtaken_records_total", "Records that retention deleted before the group read them since klagtop first saw it.", func(g *collect.Group) float64 { return float64(g.Counters.Overtaken) }),
		{groupMetric("klagtop_group_offset_jumps_total", Counter, "Commits seen to move other than by consuming: back, or forward over records that nobody read or past the log end. A lower bound: two between two polls are one, and a forward jump in a group with members is not told from fast consumption.", "direction"), writeJumps},
		groupGauge("klagtop_group_generation", "Generation of a classic group, or epoch of another. A lower bound where klagtop_group_generation_exact is 0.", func(g *collect.Group) float64 { return count(g.Generation.Value) }),
		groupGauge("klagtop_group_generation_exact", "1 when klagtop_group_generation is exact, 0 when it is a lower bound.", generationExact),
		groupCounter("klagtop_group_rebalances_total", "Rebalances seen since klagtop first saw the group; a lower bound where the group tells no exact generation.", func(g *collect.Group) float64 { return float64(g.Counters.Rebalances) }),
		{groupMetric("klagtop_group_rebalance_seconds", Summary, "Duration in seconds of those rebalances that were seen to begin; without quantiles. The count is a lower bound."), writeRebalanceSeconds},
		groupCounter("klagtop_group_moved_partitions_total", "Partitions that rebalances gave to another member; a lower bound, as two moves between two polls are one.", func(g *collect.Group) float64 { return float64(g.Counters.Moved) }),
		groupGauge("klagtop_group_last_rebalance_timestamp_seconds", "When the last rebalance was seen to be over, in seconds since 1970.", func(g *collect.Group) float64 { return unix(g.Counters.LastRebalanceAt) }),
		{groupMetric("klagtop_group_skew_ratio", Gauge, "Largest share of a member divided by the mean share: 1 is even. Of partitions, lag or consume rate.", "of"), writeSkew},
		groupGauge("klagtop_group_colocated_partitions", "Partition numbers of topics with equal partition counts that have the same owner on every one of these topics.", func(g *collect.Group) float64 { return count(g.Assignment.Colocated) }),
		groupGauge("klagtop_group_copartitioned_partitions", "Partition numbers of topics with equal partition counts; klagtop_group_colocated_partitions is a part of it.", func(g *collect.Group) float64 { return count(g.Assignment.Copartitioned) }),
		{groupMetric("klagtop_group_finding", Gauge, "1 for each finding raised about the group now.", "code", "severity"), writeFindings},
		{groupMetric("klagtop_group_primary_finding", Gauge, "1 for the finding that explains the group's state best: cause before symptom.", "code", "severity"), writePrimaryFinding},
	}
}

func topicFamilies() []family {
	metric := func(name string, t Type, help string, labels ...string) Metric {
		return Metric{Name: name, Type: t, Level: LevelTopic, Labels: labels, Help: help}
	}
	return []family{
		{metric("klagtop_group_topic_lag_records", Gauge, "Lag of the group on the topic in records, the sum over the partitions whose lag is known.", "group", "topic"), writeTopicLag},
		{metric("klagtop_topic_partitions", Gauge, "Partitions of the topic.", "topic"), perTopic(func(t *collect.Topic) float64 { return float64(t.Partitions()) })},
		{metric("klagtop_topic_produced_records_total", Counter, "Records appended to the topic since klagtop first saw it.", "topic"), perTopic(func(t *collect.Topic) float64 { return float64(t.ProducedTotal) })},
	}
}

func partitionFamilies() []family {
	metric := func(name, help string, labels ...string) Metric {
		return Metric{Name: name, Type: Gauge, Level: LevelPartition, Labels: labels, Help: help}
	}
	return []family{
		{metric("klagtop_group_partition_lag_records", "Lag of the group on the partition in records.", "group", "topic", "partition"), perRow(lagOfRow)},
		{metric("klagtop_group_partition_lag_seconds", "Age in seconds of the partition's oldest record that the group has not read.", "group", "topic", "partition"), writeRowSeconds},
		{metric("klagtop_group_partition_committed_offset", "Offset that the group committed on the partition.", "group", "topic", "partition"), perRow(commitOfRow)},
		{metric("klagtop_group_partition_lost_records", "Records between the commit and the log start: deleted before the group read them; of share groups an upper bound.", "group", "topic", "partition"), perRow(lostOfRow)},
		{metric("klagtop_partition_log_start_offset", "Log start offset of the partition.", "topic", "partition"), perPartition(func(t *collect.Topic) []int64 { return t.LogStart })},
		{metric("klagtop_partition_log_end_offset", "Log end offset (high watermark) of the partition.", "topic", "partition"), perPartition(func(t *collect.Topic) []int64 { return t.LogEnd })},
		{metric("klagtop_partition_last_stable_offset", "Last stable offset of the partition: where a read_committed consumer must stop.", "topic", "partition"), perPartition(func(t *collect.Topic) []int64 { return t.LastStable })},
		{metric("klagtop_partition_open_transaction_seconds", "Age in seconds of the transaction that holds the last stable offset back; only where it has done so for longer than transactions last by default. A lower bound where no coordinator tells its start.", "topic", "partition"), writeOpenTransactions},
	}
}

func memberFamilies() []family {
	metric := func(name, help string, labels ...string) Metric {
		return Metric{Name: name, Type: Gauge, Level: LevelMember, Labels: labels, Help: help}
	}
	return []family{
		{metric("klagtop_group_partition_owner_info", "Always 1; the labels say which member owns the partition.", "group", "topic", "partition", "member_id", "client_id", "host", "instance_id"), writeOwners},
		{metric("klagtop_group_member_lag_records", "Lag in records on the partitions that the member owns, the sum over those whose lag is known.", "group", "member_id", "client_id", "host", "instance_id"), writeMemberLag},
		{metric("klagtop_group_member_partitions", "Partitions that the member owns.", "group", "member_id", "client_id", "host", "instance_id"), writeMemberPartitions},
	}
}

// selfMetrics are about klagtop's own work, by client_golang.
func selfMetrics() []Metric {
	metric := func(name string, t Type, help string, labels ...string) Metric {
		return Metric{Name: name, Type: t, Level: LevelSelf, Labels: labels, Help: help}
	}
	return []Metric{
		metric(nameUp, Gauge, "1 when the last poll reached any broker; 0 before the first one."),
		metric(nameClusterInfo, Gauge, "Always 1; the label is the id that the cluster gives itself.", "id"),
		metric(nameSeesAll, Gauge, "1 when this principal may see every group, or every topic; 0 when some may be hidden from it.", "what"),
		metric(nameDenied, Gauge, "Groups, and topics that groups read, which this principal can see but may not describe or read; a lower bound, as hidden ones are not counted.", "what"),
		metric(nameClusterFinding, Gauge, "1 for each finding raised about the cluster now.", "code", "severity"),
		metric(namePollComplete, Gauge, "1 when the last poll read everything that was selected."),
		metric(nameSnapshotTime, Gauge, "When the newest poll ended, whether or not a broker answered (see klagtop_up), in seconds since 1970."),
		metric(nameCommitsAge, Gauge, "How old, in seconds, the oldest commits are of groups whose turn it was not in the newest poll; 0 where every poll reads all, as it does from Kafka 3.0 on (older brokers tell of one group at a time)."),
		metric(namePollDuration, Histogram, "Duration in seconds of the polls."),
		metric(nameRebalanceDuration, Histogram, "Duration in seconds of the rebalances of all groups that were seen to begin and to end; the count is a lower bound."),
		metric(namePolls, Counter, "Polls by result: complete, partial (something could not be read) or failed (no broker answered).", "result"),
		metric(nameProblems, Gauge, "Things that the last poll could not do, by stage of the poll and reason.", "stage", "reason"),
		metric(nameDropped, Gauge, "Samples that are left off the page because it would exceed its limit, by level.", "level"),
		metric(nameBuildInfo, Gauge, "Always 1; the labels say which klagtop this is.", "version", "revision", "goversion"),
	}
}
