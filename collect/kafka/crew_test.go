package kafka

import (
	"context"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/klagtop/klagtop/collect"
)

// breakNodes makes each question to a broker panic, as a bug would.
func (b *bed) breakNodes() {
	for _, n := range b.src.nodes {
		n.broker = nil
	}
}

// wantPanic runs a step whose panic must come in this goroutine, and must tell
// where it began.
func (b *bed) wantPanic(step func()) {
	b.Helper()
	defer func() {
		b.Helper()
		v := recover()
		err, ok := v.(error)
		if !ok || !strings.Contains(err.Error(), "nil pointer dereference") || !strings.Contains(err.Error(), "kafka.(*node).request") {
			b.Errorf("recovered %v, want a panic that tells of (*node).request", v)
		}
	}()
	step()
	b.Error("no panic")
}

// A panic beside the poll's goroutine is one of that goroutine, where the
// program can still put the terminal right.
func TestPanicsComeInThePoll(t *testing.T) {
	no := func(string) bool { return false }
	t.Run("of a stage", func(t *testing.T) {
		b := newBed(t)
		b.spread()
		b.poll()
		b.breakNodes()
		b.wantPanic(func() {
			b.src.Poll(t.Context(), collect.Ask{Prev: b.prev, Describe: no, Starts: no})
		})
	})
	t.Run("of a question to any broker", func(t *testing.T) {
		b := newBed(t)
		b.poll()
		b.breakNodes()
		b.wantPanic(func() { b.poll() })
	})
	t.Run("of groups asked one by one", func(t *testing.T) {
		b := newBed(t, kfake.MaxVersions(kversion.FromString("v2.4")))
		b.poll()
		b.breakNodes()
		ctx, cancel := context.WithTimeout(t.Context(), b.timeout)
		defer cancel()
		p := b.src.newPoll(ctx, collect.Ask{})
		names := strings.Fields(strings.Repeat("ticker ", 3*oneByOne)) // more than there are goroutines
		b.wantPanic(func() {
			_, _, _ = p.fetchInTurn(&call{p: p, n: b.src.nodes[0], ctx: ctx, silence: b.timeout}, names)
		})
	})
	t.Run("of a probe: the next poll's", func(t *testing.T) {
		b := newBed(t)
		b.poll()
		b.breakNodes()
		p := b.src.newPoll(t.Context(), collect.Ask{})
		p.fallSilent(b.src.nodes[0], kmsg.NewPtrListGroupsRequest(), context.DeadlineExceeded)
		b.src.probes.wg.Wait()
		b.wantPanic(func() { b.poll() })
	})
}
