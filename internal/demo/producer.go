package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	marketUpdates = "market-updates"
	notifications = "notifications"
	partitions    = 6

	// ticksPerAlert is how many ticks it takes for one price alert in the topic notifications.
	ticksPerAlert = 20
	// produceEvery is how often what is due is sent: seldom enough that gzip finds something to compress.
	produceEvery = 500 * time.Millisecond
	// retention keeps an hour more than the four that a lag may be old before klagtop calls it at risk, and
	// bounds the memory: at the story's average of 40 ticks a second some 90 MB.
	retention = 5 * time.Hour
	// segmentBytes is small because kfake frees a segment only when all of it may go.
	segmentBytes = 256 << 10
)

// exchange produces ticks and price alerts. It is one goroutine's at a time; only its rate may be set from
// elsewhere.
type exchange struct {
	client    *kgo.Client
	tempo     tempo
	perSecond atomic.Int64 // at pace 1
	rng       *rand.Rand
	stocks    []stock
	ticks     int    // produced so far
	current   *stock // trading now, for so many ticks
	left      int
}

// createTopics creates both topics with the story's retention, their leaders spread over the brokers.
func createTopics(kafka *kfake.Cluster, pace tempo) error {
	configs := map[string]string{
		"retention.ms":  millis(pace.shorten(retention)),
		"segment.bytes": strconv.Itoa(segmentBytes),
	}
	for _, topic := range []string{marketUpdates, notifications} {
		if err := kafka.CreateTopic(topic, partitions, configs); err != nil {
			return fmt.Errorf("create topic %s: %w", topic, err)
		}
		// kfake draws leaders by lot, and may leave a broker without any.
		for p := range int32(partitions) {
			if err := kafka.MoveTopicPartition(topic, p, p%brokers); err != nil {
				return fmt.Errorf("move %s partition %d: %w", topic, p, err)
			}
		}
	}
	return nil
}

// newExchange returns an exchange that is closed: its rate is 0. The seed is fixed, so that every demo shows
// the same market.
func newExchange(seeds []string, pace tempo) (*exchange, error) {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(seeds...),
		kgo.ClientID("exchange"),
		// KafkaJS reads no Snappy, kgo's default.
		kgo.ProducerBatchCompression(kgo.GzipCompression().WithLevel(1)),
		// Said although it is the default: the story stands on Kafka's own hash of the key.
		kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)),
		// A fetch returns whole batches: small ones let a pod turn from one partition to the next.
		kgo.ProducerBatchMaxBytes(4<<10),
	)
	if err != nil {
		return nil, fmt.Errorf("create producer: %w", err)
	}
	return &exchange{client: client, tempo: pace, rng: rand.New(rand.NewPCG(1, 2)), stocks: stocks()}, nil
}

// backlog produces n ticks whose timestamps are spread evenly from one moment to another.
func (x *exchange) backlog(ctx context.Context, n int, from, to time.Time) error {
	var failed produceErr
	step := to.Sub(from) / time.Duration(n)
	for i := range n {
		x.client.Produce(ctx, x.tick(from.Add(time.Duration(i)*step)), failed.promise)
	}
	if err := x.client.Flush(ctx); err != nil {
		return err
	}
	return failed.err()
}

// trade sets the rate, in ticks a second at pace 1.
func (x *exchange) trade(perSecond int) func(context.Context) error {
	return func(context.Context) error {
		x.perSecond.Store(int64(perSecond))
		return nil
	}
}

// Run produces at the rate that is set until ctx is done, then closes the client. A context that ends is not
// an error.
func (x *exchange) Run(ctx context.Context) error {
	defer x.client.Close()
	var failed produceErr
	due, last := 0.0, time.Now()
	for {
		if sleep(ctx, max(x.tempo.shorten(produceEvery), 20*time.Millisecond)) != nil {
			return nil
		}
		now := time.Now()
		due += x.tempo.rate(float64(x.perSecond.Load())) * now.Sub(last).Seconds()
		last = now
		for ; due >= 1; due-- {
			x.client.Produce(ctx, x.tick(now), failed.promise)
			if x.ticks%ticksPerAlert == 0 {
				x.client.Produce(ctx, x.alert(now), failed.promise)
			}
		}
		if x.client.Flush(ctx) != nil || ctx.Err() != nil {
			return nil
		}
		if err := failed.err(); err != nil {
			return err
		}
	}
}

// tick is the next trade: JSON keyed by its symbol. Trades of a stock come in runs, as one order is filled by
// several; it also spares memory, for a batch of one record costs three times that of a record among others.
func (x *exchange) tick(at time.Time) *kgo.Record {
	if x.left == 0 {
		x.current, x.left = pick(x.stocks, x.rng), 1+x.rng.IntN(9)
	}
	x.left--
	s := x.current
	s.trade(x.rng)
	x.ticks++
	value := fmt.Appendf(nil, `{"symbol":%q,"price":%d,"volume":%d}`, s.symbol, s.price, 100*(1+x.rng.IntN(50)))
	return &kgo.Record{Topic: marketUpdates, Key: []byte(s.symbol), Value: value, Timestamp: at}
}

// alert is a notification that some stock is on the move.
func (x *exchange) alert(at time.Time) *kgo.Record {
	s := pick(x.stocks, x.rng)
	value := fmt.Appendf(nil, `{"symbol":%q,"alert":"price alert","price":%d}`, s.symbol, s.price)
	return &kgo.Record{Topic: notifications, Key: []byte(s.symbol), Value: value, Timestamp: at}
}

// produceErr keeps the first error of records that were sent without waiting.
type produceErr struct{ first atomic.Pointer[error] }

func (p *produceErr) promise(r *kgo.Record, err error) {
	if err != nil {
		err = fmt.Errorf("produce to %s: %w", r.Topic, err)
		p.first.CompareAndSwap(nil, &err)
	}
}

func (p *produceErr) err() error {
	if first := p.first.Load(); first != nil {
		return *first
	}
	return nil
}
