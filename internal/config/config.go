package config

import (
	"log/slog"
	"time"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/collect/kafka"
)

// DefaultListen is where serve listens when no address is set. The terminal view serves HTTP only when one is.
const DefaultListen = ":9308"

// DefaultClusterName names a cluster that nobody named: known before the first contact, never an id.
const DefaultClusterName = "default"

// Config is everything a command needs to know, validated.
type Config struct {
	Kafka       kafka.Config // Logger, Opts and Version are the caller's to fill
	ClusterName string
	Filter      collect.Filter

	Interval   time.Duration // between the starts of two polls; at least 100 ms
	Timeout    time.Duration // of one poll, and of a one-shot command; above 0
	StaleAfter time.Duration // how long a number that could not be read again stands; above 0
	Window     int           // polls of the long window; at least 2

	OffsetsTopic bool // follow __consumer_offsets where it may be read
	ProbeRecords bool // read the ends of logs that may hold markers only, where they may be read
	AcceptDenied bool // what this principal may not see is not missed

	Listen        string // "" where nothing is set; serve then takes DefaultListen
	WebConfigFile string // exporter-toolkit's file; "" for none

	Metrics Metrics

	LogLevel  slog.Level
	LogFormat LogFormat

	// Notes are things to tell the user once, in full sentences without a final stop: a default
	// that stands in for a missing setting, or settings that were ignored.
	Notes []string
}

// Metrics says what goes onto the metrics page.
type Metrics struct {
	Level        MetricsLevel
	Members      bool
	MaxSeries    int    // samples per page; 0 for no limit
	ClusterLabel string // name of the label that carries the cluster's name
}

// MetricsLevel is the finest level that has series of its own.
type MetricsLevel string

// The levels, coarse to fine; each includes those before it.
const (
	LevelGroup     MetricsLevel = "group"
	LevelTopic     MetricsLevel = "topic"
	LevelPartition MetricsLevel = "partition"
)

// LogFormat is how log lines are written.
type LogFormat string

// The formats: key=value pairs, or one JSON object per line.
const (
	LogText LogFormat = "text"
	LogJSON LogFormat = "json"
)
