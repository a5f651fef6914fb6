package demo

import (
	"context"
	"time"
)

// backlogTicks is what lies in market-updates before the first pod comes, the ticks of backlogAge.
const (
	backlogTicks = 200_000
	backlogAge   = 20 * time.Minute
)

// tickerStory is the stock ticker: its exchange and the two applications that follow it.
type tickerStory struct {
	stage    *stage
	exchange *exchange
	ticker   *fleet
	alerts   *fleet
}

func prepareTicker(ctx context.Context, s *stage) (func(context.Context) error, error) {
	t, err := newTickerStory(ctx, s, backlogTicks)
	if err != nil {
		return nil, err
	}
	return t.run, nil
}

// newTickerStory creates the topics and fills market-updates with so many ticks.
func newTickerStory(ctx context.Context, s *stage, backlog int) (*tickerStory, error) {
	if err := createTopics(s.kafka, s.tempo); err != nil {
		return nil, err
	}
	x, err := newExchange(s.seeds, s.tempo)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	if err := x.backlog(ctx, backlog, now.Add(-backlogAge), now); err != nil {
		x.client.Close()
		return nil, err
	}
	return &tickerStory{
		stage:    s,
		exchange: x,
		ticker:   s.fleet("ticker", false, marketUpdates, notifications),
		alerts:   s.fleet("alerts", true, notifications),
	}, nil
}

// run plays the opening once and then one day at the exchange after another.
func (t *tickerStory) run(ctx context.Context) error {
	trading, closing := context.WithCancel(ctx)
	closed := make(chan error, 1)
	go func() {
		err := t.exchange.Run(trading)
		closing() // without an exchange there is no story to go on with
		closed <- err
	}()
	opening, length := t.opening()
	err := t.stage.play(trading, opening, length)
	if err == nil {
		err = t.drained(trading)
	}
	for err == nil {
		day, length := t.day()
		err = t.stage.play(trading, day, length)
	}
	closing()
	t.ticker.endAll()
	t.alerts.endAll()
	if produced := <-closed; produced != nil {
		return produced
	}
	return err
}

// opening: the exchange is closed, and last night's ticks wait.
func (t *tickerStory) opening() ([]step, time.Duration) {
	return []step{
		{0, "pod-1 and pod-2 join, and warm up", together(
			t.ticker.cast("pod-1", "pod-2"), t.ticker.handling(0),
			t.alerts.cast("alerter-1", "alerter-2"), t.alerts.handling(6))},
		{6 * time.Second, "they work off the backlog, three partitions of a topic each", t.ticker.handling(1600)},
		{30 * time.Second, "pod-3 joins: two partitions of a topic each", t.ticker.cast("pod-1", "pod-2", "pod-3")},
	}, 45 * time.Second
}

// drained waits until every tick is read, however slow the machine, and lets the zero be seen for a while.
func (t *tickerStory) drained(ctx context.Context) error {
	for t.ticker.behind(marketUpdates) > 0 {
		if err := sleep(ctx, t.stage.tempo.shorten(time.Second)); err != nil {
			return err
		}
	}
	t.stage.log.Info("the backlog is read")
	return sleep(ctx, t.stage.tempo.shorten(10*time.Second))
}

// day: four minutes that leave things as they found them.
func (t *tickerStory) day() ([]step, time.Duration) {
	at := func(seconds int) time.Duration { return time.Duration(seconds) * time.Second }
	return []step{
		{at(0), "the exchange opens on a calm market", together(
			t.exchange.trade(12), t.ticker.handling(20), t.alerts.handling(6),
			t.ticker.cast("pod-1", "pod-2", "pod-3"), t.alerts.cast("alerter-1", "alerter-2"))},
		{at(25), "news: more ticks than three pods can handle", together(
			t.exchange.trade(110), t.alerts.handling(1))},
		{at(45), "pod-4 is added", t.ticker.cast("pod-1", "pod-2", "pod-3", "pod-4")},
		{at(55), "pod-5 and pod-6 are added: a partition of a topic each", t.ticker.cast("pod-1", "pod-2", "pod-3", "pod-4", "pod-5", "pod-6")},
		{at(70), "pod-7 is added and finds nothing to do", t.ticker.cast("pod-1", "pod-2", "pod-3", "pod-4", "pod-5", "pod-6", "pod-7")},
		{at(85), "the market calms down", together(t.exchange.trade(12), t.alerts.handling(6))},
		{at(110), "pod-5 crashes; its partitions wait for its session to end", t.ticker.crash("pod-5")},
		{at(145), "pod-7 leaves", t.ticker.cast("pod-1", "pod-2", "pod-3", "pod-4", "pod-6")},
		{at(160), "an alerter is restarted", t.alerts.cast("alerter-1")},
		{at(168), "and is back", t.alerts.cast("alerter-1", "alerter-2")},
		{at(180), "the database slows every pod down, on a livelier market", together(
			t.exchange.trade(40), t.ticker.handling(4))},
		{at(205), "the database recovers, the market calms down, pod-6 leaves", together(
			t.exchange.trade(12), t.ticker.handling(20), t.ticker.cast("pod-1", "pod-2", "pod-3", "pod-4"))},
		{at(225), "pod-4 leaves", t.ticker.cast("pod-1", "pod-2", "pod-3")},
	}, at(240)
}
