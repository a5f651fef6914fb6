package config

import (
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/klagtop/klagtop/collect/kafka"
)

// Flags registers the flags that every command with a connection has, with their defaults. Flags that may be
// repeated do not split their values: a regular expression may hold a comma.
func Flags(fs *pflag.FlagSet) {
	fs.StringArray("brokers", nil, "bootstrap `host:port,...` of the cluster (none anywhere: "+kafka.DefaultBroker+")")
	fs.String("command-config", "", "the Java tools' client.properties `file`")
	fs.String("cluster-name", DefaultClusterName, "`name` of the cluster on screen and in metrics")

	const pattern = " `pattern`: an exact name, a glob with * or ?, or /a regular expression/ (repeatable)"
	fs.StringArray("group", nil, "only consumer groups of this"+pattern)
	fs.StringArray("exclude-group", nil, "leave out consumer groups of this"+pattern)
	fs.StringArray("topic", nil, "only rows of topics of this"+pattern)
	fs.StringArray("exclude-topic", nil, "leave out rows of topics of this"+pattern)

	fs.Duration("interval", 5*time.Second, "time between two polls, at least 100ms")
	fs.Duration("timeout", 10*time.Second, "time limit of one poll")
	fs.Int("window", 12, "`number` of polls of the long window, at least 2: a commit that stands for so long, and for three commit intervals, stands still")
	fs.Duration("stale-after", 5*time.Minute, "how long a number stands that could not be read again")
	fs.Bool("probe-records", false, "read the last records of partitions where only that tells transaction markers from data (needs READ on the topic)")
	fs.Bool("offsets-topic", false, "read the end of __consumer_offsets (needs READ on it) for exact generations and leaders of classic groups")
	fs.Bool("accept-denied", false, "what this user may not see is not missed: the document counts as complete")

	fs.String("listen", "", "`address` to serve HTTP on (serve: "+DefaultListen+" if not set)")
	fs.String("web.config.file", "", "`file` with TLS and basic auth of the HTTP server, as Prometheus' exporters have it")
	fs.String("log-level", "info", "least `level` to log: debug, info, warn or error")
	fs.String("log-format", string(LogText), "`format` of the log: text or json")

	fs.String("metrics.level", string(LevelPartition), "finest `level` of the metrics page: group, topic or partition")
	fs.Bool("metrics.members", false, "series per member of a group, too")
	fs.Int("metrics.max-series", 0, "most `samples` on the metrics page; whole levels are left out above it (0: no limit)")
	fs.String("metrics.cluster-label", "kafka_cluster", "`label` that holds the cluster's name")

	fs.Bool("tls", false, "connect with TLS (any other --tls- flag implies it)")
	fs.String("tls-ca", "", "PEM `file` of the authorities that brokers' certificates are checked against")
	fs.String("tls-cert", "", "PEM `file` of the client's certificate")
	fs.String("tls-key", "", "PEM `file` of the client's key")
	fs.String("tls-server-name", "", "`name` to expect in the brokers' certificates")
	fs.Bool("tls-insecure-skip-verify", false, "accept any certificate")

	fs.String("sasl-mechanism", "", "`mechanism` of the login: "+strings.Join(kafka.Mechanisms(), ", "))
	fs.String("sasl-username", "", "`user` to log in as")
	fs.String("sasl-password", "", "`password`; other users of this machine can read it from the process list: better KLAGTOP_SASL_PASSWORD or --sasl-password-file")
	fs.String("sasl-password-file", "", "`file` that holds the password, read again at each new connection")
}

func isSecret(flag string) bool { return flag == "sasl-password" }

// Variable gives the environment variable of a flag.
func Variable(flag string) string {
	return "KLAGTOP_" + strings.NewReplacer("-", "_", ".", "_").Replace(strings.ToUpper(flag))
}
