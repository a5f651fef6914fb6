package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/internal/config"
	"github.com/klagtop/klagtop/internal/report"
	"github.com/klagtop/klagtop/tui"
)

// terminal is klagtop without a command.
func (p *program) terminal(cmd *cobra.Command) error {
	cfg, err := p.load(cmd)
	if err != nil {
		return err
	}
	return p.view(cmd.Context(), cfg)
}

// view opens the terminal view, or prints one table where there is no terminal.
func (p *program) view(ctx context.Context, cfg config.Config) error {
	if !p.onTerminal() {
		return p.oneTable(ctx, cfg)
	}
	silent := slog.New(slog.DiscardHandler) // nothing but the view may write to the terminal
	c, err := p.open(cfg, silent)
	if err != nil {
		return err
	}
	answer := func(context.Context) error { return nil }
	if cfg.Listen != "" {
		if answer, err = answering(cfg, c, silent); err != nil {
			return err
		}
	}
	group, _ := oneGroup(cfg)
	return c.follow(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		served := make(chan error, 1)
		go func() { served <- answer(ctx) }()
		err := tui.Run(ctx, tui.Options{
			Hub: c.collector.Hub(), Wishes: c.collector, Group: group, Brokers: strings.Join(cfg.Kafka.Brokers, ","),
			Filter: filterWords(cfg.Filter), Environ: p.environ,
		})
		cancel()
		if failed := <-served; err == nil {
			err = failed
		}
		if errors.Is(err, tui.ErrHangup) {
			return &failure{code: exitHangup}
		}
		return err
	})
}

// answering takes the address to serve on beside the view.
func answering(cfg config.Config, c *cluster, log *slog.Logger) (func(context.Context) error, error) {
	e, err := newExporter(cfg, c.feed(cfg), log)
	if err != nil {
		return nil, err
	}
	l, err := listen(cfg)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return e.Serve(ctx, l, cfg.WebConfigFile) }, nil
}

// filterWords is what is left out of the view, in words.
func filterWords(f collect.Filter) string {
	var words []string
	for _, part := range []struct {
		name     string
		patterns []collect.Pattern
	}{{"group", f.Groups}, {"not group", f.ExcludeGroups}, {"topic", f.Topics}, {"not topic", f.ExcludeTopics}} {
		var list []string
		for _, p := range part.patterns {
			list = append(list, p.String())
		}
		if len(list) > 0 {
			words = append(words, part.name+" "+strings.Join(list, ", "))
		}
	}
	return strings.Join(words, "; ")
}

// oneTable prints what the view would open on: the groups, or the one group
// that is asked for.
func (p *program) oneTable(ctx context.Context, cfg config.Config) error {
	l, err := p.once(ctx, cfg)
	if err != nil {
		return err
	}
	if l.Snapshot.Reached {
		groups := l.Snapshot.Groups
		err := buffered(p.stdout, func(w io.Writer) error {
			if _, one := oneGroup(cfg); one {
				return report.Offsets(w, l.Snapshot, groups, p.style(false))
			}
			return report.List(w, groups, p.style(false))
		})
		if err != nil {
			return err
		}
	}
	return p.conclude(l)
}

// oneGroup gives the group that is asked for by its exact name, if it is the
// only thing that is asked for.
func oneGroup(cfg config.Config) (name string, ok bool) {
	names, all := cfg.Filter.ExactGroups()
	if !all || len(names) != 1 {
		return "", false
	}
	return names[0], true
}
