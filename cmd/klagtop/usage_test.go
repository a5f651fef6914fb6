package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/klagtop/klagtop/exporter"
)

// runHere runs klagtop in this process.
func runHere(t *testing.T, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = newProgram(&out, &err, environ).run(t.Context(), args)
	return code, out.String(), err.String()
}

func TestWhatIsRefusedIsNamed(t *testing.T) {
	for args, want := range map[string][]string{
		"describe -o xml":                           {`error: --output "xml": no such format`, "hint: table, wide, json, csv or prom"},
		"list --group /[/":                          {`error: --group "/[/": not a regular expression`},
		"watch --interval 5":                        {`error: --interval "5": not a duration`, "hint: write a number with its unit"},
		"watch --interval 1ms":                      {`error: --interval "1ms"`},
		"describe --bogus":                          {"error: unknown flag: --bogus", "hint: klagtop describe --help"},
		"describe --group":                          {"error: flag needs an argument: --group"},
		"serv":                                      {`error: unknown command "serv"`, "hint: did you mean serve?"},
		"lsit":                                      {`error: unknown command "lsit"`, "hint: did you mean list?"},
		"describe ticker":                           {`takes no arguments, but was given "ticker"`, "--group"},
		"describe --members -o json":                {"--offsets, --members and --state choose tables"},
		"describe --members --state -o csv":         {"-o csv holds one of"},
		"list --sort size":                          {`--sort "size"`, "hint: name, lag"},
		"list --state stabl":                        {`--state "stabl"`, "Stable"},
		"list --type klassik":                       {`--type "klassik"`, "classic"},
		"list --limit -1":                           {`--limit "-1"`},
		"check --max-lag 5":                         {"error: --group is missing", "hint: --group '*'"},
		"check --group ticker":                      {"error: --max-lag or --max-seconds is missing"},
		"check --group ticker --max-lag -5":         {`--max-lag "-5": not a number of records`},
		"check --group t --max-seconds soon":        {`--max-seconds "soon": not a duration`},
		"check --group t --max-seconds -1s":         {`--max-seconds "-1s": not a duration`},
		"check --group t --max-lag 1 --for -1s":     {`--for "-1s": below zero`},
		"check --group t --fail-on no_members":      {"unknown flag: --fail-on"},
		"whatif":                                    {"whatif wants one group, by its exact name"},
		"whatif --group a --group b":                {"whatif wants one group, by its exact name"},
		"whatif --group tick*":                      {"whatif wants one group, by its exact name"},
		"whatif --group t --assignor fair":          {`--assignor "fair": no assignor that is known here`, "cooperative-sticky"},
		"whatif --group t --members pod-1":          {`--members "pod-1": neither a number nor +ID or -ID`, "+2 or -2"},
		"whatif --group t --members +a --members 0": {`--members "+a,0": a number of members stands alone`},
		"whatif --group t --partitions t":           {`--partitions "t": not topic=N`, "market-updates=12"},
		"whatif --group t -o csv":                   {`--output "csv"`},
		"demo --brokers localhost:9092":             {"--brokers: the demo brings its own cluster"},
		"demo --scenario bogus":                     {`--scenario "bogus": no such story`, "ticker"},
		"serve --metrics.level member":              {`--metrics.level "member"`},
		"--sasl-mechanism GSSAPI --brokers a:1":     {`--sasl-mechanism "GSSAPI"`},
		"--brokers a:b":                             {`--brokers "a:b"`},
		"list --command-config /no/such/file":       {`"/no/such/file"`},
		"serve --web.config.file /no/such/file":     {`--web.config.file "/no/such/file"`},
		"serve --metrics.cluster-label job":         {`--metrics.cluster-label "job"`},
		"serve --listen nowhere":                    {`--listen "nowhere"`},
		"serve --log-format xml":                    {`--log-format "xml"`},
		"version --bogus":                           {"unknown flag"},
		"help bogus":                                {`error: unknown command "bogus"`, "hint: klagtop --help lists the commands"},
		"help whatiff":                              {`error: unknown command "whatiff"`, "hint: did you mean whatif?"},
		"completion tcsh":                           {`error: unknown command "tcsh"`, "hint: klagtop completion --help"},
		"doctor --probe-records=maybe":              {`--probe-records "maybe": neither true nor false`, "hint: --probe-records: read the last records"},
		"events --window 1":                         {`--window "1": a rate needs at least 2 polls`, "hint: --window: number of polls", "(default 12)"},
		"describe -o json -o xml --group ticker":    {`--output "xml"`},
	} {
		code, stdout, stderr := runHere(t, nil, strings.Fields(args)...)
		if code != exitUsage || stdout != "" {
			t.Errorf("klagtop %s: exit code %d, standard output %q", args, code, stdout)
		}
		if !strings.Contains(stderr, "\nklagtop: hint: ") {
			t.Errorf("klagtop %s: no hint in %q", args, stderr)
		}
		for _, text := range want {
			if !strings.Contains(stderr, text) {
				t.Errorf("klagtop %s: standard error %q has no %q", args, stderr, text)
			}
		}
		if strings.Contains(stderr, "no brokers given") {
			t.Errorf("klagtop %s speaks of a connection that it never makes: %q", args, stderr)
		}
	}
}

// A label that a metric has already would be there twice in its samples.
func TestNoLabelOfTheMetricsCanBeTheClusters(t *testing.T) {
	taken := map[string]bool{"le": true, "quantile": true, "job": true, "instance": true}
	for _, m := range exporter.Metrics() {
		for _, l := range m.Labels {
			taken[l] = true
		}
	}
	for l := range taken {
		if code, _, stderr := runHere(t, nil, "serve", "--metrics.cluster-label", l, "--listen", "127.0.0.1:0"); code != exitUsage {
			t.Errorf("%s: exit code %d: %s", l, code, stderr)
		}
	}
}

func TestAWebConfigurationThatCannotBeUsedIsRefusedAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "web.yml")
	if err := os.WriteFile(file, []byte("tls_server_config: {bogus: 1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := runHere(t, nil, "demo", "--headless", "--listen", "127.0.0.1:0", "--web.config.file", file)
	if code != exitUsage || stdout != "" || !strings.Contains(stderr, "field bogus not found") || strings.Contains(stderr, `\n`) {
		t.Errorf("exit code %d, standard output %q: %s", code, stdout, stderr)
	}
}

func TestAVariableCountsAsItsFlagDoes(t *testing.T) {
	code, _, stderr := runHere(t, []string{"KLAGTOP_TIMEOUT=soon"}, "list")
	if code != exitUsage || !strings.Contains(stderr, `KLAGTOP_TIMEOUT "soon": not a duration`) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestAnUnknownWordInALocaleIsASCII(t *testing.T) {
	for env, want := range map[string]bool{
		"": true, "LANG=C": true, "LANG=en_US.UTF-8": false, "LANG=C.utf8": false, "LANG=de_DE@euro": true,
	} {
		if got := newProgram(nil, nil, []string{env}).ascii(); got != want {
			t.Errorf("%q: ASCII %v, want %v", env, got, want)
		}
	}
	both := []string{"LANG=en_US.UTF-8", "LC_ALL=POSIX"}
	if !newProgram(nil, nil, both).ascii() {
		t.Error("LC_ALL does not decide")
	}
}

// A command that shall answer once and cannot is not fine: a supervisor that
// cuts a probe off must not read its silence as good news.
func TestAProbeThatIsCutOffHasNotPassed(t *testing.T) {
	for signal, want := range map[syscall.Signal]int{syscall.SIGTERM: exitFailed, syscall.SIGHUP: exitHangup} {
		for _, args := range []string{"check --group ticker --max-lag 5", "describe", "list -o json", "check --group ticker --max-lag 5 --for 1h"} {
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(stopped{signal})
			var stdout, stderr bytes.Buffer
			code := newProgram(&stdout, &stderr, nil).run(ctx, strings.Fields(args+" --brokers "+freeAddress(t)))
			if code != want || stdout.Len() > 0 || want == exitFailed && !strings.Contains(stderr.String(), "stopped by signal") {
				t.Errorf("%s after %v: exit code %d, standard output %q, standard error %q", args, signal, code, stdout.String(), stderr.String())
			}
		}
	}
}

// What a command has of its own must not drown in the flags of all commands, nor
// break on a terminal of 80 columns.
func TestHelpFitsAScreen(t *testing.T) {
	for _, name := range []string{"", "serve", "demo", "describe", "list", "watch", "events", "check", "whatif", "version"} {
		code, help, stderr := runHere(t, nil, append(strings.Fields(name), "--help")...)
		if code != exitFine || stderr != "" {
			t.Errorf("%s --help: exit code %d: %s", name, code, stderr)
		}
		lines := strings.Split(help, "\n")
		for _, l := range lines {
			if len(l) > 80 {
				t.Errorf("%s --help has a line of %d: %q", name, len(l), l)
			}
		}
		if name == "" {
			if !strings.Contains(help, "--stale-after duration") {
				t.Errorf("--help does not describe the flags of all commands: %s", help)
			}
			continue
		}
		if len(lines) > 40 || strings.Contains(help, "--stale-after") || !strings.Contains(help, "--interval: klagtop --help\n") {
			t.Errorf("%s --help has %d lines: %s", name, len(lines), help)
		}
	}
}

func TestWhatNeedsNoCluster(t *testing.T) {
	for args, want := range map[string]string{
		"version":                       "klagtop (devel) (commit ",
		"--version":                     "klagtop (devel) (commit ",
		"--help":                        "klagtop demo",
		"describe --help":               "--members",
		"completion bash":               "bash completion",
		"completion zsh":                "#compdef klagtop",
		"completion fish":               "fish completion",
		"completion powershell":         "powershell completion",
		"__complete describe -o ":       "csv\n",
		"__complete list --sort ":       "lag\n",
		"__complete demo --scen":        "--scenario",
		"__complete whatif --assignor ": "cooperative-sticky\n",
		"demo --scenario list":          "ticker ",
		"__complete list --state E":     "Empty\n",
	} {
		words := strings.Split(args, " ") // an empty last word is the one to complete
		code, stdout, stderr := runHere(t, nil, words...)
		if code != exitFine || !strings.Contains(stdout, want) {
			t.Errorf("klagtop %s: exit code %d, %q is not in %.300q %.300q", args, code, want, stdout, stderr)
		}
	}
}
