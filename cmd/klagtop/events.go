package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/internal/config"
	"github.com/klagtop/klagtop/internal/document"
	"github.com/klagtop/klagtop/internal/report"
)

func (p *program) eventsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "events [--group G]...",
		Short: "events as they happen: rebalances, states, resets, topics, groups",
		Example: `  klagtop events --group ticker
  klagtop events -o json | jq -r 'select(.kind == "rebalance") | .text'`,
		Args: noArguments,
	}
	out := outputFlag(cmd, "text", "json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		format, err := out.get()
		if err != nil {
			return err
		}
		cfg, err := p.load(cmd)
		if err != nil {
			return err
		}
		return p.eachEvent(cmd.Context(), cfg, func(e *collect.Event) error {
			if format == "json" {
				return document.EncodeEvent(p.stdout, *e)
			}
			return report.Event(p.stdout, e)
		})
	}
	return cmd
}

// eachEvent runs the poll loop and gives every event to a function. It reads
// the hub's log and not every update, so that a slow reader misses nothing
// that is still kept.
func (p *program) eachEvent(ctx context.Context, cfg config.Config, do func(*collect.Event) error) error {
	c, err := p.open(cfg, quiet(cfg, p.stderr))
	if err != nil {
		return err
	}
	hub := c.collector.Hub()
	troubles := &troubles{program: p, cfg: cfg}
	return c.follow(ctx, func(ctx context.Context) error {
		var seq uint64
		var u *collect.Update
		for {
			next, ok := hub.Next(ctx, u)
			if !ok {
				return nil
			}
			u = next
			troubles.tell(u)
			events, missed := hub.Events(seq)
			if missed > 0 {
				p.hint("left out: " + counted(int(missed), "event") + "; the output is read too slowly")
			}
			for i := range events {
				seq = events[i].Seq
				if err := do(&events[i]); err != nil {
					return err
				}
			}
		}
	})
}
