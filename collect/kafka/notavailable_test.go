package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
)

// A leader that has just been elected does not know its log end yet: the row
// keeps what it was, the others do not wait for it.
func TestLogEndNotAvailableYet(t *testing.T) {
	b := newBed(t)
	group := b.spread()[0]
	b.poll()
	b.produce("market-updates", 0, 5)
	b.produce("market-updates", 1, 5)
	fault := b.c.Fault(offsetFault(kerr.OffsetNotAvailable, "market-updates", 1))
	b.wantGroup(b.poll(), group, "classic Empty  members=0 lag=23/3 unknown=0 stale=1")
	fault.Remove()
	b.wantGroup(b.poll(), group, "classic Empty  members=0 lag=28/3 unknown=0 stale=0")
}
