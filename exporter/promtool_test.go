package exporter

import (
	"os/exec"
	"strings"
	"testing"
)

// Prometheus' own tool reads the page as Prometheus does, and lints its names.
func TestPromtoolAcceptsThePage(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("the page is not checked by promtool: it is not found")
	}
	for name, page := range map[string]string{
		"every family":       serve(t, Options{Members: true}, everything(), nil).page(t),
		"two clusters":       serve(t, Options{}, everything(), everything()).page(t),
		"before a poll":      serve(t, Options{}, nil).page(t),
		"group level":        serve(t, Options{Level: LevelGroup}, everything()).page(t),
		"a limit of samples": serve(t, Options{MaxSeries: 1}, everything()).page(t),
	} {
		cmd := exec.CommandContext(t.Context(), promtool, "check", "metrics")
		cmd.Stdin = strings.NewReader(own(page)) // what the Go client library names is not ours to lint
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
