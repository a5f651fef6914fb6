package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/internal/config"
	"github.com/klagtop/klagtop/internal/document"
	"github.com/klagtop/klagtop/internal/report"
)

func (p *program) listCommand() *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "groups with state, type and lag",
		Example: `  klagtop list --sort lag --limit 10
  klagtop list --type consumer --state stable,empty -o json`,
		Args: noArguments,
	}
	out := outputFlag(cmd, "table", "json")
	o.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		format, err := out.get()
		if err != nil {
			return err
		}
		if err := o.check(); err != nil {
			return err
		}
		l, err := p.oneLook(cmd)
		if err != nil {
			return err
		}
		groups := o.choose(l.Snapshot.Groups)
		switch {
		case format == "json":
			err = document.Encode(p.stdout, l.Update, l.Snapshot, document.Options{GroupLevel: true, Groups: among(groups)})
		case l.Snapshot.Reached:
			err = buffered(p.stdout, func(w io.Writer) error { return report.List(w, groups, p.style(false)) })
		}
		if err != nil {
			return err
		}
		if n := len(l.Snapshot.Groups) - len(groups); n > 0 && len(groups) == 0 {
			p.hint("left out by --state and --type: " + counted(n, "group"))
		}
		return p.conclude(l)
	}
	return cmd
}

// listOptions choose and order the groups of list.
type listOptions struct {
	types, states []string
	sort          string
	limit         int
}

func (o *listOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&o.types, "type", nil, "only groups of these `types`: "+listed(groupTypes()))
	f.StringSliceVar(&o.states, "state", nil, "only groups in these `states`: "+listed(groupStates()))
	f.StringVar(&o.sort, "sort", "name", "`order`, most first: "+listed(report.SortKeys()))
	f.IntVar(&o.limit, "limit", 0, "at most this `number` of groups (0: all)")
	for _, name := range []string{"type", "state", "sort"} {
		complete(cmd, name)
	}
}

func groupTypes() []string {
	return []string{string(collect.TypeClassic), string(collect.TypeConsumer), string(collect.TypeShare), string(collect.TypeStreams)}
}

// groupStates are the states that a group of any type can be in.
func groupStates() []string {
	all := []string{collect.StateUnknown}
	for _, t := range groupTypes() {
		all = append(all, collect.GroupType(t).States()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (o *listOptions) check() error {
	for _, c := range []struct {
		flag  string
		given []string
		known []string
	}{{"--type", o.types, groupTypes()}, {"--state", o.states, groupStates()}, {"--sort", []string{o.sort}, report.SortKeys()}} {
		for _, v := range c.given {
			if !slices.ContainsFunc(c.known, func(k string) bool { return strings.EqualFold(k, v) }) {
				return &config.Error{Source: c.flag, Value: v, Problem: "not one of its words", Hint: listed(c.known)}
			}
		}
	}
	if o.limit < 0 {
		return &config.Error{Source: "--limit", Value: fmt.Sprint(o.limit), Problem: "below zero", Hint: "0 for all"}
	}
	return nil
}

func (o *listOptions) choose(groups []*collect.Group) []*collect.Group {
	has := func(words []string, w string) bool {
		return len(words) == 0 || slices.ContainsFunc(words, func(x string) bool { return strings.EqualFold(x, w) })
	}
	var chosen []*collect.Group
	for _, g := range groups {
		if has(o.types, string(g.Type)) && has(o.states, g.State) {
			chosen = append(chosen, g)
		}
	}
	chosen = report.Sort(chosen, strings.ToLower(o.sort))
	if o.limit > 0 && len(chosen) > o.limit {
		chosen = chosen[:o.limit]
	}
	return chosen
}

// among selects these groups.
func among(groups []*collect.Group) func(*collect.Group) bool {
	names := make(map[string]bool, len(groups))
	for _, g := range groups {
		names[g.Name] = true
	}
	return func(g *collect.Group) bool { return names[g.Name] }
}

// buffered hands w what write writes in large pieces.
func buffered(w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 64<<10)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}
