import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * A producer that obeys lines of its input, and answers each with "done" and the line, or "failed" and why: "begin",
 * "send TOPIC PARTITION COUNT", "commit", "abort". Its arguments are properties key=value; it is
 * transactional if transactional.id is among them. The end of its input closes it, which aborts an open transaction; killed, it leaves it open.
 */
public class Producer {
    public static void main(String[] args) throws Exception {
        Properties config = new Properties();
        config.put("key.serializer", StringSerializer.class.getName());
        config.put("value.serializer", StringSerializer.class.getName());
        for (String arg : args) {
            int eq = arg.indexOf('=');
            config.put(arg.substring(0, eq), arg.substring(eq + 1));
        }
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(config)) {
            if (config.containsKey("transactional.id")) producer.initTransactions();
            System.out.println("ready");
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
            for (String line; (line = in.readLine()) != null; ) {
                try {
                    obey(producer, line.split(" "));
                    System.out.println("done " + line);
                } catch (Exception e) {
                    System.out.println("failed " + line + ": " + e);
                }
            }
        }
    }

    private static void obey(KafkaProducer<String, String> producer, String[] words) throws Exception {
        switch (words[0]) {
            case "begin" -> producer.beginTransaction();
            case "commit" -> producer.commitTransaction();
            case "abort" -> producer.abortTransaction();
            case "send" -> {
                Future<?> last = null;
                for (int i = 0; i < Integer.parseInt(words[3]); i++) {
                    last = producer.send(new ProducerRecord<>(words[1], Integer.valueOf(words[2]), null, "record " + i));
                }
                producer.flush();
                if (last != null) last.get();
            }
            default -> throw new IllegalArgumentException("unknown command");
        }
    }
}
