package kafka

import (
	"context"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/klagtop/klagtop/collect"
)

// Options are what a Source is told beside how to reach its cluster.
type Options struct {
	// Filter is the same one that the builder is given: of groups it leaves
	// out, only their names are ever read.
	Filter collect.Filter
	Logger *slog.Logger     // nil: silent
	Now    func() time.Time // nil: time.Now
	Extra  []kgo.Opt        // applied last: request metrics, and what tests need
}

// Source reads one cluster. It implements collect.Source.
type Source struct {
	cfg Config
	o   Options
	cl  *kgo.Client
}

var _ collect.Source = (*Source)(nil)

// New checks the settings and makes a Source. It does not touch the network
// and fails as Config.Validate does.
func New(cfg Config, o Options) (*Source, error) {
	opts, err := cfg.options()
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	cl, err := kgo.NewClient(append(opts, o.Extra...)...)
	if err != nil {
		return nil, err
	}
	return &Source{cfg: cfg, o: o, cl: cl}, nil
}

// Poll implements collect.Source.
func (s *Source) Poll(_ context.Context, ask collect.Ask) *collect.Snapshot {
	now := s.o.Now()
	return ask.Builder().Finish(now, 0)
}

// OffsetsAt implements collect.Source.
func (s *Source) OffsetsAt(_ context.Context, queries []collect.TimeQuery) []collect.TimeAnswer {
	out := make([]collect.TimeAnswer, len(queries))
	for i := range out {
		out[i] = collect.TimeAnswer{Offset: collect.Unknown, Timestamp: -1, Reason: collect.ReasonTimeout}
	}
	return out
}

// Close implements collect.Source.
func (s *Source) Close() { s.cl.Close() }
