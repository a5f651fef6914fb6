package demo

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

// Scenario is one story that the demo can play.
type Scenario struct {
	// Name is what [Options.Scenario] takes.
	Name string
	// Description is one line for a list of scenarios.
	Description string

	// prepare lays down what is there before the first client looks, and returns the story to play from
	// then on. The story ends with its context, and has ended everything that it started when it returns.
	prepare func(context.Context, *stage) (func(context.Context) error, error)
}

// Scenarios lists what the demo can play; the first is what it plays unless told otherwise.
func Scenarios() []Scenario {
	return []Scenario{
		{
			Name:        "ticker",
			Description: "200,000 stock ticks of backlog, then days at the exchange: pods join, idle, crash and leave",
			prepare:     prepareTicker,
		},
	}
}

func find(name string) (Scenario, error) {
	known := Scenarios()
	if name == "" {
		return known[0], nil
	}
	for _, s := range known {
		if s.Name == name {
			return s, nil
		}
	}
	return Scenario{}, fmt.Errorf("unknown scenario %q", name)
}

// stage is what a script plays on.
type stage struct {
	kafka *kfake.Cluster
	seeds []string
	tempo tempo
	log   *slog.Logger
}

// step is one line of a script: at this time since the act began, this is said, and done.
type step struct {
	at  time.Duration
	say string
	do  func(context.Context) error
}

// play runs the steps of an act in order and returns when the act's length is over. Times are measured
// from the act's beginning, so a step that took long does not push the others back.
func (s *stage) play(ctx context.Context, act []step, length time.Duration) error {
	began := time.Now()
	for _, next := range act {
		if err := sleep(ctx, s.tempo.shorten(next.at)-time.Since(began)); err != nil {
			return err
		}
		s.log.Info(next.say)
		if err := next.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", next.say, err)
		}
	}
	return sleep(ctx, s.tempo.shorten(length)-time.Since(began))
}

// together makes one step's action of several.
func together(actions ...func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, do := range actions {
			if err := do(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

// tempo is how many times faster than life a story is played.
type tempo float64

func (t tempo) shorten(d time.Duration) time.Duration { return time.Duration(float64(d) / float64(t)) }
func (t tempo) rate(perSecond float64) float64        { return perSecond * float64(t) }

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
