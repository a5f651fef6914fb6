package main

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/klagtop/klagtop/internal/config"
	"github.com/klagtop/klagtop/internal/report"
)

// program is one run of klagtop and what it may touch of the outside.
type program struct {
	stdout, stderr io.Writer
	environ        []string
}

func newProgram(stdout, stderr io.Writer, environ []string) *program {
	return &program{stdout: stdout, stderr: stderr, environ: environ}
}

func (p *program) run(ctx context.Context, args []string) int {
	root := p.root()
	root.SetArgs(args)
	return p.finish(ctx, root.ExecuteContext(ctx))
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "klagtop",
		Short: "how far behind Kafka consumer groups are, who owns what, and what changed",
		Long: `klagtop shows how far behind each consumer group is, in records and in seconds,
who owns which partition, and what changed: live in a terminal, as Prometheus
metrics, or once for scripts. It only reads: it creates nothing, commits
nothing and joins no group.

Without a command it opens the terminal view; without a terminal it prints one
table and ends.`,
		Example: `  klagtop --brokers broker:9092
  klagtop --brokers broker:9092 --group ticker
  klagtop serve --brokers broker:9092
  klagtop demo`,
		Args:          unknownCommand,
		Version:       versionText(),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return p.terminal(cmd) },
	}
	root.SuggestionsMinimumDistance = 2 // letters that may be wrong
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetUsageTemplate(helpTemplate)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.SetFlagErrorFunc(flagError)
	config.Flags(root.PersistentFlags())
	for _, name := range []string{"metrics.level", "log-level", "log-format", "sasl-mechanism"} {
		complete(root, name)
	}
	_ = root.RegisterFlagCompletionFunc("group", p.groupNames)
	_ = root.RegisterFlagCompletionFunc("exclude-group", p.groupNames)
	root.AddCommand(
		p.serveCommand(), p.demoCommand(), p.describeCommand(), p.listCommand(), p.watchCommand(), p.eventsCommand(), p.checkCommand(),
		p.whatifCommand(), p.doctorCommand(), p.versionCommand(),
	)
	refuseUnknown(root)
	return root
}

// refuseUnknown makes cobra's own commands fail over words that they do not
// know: as they come, they print their help as if it had been asked for.
func refuseUnknown(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				if found, rest, err := root.Find(args); err != nil || found == root {
					return unknownCommand(root, args)
				} else if len(rest) > 0 {
					return unknownCommand(found, rest)
				}
				return nil
			}
		case "completion":
			cmd.Args = unknownCommand
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
}

func flagError(cmd *cobra.Command, err error) error {
	err = config.FlagError(err)
	if ce, ok := err.(*config.Error); ok { //nolint:errorlint // FlagError wraps nothing
		return ce
	}
	return usage(cmd.CommandPath()+" --help lists the flags of the command, klagtop --help those of all", "%w", err)
}

// unknownCommand refuses words after a command that are no command of its.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := cmd.CommandPath() + " --help lists the commands"
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return usage(hint, "unknown command %q", args[0])
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usage("groups are named with --group", "%s takes no arguments, but was given %q", cmd.CommandPath(), args[0])
}

// load gives the configuration of a command.
func (p *program) load(cmd *cobra.Command) (config.Config, error) {
	cfg, err := config.Load(cmd.Flags(), p.environ)
	if err != nil {
		return cfg, err
	}
	cfg.Kafka.Version, _ = build()
	return cfg, nil
}

func (p *program) getenv(name string) string {
	for i := len(p.environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(p.environ[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// ascii reports whether the locale has no signs but ASCII: the first variable
// that is set decides, as in POSIX; with none set it is C.
func (p *program) ascii() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(p.getenv(name)); v != "" {
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return true
}

func (p *program) style(wide bool) report.Options {
	return report.Options{Wide: wide, ASCII: p.ascii(), Terminal: p.toTerminal()}
}

// toTerminal reports whether a terminal gets what is printed.
func (p *program) toTerminal() bool {
	f, ok := p.stdout.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// onTerminal reports whether there is a screen to draw on.
func (p *program) onTerminal() bool { return p.getenv("TERM") != "dumb" && p.toTerminal() }

// output is a command's -o.
type output struct {
	value *string
	words []string
}

func outputFlag(cmd *cobra.Command, words ...string) output {
	o := output{words: words}
	o.value = cmd.Flags().StringP("output", "o", words[0], "`format`: "+listed(words))
	complete(cmd, "output")
	return o
}

func (o output) get() (string, error) {
	if !slices.Contains(o.words, *o.value) {
		return "", &config.Error{Source: "--output", Value: *o.value, Problem: "no such format", Hint: listed(o.words)}
	}
	return *o.value, nil
}

// listed is "a, b or c".
func listed(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
