package demo

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const patience = 30 * time.Second

// within is a context for what has to happen soon; a test that waits for it longer fails.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// eventually waits until the group is as wanted, and fails with its last state when that never happens.
func eventually(t *testing.T, kafka *kfake.Cluster, group, want string, is func(*kfake.GroupInfo) bool) *kfake.GroupInfo {
	t.Helper()
	info, err := kafka.WaitGroupInfo(within(t), group, is)
	if err != nil {
		t.Fatalf("group %s: waited for %s, last seen: %+v", group, want, info)
	}
	return info
}

// shape is how many partitions of a topic each member has, by client id.
func shape(info *kfake.GroupInfo, topic string) map[string]int {
	counts := map[string]int{}
	for _, m := range info.Members {
		counts[m.ClientID] = len(m.Assignment[topic])
	}
	return counts
}

// sharedAs tells whether a stable group's members have exactly these numbers of partitions of both topics.
func sharedAs(counts ...int) func(*kfake.GroupInfo) bool {
	return func(info *kfake.GroupInfo) bool {
		if info == nil || info.State != "Stable" || len(info.Members) != len(counts) {
			return false
		}
		for _, topic := range []string{marketUpdates, notifications} {
			var got []int
			for _, n := range shape(info, topic) {
				got = append(got, n)
			}
			slices.Sort(got)
			if !slices.Equal(got, counts) {
				return false
			}
		}
		return true
	}
}

func committed(info *kfake.GroupInfo, topic string) int64 {
	if info == nil {
		return 0
	}
	sum := int64(0)
	for _, c := range info.Commits[topic] {
		sum += c.Offset
	}
	return sum
}

// testStage is brokers without topics, at five times a story's pace: sessions of 1.2 seconds survive a busy
// machine.
func testStage(t *testing.T) *stage {
	t.Helper()
	kafka, err := startBrokers(nil, 5)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kafka.Close)
	return &stage{kafka: kafka, seeds: kafka.ListenAddrs(), tempo: 5, log: slog.New(slog.DiscardHandler)}
}

func topics(t *testing.T, s *stage) {
	t.Helper()
	if err := createTopics(s.kafka, s.tempo); err != nil {
		t.Fatal(err)
	}
}

func do(t *testing.T, action func(context.Context) error) {
	t.Helper()
	if err := action(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestDemoBeginsWithABacklogThatNobodyHasCommitted(t *testing.T) {
	c, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if n := len(strings.Split(c.Bootstrap(), ",")); n != brokers {
		t.Errorf("bootstrap %q has %d addresses, want %d", c.Bootstrap(), n, brokers)
	}
	ends := int64(0)
	for _, p := range c.kafka.PartitionInfos(marketUpdates) {
		if p.HighWatermark == 0 || p.LogStartOffset != 0 {
			t.Errorf("partition %d holds %d to %d", p.Partition, p.LogStartOffset, p.HighWatermark)
		}
		ends += p.HighWatermark
	}
	if ends != 200_000 {
		t.Errorf("backlog is %d ticks, want 200,000", ends)
	}
	for _, p := range c.kafka.PartitionInfos(notifications) {
		if p.HighWatermark != 0 {
			t.Errorf("%s holds records before the exchange opens", notifications)
		}
	}
	if info := c.kafka.GroupInfo("ticker"); info != nil && len(info.Commits) != 0 {
		t.Errorf("somebody has committed: %v", info.Commits)
	}
}

func TestTwoPodsThenThreeReadTheBacklog(t *testing.T) {
	s := testStage(t)
	const backlog = 40_000
	story, err := newTickerStory(t.Context(), s, backlog)
	if err != nil {
		t.Fatal(err)
	}
	defer story.exchange.client.Close()
	f := story.ticker
	defer f.endAll()

	do(t, f.cast("pod-1", "pod-2"))
	warm := eventually(t, s.kafka, "ticker", "3/3", sharedAs(3, 3))
	if len(warm.Commits) != 0 || f.behind(marketUpdates) != backlog {
		t.Errorf("%d behind, and commits before the first tick was handled: %v", f.behind(marketUpdates), warm.Commits)
	}
	do(t, f.handling(500))
	eventually(t, s.kafka, "ticker", "first commits", func(info *kfake.GroupInfo) bool {
		return committed(info, marketUpdates) > 0
	})
	do(t, f.cast("pod-1", "pod-2", "pod-3"))
	eventually(t, s.kafka, "ticker", "2/2/2", sharedAs(2, 2, 2))
	do(t, f.handling(5000))
	eventually(t, s.kafka, "ticker", "an empty backlog", func(info *kfake.GroupInfo) bool {
		return committed(info, marketUpdates) >= backlog
	})
	if left := f.behind(marketUpdates); left != 0 {
		t.Errorf("%d behind after the backlog is read", left)
	}
}

func TestEveryStepOfTheScriptCanBeDone(t *testing.T) {
	s := testStage(t)
	story, err := newTickerStory(t.Context(), s, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer story.exchange.client.Close()
	defer story.alerts.endAll()
	defer story.ticker.endAll()
	for name, act := range map[string]func() ([]step, time.Duration){"opening": story.opening, "day": story.day} {
		steps, length := act()
		for i, next := range steps {
			if i > 0 && next.at <= steps[i-1].at || next.at >= length {
				t.Errorf("%s: %q is out of order", name, next.say)
			}
		}
	}
	opening, _ := story.opening()
	day, _ := story.day()
	for _, next := range slices.Concat(opening, day, day[:1]) {
		if err := next.do(t.Context()); err != nil {
			t.Fatalf("%s: %v", next.say, err)
		}
	}
	if pods := slices.Sorted(maps.Keys(story.ticker.pods)); !slices.Equal(pods, []string{"pod-1", "pod-2", "pod-3"}) {
		t.Errorf("the second day begins with %v", pods)
	}
	eventually(t, s.kafka, "ticker", "2/2/2 on the second morning", sharedAs(2, 2, 2))
}

func TestSeventhOfSixIsIdle(t *testing.T) {
	s := testStage(t)
	topics(t, s)
	f := s.fleet("ticker", false, marketUpdates, notifications)
	defer f.endAll()
	do(t, f.cast("pod-1", "pod-2", "pod-3", "pod-4", "pod-5", "pod-6", "pod-7"))
	eventually(t, s.kafka, "ticker", "six with one partition and one with none", sharedAs(0, 1, 1, 1, 1, 1, 1))
}

func TestCrashedPodIsGoneOnlyWhenItsSessionEnds(t *testing.T) {
	s := testStage(t)
	topics(t, s)
	f := s.fleet("ticker", false, marketUpdates, notifications)
	defer f.endAll()
	do(t, f.handling(1000))
	do(t, f.cast("pod-1", "pod-2"))
	before := eventually(t, s.kafka, "ticker", "3/3", sharedAs(3, 3))
	do(t, f.crash("pod-2"))
	after := s.kafka.GroupInfo("ticker")
	if after.Epoch == before.Epoch && len(after.Members) != 2 {
		t.Errorf("pod-2 left instead of crashing: %+v", after)
	}
	taken := eventually(t, s.kafka, "ticker", "pod-1 with all partitions", sharedAs(6))
	if got := taken.Members[0].ClientID; got != "pod-1" {
		t.Errorf("the survivor is %s", got)
	}
}

func TestPodThatLeavesIsGoneAtOnce(t *testing.T) {
	s := testStage(t)
	topics(t, s)
	f := s.fleet("ticker", false, marketUpdates, notifications)
	defer f.endAll()
	do(t, f.cast("pod-1", "pod-2"))
	eventually(t, s.kafka, "ticker", "3/3", sharedAs(3, 3))
	do(t, f.cast("pod-1"))
	for _, m := range s.kafka.GroupInfo("ticker").Members {
		if m.ClientID == "pod-2" {
			t.Error("pod-2 is still a member after it left")
		}
	}
}

func TestSymbolsKeepTheirPartitionAndReachAll(t *testing.T) {
	// As murmur2 in Java's, KafkaJS' and franz-go's default partitioners places them.
	want := map[string]int32{
		"BBCA": 0, "BBRI": 0, "BMRI": 0, "ANTM": 1, "ASII": 2, "GOTO": 2, "UNVR": 3, "INDF": 4, "ISAT": 4, "TLKM": 5,
	}
	s := testStage(t)
	topics(t, s)
	x, err := newExchange(s.seeds, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer x.client.Close()
	const ticks = 2000
	if err := x.backlog(within(t), ticks, time.Now().Add(-time.Minute), time.Now()); err != nil {
		t.Fatal(err)
	}
	reader, err := kgo.NewClient(kgo.SeedBrokers(s.seeds...), kgo.ConsumeTopics(marketUpdates))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	got := map[string]int32{}
	for read := 0; read < ticks; {
		fetches := reader.PollFetches(within(t))
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		for _, r := range fetches.Records() {
			read++
			if before, seen := got[string(r.Key)]; seen && before != r.Partition {
				t.Fatalf("%s is on partitions %d and %d", r.Key, before, r.Partition)
			}
			got[string(r.Key)] = r.Partition
		}
	}
	for symbol, partition := range want {
		if at, seen := got[symbol]; !seen || at != partition {
			t.Errorf("%s is on partition %d (seen: %t), want %d", symbol, at, seen, partition)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d symbols, want %d: %v", len(got), len(want), got)
	}
}

func TestWeightsArePercent(t *testing.T) {
	sum := 0
	for _, s := range stocks() {
		sum += s.weight
	}
	if sum != 100 {
		t.Errorf("weights add up to %d", sum)
	}
}

func TestPricesStayNearTheOpening(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range stocks() {
		moved := false
		for range 5_000 {
			s.trade(rng)
			moved = moved || s.price != s.open
			if s.price < s.open*4/5 || s.price > s.open*6/5 {
				t.Fatalf("%s trades at %d, opened at %d", s.symbol, s.price, s.open)
			}
		}
		if !moved {
			t.Errorf("%s never moved", s.symbol)
		}
	}
}

func TestStartRefusesWhatItCannotDo(t *testing.T) {
	taken := testStage(t).seeds[0]
	port := func(address string) int {
		n := 0
		for _, digit := range address[strings.LastIndex(address, ":")+1:] {
			n = 10*n + int(digit-'0')
		}
		return n
	}
	for name, c := range map[string]struct {
		options Options
		says    string
	}{
		"unknown scenario": {Options{Scenario: "opera"}, `unknown scenario "opera"`},
		"two ports":        {Options{Ports: []int{1, 2}}, "3 ports"},
		"negative pace":    {Options{Pace: -1}, "pace"},
		"too fast":         {Options{Pace: 51}, "pace"},
		"no number":        {Options{Pace: math.NaN()}, "pace"},
		"taken port":       {Options{Ports: []int{port(taken), 0, 0}}, "start brokers"},
	} {
		t.Run(name, func(t *testing.T) {
			started, err := Start(t.Context(), c.options)
			if err == nil {
				started.Close()
				t.Fatal("started")
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("says %q, want %q in it", err, c.says)
			}
		})
	}
}

func TestCloseLeavesNothingBehind(t *testing.T) {
	short := Scenario{Name: "short", prepare: func(ctx context.Context, s *stage) (func(context.Context) error, error) {
		story, err := newTickerStory(ctx, s, 1000)
		if err != nil {
			return nil, err
		}
		return story.run, nil
	}}
	before := ours()
	c, err := start(t.Context(), Options{Pace: 10}, short)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, c.kafka, "ticker", "two members", func(info *kfake.GroupInfo) bool {
		return info != nil && len(info.Members) == 2
	})
	c.Close()
	c.Close()
	if err := c.Wait(); err != nil {
		t.Errorf("closed demo says %v", err)
	}
	deadline := time.Now().Add(patience)
	for ours() > before {
		if time.Now().After(deadline) {
			var stacks bytes.Buffer
			_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
			t.Fatalf("%d goroutines of ours, %d before:\n%s", ours(), before, stacks.String())
		}
		runtime.Gosched()
	}
}

func TestStoryFailsWithItsExchange(t *testing.T) {
	s := testStage(t)
	story, err := newTickerStory(t.Context(), s, 100)
	if err != nil {
		t.Fatal(err)
	}
	do(t, story.exchange.trade(1000))
	s.kafka.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.InvalidRecord, Count: -1})
	if err := story.run(within(t)); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("the story went on, or ended with %v", err)
	}
}

// ours counts the goroutines that run the demo, its brokers or its clients.
func ours() int {
	var stacks bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&stacks, 2)
	n := 0
	for stack := range strings.SplitSeq(stacks.String(), "\n\n") {
		if strings.Contains(stack, "franz-go") || strings.Contains(stack, "internal/demo.(") {
			n++
		}
	}
	return n
}
