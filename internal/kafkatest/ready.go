package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Ready waits until every node that runs answers and knows exactly the nodes that run, so that a killed
// node counts as gone only when the others have noticed. Paused nodes are left out. The error says what was still missing.
func (c *Cluster) Ready(ctx context.Context) error {
	if len(c.nodes) == 0 {
		_, err := awaitBrokers(ctx, c.brokers, func(ids []int32) bool { return len(ids) > 0 })
		return err
	}
	c.mu.Lock()
	var addresses []string
	var want []int32
	var running []*node
	for _, n := range c.nodes {
		if n.process.running() && !n.paused {
			addresses, want, running = append(addresses, n.address), append(want, int32(n.id)), append(running, n)
		}
	}
	c.mu.Unlock()
	if len(running) == 0 {
		return errors.New("no node runs")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for _, n := range running {
		go func(p *process) {
			select {
			case <-p.done:
				log, _ := os.ReadFile(filepath.Join(n.dir, "log"))
				cancel(fmt.Errorf("node %d died: %s", n.id, lastLines(log, 20)))
			case <-ctx.Done():
			}
		}(n.process)
	}
	_, err := awaitBrokers(ctx, addresses, func(ids []int32) bool { return slices.Equal(ids, want) })
	return err
}

// awaitBrokers asks each address in turn until it names brokers that are good, and returns those of the last. It
// asks with Metadata alone: a FindCoordinator would create __consumer_offsets, and tests want fresh clusters fresh.
func awaitBrokers(ctx context.Context, addresses []string, good func(ids []int32) bool) (ids []int32, err error) {
	for _, address := range addresses {
		if ids, err = awaitBroker(ctx, address, good); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

func awaitBroker(ctx context.Context, address string, good func(ids []int32) bool) ([]int32, error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.RequestRetries(0))
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	for {
		ids, err := brokerIDs(ctx, cl)
		if err == nil && good(ids) {
			return ids, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for %s, which knows the brokers %v (%v): %w", address, ids, err, context.Cause(ctx))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func brokerIDs(ctx context.Context, cl *kgo.Client) ([]int32, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{}
	resp, err := req.RequestWith(ctx, cl.SeedBrokers()[0])
	if err != nil {
		return nil, err
	}
	var ids []int32
	for _, b := range resp.Brokers {
		ids = append(ids, b.NodeID)
	}
	slices.Sort(ids)
	return ids, nil
}
