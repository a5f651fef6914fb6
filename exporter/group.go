package exporter

import (
	"math"
	"time"

	"github.com/klagtop/klagtop/collect"
)

// perGroup writes one sample a group, NaN for none.
func perGroup(value func(g *collect.Group) float64) func(*encoder, *cluster) {
	return func(e *encoder, c *cluster) {
		for i := range c.groups {
			e.sample(c.groups[i].labels, value(c.groups[i].Group))
		}
	}
}

func writeInfo(e *encoder, c *cluster) {
	for i := range c.groups {
		g := &c.groups[i]
		e.labelled(g.labels, 1, "type", string(g.Type), "protocol_type", g.ProtocolType, "assignor", g.Assignor)
	}
}

// writeState gives each state of the group's type a sample, and the state it is
// in, whatever word a broker uses for it.
func writeState(e *encoder, c *cluster) {
	for i := range c.groups {
		g := &c.groups[i]
		listed := g.State == ""
		for _, s := range g.Type.States() {
			e.labelled(g.labels, truth(s == g.State), "state", s)
			listed = listed || s == g.State
		}
		if !listed {
			e.labelled(g.labels, 1, "state", g.State)
		}
	}
}

func writeJumps(e *encoder, c *cluster) {
	for i := range c.groups {
		g := &c.groups[i]
		e.labelled(g.labels, float64(g.Counters.JumpsBack), "direction", "back")
		e.labelled(g.labels, float64(g.Counters.JumpsForward), "direction", "forward")
	}
}

func generationExact(g *collect.Group) float64 {
	if !g.Generation.Known() {
		return math.NaN()
	}
	return truth(g.Generation.Exact)
}

func writeRebalanceSeconds(e *encoder, c *cluster) {
	for i := range c.groups {
		g := &c.groups[i]
		e.suffixed("_sum", g.labels, g.Counters.RebalanceTime.Seconds())
		e.suffixed("_count", g.labels, float64(g.Counters.RebalanceEvents))
	}
}

func writeSkew(e *encoder, c *cluster) {
	for i := range c.groups {
		g, a := &c.groups[i], &c.groups[i].Assignment
		e.labelled(g.labels, a.SkewPartitions, "of", "partitions")
		e.labelled(g.labels, a.SkewLag, "of", "lag")
		e.labelled(g.labels, a.SkewRate, "of", "rate")
	}
}

func writeFindings(e *encoder, c *cluster) {
	for i := range c.groups {
		g := &c.groups[i]
		for _, k := range findingKinds(c.findings[g.Name]) {
			e.labelled(g.labels, 1, "code", k.code, "severity", k.severity)
		}
	}
}

func writePrimaryFinding(e *encoder, c *cluster) {
	for i := range c.groups {
		g := &c.groups[i]
		for _, f := range c.findings[g.Name] {
			if f.Primary {
				e.labelled(g.labels, 1, "code", f.Code, "severity", f.Severity.String())
				break
			}
		}
	}
}

type findingKind struct{ code, severity string }

// findingKinds lists each code and severity once: several findings of one code
// are one series.
func findingKinds(fs []collect.Finding) []findingKind {
	var out []findingKind
	seen := map[findingKind]bool{}
	for _, f := range fs {
		k := findingKind{f.Code, f.Severity.String()}
		if !seen[k] {
			seen[k] = true
			out = append(out, k)
		}
	}
	return out
}

// drain is the group's drain time, which rests on its lag and ends with it.
func drain(g *collect.Group) float64 {
	if g.Lag.Records < 0 {
		return math.NaN()
	}
	return g.Drain
}

// ageError is the bound of an age's error; not known where the age is not.
func ageError(a collect.Age) float64 {
	if !a.Known() {
		return math.NaN()
	}
	return a.Error
}

func unix(t time.Time) float64 {
	if t.IsZero() {
		return math.NaN()
	}
	return float64(t.UnixNano()) / 1e9
}
