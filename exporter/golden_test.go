package exporter

import (
	"flag"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

var update = flag.Bool("update", false, "write the golden files anew")

// own is a page without what differs from process to process.
func own(page string) string {
	var b strings.Builder
	for line := range strings.Lines(page) {
		name := strings.TrimPrefix(strings.TrimPrefix(line, "# HELP "), "# TYPE ")
		if !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") {
			b.WriteString(strings.ReplaceAll(line, runtime.Version(), "GOVERSION"))
		}
	}
	return b.String()
}

func TestThePageIsTheGoldenOne(t *testing.T) {
	s := serve(t, Options{Members: true}, everything(), nil)
	s.observe("prod", s.hubs[0].Latest())
	got := own(s.page(t))
	const file = "testdata/page.prom"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the page is not %s; -update writes it anew. It is:\n%s", file, got)
	}
}

// A family that comes twice, or in two pieces, makes Prometheus refuse a page.
func TestFamiliesComeOnceAndWhole(t *testing.T) {
	page := serve(t, Options{Members: true}, everything(), everything()).page(t)
	seen, current := map[string]bool{}, ""
	for line := range strings.Lines(page) {
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			current = strings.Fields(rest)[0]
			if seen[current] {
				t.Errorf("%s comes twice", current)
			}
			seen[current] = true
		}
		if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, current) {
			t.Errorf("within %s: %s", current, line)
		}
	}
}

func TestPromlintHasNothingToSay(t *testing.T) {
	page := own(serve(t, Options{Members: true}, everything()).page(t))
	problems, err := promlint.New(strings.NewReader(page)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// The table is what people read and what rules and dashboards are checked
// against: a family that is not in it, or is another there, must not be served.
func TestThePageIsWhatTheTableSays(t *testing.T) {
	table := map[string]Metric{}
	for _, m := range Metrics() {
		if _, twice := table[m.Name]; twice {
			t.Errorf("%s is in the table twice", m.Name)
		}
		table[m.Name] = m
		if strings.ContainsAny(m.Help, "\"\\\n") {
			t.Errorf("help of %s needs escaping, which OpenMetrics does in another way", m.Name)
		}
	}
	s := serve(t, Options{Members: true}, everything())
	for name, mf := range parse(t, own(s.page(t))) {
		m, ok := table[name]
		if !ok {
			t.Errorf("%s is not in the table", name)
			continue
		}
		delete(table, name)
		if got := strings.ToLower(mf.GetType().String()); got != string(m.Type) || mf.GetHelp() != m.Help {
			t.Errorf("%s: type %s, help %q; the table says %s, %q", name, got, mf.GetHelp(), m.Type, m.Help)
		}
		labels := []string{DefaultClusterLabel}
		if name == nameBuildInfo {
			labels = nil
		}
		labels = append(labels, m.Labels...)
		slices.Sort(labels)
		for _, sample := range mf.Metric {
			var got []string
			for _, l := range sample.Label {
				got = append(got, l.GetName())
			}
			slices.Sort(got)
			if !slices.Equal(got, labels) {
				t.Errorf("%s has labels %v, the table says %v", name, got, labels)
			}
		}
	}
	for name := range table {
		t.Errorf("%s has no sample: the test's cluster must give every family one", name)
	}
}

func TestCountsThatMayMissSomethingSaySo(t *testing.T) {
	for _, m := range Metrics() {
		switch m.Name {
		case "klagtop_group_rebalances_total", "klagtop_group_moved_partitions_total", "klagtop_group_offset_jumps_total", "klagtop_group_lag_records", "klagtop_group_generation":
			if !strings.Contains(m.Help, "lower bound") {
				t.Errorf("%s: help does not say lower bound: %s", m.Name, m.Help)
			}
		}
	}
}
