// A KafkaJS consumer in a group: node consumer.js '{"brokers": [], "group": "", "topics": [], "clientID": "", "assignor": "", "session": "10000", "commitMs": 0, "max": 0, "join": []}'.
// With two topics to join it keeps what it reads of the first by key, and says "joined 3/5" when 3 of the 5 records
// that it has read of the second find their key there.
// It says "assigned t-0,t-1" at each join, "committed t-0=5,…" for each commit, "failed …", and leaves at the end of its input.
const { Kafka, logLevel, AssignerProtocol, PartitionAssigners } = require('kafkajs')

const o = JSON.parse(process.argv[2])
const say = (word, items) => console.log(`${word} ${items.sort().join(',')}`)

// CoPartitionAssigner gives partition p of every topic to one member. As many hand-written assigners do, it claims
// subscription version 1 without the owned partitions that belong to it: strict decoders stumble over that.
const CoPartitionAssigner = ({ cluster }) => ({
  name: 'CoPartitionAssigner',
  version: 1,
  async assign({ members, topics }) {
    const ids = members.map(m => m.memberId).sort()
    const plans = Object.fromEntries(ids.map(id => [id, {}]))
    for (const topic of topics) {
      for (const { partitionId } of cluster.findTopicPartitionMetadata(topic)) {
        const plan = plans[ids[partitionId % ids.length]]
        plan[topic] = [...(plan[topic] || []), partitionId]
      }
    }
    return ids.map(id => ({
      memberId: id,
      memberAssignment: AssignerProtocol.MemberAssignment.encode({ version: this.version, assignment: plans[id], userData: Buffer.alloc(0) }),
    }))
  },
  protocol({ topics }) {
    return { name: this.name, metadata: AssignerProtocol.MemberMetadata.encode({ version: this.version, topics, userData: Buffer.alloc(0) }) }
  },
})
const assigners = { '': PartitionAssigners.roundRobin, RoundRobinAssigner: PartitionAssigners.roundRobin, CoPartitionAssigner }

async function main() {
  const kafka = new Kafka({ clientId: o.clientID, brokers: o.brokers, logLevel: logLevel.ERROR })
  const consumer = kafka.consumer({
    groupId: o.group, partitionAssigners: [assigners[o.assignor]], sessionTimeout: Number(o.session), heartbeatInterval: 500, rebalanceTimeout: 10000, maxWaitTimeInMs: 200,
  })
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    say('assigned', Object.entries(payload.memberAssignment).flatMap(([t, ps]) => ps.map(p => `${t}-${p}`)))
  })
  consumer.on(consumer.events.CRASH, ({ payload }) => console.log(`failed ${payload.error}`))
  await consumer.connect()
  await consumer.subscribe({ topics: o.topics, fromBeginning: true })

  const seen = new Set() // keys of the first topic of the join
  const partners = [] // keys of the second
  const join = (topic, key) => {
    if (topic === o.join[0]) seen.add(key)
    if (topic === o.join[1]) partners.push(key)
  }
  let consumed = 0
  let read = new Map() // topic-partition -> what is to be committed
  const commit = async () => {
    const now = read
    read = new Map()
    if (now.size === 0) return
    await consumer.commitOffsets([...now.values()])
    say('committed', [...now].map(([name, { offset }]) => `${name}=${offset}`))
  }
  await consumer.run({
    autoCommit: false,
    eachBatchAutoResolve: false,
    eachBatch: async ({ batch, resolveOffset, heartbeat }) => {
      for (const { offset, key } of batch.messages) {
        if (o.max > 0 && consumed >= o.max) break
        consumed++
        resolveOffset(offset)
        if (key) join(batch.topic, key.toString())
        read.set(`${batch.topic}-${batch.partition}`, { topic: batch.topic, partition: batch.partition, offset: String(BigInt(offset) + 1n) })
      }
      await heartbeat()
      if (o.join.length > 0) console.log(`joined ${partners.filter(k => seen.has(k)).length}/${partners.length}`)
      if (o.max > 0 && consumed >= o.max) {
        consumer.pause(o.topics.map(topic => ({ topic })))
        if (o.commitMs > 0) await commit()
      }
    },
  })
  const failed = e => console.log(`failed ${e}`) // a commit in the middle of a rebalance: the next one will do
  if (o.commitMs > 0) setInterval(() => commit().catch(failed), o.commitMs)
  process.stdin.on('end', async () => {
    if (o.commitMs > 0) await commit().catch(failed)
    await consumer.disconnect()
    process.exit(0)
  })
  process.stdin.resume()
}

main().catch(e => {
  console.log(`failed ${e}`)
  process.exit(1)
})
