import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A consumer in a group, told what to do by arguments key=value: topics (by commas), commit.ms (0: never), max.records (0: all;
 * then it stays in the group without reading on); anything else is a property of the consumer. Says
 * "assigned t-0,t-1" whenever its assignment changed, "given MS t-0,…" and "taken MS t-0,…" as its listener was told,
 * at which millisecond, "committed t-0=5,…" for each commit and "failed …".
 * The end of its input makes it commit and leave the group.
 */
public class Consumer {
    private static long consumed;
    private static boolean joined;

    public static void main(String[] args) throws Exception {
        Properties config = new Properties();
        config.put("key.deserializer", ByteArrayDeserializer.class.getName());
        config.put("value.deserializer", ByteArrayDeserializer.class.getName());
        config.put("enable.auto.commit", "false");
        config.put("auto.offset.reset", "earliest");
        for (String arg : args) {
            int eq = arg.indexOf('=');
            config.put(arg.substring(0, eq), arg.substring(eq + 1));
        }
        List<String> topics = List.of(((String) config.remove("topics")).split(","));
        long commitMs = Long.parseLong((String) config.remove("commit.ms"));
        long max = Long.parseLong((String) config.remove("max.records"));
        KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(config);
        AtomicBoolean stop = new AtomicBoolean(); // not wakeup(): it may hit the last commit, and then nobody leaves the group
        Thread input = new Thread(() -> {
            try (InputStream in = System.in) {
                while (in.read() >= 0) { }
            } catch (Exception e) { // a closed input is an ended one
            }
            stop.set(true);
        });
        input.setDaemon(true);
        input.start();
        consumer.subscribe(topics, new ConsumerRebalanceListener() {
            public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                told("given", partitions);
                joined = true;
            }

            // Commits what was read before the next owner begins, as a well-behaved application does.
            public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                told("taken", partitions);
                if (commitMs > 0) commit(consumer, partitions);
            }

            public void onPartitionsLost(Collection<TopicPartition> partitions) { }
        });
        try {
            run(consumer, commitMs, max, stop);
        } catch (Exception e) {
            System.out.println("failed " + e);
            System.exit(1);
        }
        if (commitMs > 0) commit(consumer, consumer.assignment());
        consumer.close();
        System.out.println("left");
    }

    private static void run(KafkaConsumer<byte[], byte[]> consumer, long commitMs, long max, AtomicBoolean stop) {
        String said = null;
        long committed = 0;
        long committedAt = System.nanoTime();
        while (!stop.get()) {
            ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(100));
            read(consumer, records, max);
            String now = consumer.assignment().stream().map(Consumer::name).sorted().collect(Collectors.joining(","));
            if (joined && !now.equals(said)) {
                System.out.println("assigned " + now);
                said = now;
            }
            long since = (System.nanoTime() - committedAt) / 1_000_000;
            boolean full = max > 0 && consumed >= max;
            if (commitMs > 0 && consumed > committed && (since >= commitMs || full)) {
                commit(consumer, consumer.assignment());
                committed = consumed;
                committedAt = System.nanoTime();
            }
        }
    }

    /** Counts records up to max exactly; those beyond it are given back and their partitions paused. */
    private static void read(KafkaConsumer<byte[], byte[]> consumer, ConsumerRecords<byte[], byte[]> records, long max) {
        Map<TopicPartition, Long> unread = new HashMap<>();
        for (ConsumerRecord<byte[], byte[]> record : records) {
            if (max == 0 || consumed < max) consumed++;
            else unread.putIfAbsent(new TopicPartition(record.topic(), record.partition()), record.offset());
        }
        unread.forEach(consumer::seek);
        if (max > 0 && consumed >= max) consumer.pause(consumer.assignment());
    }

    private static void commit(KafkaConsumer<byte[], byte[]> consumer, Collection<TopicPartition> partitions) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        try {
            for (TopicPartition p : partitions) offsets.put(p, new OffsetAndMetadata(consumer.position(p, Duration.ofSeconds(5))));
            if (offsets.isEmpty()) return;
            consumer.commitSync(offsets);
        } catch (KafkaException e) { // in the middle of a rebalance: the next commit, or the next owner, makes up for it
            System.out.println("failed " + e);
            return;
        }
        TreeMap<String, Long> said = new TreeMap<>();
        offsets.forEach((p, o) -> said.put(name(p), o.offset()));
        System.out.println("committed " + said.entrySet().stream().map(e -> e.getKey() + "=" + e.getValue()).collect(Collectors.joining(",")));
    }

    /** Says what the listener was told, and when, in milliseconds since 1970. */
    private static void told(String what, Collection<TopicPartition> partitions) {
        System.out.println(what + " " + System.currentTimeMillis() + " " + partitions.stream().map(Consumer::name).sorted().collect(Collectors.joining(",")));
    }

    private static String name(TopicPartition p) {
        return p.topic() + "-" + p.partition();
    }
}
