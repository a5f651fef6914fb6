package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/internal/config"
	"github.com/klagtop/klagtop/internal/report"
)

// manyWithin is up to how many groups within their limits are told one by one.
const manyWithin = 20

func (p *program) checkCommand() *cobra.Command {
	limits := report.NoLimits()
	var during time.Duration
	cmd := &cobra.Command{
		Use:   "check --group G [--max-lag N] [--max-seconds D] [--for D]",
		Short: "hold groups against limits: for scripts and probes",
		Long: `check ends with exit code 0 if every selected group is within the limits, 3 if
any is above one, 1 if too little could be read to tell, 2 on wrong usage.
With --for, a group is above a limit only if it is so at every poll.`,
		Example: `  klagtop check --group ticker --max-lag 10000
  klagtop check --group 'payments-*' --max-seconds 30s --for 1m --interval 5s`,
		Args: noArguments,
	}
	cmd.Flags().Var((*records)(&limits.Records), "max-lag", "most `records` a group may lag")
	cmd.Flags().Var((*seconds)(&limits.Seconds), "max-seconds", "longest `duration` a group may lag: 30s, 5m, or seconds")
	cmd.Flags().DurationVar(&during, "for", 0, "poll for a `duration`: a limit must be exceeded all the time")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := p.load(cmd)
		if err != nil {
			return err
		}
		switch {
		case len(cfg.Filter.Groups) == 0:
			return usage("--group '*' takes all of them", "--group is missing: which groups shall be checked?")
		case !limits.Any():
			return usage("--max-lag 1000 allows a thousand records, --max-seconds 30s half a minute", "--max-lag or --max-seconds is missing: what shall groups be held against?")
		case during < 0:
			return &config.Error{Source: "--for", Value: during.String(), Problem: "below zero", Hint: "--for 1m polls for a minute"}
		}
		return p.check(cmd.Context(), cfg, limits, during)
	}
	return cmd
}

// trial is a check under way.
type trial struct {
	report.Trial
	limits report.Limits
	style  report.Options
	last   *look
}

// manyPassed is how many first polls may pass while times are searched for.
const manyPassed = 3

// errDecided ends a check before its time.
var errDecided = errors.New("decided")

func (p *program) check(ctx context.Context, cfg config.Config, limits report.Limits, during time.Duration) error {
	t := &trial{limits: limits, style: p.style(false)}
	if during == 0 {
		l, err := p.once(ctx, cfg)
		if err != nil {
			return err
		}
		t.add(l.Update, cfg)
		return p.judge(t)
	}
	var began time.Time
	passed := 0
	err := p.eachPoll(ctx, cfg, func(u *collect.Update) error {
		if began.IsZero() && passed < manyPassed && t.tooEarly(u.Snapshot) {
			passed++
			return nil
		}
		if began.IsZero() {
			began = u.Snapshot.TakenAt
		}
		t.add(u, cfg)
		if u.Snapshot.TakenAt.Sub(began) >= during || t.Worst() == report.Within && u.Snapshot.Complete {
			return errDecided
		}
		return nil
	})
	switch {
	case errors.Is(err, errDecided):
		return p.judge(t)
	case err != nil:
		return err
	}
	return &failure{code: exitFailed, err: fmt.Errorf("not decided: %w", context.Cause(ctx))}
}

// tooEarly reports whether a time lag is to be compared that is still searched
// for: the loop does so between polls, and a group hours behind at every poll
// would seem not to be so at the first.
func (t *trial) tooEarly(s *collect.Snapshot) bool {
	if math.IsNaN(t.limits.Seconds) || !s.Reached {
		return false
	}
	return slices.ContainsFunc(s.Groups, func(g *collect.Group) bool {
		a := g.Lag.Age
		return g.Lag.Records > 0 && (a.Method == collect.MethodAtLeast || !a.Known() && a.Reason == collect.SecondsBudget)
	})
}

func (t *trial) add(u *collect.Update, cfg config.Config) {
	s := u.Snapshot
	verdicts := make([]report.Verdict, 0, len(s.Groups))
	for _, g := range s.Groups {
		verdicts = append(verdicts, report.Judge(s, g, t.limits, t.style))
	}
	t.Add(verdicts, s.Complete)
	t.last = &look{Update: u, cfg: cfg}
}

// judge prints the verdicts and gives the exit code.
func (p *program) judge(t *trial) error {
	err := p.printVerdicts(t)
	concluded := p.conclude(t.last)
	switch {
	case t.Worst() == report.Above: // wins over what could not be read
		return &failure{code: exitExceeded}
	case concluded != nil:
		return concluded
	case t.Worst() == report.Unsure:
		return &failure{code: exitFailed}
	}
	return err
}

func (p *program) printVerdicts(t *trial) error {
	return buffered(p.stdout, func(w io.Writer) error {
		within := 0
		for _, g := range t.last.Snapshot.Groups {
			v, _ := t.Of(g.Name)
			if v.Outcome == report.Within {
				if within++; within > manyWithin {
					continue
				}
			}
			if _, err := fmt.Fprintln(w, v.Text); err != nil {
				return err
			}
		}
		if within > manyWithin {
			if _, err := fmt.Fprintln(w, "and "+counted(within-manyWithin, "more group")+" within the limits"); err != nil {
				return err
			}
		}
		return nil
	})
}

// records is a flag that is a number of records, not below 0.
type records int64

func (r *records) String() string {
	if *r < 0 {
		return ""
	}
	return strconv.FormatInt(int64(*r), 10)
}

func (r *records) Set(s string) error {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return errors.New("not a number of records")
	}
	*r = records(n)
	return nil
}

func (r *records) Type() string { return "number of records" }

// seconds is a flag that is a duration, or a number of seconds.
type seconds float64

func (d *seconds) String() string {
	if math.IsNaN(float64(*d)) {
		return ""
	}
	return time.Duration(float64(*d) * float64(time.Second)).String()
}

func (d *seconds) Set(s string) error {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		var span time.Duration
		span, err = time.ParseDuration(s)
		n = span.Seconds()
	}
	if err != nil || !(n >= 0) || math.IsInf(n, 0) {
		return errors.New("not a duration")
	}
	*d = seconds(n)
	return nil
}

func (d *seconds) Type() string { return "duration" }
