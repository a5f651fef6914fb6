import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Many consumers in one process, where a process for each would keep a machine busy. Its arguments key=value are properties of
 * them all; its input is lines: "join NAME[tab]key=value[tab]…" starts a consumer, whose topics are listed by commas under topics,
 * and "leave NAME" has it leave. It commits nothing, and says "NAME left" and "NAME failed …". The end of its input has all leave.
 */
public class Team {
    private static class Pod extends Thread {
        final String name;
        final Properties config;
        final AtomicBoolean stop = new AtomicBoolean();

        Pod(String name, Properties config) {
            this.name = name;
            this.config = config;
        }

        @Override
        public void run() {
            List<String> topics = List.of(((String) config.remove("topics")).split(","));
            try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(config)) {
                consumer.subscribe(topics);
                while (!stop.get()) consumer.poll(Duration.ofMillis(200));
            } catch (Exception e) {
                System.out.println(name + " failed " + e);
                return;
            }
            System.out.println(name + " left");
        }
    }

    public static void main(String[] args) throws Exception {
        Properties shared = new Properties();
        shared.put("key.deserializer", ByteArrayDeserializer.class.getName());
        shared.put("value.deserializer", ByteArrayDeserializer.class.getName());
        shared.put("enable.auto.commit", "false");
        set(shared, args, 0);
        Map<String, Pod> pods = new HashMap<>();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split("\t");
            String name = words[0].substring(words[0].indexOf(' ') + 1);
            if (words[0].startsWith("leave ")) {
                pods.remove(name).stop.set(true);
                continue;
            }
            Properties config = new Properties();
            config.putAll(shared);
            set(config, words, 1);
            Pod pod = new Pod(name, config);
            pods.put(name, pod);
            pod.start();
        }
        for (Pod pod : pods.values()) pod.stop.set(true);
    }

    private static void set(Properties config, String[] pairs, int from) {
        for (int i = from; i < pairs.length; i++) {
            int eq = pairs[i].indexOf('=');
            config.put(pairs[i].substring(0, eq), pairs[i].substring(eq + 1));
        }
    }
}
