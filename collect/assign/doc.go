// Package assign works out what each assignor would do with a group. It
// implements collect.Planner: Kafka's client-side assignors by franz-go's own
// balancers, fed with the assignment as it is; KafkaJS' round robin, dealing by
// partition index, and the brokers' own assignors (KIP-848) by rules of its own.
//
// It plans and never acts: no group is joined, nothing is committed.
//
// # What is promised
//
// Exact owners where identities decide them: range, round robin, the broker's
// range and by-index, without racks. They are not promised where a member's id is
// yet to be drawn at random and would decide. For the sticky family and the
// broker's uniform it is balance and movement, since clients differ in which
// partition they move. Share groups and Kafka Streams are refused: their
// partitions and tasks are not dealt out by such rules.
//
// # Who may import it
//
// cmd, which hands the Planner on as a collect.Planner. It imports collect and
// franz-go. A Planner has no state and is safe for concurrent use.
package assign
