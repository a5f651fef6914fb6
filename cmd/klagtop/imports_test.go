package main

import (
	"os/exec"
	"strings"
	"testing"
)

const (
	module  = "github.com/klagtop/klagtop"
	franz   = "github.com/twmb/franz-go"
	charm   = "github.com/charmbracelet"
	promlib = "github.com/prometheus"
)

// rooms is the direction in which the rooms may know each other: a room's
// own imports of this module, and the outside families that it must stay free
// of even through others. A room that is not named may import nothing here.
var rooms = map[string]struct {
	own  []string // rooms it may import
	free []string // import path prefixes it must not depend on at all
}{
	"collect":            {nil, []string{franz, charm, promlib, "github.com/spf13"}},
	"collect/kafka":      {[]string{"collect"}, []string{charm, promlib, "github.com/spf13"}},
	"collect/assign":     {[]string{"collect"}, []string{charm, promlib, "github.com/spf13"}},
	"alerts":             {[]string{"collect"}, []string{franz, charm, promlib}},
	"alerts/notify":      {[]string{"collect", "alerts"}, []string{franz, charm}},
	"exporter":           {[]string{"collect", "internal/document", "internal/recording"}, []string{franz, charm}},
	"tui":                {[]string{"collect", "internal/document", "internal/recording"}, []string{franz, promlib}},
	"grafana":            {nil, []string{franz, charm, promlib}},
	"internal/document":  {[]string{"collect"}, []string{franz, charm, promlib}},
	"internal/report":    {[]string{"collect", "internal/document"}, []string{franz, charm, promlib}},
	"internal/recording": {[]string{"collect", "internal/document"}, []string{franz, charm, promlib}},
	"internal/config":    {[]string{"collect", "collect/kafka"}, []string{charm, promlib}},
	"internal/demo":      {nil, []string{charm, promlib}},
	"internal/kafkatest": {nil, []string{charm, promlib}},
	"cmd/klagtop":        {nil, nil}, // everything
}

// TestImportsRunOneWay holds the house together: a domain that learns about its
// wire protocol, or a screen that asks a broker, cannot be tested or replaced.
func TestImportsRunOneWay(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}} | {{join .Deps " "}}`, module+"/...").Output()
	if err != nil {
		t.Fatalf("list packages: %v", err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		head, deps, _ := strings.Cut(line, "|")
		fields := strings.Fields(head)
		name := strings.TrimPrefix(fields[0], module+"/")
		room, ok := rooms[name]
		if !ok {
			t.Errorf("%s is no room of this house: give it a place in the design, and here", name)
			continue
		}
		if name == "cmd/klagtop" {
			continue
		}
		allowed := map[string]bool{}
		for _, o := range room.own {
			allowed[module+"/"+o] = true
		}
		for _, imp := range fields[1:] {
			if strings.HasPrefix(imp, module) && !allowed[imp] {
				t.Errorf("%s imports %s, which it must not know", name, imp)
			}
		}
		for _, dep := range strings.Fields(deps) {
			for _, family := range room.free {
				if strings.HasPrefix(dep, family) {
					t.Errorf("%s depends on %s", name, dep)
				}
			}
		}
	}
}
