package config

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/collect/kafka"
)

// load parses a command line and loads it with the environment.
func load(t *testing.T, args []string, environ ...string) (Config, error) {
	t.Helper()
	fs := pflag.NewFlagSet("klagtop", pflag.ContinueOnError)
	Flags(fs)
	if err := fs.Parse(args); err != nil {
		return Config{}, FlagError(err)
	}
	return Load(fs, environ)
}

func mustLoad(t *testing.T, args []string, environ ...string) Config {
	t.Helper()
	c, err := load(t, args, environ...)
	if err != nil {
		t.Fatalf("%q %q: %v", args, environ, err)
	}
	return c
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func names(ps []collect.Pattern) string {
	var s []string
	for _, p := range ps {
		s = append(s, p.String())
	}
	return strings.Join(s, " ")
}

func TestDefaults(t *testing.T) {
	c := mustLoad(t, nil)
	if !slices.Equal(c.Kafka.Brokers, []string{"localhost:9092"}) {
		t.Errorf("brokers %q", c.Kafka.Brokers)
	}
	if len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "using localhost:9092") {
		t.Errorf("notes %q do not say that localhost is a guess", c.Notes)
	}
	if c.ClusterName != "default" || c.Interval != 5*time.Second || c.Timeout != 10*time.Second || c.StaleAfter != 5*time.Minute || c.Window != 12 || c.AcceptDenied {
		t.Errorf("polling: %+v", c)
	}
	if c.Filter.Active() {
		t.Errorf("filter %+v", c.Filter)
	}
	if c.Listen != "" || c.WebConfigFile != "" || c.LogLevel != slog.LevelInfo || c.LogFormat != LogText {
		t.Errorf("serving and logging: %+v", c)
	}
	if c.Metrics != (Metrics{Level: LevelPartition, ClusterLabel: "kafka_cluster"}) {
		t.Errorf("metrics %+v", c.Metrics)
	}
	if c.Kafka.TLS.Enabled || c.Kafka.SASL.Mechanism != "" || c.Kafka.RequestTimeout != 10*time.Second || c.Kafka.DialTimeout != 3*time.Second {
		t.Errorf("connection %+v", c.Kafka)
	}
}

func TestEachSourceIsStrongerThanTheNext(t *testing.T) {
	java := "--command-config=" + writeFile(t, "client.properties", "bootstrap.servers=java:9092, java2:9093")
	for _, c := range []struct {
		why     string
		args    []string
		environ []string
		brokers string
	}{
		{"a flag over everything", []string{java, "--brokers=flag:1"}, []string{"KLAGTOP_BROKERS=env:1"}, "flag:1"},
		{"a variable over the Java file", []string{java}, []string{"KLAGTOP_BROKERS=env:1"}, "env:1"},
		{"the Java file over the default", []string{java}, nil, "java:9092 java2:9093"},
		{"the Java file named by a variable", nil, []string{"KLAGTOP_COMMAND_CONFIG=" + strings.TrimPrefix(java, "--command-config=")}, "java:9092 java2:9093"},
		{"an empty variable is none", []string{java}, []string{"KLAGTOP_BROKERS="}, "java:9092 java2:9093"},
		{"a Kubernetes service link is none", []string{java}, []string{"KLAGTOP_BROKERS=tcp://10.0.0.1:9092"}, "java:9092 java2:9093"},
		{"variables of others are none", []string{java}, []string{"KLAGTOP_PORT=tcp://10.0.0.1:9308", "KLAGTOP_SERVICE_HOST=10.0.0.1", "KLAGTOP_NONSENSE=1", "BROKERS=x:1", "KLAGTOP", ""}, "java:9092 java2:9093"},
		{"brokers in one list", []string{"--brokers=a, b:9093,,c"}, nil, "a:9092 b:9093 c:9092"},
		{"brokers one by one", []string{"--brokers=a", "--brokers=b"}, nil, "a:9092 b:9092"},
		{"brokers as Java writes them", []string{"--brokers=SASL_SSL://a:1"}, nil, "a:1"},
	} {
		t.Run(c.why, func(t *testing.T) {
			got := mustLoad(t, c.args, c.environ...)
			if strings.Join(got.Kafka.Brokers, " ") != c.brokers || len(got.Notes) != 0 {
				t.Errorf("got %q, notes %q; want %q and no notes", got.Kafka.Brokers, got.Notes, c.brokers)
			}
		})
	}
}

func TestEveryFlagHasAVariable(t *testing.T) {
	pass, web := writeFile(t, "pass", "secret"), writeFile(t, "web.yaml", "")
	environ := []string{
		"KLAGTOP_BROKERS=a:1,b:2", "KLAGTOP_CLUSTER_NAME=prod", "KLAGTOP_GROUP=ticker,pay-*", "KLAGTOP_EXCLUDE_GROUP=/^x{1,2}$/", "KLAGTOP_TOPIC=t",
		"KLAGTOP_EXCLUDE_TOPIC=__*", "KLAGTOP_INTERVAL=1s", "KLAGTOP_TIMEOUT=2s", "KLAGTOP_WINDOW=3", "KLAGTOP_STALE_AFTER=4s", "KLAGTOP_ACCEPT_DENIED=true", "KLAGTOP_OFFSETS_TOPIC=true", "KLAGTOP_PROBE_RECORDS=true",
		"KLAGTOP_LISTEN=:1", "KLAGTOP_WEB_CONFIG_FILE=" + web, "KLAGTOP_LOG_LEVEL=DEBUG", "KLAGTOP_LOG_FORMAT=json", "KLAGTOP_METRICS_LEVEL=topic",
		"KLAGTOP_METRICS_MEMBERS=1", "KLAGTOP_METRICS_MAX_SERIES=10", "KLAGTOP_METRICS_CLUSTER_LABEL=cluster", "KLAGTOP_TLS=true", "KLAGTOP_TLS_SERVER_NAME=n",
		"KLAGTOP_TLS_INSECURE_SKIP_VERIFY=true", "KLAGTOP_SASL_MECHANISM=plain", "KLAGTOP_SASL_USERNAME=u", "KLAGTOP_SASL_PASSWORD_FILE=" + pass,
	}
	c := mustLoad(t, nil, environ...)
	want := kafka.Config{
		Brokers: []string{"a:1", "b:2"}, RequestTimeout: 2 * time.Second, DialTimeout: 2 * time.Second / 3,
		TLS:  kafka.TLS{Enabled: true, ServerName: "n", InsecureSkipVerify: true},
		SASL: kafka.SASL{Mechanism: "PLAIN", Username: "u", PasswordFile: pass},
	}
	if !slices.Equal(c.Kafka.Brokers, want.Brokers) || c.Kafka.TLS != want.TLS || c.Kafka.SASL != want.SASL || c.Kafka.RequestTimeout != want.RequestTimeout || c.Kafka.DialTimeout != want.DialTimeout {
		t.Errorf("connection %+v, want %+v", c.Kafka, want)
	}
	if got := names(c.Filter.Groups) + "|" + names(c.Filter.ExcludeGroups) + "|" + names(c.Filter.Topics) + "|" + names(c.Filter.ExcludeTopics); got != "ticker pay-*|/^x{1,2}$/|t|__*" {
		t.Errorf("filter %s", got)
	}
	if c.ClusterName != "prod" || c.Interval != time.Second || c.Timeout != 2*time.Second || c.Window != 3 || c.StaleAfter != 4*time.Second || !c.AcceptDenied || !c.OffsetsTopic || !c.ProbeRecords {
		t.Errorf("polling %+v", c)
	}
	if c.Listen != ":1" || c.WebConfigFile != web || c.LogLevel != slog.LevelDebug || c.LogFormat != LogJSON || c.Metrics != (Metrics{LevelTopic, true, 10, "cluster"}) {
		t.Errorf("serving %+v", c)
	}

	set := map[string]bool{"KLAGTOP_COMMAND_CONFIG": true, "KLAGTOP_TLS_CA": true, "KLAGTOP_TLS_CERT": true, "KLAGTOP_TLS_KEY": true, "KLAGTOP_SASL_PASSWORD": true} // tested elsewhere
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		set[name] = true
	}
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	Flags(fs)
	fs.VisitAll(func(f *pflag.Flag) {
		if !set[Variable(f.Name)] {
			t.Errorf("--%s: %s is not tested here", f.Name, Variable(f.Name))
		}
	})
}

func TestSplitList(t *testing.T) {
	for _, c := range []struct{ why, in, want string }{
		{"commas", "a,b", "a|b"},
		{"blanks and empty items", " a , ,b,", "a|b"},
		{"a comma in a regular expression", "/a{1,2}/,b", "/a{1,2}/|b"},
		{"several commas in a regular expression", "x,/a,b,c/", "x|/a,b,c/"},
		{"two regular expressions", "/a/,/b/", "/a/|/b/"},
		{"a slash that opens nothing", "/a,b", "/a|b"},
		{"a slash alone", "/,b", "/|b"},
	} {
		t.Run(c.why, func(t *testing.T) {
			if got := strings.Join(splitList(c.in), "|"); got != c.want {
				t.Errorf("splitList(%q) = %s, want %s", c.in, got, c.want)
			}
		})
	}
}

func TestFlagValuesAreNotSplit(t *testing.T) {
	c := mustLoad(t, []string{"--group=/a{1,2}/", "--group=b,c", "--group="})
	if got := names(c.Filter.Groups); got != "/a{1,2}/ b,c " || !c.Filter.Group("") {
		t.Errorf("groups %q: a value is one pattern, and the empty id is one", got)
	}
}

func TestLoadDoesNotChangeTheFlags(t *testing.T) {
	fs := pflag.NewFlagSet("klagtop", pflag.ContinueOnError)
	Flags(fs)
	if err := fs.Parse([]string{"--group=a"}); err != nil {
		t.Fatal(err)
	}
	environ := []string{"KLAGTOP_TOPIC=t", "KLAGTOP_INTERVAL=1s"}
	for range 2 { // a reload
		c, err := Load(fs, environ)
		if err != nil || names(c.Filter.Groups) != "a" || names(c.Filter.Topics) != "t" || c.Interval != time.Second {
			t.Errorf("got %+v, %v", c, err)
		}
	}
	if fs.Changed("topic") || fs.Changed("interval") {
		t.Error("the caller's flags were set")
	}
}

func TestLoadWorksWithFewerFlags(t *testing.T) {
	fs := pflag.NewFlagSet("list", pflag.ContinueOnError)
	fs.String("cluster-name", "", "")
	if err := fs.Parse([]string{"--cluster-name=x"}); err != nil {
		t.Fatal(err)
	}
	if c, err := Load(fs, nil); err != nil || c.ClusterName != "x" || c.Window != 12 {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		why     string
		args    []string
		environ []string
		err     string // whole
		hint    string // part
	}{
		{"an interval too small", []string{"--interval=50ms"}, nil, `--interval "50ms": the smallest interval is 100ms`, ""},
		{"an interval too small, by variable", nil, []string{"KLAGTOP_INTERVAL=50ms"}, `KLAGTOP_INTERVAL "50ms": the smallest interval is 100ms`, ""},
		{"a duration without a unit", []string{"--interval=5"}, nil, `--interval "5": not a duration`, "5s"},
		{"a duration without a unit, by variable", nil, []string{"KLAGTOP_TIMEOUT=5"}, `KLAGTOP_TIMEOUT "5": not a duration`, "5s"},
		{"no time at all", []string{"--timeout=0"}, nil, `--timeout "0s": must be above zero`, ""},
		{"nothing may stand", []string{"--stale-after=-1s"}, nil, `--stale-after "-1s": must be above zero`, ""},
		{"a window of one poll", []string{"--window=1"}, nil, `--window "1": a rate needs at least 2 polls`, ""},
		{"a window that is no number", []string{"--window=x"}, nil, `--window "x": not a whole number`, ""},
		{"neither yes nor no", nil, []string{"KLAGTOP_ACCEPT_DENIED=perhaps"}, `KLAGTOP_ACCEPT_DENIED "perhaps": neither true nor false`, ""},
		{"no name", []string{"--cluster-name= "}, nil, `--cluster-name: the name is empty`, ""},
		{"a name that could paint the screen", []string{"--cluster-name=a\x1b[2J"}, nil, `--cluster-name "a\x1b[2J": control characters in the name`, ""},
		{"a bad regular expression", []string{"--group=ok", "--group=/a(/"}, nil, "--group \"/a(/\": not a regular expression: missing closing ): `a(`", "glob"},
		{"a bad regular expression, by variable", nil, []string{"KLAGTOP_EXCLUDE_TOPIC=x,/a(/"}, "KLAGTOP_EXCLUDE_TOPIC \"/a(/\": not a regular expression: missing closing ): `a(`", "glob"},
		{"an address that is a port", []string{"--listen=9308"}, nil, `--listen "9308": not an address to listen on`, ":9308"},
		{"a web file that is not there", []string{"--web.config.file=/nonexistent"}, nil, `--web.config.file "/nonexistent": no such file or directory`, ""},
		{"a log level that is none", []string{"--log-level=loud"}, nil, `--log-level "loud": no such level`, "debug"},
		{"a log format that is none", []string{"--log-format=xml"}, nil, `--log-format "xml": no such format`, "json"},
		{"a metrics level that is none", []string{"--metrics.level=all"}, nil, `--metrics.level "all": no such level`, "partition"},
		{"fewer samples than none", []string{"--metrics.max-series=-1"}, nil, `--metrics.max-series "-1": below zero`, ""},
		{"a label that is no name", []string{"--metrics.cluster-label=kafka-cluster"}, nil, `--metrics.cluster-label "kafka-cluster": not a label name`, "digits"},
		{"a label of Prometheus' own", []string{"--metrics.cluster-label=__name__"}, nil, `--metrics.cluster-label "__name__": not a label name`, "__"},
		{"a label that is taken", []string{"--metrics.cluster-label=topic"}, nil, `--metrics.cluster-label "topic": the metrics have a label of this name already`, ""},
		{"no broker in the list", []string{"--brokers=, "}, nil, `--brokers: no broker is given`, "localhost:9092"},
		{"a broker that is none", []string{"--brokers=a:1,b:x"}, nil, `--brokers "b:x": the port is not a number from 1 to 65535`, "localhost:9092"},
		{"a broker that is none, by variable", nil, []string{"KLAGTOP_BROKERS=http://b"}, `KLAGTOP_BROKERS "http://b": an HTTP address, not a Kafka broker`, "localhost:9092"},
		{"a mechanism that is none", []string{"--sasl-mechanism=md5", "--sasl-username=u", "--sasl-password=p"}, nil, `--sasl-mechanism "MD5": not supported`, "SCRAM-SHA-256"},
		{"a password without a mechanism", nil, []string{"KLAGTOP_SASL_PASSWORD=hunter2"}, `--sasl-mechanism: a user or a password is given, but no mechanism`, "PLAIN"},
		{"no user", []string{"--sasl-mechanism=PLAIN"}, nil, `--sasl-username: PLAIN needs a user name`, ""},
		{"no password", []string{"--sasl-mechanism=PLAIN", "--sasl-username=u"}, nil, `--sasl-password: no password is given for user u`, ""},
		{"two passwords", []string{"--sasl-mechanism=PLAIN", "--sasl-username=u", "--sasl-password=hunter2", "--sasl-password-file=x"}, nil, `--sasl-password: given together with --sasl-password-file`, "one"},
		{"a password file that is not there", []string{"--sasl-mechanism=PLAIN", "--sasl-username=u"}, []string{"KLAGTOP_SASL_PASSWORD_FILE=/nonexistent"}, `KLAGTOP_SASL_PASSWORD_FILE "/nonexistent": no such file or directory`, ""},
		{"an authority that is not there", []string{"--tls-ca=/nonexistent"}, nil, `--tls-ca "/nonexistent": no such file or directory`, ""},
		{"half a client certificate", []string{"--tls-key=/nonexistent"}, nil, `--tls-key "/nonexistent": no such file or directory`, ""},
		{"a Java file that is not there", []string{"--command-config=/nonexistent"}, nil, `--command-config "/nonexistent": no such file or directory`, ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			_, err := load(t, c.args, c.environ...)
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Error() != c.err || !strings.Contains(e.Hint, c.hint) || e.Hint == "" {
				t.Fatalf("got %v\nwant %s\nwith a hint of %q", err, c.err, c.hint)
			}
			if strings.Contains(e.Error()+e.Hint, "hunter2") {
				t.Error("the password is in it")
			}
		})
	}
}

func TestFlagErrorKeepsWhatItDoesNotKnow(t *testing.T) {
	_, err := load(t, []string{"--no-such-flag"})
	if err == nil || !strings.Contains(err.Error(), "no-such-flag") {
		t.Errorf("got %v", err)
	}
}
