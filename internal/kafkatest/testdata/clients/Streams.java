import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TaskMetadata;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.state.Stores;

/**
 * A Kafka Streams application of two subtopologies: it reads topics (an argument topics=a,b; anything else is a property of the
 * application), writes each record by its value to a repartition topic, and counts what that has in a store in memory. Says
 * "tasks thread=active;active/standby;…" whenever its tasks changed, where a task is its input partitions joined by "+" (of a
 * standby task: those of the task it copies), "state X" for its states, and "failed …". Obeys the lines "pause" and "resume":
 * while it pauses it reads on into its buffers, processes nothing and stays in the group. The end of its input ends it.
 */
public class Streams {
    private static volatile boolean stop;

    public static void main(String[] args) throws Exception {
        Properties config = new Properties();
        config.put("default.key.serde", Serdes.ByteArraySerde.class);
        config.put("default.value.serde", Serdes.ByteArraySerde.class);
        config.put("commit.interval.ms", "200");
        config.put("statestore.cache.max.bytes", "0");
        for (String arg : args) {
            int eq = arg.indexOf('=');
            config.put(arg.substring(0, eq), arg.substring(eq + 1));
        }
        List<String> topics = List.of(((String) config.remove("topics")).split(","));
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(topics, Consumed.with(Serdes.ByteArray(), Serdes.ByteArray()))
            .selectKey((k, v) -> Bytes.wrap(v))
            .groupByKey(Grouped.with("rp", Serdes.Bytes(), Serdes.ByteArray()))
            .count(Materialized.<Bytes, Long>as(Stores.inMemoryKeyValueStore("cnt")).withKeySerde(Serdes.Bytes()).withValueSerde(Serdes.Long()));
        KafkaStreams streams = new KafkaStreams(builder.build(new Properties() {{ putAll(config); }}), new StreamsConfig(config));
        streams.setStateListener((to, from) -> System.out.println("state " + to));
        streams.setUncaughtExceptionHandler(e -> {
            System.out.println("failed " + e);
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        Thread input = new Thread(() -> {
            try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in))) {
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                    if (line.equals("pause")) streams.pause();
                    if (line.equals("resume")) streams.resume();
                    System.out.println("done " + line);
                }
            } catch (Exception e) { // a closed input is an ended one
            }
            stop = true;
        });
        input.setDaemon(true);
        input.start();
        streams.start();
        for (String said = ""; !stop && !streams.state().hasCompletedShutdown(); Thread.sleep(100)) {
            String now = tasks(streams);
            if (!now.equals(said)) System.out.println("tasks " + now);
            said = now;
        }
        streams.close();
        System.out.println("left");
    }

    private static String tasks(KafkaStreams streams) {
        TreeMap<String, String> threads = new TreeMap<>();
        streams.metadataForLocalThreads().forEach(t ->
            threads.put(t.consumerClientId(), inputs(t.activeTasks()) + "/" + inputs(t.standbyTasks())));
        return threads.entrySet().stream().map(t -> t.getKey() + "=" + t.getValue()).collect(Collectors.joining(" "));
    }

    private static String inputs(Set<TaskMetadata> tasks) {
        return tasks.stream()
            .map(t -> t.topicPartitions().stream().map(p -> p.topic() + "-" + p.partition()).sorted().collect(Collectors.joining("+")))
            .collect(Collectors.toCollection(TreeSet::new)).stream().collect(Collectors.joining(";"));
    }
}
