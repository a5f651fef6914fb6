package main

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/internal/config"
	"github.com/klagtop/klagtop/internal/report"
)

// completionTimeout is how long a shell may be held up by the tab key.
const completionTimeout = 2 * time.Second

// complete gives the shell the words that a flag's usage names.
func complete(cmd *cobra.Command, flag string) {
	usage := cmd.Flag(flag).Usage
	if _, words, ok := strings.Cut(usage, ": "); ok {
		usage = words
	}
	list := strings.FieldsFunc(usage, func(r rune) bool { return r == ',' || r == ' ' })
	list = slices.DeleteFunc(list, func(w string) bool { return w == "or" })
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp))
}

// groupNames gives the shell the names of the cluster's groups, those that a
// shell and a terminal can take as they are.
func (p *program) groupNames(cmd *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	none := cobra.ShellCompDirectiveNoFileComp
	cfg, err := config.Load(cmd.Flags(), p.environ)
	if err != nil {
		return nil, none
	}
	cfg.Filter, cfg.Notes, cfg.Timeout = collect.Filter{}, nil, min(cfg.Timeout, completionTimeout)
	l, err := p.once(cmd.Context(), cfg)
	if err != nil {
		return nil, none
	}
	var names []cobra.Completion
	for _, g := range l.Snapshot.Groups {
		if strings.HasPrefix(g.Name, prefix) && report.Printable(g.Name) == g.Name && !strings.ContainsAny(g.Name, " \t") {
			names = append(names, g.Name)
		}
	}
	return names, none
}
