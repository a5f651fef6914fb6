package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/prometheus/exporter-toolkit/web"
	"github.com/spf13/cobra"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/exporter"
	"github.com/klagtop/klagtop/internal/config"
)

func newExporter(cfg config.Config, feed exporter.Feed, log *slog.Logger) (*exporter.Exporter, error) {
	v, revision := build()
	return exporter.New(exporter.Options{
		Feeds: []exporter.Feed{feed},
		Level: exporter.Level(cfg.Metrics.Level), Members: cfg.Metrics.Members, MaxSeries: cfg.Metrics.MaxSeries, ClusterLabel: cfg.Metrics.ClusterLabel,
		Version: v, Revision: revision, Logger: log,
	})
}

// feed is the cluster as the exporter reads it.
func (c *cluster) feed(cfg config.Config) exporter.Feed {
	return exporter.Feed{
		Name: cfg.ClusterName, Hub: c.collector.Hub(), Alive: c.collector.Alive,
		Interval: c.collector.Interval, Timeout: cfg.Timeout,
	}
}

func (p *program) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Prometheus metrics and a JSON API, without a terminal view",
		Long: `serve polls the cluster and answers over HTTP: /metrics, /api/v1/groups,
/api/v1/events, /-/healthy, /-/ready and a page to read at /. A scrape costs
Kafka nothing.`,
		Example: `  klagtop serve --brokers broker:9092 --listen :9308`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := p.load(cmd)
			if err != nil {
				return err
			}
			listener, err := listen(cfg)
			if err != nil {
				return err
			}
			log := logger(cfg, p.stderr)
			log.Info("polling", "cluster", cfg.ClusterName, "brokers", strings.Join(cfg.Kafka.Brokers, ","), "interval", cfg.Interval.String())
			// To a server SIGHUP means to read its files again; those that
			// there are are read anew at each connection.
			signal.Ignore(syscall.SIGHUP)
			thrift()
			return p.serve(cmd.Context(), cfg, listener, log)
		},
	}
}

// thrift makes a server collect its garbage sooner. Each poll lays a whole
// snapshot out beside the one before, so that at a million rows the collector's
// default pace lets the process grow to three times what it keeps. GOGC and
// GOMEMLIMIT, where set, decide instead.
func thrift() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(40)
	}
}

// listen takes the address before anything else is done, so that one that is
// taken is told at once; so is a file for TLS and passwords that cannot be
// used, beside which a view would go on without answering.
func listen(cfg config.Config) (net.Listener, error) {
	if err := web.Validate(cfg.WebConfigFile); err != nil {
		return nil, &config.Error{Source: "--web.config.file", Value: cfg.WebConfigFile, Problem: strings.Join(strings.Fields(err.Error()), " "), Hint: "it is a file as Prometheus' exporters have it"}
	}
	address := cfg.Listen
	if address == "" {
		address = config.DefaultListen
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, &failure{code: exitFailed, err: fmt.Errorf("listen on %s: %w", address, err), hint: "another address: --listen HOST:PORT"}
	}
	return l, nil
}

// serve polls and answers until ctx ends.
func (p *program) serve(ctx context.Context, cfg config.Config, l net.Listener, log *slog.Logger) error {
	c, err := p.open(cfg, log)
	if err != nil {
		_ = l.Close()
		return err
	}
	e, err := newExporter(cfg, c.feed(cfg), log)
	if err != nil {
		_ = l.Close()
		return err
	}
	return c.follow(ctx, func(ctx context.Context) error {
		told := make(chan struct{})
		ctx, cancel := context.WithCancel(ctx)
		go func() {
			defer close(told)
			logChanges(ctx, c.collector.Hub(), log)
		}()
		err := e.Serve(ctx, l, cfg.WebConfigFile)
		cancel()
		<-told
		return err
	})
}

// logChanges logs when the cluster is lost or found, and when something can no
// longer be read: a few lines, however long it lasts.
func logChanges(ctx context.Context, hub *collect.Hub, log *slog.Logger) {
	var u *collect.Update
	last := ""
	for {
		next, ok := hub.Next(ctx, u)
		if !ok {
			return
		}
		u = next
		s := u.Snapshot
		state, why := "complete", ""
		switch {
		case !s.Reached:
			state = "unreachable"
		case !s.Complete:
			state = "partial"
		}
		switch {
		case len(s.Problems) > 0:
			why = problemText(&s.Problems[0])
		case state == "partial":
			why = incomplete(s)
		}
		if state == last {
			continue
		}
		switch state {
		case "complete":
			log.Info("the cluster is read", "groups", len(s.Groups), "topics", len(s.Topics), "seconds", s.Took.Seconds())
		case "partial":
			log.Warn("not everything can be read", "problems", len(s.Problems), "first", why)
		default:
			log.Error("no broker can be reached", "error", why)
		}
		last = state
	}
}
