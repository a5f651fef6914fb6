// Package kafka is the one room that talks to a cluster. It turns what brokers
// answer into snapshots by the rules of package collect; every quirk of the
// wire ends here.
//
// # How it asks
//
// Each broker is asked directly, over a client of its own, all of them side by
// side: the broker that lists a group is its coordinator, the leader that
// Metadata names is asked for offsets. What one answer can hold is asked for in
// one request; each error stays with the group or partition it is about.
// Versions are agreed on with each broker, from Kafka 2.1 to the newest.
//
// A broker that leaves a request unanswered holds the others up once. From then
// on polls pass it over, until a probe beside them has had its answer.
//
// # What it refuses
//
// It writes nothing, joins nothing, creates nothing: no Produce, no
// OffsetCommit, no JoinGroup or heartbeat, no Metadata that creates topics, and
// no FindCoordinator, which would create the offsets topic on a fresh cluster.
// It takes no group for gone because a list lacks it. It never waits beyond the
// poll's deadline, and does not try again within a poll what the next poll will
// ask anyway.
//
// # Who may import it
//
// cmd, which wires it to the collector, and internal/config, which fills in
// Config. It imports collect and the Kafka client, and no other room.
//
// # Concurrency
//
// Poll, OffsetsAt and Close are called by one goroutine. Goroutines that a poll
// starts end before it returns; probes of silent brokers end with Close. A panic
// of one goes on in that poll, or the next one, with the stack where it began.
package kafka
