package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/klagtop/klagtop/exporter"
	"github.com/klagtop/klagtop/internal/document"
	"github.com/klagtop/klagtop/internal/report"
)

// sections are the parts of describe, as Kafka's own tool divides them.
type sections struct{ offsets, members, state bool }

func (p *program) describeCommand() *cobra.Command {
	var parts sections
	cmd := &cobra.Command{
		Use:   "describe [--group G]...",
		Short: "one look at groups: their partitions, members, state",
		Long: `describe prints one look at groups: their partitions, members, state. Names in
CSV are as they are in a pipe or a file; on a terminal, control characters in
them are spelled out, as in tables.`,
		Example: `  klagtop describe --group ticker
  klagtop describe --group 'payments-*' --members -o wide
  klagtop describe -o json | jq '.groups[] | select(.lag.records>1000) | .group'`,
		Args: noArguments,
	}
	out := outputFlag(cmd, "table", "wide", "json", "csv", "prom")
	cmd.Flags().BoolVar(&parts.offsets, "offsets", false, "a line per partition (what is shown if none of the three is asked for)")
	cmd.Flags().BoolVar(&parts.members, "members", false, "a line per member")
	cmd.Flags().BoolVar(&parts.state, "state", false, "a line per group")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		format, err := out.get()
		if err != nil {
			return err
		}
		if err := parts.settle(format); err != nil {
			return err
		}
		l, err := p.oneLook(cmd)
		if err != nil {
			return err
		}
		if err := p.describe(cmd.Context(), l, format, parts); err != nil {
			return err
		}
		return p.conclude(l)
	}
	return cmd
}

// settle fills in the default and refuses what cannot be had.
func (s *sections) settle(format string) error {
	asked := 0
	for _, on := range []bool{s.offsets, s.members, s.state} {
		if on {
			asked++
		}
	}
	switch {
	case asked == 0:
		s.offsets = true
	case format == "json" || format == "prom":
		return usage("leave them out", "--offsets, --members and --state choose tables, but -o %s has everything", format)
	case asked > 1 && format == "csv":
		return usage("give one of them", "-o csv holds one of --offsets, --members and --state")
	}
	return nil
}

// describe prints what was seen. Of a cluster that was not reached there is
// nothing to print, but for programs, which are told so in JSON.
func (p *program) describe(ctx context.Context, l *look, format string, parts sections) error {
	s := l.Snapshot
	if !s.Reached && format != "json" {
		return nil
	}
	style := p.style(format == "wide")
	switch format {
	case "json":
		return document.Encode(p.stdout, l.Update, s, document.Options{})
	case "prom":
		return p.prometheus(ctx, l)
	case "csv":
		switch {
		case parts.members:
			return report.MembersCSV(p.stdout, s.Groups, style)
		case parts.state:
			return report.StateCSV(p.stdout, s.Groups, style)
		}
		return report.OffsetsCSV(p.stdout, s.Groups, style)
	}
	var tables []func(w io.Writer) error
	if parts.state {
		tables = append(tables, func(w io.Writer) error { return report.State(w, s, s.Groups, style) })
	}
	if parts.members {
		tables = append(tables, func(w io.Writer) error { return report.Members(w, s.Groups, style) })
	}
	if parts.offsets {
		tables = append(tables, func(w io.Writer) error { return report.Offsets(w, s, s.Groups, style) })
	}
	return buffered(p.stdout, func(w io.Writer) error {
		for i, table := range tables {
			if i > 0 {
				if _, err := io.WriteString(w, "\n"); err != nil {
					return err
				}
			}
			if err := table(w); err != nil {
				return err
			}
		}
		return nil
	})
}

// prometheus prints the page that a scrape would get.
func (p *program) prometheus(ctx context.Context, l *look) error {
	e, err := newExporter(l.cfg, exporter.Feed{Name: l.cfg.ClusterName, Hub: l.hub, Timeout: l.cfg.Timeout}, quiet(l.cfg, p.stderr))
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/metrics", nil)
	if err != nil {
		return err
	}
	page := &printed{out: p.stdout, header: http.Header{}, status: http.StatusOK}
	e.Handler().ServeHTTP(page, r)
	switch {
	case page.err != nil:
		return page.err
	case page.status != http.StatusOK:
		return errors.New("the metrics page could not be made: " + strings.ToLower(http.StatusText(page.status)))
	}
	return nil
}

// printed is an HTTP answer that goes to standard output.
type printed struct {
	out    io.Writer
	header http.Header
	status int
	err    error
}

func (w *printed) Header() http.Header    { return w.header }
func (w *printed) WriteHeader(status int) { w.status = status }

func (w *printed) Write(b []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	if w.status != http.StatusOK {
		return len(b), nil
	}
	n, err := w.out.Write(b)
	w.err = err
	return n, err
}
