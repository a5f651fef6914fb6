package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/internal/config"
	"github.com/klagtop/klagtop/internal/document"
	"github.com/klagtop/klagtop/internal/report"
)

// watchQueue is how many polls a slow reader may lie behind.
const watchQueue = 64

func (p *program) watchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "watch [--group G]...",
		Short: "a line per group and poll, until stopped",
		Example: `  klagtop watch --group ticker --interval 1s
  klagtop watch -o json | jq -c '[.taken_at, .groups[0].lag.records]'`,
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
		style := p.style(false)
		return p.eachPoll(cmd.Context(), cfg, func(u *collect.Update) error {
			if format == "json" {
				return document.Encode(p.stdout, u, nil, document.Options{})
			}
			if !u.Snapshot.Reached {
				return nil // lines of what nobody answered for would look alive; standard error says it
			}
			return buffered(p.stdout, func(w io.Writer) error { return report.Watch(w, u.Snapshot, u.Snapshot.Groups, style) })
		})
	}
	return cmd
}

// eachPoll runs the poll loop and gives every update to a function, until ctx
// ends or the function fails. Troubles are told on standard error when they
// begin and when they are over.
func (p *program) eachPoll(ctx context.Context, cfg config.Config, do func(*collect.Update) error) error {
	c, err := p.open(cfg, quiet(cfg, p.stderr))
	if err != nil {
		return err
	}
	stream := c.collector.Hub().Stream(watchQueue)
	defer stream.Close()
	troubles := &troubles{program: p, cfg: cfg}
	return c.follow(ctx, func(ctx context.Context) error {
		var dropped int64
		for {
			select {
			case <-ctx.Done():
				return nil
			case u := <-stream.C():
				if u == nil {
					return nil
				}
				troubles.tell(u)
				if n := stream.Dropped(); n > dropped {
					p.hint("left out: " + counted(int(n-dropped), "poll") + "; the output is read too slowly")
					dropped = n
				}
				if err := do(u); err != nil {
					return err
				}
			}
		}
	})
}

// troubles tells of a poll what was not told of the one before.
type troubles struct {
	*program
	cfg    config.Config
	last   string
	waited bool
}

func (t *troubles) tell(u *collect.Update) {
	s := u.Snapshot
	now := ""
	for i := range s.Problems {
		now += string(s.Problems[i].Stage) + s.Problems[i].Group + s.Problems[i].Topic + s.Problems[i].Reason.String() + "\n"
	}
	if !s.Reached {
		now = "unreachable"
	}
	switch {
	case now == t.last:
	case !s.Reached:
		t.unreachable(t.cfg, s)
	case !s.Complete:
		t.partial(s)
	case t.last != "":
		t.hint("all can be read again")
	}
	t.last = now
	if !t.waited && s.Reached {
		t.waited = true
		if missing := t.missing(s); len(missing) > 0 {
			t.hint("waiting for " + strings.Join(missing, ", ") + ": no such group yet")
		}
	}
}

func (t *troubles) missing(s *collect.Snapshot) (names []string) {
	exact, _ := t.cfg.Filter.ExactGroups()
	for _, name := range exact {
		if _, ok := s.Group(name); !ok {
			names = append(names, fmt.Sprintf("%q", name))
		}
	}
	return names
}
