package main

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/klagtop/klagtop/internal/config"
	"github.com/klagtop/klagtop/internal/demo"
)

// demoInterval is how often the demo is polled unless told otherwise: its story
// moves faster than a cluster at work.
const demoInterval = time.Second

// connectionFlags make no sense where the cluster is brought along.
var connectionFlags = []string{
	"brokers", "command-config", "tls", "tls-ca", "tls-cert", "tls-key", "tls-server-name", "tls-insecure-skip-verify",
	"sasl-mechanism", "sasl-username", "sasl-password", "sasl-password-file",
}

func (p *program) demoCommand() *cobra.Command {
	var headless bool
	var scenario string
	names, list := scenarios()
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "an embedded Kafka at work, and the terminal view on it",
		Long: `demo starts a Kafka of three brokers inside this process, with producers and
consumers that play a story, and opens the terminal view on it. It prints the
address of its brokers: any Kafka client may join in.`,
		Example: `  klagtop demo
  klagtop demo --headless --listen 127.0.0.1:9308`,
		Args: noArguments,
	}
	cmd.Flags().BoolVar(&headless, "headless", false, "serve over HTTP instead of the terminal view, on "+config.DefaultListen+" or --listen")
	cmd.Flags().StringVar(&scenario, "scenario", names[0], "`story` to play: "+listed(names)+"; list describes them")
	_ = cmd.RegisterFlagCompletionFunc("scenario", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if scenario == "list" {
			_, err := fmt.Fprint(p.stdout, list)
			return err
		}
		return p.demo(cmd, scenario, headless)
	}
	return cmd
}

// scenarios are the demo's stories: their names, and a line for each.
func scenarios() (names []string, list string) {
	for _, s := range demo.Scenarios() {
		names = append(names, s.Name)
		list += fmt.Sprintf("%-12s %s\n", s.Name, s.Description)
	}
	return names, list
}

func (p *program) demo(cmd *cobra.Command, scenario string, headless bool) error {
	names, _ := scenarios()
	if !slices.Contains(names, scenario) {
		return &config.Error{Source: "--scenario", Value: scenario, Problem: "no such story", Hint: listed(names) + "; klagtop demo --scenario list describes them"}
	}
	cfg, err := p.demoConfig(cmd)
	if err != nil {
		return err
	}
	if !headless {
		if !p.onTerminal() {
			p.hint("no terminal here: one table, then the end; --headless serves the demo")
		}
		return p.demoOn(cmd.Context(), cfg, scenario, p.view)
	}
	listener, err := listen(cfg)
	if err != nil {
		return err
	}
	defer listener.Close()
	return p.demoOn(cmd.Context(), cfg, scenario, func(ctx context.Context, cfg config.Config) error {
		if _, err := fmt.Fprintf(p.stdout, "http:      http://%s/\n", reachable(listener.Addr())); err != nil {
			return err
		}
		return p.serve(ctx, cfg, listener, logger(cfg, p.stderr))
	})
}

// reachable is an address that a browser on this machine can open.
func reachable(listening net.Addr) string {
	if a, ok := listening.(*net.TCPAddr); ok && a.IP.IsUnspecified() {
		return net.JoinHostPort("localhost", strconv.Itoa(a.Port))
	}
	return listening.String()
}

// demoOn plays a scenario while show shows it.
func (p *program) demoOn(ctx context.Context, cfg config.Config, scenario string, show func(context.Context, config.Config) error) error {
	kafka, err := demo.Start(ctx, demo.Options{Scenario: scenario})
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer kafka.Close()
	cfg.Kafka.Brokers = strings.Split(kafka.Bootstrap(), ",")
	if _, err := fmt.Fprintf(p.stdout, "bootstrap: %s\n", kafka.Bootstrap()); err != nil {
		return err
	}
	return besideStory(ctx, kafka.Close, kafka.Wait, func(ctx context.Context) error { return show(ctx, cfg) })
}

// besideStory shows a demo and then closes it. A story that fails takes its
// brokers with it: that ends the show, and is told, or it would look like a
// cluster that was lost.
func besideStory(ctx context.Context, end func(), ended func() error, show func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	story := make(chan error, 1)
	go func() {
		err := ended()
		if err != nil {
			cancel()
		}
		story <- err
	}()
	shown := show(ctx)
	end()
	if err := <-story; err != nil {
		return fmt.Errorf("the demo's story has ended: %w", err)
	}
	return shown
}

// demoConfig is the configuration without a way to another cluster, which the
// environment may hold.
func (p *program) demoConfig(cmd *cobra.Command) (config.Config, error) {
	own := *p
	own.environ = nil
	for _, kv := range p.environ {
		name, _, _ := strings.Cut(kv, "=")
		keep := true
		for _, f := range connectionFlags {
			keep = keep && name != config.Variable(f)
		}
		if keep {
			own.environ = append(own.environ, kv)
		}
	}
	for _, f := range connectionFlags {
		if cmd.Flags().Changed(f) {
			return config.Config{}, &config.Error{Source: "--" + f, Problem: "the demo brings its own cluster", Hint: "leave out demo to look at another one"}
		}
	}
	// A value stands in until the demo has its address, so that none is asked for.
	if err := cmd.Flags().Set("brokers", "127.0.0.1:9092"); err != nil {
		return config.Config{}, err
	}
	cfg, err := own.load(cmd)
	if err == nil && !cmd.Flags().Changed("interval") && own.getenv(config.Variable("interval")) == "" {
		cfg.Interval = demoInterval
	}
	if err == nil && !cmd.Flags().Changed("cluster-name") && own.getenv(config.Variable("cluster-name")) == "" {
		cfg.ClusterName = "demo"
	}
	return cfg, err
}
