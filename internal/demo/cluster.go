package demo

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// brokers is how many nodes the embedded cluster has: enough for leaders and coordinators to differ.
const brokers = 3

const maxPace = 50

// Options says where the demo listens and what it plays. The zero value is the ticker story at its own
// pace on ports that the operating system picks.
type Options struct {
	// Ports to listen on, one per broker, so three; none lets the operating system pick.
	Ports []int
	// Pace multiplies the story's speed: rates, waits, session timeouts. 0 means 1, 50 is the most: the client
	// takes no session timeout below 100 ms.
	Pace float64
	// Logger is told what happens in the story as it happens (level Info). nil discards it.
	Logger *slog.Logger
	// Scenario is the name of one of [Scenarios]. "" means the first.
	Scenario string
}

// Cluster is a running demo: brokers, producer and pods.
type Cluster struct {
	kafka     *kfake.Cluster
	bootstrap string
	end       context.CancelFunc
	ended     chan struct{}
	err       error // of the story; written before ended is closed
}

// Start brings up the brokers, lays down what the scenario begins with (for the ticker: its backlog, about
// a second of work), and then plays the scenario until ctx is done or [Cluster.Close] is called. The
// cluster is ready for clients when Start returns. It fails on an unknown scenario, on a number of ports
// other than none or three, and on a port that is taken.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	scenario, err := find(o.Scenario)
	if err != nil {
		return nil, err
	}
	return start(ctx, o, scenario)
}

func start(ctx context.Context, o Options, scenario Scenario) (*Cluster, error) {
	if n := len(o.Ports); n != 0 && n != brokers {
		return nil, fmt.Errorf("demo needs %d ports, one per broker, or none: got %d", brokers, n)
	}
	if !(o.Pace >= 0 && o.Pace <= maxPace) { // so that NaN is refused too
		return nil, fmt.Errorf("demo pace must be between 0 and %d: got %v", maxPace, o.Pace)
	}
	if o.Pace == 0 {
		o.Pace = 1
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}

	pace := tempo(o.Pace)
	kafka, err := startBrokers(o.Ports, pace)
	if err != nil {
		return nil, fmt.Errorf("start brokers: %w", err)
	}
	seeds := kafka.ListenAddrs()
	playing, end := context.WithCancel(ctx)
	st := &stage{kafka: kafka, seeds: seeds, tempo: pace, log: o.Logger}
	story, err := scenario.prepare(playing, st)
	if err != nil {
		end()
		kafka.Close()
		return nil, fmt.Errorf("prepare scenario %q: %w", scenario.Name, err)
	}

	c := &Cluster{kafka: kafka, bootstrap: strings.Join(seeds, ","), end: end, ended: make(chan struct{})}
	go c.play(playing, story)
	return c, nil
}

// play owns the brokers from here on: they close after the last pod has left them, because a client whose
// brokers are gone waits for them instead of leaving.
func (c *Cluster) play(ctx context.Context, story func(context.Context) error) {
	defer close(c.ended)
	defer c.kafka.Close()
	defer c.end()
	if err := story(ctx); err != nil && ctx.Err() == nil {
		c.err = err
	}
}

// Bootstrap is the address list that a Kafka client takes: "127.0.0.1:1,127.0.0.1:2,127.0.0.1:3".
func (c *Cluster) Bootstrap() string { return c.bootstrap }

// Close ends the story and the brokers and waits for both. Closing twice is fine.
func (c *Cluster) Close() {
	c.end()
	<-c.ended
}

// Wait blocks until the demo has ended, whether closed or failed, and says why it failed; nil after Close
// and after the end of the context given to Start.
func (c *Cluster) Wait() error {
	<-c.ended
	return c.err
}

// startBrokers starts the brokers without topics.
func startBrokers(ports []int, pace tempo) (*kfake.Cluster, error) {
	options := []kfake.Opt{
		kfake.NumBrokers(brokers),
		kfake.ClusterID("klagtop-demo"),
		kfake.ListenFn(newWire().listen),
		kfake.MaxVersions(offered()),
		kfake.GroupMinSessionTimeout(pace.shorten(sessionTimeout)),
		kfake.BrokerConfigs(map[string]string{
			"group.consumer.heartbeat.interval.ms": millis(pace.shorten(heartbeat)),
			"group.consumer.session.timeout.ms":    millis(pace.shorten(sessionTimeout)),
			// How often retention is looked at: kfake has the cleaner's timer do it.
			"log.cleaner.backoff.ms": millis(pace.shorten(time.Minute)),
		}),
	}
	if len(ports) > 0 {
		options = append(options, kfake.Ports(ports...))
	}
	kafka, err := kfake.NewCluster(options...)
	if err != nil {
		return nil, err
	}
	foldFilters(kafka)
	return kafka, nil
}

// offered is what the brokers say they speak: everything but DescribeTopicPartitions, on whose answer from
// kfake Java's admin client fails. Without it that client asks with Metadata, as it does of an old broker.
func offered() *kversion.Versions {
	versions := kversion.Stable()
	versions.SetMaxKeyVersion(int16(kmsg.DescribeTopicPartitions), -1)
	return versions
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
