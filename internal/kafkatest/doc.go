// Package kafkatest gives tests a real Apache Kafka: combined KRaft nodes on loopback, started from
// Maven's artifacts on the machine's own Java, with Kafka's own command line tools and real clients
// (Java, KafkaJS, librdkafka) beside them.
//
// # What it does
//
// Start (one test) and Shared (all tests of a package) start one or three nodes and end them with the test, also when
// the test binary dies. Tool and its named helpers run Kafka's tools, ParseDescribe, ParseMembers and
// ParseState read what kafka-consumer-groups prints. JavaConsumer, JavaTeam, KafkaJSConsumer, LibrdkafkaConsumer
// and JavaProducer run clients that are not ours, as processes that can be stopped, paused and killed.
//
// # Environment
//
//	KLAGTOP_TEST_BROKERS        host:port,…: use these brokers and start none; what needs our own nodes is skipped
//	KLAGTOP_TEST_KAFKA=required a test that cannot have its Kafka fails instead of being skipped
//	KLAGTOP_TEST_KAFKA_VERSION  the version for tests that name none (default DefaultVersion)
//
// Jars are fetched once by Maven into the user's cache directory, klagtop/kafka-VERSION; the clients for
// Node and Python go beside them.
//
// # What it refuses
//
// It listens on nothing but loopback, keeps no data between tests and knows nothing of klagtop's own
// rooms. It is not a fake: a test that needs a broker's rare answers wants franz-go's kfake.
//
// # Who may import it
//
// Tests only. It imports the standard library and franz-go.
//
// # Concurrency
//
// The methods of Cluster and Client may be called from several goroutines, but each takes the testing.TB
// of the test that calls it and may end that test, so those that take one belong on the test's goroutine.
package kafkatest
