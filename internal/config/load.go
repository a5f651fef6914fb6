package config

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/klagtop/klagtop/collect"
)

// MinInterval is the smallest interval between two polls: below it a poll costs the cluster more than it shows.
const MinInterval = 100 * time.Millisecond

// Load gives the configuration that the parsed flags, the environment (as os.Environ gives it) and the Java file
// they name make together. fs need not have every flag of Flags; it is only read. The error is an *Error.
func Load(fs *pflag.FlagSet, environ []string) (Config, error) {
	l, err := newLayers(fs, environ)
	if err != nil {
		return Config{}, err
	}
	var c Config
	if l.has("command-config") {
		notes, err := l.readJava(l.plain("command-config"))
		if err != nil {
			return Config{}, err
		}
		c.Notes = notes
	}
	for _, part := range []func(*layers, *Config) error{loadPolling, loadFilter, loadServing, loadLogging, loadMetrics, loadConnection} {
		if err := part(l, &c); err != nil {
			return Config{}, err
		}
	}
	return c, nil
}

func loadPolling(l *layers, c *Config) error {
	c.Interval, _ = l.values.GetDuration("interval")
	c.Timeout, _ = l.values.GetDuration("timeout")
	c.StaleAfter, _ = l.values.GetDuration("stale-after")
	c.Window, _ = l.values.GetInt("window")
	c.ProbeRecords, _ = l.values.GetBool("probe-records")
	c.OffsetsTopic, _ = l.values.GetBool("offsets-topic")
	c.AcceptDenied, _ = l.values.GetBool("accept-denied")
	c.ClusterName = l.plain("cluster-name")
	switch {
	case c.Interval < MinInterval:
		return l.refuse("interval", c.Interval.String(), "the smallest interval is "+MinInterval.String(), "")
	case c.Timeout <= 0:
		return l.refuse("timeout", c.Timeout.String(), "must be above zero", "")
	case c.StaleAfter <= 0:
		return l.refuse("stale-after", c.StaleAfter.String(), "must be above zero", "")
	case c.Window < 2:
		return l.refuse("window", fmt.Sprint(c.Window), "a rate needs at least 2 polls", "")
	case strings.TrimSpace(c.ClusterName) == "":
		return l.refuse("cluster-name", "", "the name is empty", "")
	case strings.ContainsFunc(c.ClusterName, unicode.IsControl):
		return l.refuse("cluster-name", c.ClusterName, "control characters in the name", "")
	}
	return nil
}

func loadFilter(l *layers, c *Config) error {
	for name, to := range map[string]*[]collect.Pattern{
		"group": &c.Filter.Groups, "exclude-group": &c.Filter.ExcludeGroups,
		"topic": &c.Filter.Topics, "exclude-topic": &c.Filter.ExcludeTopics,
	} {
		for _, v := range l.list(name) {
			p, err := collect.ParsePattern(v)
			if err != nil {
				return l.refuse(name, v, err.Error(), "an exact name, a glob with * or ?, or /a regular expression/")
			}
			*to = append(*to, p)
		}
	}
	return nil
}

func loadServing(l *layers, c *Config) error {
	c.Listen = l.plain("listen")
	if c.Listen != "" {
		if _, _, err := net.SplitHostPort(c.Listen); err != nil {
			return l.refuse("listen", c.Listen, "not an address to listen on", "write host:port, or :port for all addresses, such as "+DefaultListen)
		}
	}
	c.WebConfigFile = l.plain("web.config.file")
	if c.WebConfigFile != "" {
		f, err := os.Open(c.WebConfigFile)
		if err != nil {
			return l.refuse("web.config.file", c.WebConfigFile, fileProblem(err), "")
		}
		_ = f.Close()
	}
	return nil
}

func loadLogging(l *layers, c *Config) error {
	level := l.plain("log-level")
	names := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	var ok bool
	if c.LogLevel, ok = names[strings.ToLower(level)]; !ok {
		return l.refuse("log-level", level, "no such level", "debug, info, warn or error")
	}
	c.LogFormat = LogFormat(strings.ToLower(l.plain("log-format")))
	if c.LogFormat != LogText && c.LogFormat != LogJSON {
		return l.refuse("log-format", l.plain("log-format"), "no such format", "text or json")
	}
	return nil
}

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// takenLabels are the labels that metrics have besides the cluster's: twice in one sample would make the page
// invalid. job and instance are a scrape's own, and le and quantile those of parts of a metric.
var takenLabels = []string{
	"assignor", "client_id", "code", "direction", "goversion", "group", "host", "id", "instance", "instance_id", "job", "le", "level", "member_id",
	"of", "partition", "protocol_type", "quantile", "reason", "result", "revision", "severity", "stage", "state", "topic", "type", "version", "what",
}

func loadMetrics(l *layers, c *Config) error {
	c.Metrics.Level = MetricsLevel(l.plain("metrics.level"))
	c.Metrics.Members, _ = l.values.GetBool("metrics.members")
	c.Metrics.MaxSeries, _ = l.values.GetInt("metrics.max-series")
	c.Metrics.ClusterLabel = l.plain("metrics.cluster-label")
	label := c.Metrics.ClusterLabel
	switch {
	case !slices.Contains([]MetricsLevel{LevelGroup, LevelTopic, LevelPartition}, c.Metrics.Level):
		return l.refuse("metrics.level", string(c.Metrics.Level), "no such level", "group, topic or partition")
	case c.Metrics.MaxSeries < 0:
		return l.refuse("metrics.max-series", fmt.Sprint(c.Metrics.MaxSeries), "below zero", "0 for no limit")
	case !labelName.MatchString(label) || strings.HasPrefix(label, "__"):
		return l.refuse("metrics.cluster-label", label, "not a label name", "letters, digits and _, not a digit first, not __ first")
	case slices.Contains(takenLabels, label):
		return l.refuse("metrics.cluster-label", label, "the metrics have a label of this name already", "")
	}
	return nil
}
