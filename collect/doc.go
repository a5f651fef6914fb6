// Package collect is the domain of klagtop and its one poll loop: what a
// consumer group looked like at one moment, how far behind it is, what changed
// since, and how that reaches any number of readers.
//
// # What flows through it
//
// A [Source] answers one poll at a time with a [Snapshot], laid out by a
// [Builder] so that the rules of lag, of rows and of what is kept over a failed
// read live here and not beside a wire protocol. The tracker gives the snapshot
// its memory (rates, time lag, rebalances), [Rules] judge it, and the [Hub]
// hands the finished [Update] to every reader.
//
// # What it refuses
//
// It imports no Kafka client, no terminal, no Prometheus, and reads no clock
// but the one it is given. It never waits for a reader. A number that was not
// read is [Unknown], never 0.
//
// # Words
//
// They are Kafka's own. The log end offset is the high watermark; the last
// stable offset is where a read_committed consumer must stop; a generation is a
// classic group's, an epoch a KIP-848 group's.
//
// # Concurrency
//
// A Snapshot, and everything reachable from it, is never changed once it is in
// an Update: any number of goroutines may read it without a lock. Collector and
// Hub methods are safe for concurrent use; Builder, tracker and Rules are used
// by one goroutine, the loop's.
package collect
