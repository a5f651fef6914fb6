package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/collect/kafka"
	"github.com/klagtop/klagtop/internal/config"
)

// cluster is one cluster's source and the collector that polls it.
type cluster struct {
	source    *kafka.Source
	collector *collect.Collector
}

// open prepares to poll a cluster, and says what the configuration has to note.
func (p *program) open(cfg config.Config, log *slog.Logger) (*cluster, error) {
	for _, note := range cfg.Notes {
		p.hint(note)
	}
	source, err := kafka.New(cfg.Kafka, kafka.Options{Filter: cfg.Filter, OffsetsTopic: cfg.OffsetsTopic, Logger: log})
	if err != nil {
		return nil, err
	}
	return &cluster{source: source, collector: collect.New(source, collect.Options{
		Build:    collect.BuildOptions{ClusterName: cfg.ClusterName, Filter: cfg.Filter, StaleAfter: cfg.StaleAfter, AcceptDenied: cfg.AcceptDenied},
		Interval: cfg.Interval, Timeout: cfg.Timeout, Window: cfg.Window, ProbeRecords: cfg.ProbeRecords,
	})}, nil
}

// crash is what the poll loop panicked with.
type crash struct {
	value any
	stack []byte
}

func (c *crash) Error() string { return fmt.Sprintf("the poll loop broke: %v", c.value) }

// follow runs the poll loop until ctx ends or read does, and waits for both. A
// panic of the loop ends read first: the view has to give the terminal back.
func (c *cluster) follow(ctx context.Context, read func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var broken *crash
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() {
			if v := recover(); v != nil {
				broken = &crash{v, debug.Stack()}
				cancel()
			}
		}()
		c.collector.Run(ctx)
	}()
	err := read(ctx)
	cancel()
	<-ended
	c.source.Close()
	if broken != nil {
		return broken
	}
	return err
}

// logger writes to w as the configuration says.
func logger(cfg config.Config, w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: cfg.LogLevel}
	if cfg.LogFormat == config.LogJSON {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// quiet is the log of commands whose standard error is for people: nothing,
// unless they ask to see everything.
func quiet(cfg config.Config, w io.Writer) *slog.Logger {
	if cfg.LogLevel > slog.LevelDebug {
		return slog.New(slog.DiscardHandler)
	}
	return logger(cfg, w)
}
