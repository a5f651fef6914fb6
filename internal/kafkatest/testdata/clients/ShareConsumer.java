import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A member of a share group that obeys lines of its input, and answers each with "done", the line and a number, or "failed" and why:
 * "poll MS" takes records, of one fetch, or gives up after so long, and says how many it got; "accept N", "release N" and
 * "reject N" acknowledge the next N that it holds and say how many are left; "subscribe TOPICS" and "unsubscribe" change
 * what it reads. It must have acknowledged all it holds before the next poll. Its arguments are properties key=value and topics=A,B.
 * The end of its input makes it leave, and gives back what it holds.
 */
public class ShareConsumer {
    private static final ArrayDeque<ConsumerRecord<byte[], byte[]>> held = new ArrayDeque<>();

    public static void main(String[] args) throws Exception {
        Properties config = new Properties();
        config.put("key.deserializer", ByteArrayDeserializer.class.getName());
        config.put("value.deserializer", ByteArrayDeserializer.class.getName());
        config.put("share.acknowledgement.mode", "explicit");
        for (String arg : args) {
            int eq = arg.indexOf('=');
            config.put(arg.substring(0, eq), arg.substring(eq + 1));
        }
        String topics = (String) config.remove("topics");
        KafkaShareConsumer<byte[], byte[]> consumer = new KafkaShareConsumer<>(config);
        consumer.subscribe(List.of(topics.split(",")));
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            try {
                System.out.println("done " + line + " " + obey(consumer, line.split(" ")));
            } catch (Exception e) {
                System.out.println("failed " + line + ": " + e);
            }
        }
        consumer.close(Duration.ofSeconds(10));
        System.out.println("left");
    }

    private static int obey(KafkaShareConsumer<byte[], byte[]> consumer, String[] words) {
        switch (words[0]) {
            case "poll" -> {
                long end = System.nanoTime() + Long.parseLong(words[1]) * 1_000_000;
                while (held.isEmpty() && System.nanoTime() < end) consumer.poll(Duration.ofMillis(100)).forEach(held::add);
            }
            case "accept", "release", "reject" -> {
                AcknowledgeType type = AcknowledgeType.valueOf(words[0].toUpperCase());
                for (int i = 0; i < Integer.parseInt(words[1]); i++) consumer.acknowledge(held.remove(), type);
                Map<TopicIdPartition, Optional<KafkaException>> results = consumer.commitSync();
                results.values().forEach(e -> e.ifPresent(x -> { throw x; }));
            }
            case "subscribe" -> consumer.subscribe(List.of(words[1].split(",")));
            case "unsubscribe" -> consumer.unsubscribe();
            default -> throw new IllegalArgumentException("unknown command");
        }
        return held.size();
    }
}
