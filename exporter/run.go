package exporter

import (
	"context"
	"sync"

	"github.com/klagtop/klagtop/collect"
)

// streamQueue is how many polls counting may lag behind. Counting one takes
// microseconds; a short queue keeps few snapshots alive.
const streamQueue = 8

// Run counts the polls of every feed until ctx ends or all hubs are closed.
// Serve does so too: call Run only where Handler is served by other means.
func (e *Exporter) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for _, f := range e.opts.Feeds {
		stream := f.Hub.Stream(streamQueue)
		wg.Go(func() {
			defer stream.Close()
			e.follow(ctx, f, stream)
		})
	}
	wg.Wait()
}

// follow counts one feed's polls. The update that was there before the stream
// began is counted too: the first poll may end before the server listens.
func (e *Exporter) follow(ctx context.Context, f Feed, stream *collect.Stream) {
	first := f.Hub.Latest()
	if first != nil {
		e.observe(f.Name, first)
	}
	for {
		select {
		case <-ctx.Done():
			return
		case u, ok := <-stream.C():
			if !ok {
				return
			}
			if u != first {
				e.observe(f.Name, u)
			}
		}
	}
}

func (e *Exporter) observe(cluster string, u *collect.Update) {
	if u.Snapshot.Reached {
		e.reached.Store(true)
	}
	e.counts.add(cluster, u)
}

// add counts one poll.
func (c *counters) add(cluster string, u *collect.Update) {
	cluster = spell(cluster)
	result := "failed"
	switch {
	case u.Snapshot.Complete:
		result = "complete"
	case u.Snapshot.Reached:
		result = "partial"
	}
	c.polls.WithLabelValues(cluster, result).Inc()
	c.pollSeconds.WithLabelValues(cluster).Observe(u.Snapshot.Took.Seconds())
}
