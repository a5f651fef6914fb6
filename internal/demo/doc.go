// Package demo runs a Kafka cluster inside this process and plays a story on it, so that klagtop has
// something worth watching on a machine without Kafka.
//
// The cluster is three kfake brokers on loopback. The story is a stock ticker: ten symbols of the Jakarta
// exchange, two topics of six partitions, a backlog of 200,000 ticks, a group of pods that grows, crashes
// and shrinks, and a second group on the KIP-848 protocol. It goes on until it is closed. What happens
// when is written in one place per story (ticker.go is the first); pods, producer and brokers only do what
// the script tells them.
//
// Any Kafka client may join in at [Cluster.Bootstrap]. For their sake records are compressed with gzip
// (KafkaJS reads no Snappy), DescribeTopicPartitions is not offered (Java's admin client fails on kfake's
// answer and falls back to Metadata without it), and the few answers in which kfake differs from a real
// broker in a way that a client notices are corrected on their way out (wire.go).
//
// The package refuses to be a test bed: there are no knobs beside [Options], nothing is written to disk, it
// listens on loopback only, and it knows nothing of how klagtop reads a cluster. Only cmd/klagtop imports it.
//
// Concurrency: a [Cluster] may be used from any goroutine. One goroutine runs the script; it starts and ends
// every pod and the producer, each of which is one goroutine beside those of its Kafka client. All of them
// have ended when [Cluster.Close] returns.
package demo
