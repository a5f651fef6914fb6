package config

import "strings"

// irrelevant reports whether the key is one of Kafka's client settings that make no difference to a program that
// neither produces nor consumes, and whose connections, retries and ciphers are negotiated in its own way.
func irrelevant(key string) bool {
	for _, prefix := range irrelevantPrefixes {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return strings.Contains(irrelevantKeys, "\n"+key+"\n")
}

var irrelevantPrefixes = []string{
	"sasl.kerberos.", "sasl.oauthbearer.", "sasl.login.refresh.", "sasl.login.retry.", // of mechanisms that are refused themselves
	"metrics.", "metric.",
}

const irrelevantKeys = `
acks
allow.auto.create.topics
auto.commit.interval.ms
auto.include.jmx.reporter
auto.offset.reset
batch.size
bootstrap.controllers
buffer.memory
check.crcs
client.dns.lookup
client.rack
compression.gzip.level
compression.lz4.level
compression.type
compression.zstd.level
connections.max.idle.ms
default.api.timeout.ms
delivery.timeout.ms
enable.auto.commit
enable.idempotence
enable.metrics.push
exclude.internal.topics
fetch.max.bytes
fetch.max.wait.ms
fetch.min.bytes
group.id
group.instance.id
group.protocol
group.remote.assignor
heartbeat.interval.ms
interceptor.classes
isolation.level
key.deserializer
key.serializer
linger.ms
log.level
max.block.ms
max.in.flight.requests.per.connection
max.partition.fetch.bytes
max.poll.interval.ms
max.poll.records
max.request.size
metadata.max.age.ms
metadata.max.idle.ms
metadata.recovery.rebootstrap.trigger.ms
metadata.recovery.strategy
partition.assignment.strategy
partitioner.adaptive.partitioning.enable
partitioner.availability.timeout.ms
partitioner.class
partitioner.ignore.keys
receive.buffer.bytes
reconnect.backoff.max.ms
reconnect.backoff.ms
retries
retry.backoff.max.ms
retry.backoff.ms
sasl.login.connect.timeout.ms
sasl.login.read.timeout.ms
security.providers
send.buffer.bytes
session.timeout.ms
share.acknowledgement.mode
share.acquire.mode
socket.connection.setup.timeout.max.ms
ssl.cipher.suites
ssl.enabled.protocols
ssl.keymanager.algorithm
ssl.protocol
ssl.provider
ssl.secure.random.implementation
ssl.trustmanager.algorithm
transaction.timeout.ms
transaction.two.phase.commit.enable
transactional.id
value.deserializer
value.serializer
`
