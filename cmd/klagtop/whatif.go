package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/collect/assign"
	"github.com/klagtop/klagtop/internal/config"
	"github.com/klagtop/klagtop/internal/document"
	"github.com/klagtop/klagtop/internal/report"
)

// secondLook is how long after a look the next one is taken: rates that the
// first does not know need two, and a group in the middle of a rebalance may be
// through it.
const secondLook = time.Second

// supposed are the flags of whatif.
type supposed struct {
	assignor            string
	members, partitions []string
}

func (p *program) whatifCommand() *cobra.Command {
	var asked supposed
	cmd := &cobra.Command{
		Use:   "whatif --group G [--assignor A] [--members M]",
		Short: "what other assignors, members or partitions would change",
		Long: `whatif works out how assignors would deal a group's partitions out, and asks
no broker to do it. Without --assignor it compares those that apply and
recommends one; with it, it shows who would own what. Owners are promised where
EXACT says yes, balance and movement elsewhere.

An identity after + is an instance id in a group of static members, else a
client id; after - also a member id. A number after a sign is a count.`,
		Example: `  klagtop whatif --group ticker
  klagtop whatif --group ticker --members +2
  klagtop whatif --group ticker --assignor range --members +pod-4,-pod-1
  klagtop whatif --group ticker --partitions market-updates=12 -o json`,
		Args: noArguments,
	}
	out := outputFlag(cmd, "table", "json")
	cmd.Flags().StringVar(&asked.assignor, "assignor", "", "one `assignor`: "+listed(assign.Names()))
	cmd.Flags().StringArrayVar(&asked.members, "members", nil, "`change` of members: 5, +2, -1, +ID or -ID, several by commas")
	cmd.Flags().StringArrayVar(&asked.partitions, "partitions", nil, "`topic=N`: the topic with N partitions; repeatable")
	complete(cmd, "assignor")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		format, err := out.get()
		if err != nil {
			return err
		}
		change, err := asked.change()
		if err != nil {
			return refused(err)
		}
		cfg, err := p.load(cmd)
		if err != nil {
			return err
		}
		name, one := oneGroup(cfg)
		if !one {
			return usage("klagtop list shows the groups there are", "whatif wants one group, by its exact name: --group ticker")
		}
		cfg.Filter.Topics, cfg.Filter.ExcludeTopics = nil, nil // an assignor deals every topic of a group out
		return p.whatif(cmd.Context(), cfg, assign.Planner{}, name, change, format)
	}
	return cmd
}

// change reads what is asked, as far as that can be known without the group.
func (a *supposed) change() (c collect.Change, err error) {
	c.Assignor = a.assignor
	if err := assign.Check(c.Assignor); err != nil {
		return c, err
	}
	if a.members != nil {
		if c.Members, err = collect.ParseMembers(strings.Join(a.members, ",")); err != nil {
			return c, err
		}
	}
	c.Partitions, err = collect.ParsePartitions(a.partitions)
	return c, err
}

// refused tells of a change that cannot be in terms of the flags, and of a group
// for which there is no plan.
func refused(err error) error {
	if ce, ok := errors.AsType[*collect.ChangeError](err); ok {
		return &config.Error{Source: "--" + string(ce.Part), Value: ce.Value, Problem: ce.Problem, Hint: ce.Hint}
	}
	return err
}

func (p *program) whatif(ctx context.Context, cfg config.Config, planner collect.Planner, name string, change collect.Change, format string) error {
	l, seconds, err := p.lookForRates(ctx, cfg, name)
	if err != nil {
		return err
	}
	g, ok := l.Snapshot.Group(name)
	if !ok || !l.Snapshot.Reached {
		return p.conclude(l)
	}
	what, err := planner.Plan(g, l.Snapshot, change)
	if np, ok := errors.AsType[*collect.NoPlanError](err); ok {
		if !l.Snapshot.Complete {
			p.partial(l.Snapshot)
		}
		return &failure{code: exitFailed, err: fmt.Errorf("no plan for group %q: %w", name, np), hint: np.Hint}
	}
	if err != nil {
		return refused(err)
	}
	if format == "json" {
		err = document.EncodeWhatIf(p.stdout, l.Snapshot, g, what, seconds)
	} else {
		err = buffered(p.stdout, func(w io.Writer) error { return report.WhatIf(w, g, what, seconds) })
	}
	if err != nil {
		return err
	}
	return p.conclude(l)
}

// lookForRates polls, and again where a rate is not known from the log ends of
// the past, or while a rebalance hides what a group's members subscribe to, as
// long as --timeout lets it. It says over how many seconds rates were measured,
// NaN where there is no group to measure.
func (p *program) lookForRates(ctx context.Context, cfg config.Config, name string) (*look, float64, error) {
	c, err := p.open(cfg, quiet(cfg, p.stderr))
	if err != nil {
		return nil, 0, err
	}
	defer c.source.Close()
	began := time.Now()
	var taken []time.Time
	for {
		u := c.collector.Once(ctx)
		if ctx.Err() != nil {
			return nil, 0, &failure{code: exitFailed, err: context.Cause(ctx)}
		}
		l := &look{Update: u, cfg: cfg, hub: c.collector.Hub()}
		g, there := u.Snapshot.Group(name)
		taken = append(taken, u.Snapshot.TakenAt)
		earlier := len(taken) - 1
		switch {
		case !there:
			return l, math.NaN(), nil
		case earlier == 0 && !veiled(g) && rated(g):
			return l, collect.PastRate.Seconds(), nil
		case earlier > 0 && (!veiled(g) || time.Since(began) > cfg.Timeout):
			return l, u.Snapshot.TakenAt.Sub(taken[max(0, earlier-collect.ShortWindow)]).Seconds(), nil
		}
		timer := time.NewTimer(secondLook)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// rated reports whether it is known what is produced on each partition of a
// group's topics.
func rated(g *collect.Group) bool {
	return !slices.ContainsFunc(g.Topics, func(gt *collect.GroupTopic) bool {
		return slices.ContainsFunc(gt.Topic.Produced, func(rate float32) bool { return math.IsNaN(float64(rate)) })
	})
}

// veiled reports whether a rebalance hides what some member subscribes to.
func veiled(g *collect.Group) bool {
	return g.Rebalancing() && slices.ContainsFunc(g.Members, func(m collect.Member) bool { return m.Subscribed == nil && m.Regex == "" })
}
