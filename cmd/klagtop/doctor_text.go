package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/klagtop/klagtop/collect"
	"github.com/klagtop/klagtop/collect/kafka"
	"github.com/klagtop/klagtop/internal/report"
)

// writeDiagnosis writes a diagnosis for people. What is wrong is not in it:
// that goes to standard error, as everywhere.
func writeDiagnosis(w io.Writer, d *kafka.Diagnosis, filter collect.Filter) error {
	sheet := &sheet{w: w}
	sheet.cluster(d, filter)
	sheet.brokers(d.Brokers)
	sheet.certificates(d.Brokers)
	if len(d.Permissions) > 0 {
		sheet.permissions(d.Permissions)
	}
	sheet.commands("to grant what is needed and missing", d.ACLCommands)
	sheet.commands("to grant what is missing and would make numbers better", d.OptionalACLCommands)
	if d.MSKPolicy != nil && d.OnMSK() {
		sheet.policy(d.MSKPolicy)
	} else if d.MSKPolicy != nil {
		sheet.line("\nthe same for AWS MSK with IAM: klagtop doctor -o json | jq .msk_policy")
	}
	return sheet.err
}

// sheet keeps the first error of many writes.
type sheet struct {
	w   io.Writer
	err error
}

func (s *sheet) line(format string, args ...any) {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.w, format+"\n", args...)
	}
}

// table writes rows of cells.
func (s *sheet) table(rows [][]string) {
	for _, line := range laidOut(rows) {
		s.line("%s", line)
	}
}

// laidOut makes a line of each row, cells below each other.
func laidOut(rows [][]string) []string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		_, _ = io.WriteString(t, strings.Join(row, "\t")+"\n") // into memory
	}
	_ = t.Flush()
	var out []string
	for line := range strings.Lines(b.String()) {
		out = append(out, strings.TrimRight(line, " \n"))
	}
	return out
}

func (s *sheet) cluster(d *kafka.Diagnosis, filter collect.Filter) {
	c := &d.Cluster
	what := report.Printable(c.Name)
	if c.ID != "" {
		what += " (" + report.Printable(c.ID) + ")"
	}
	if c.Brokers != nil {
		what += ", " + counted(*c.Brokers, "broker")
	}
	if c.Controller != nil {
		what += ", controller " + strconv.Itoa(int(*c.Controller))
	}
	rows := [][]string{{"cluster", what}}
	who := report.Printable(d.Principal.Name)
	switch d.Principal.From {
	case "sasl":
		who += ", by its login"
	case "certificate":
		who += ", by its certificate"
	case "none":
		who += ", without a login"
	default:
		who += " (only the broker knows its name)"
	}
	rows = append(rows, []string{"user", who})
	if len(d.Features) > 0 {
		var fs []string
		for _, f := range d.Features {
			fs = append(fs, fmt.Sprintf("%s %d", report.Printable(f.Name), f.Level))
		}
		rows = append(rows, []string{"features", strings.Join(fs, ", ")})
	}
	if c.Groups != nil && c.Topics != nil {
		seen := fmt.Sprintf("%s on %s", counted(*c.Groups, "group"), counted(*c.Topics, "topic"))
		if len(c.DeniedGroups)+len(c.DeniedTopics) > 0 {
			seen += fmt.Sprintf("; denied: %s, %s", counted(len(c.DeniedGroups), "group"), counted(len(c.DeniedTopics), "topic"))
		}
		if hidden(c.SeesAllGroups) && !filter.FiltersGroups() {
			seen += "; more groups may be hidden"
		}
		if hidden(c.SeesAllTopics) && !filter.FiltersTopics() {
			seen += "; more topics may be hidden"
		}
		rows = append(rows, []string{"sees", seen})
	}
	s.table(rows)
}

func hidden(seesAll *bool) bool { return seesAll != nil && !*seesAll }

func (s *sheet) brokers(all []kafka.BrokerCheck) {
	rows := [][]string{{"BROKER", "ADDRESS", "DNS", "TCP", "TLS", "LOGIN", "KAFKA", "LATENCY", "CLOCK"}}
	for i := range all {
		b := &all[i]
		id := "-"
		if b.ID != nil {
			id = strconv.Itoa(int(*b.ID))
		}
		row := []string{id, report.Printable(b.Address), "-", "", "-", "-", orUnknown(report.Printable(b.Version), b.Version != ""), "?", clockText(b.Clock)}
		if b.DNS != nil {
			row[2] = step(b.DNS.OK, duration(b.DNS.Seconds))
		}
		if b.TCP != nil {
			row[3] = step(b.TCP.OK, duration(b.TCP.Seconds))
		}
		if b.TLS != nil {
			row[4] = tlsText(b.TLS)
		}
		if b.SASL != nil {
			row[5] = loginText(b.SASL)
		}
		if b.LatencySeconds != nil {
			row[7] = duration(*b.LatencySeconds)
		}
		if b.Failed == "request" {
			row[7] = "FAILED"
		}
		rows = append(rows, row)
	}
	s.line("")
	s.table(rows)
}

func orUnknown(text string, isKnown bool) string {
	if isKnown {
		return text
	}
	return "?"
}

func step(ok bool, text string) string {
	if ok {
		return text
	}
	return "FAILED"
}

func tlsText(t *kafka.TLSCheck) string {
	if !t.OK {
		return "FAILED"
	}
	text := t.Version
	if t.DaysLeft != nil {
		text += ", " + counted(*t.DaysLeft, "day")
	}
	if !t.Verified {
		text += ", not checked"
	}
	return text
}

func loginText(c *kafka.SASLCheck) string {
	switch {
	case c.OK == nil:
		return "?"
	case *c.OK:
		return report.Printable(c.Mechanism)
	}
	return "FAILED"
}

// clockText is how far a broker's clock is off, where that is known within
// less than a minute.
func clockText(c *kafka.ClockCheck) string {
	switch {
	case c == nil:
		return "?"
	case c.AheadAtLeastSeconds != nil && c.AheadAtMostSeconds != nil:
		return fmt.Sprintf("%+.1f to %+.1f s", *c.AheadAtLeastSeconds, *c.AheadAtMostSeconds)
	case c.AheadAtLeastSeconds != nil && *c.AheadAtLeastSeconds > -60:
		return fmt.Sprintf("at least %+.1f s", *c.AheadAtLeastSeconds)
	}
	return "?"
}

func duration(seconds float64) string {
	return strconv.FormatFloat(seconds*1000, 'f', 1, 64) + " ms"
}

// certificates shows each chain once: brokers often share one.
func (s *sheet) certificates(all []kafka.BrokerCheck) {
	told := map[string]bool{}
	for i := range all {
		t := all[i].TLS
		if t == nil || len(t.Chain) == 0 {
			continue
		}
		key := fmt.Sprint(t.Chain)
		if told[key] {
			continue
		}
		told[key] = true
		names := "no name"
		if len(t.Names) > 0 {
			names = report.Printable(strings.Join(t.Names, ", "))
		}
		s.line("\ncertificate of %s, for %s", report.Printable(all[i].Address), names)
		for _, c := range t.Chain {
			s.line("  %s, signed by %s, good until %s", report.Printable(c.Subject), report.Printable(c.Issuer), c.NotAfter.UTC().Format(time.DateOnly))
		}
	}
}

func (s *sheet) permissions(all []kafka.Permission) {
	s.line("")
	rows := [][]string{{"GRANTED", "PERMISSION", "", "WHAT IT BUYS"}}
	for i := range all {
		p := &all[i]
		need := "optional"
		if p.Needed {
			need = "needed"
		}
		rows = append(rows, []string{grantedText(p), permissionText(p), need, report.Printable(p.Buys)})
	}
	lines := laidOut(rows)
	s.line("%s", lines[0])
	for i := range all {
		p := &all[i]
		s.line("%s", lines[i+1])
		if p.Granted != nil && !*p.Granted {
			s.line("         without it: %s", report.Printable(p.CostsWithout))
			if len(p.Missing) > 0 {
				s.line("         missing on: %s", report.Printable(strings.Join(p.Missing, ", ")))
			}
		}
	}
}

func grantedText(p *kafka.Permission) string {
	switch {
	case p.Granted == nil:
		return "?"
	case *p.Granted:
		return "yes"
	case p.Needed:
		return "NO"
	}
	return "no"
}

func permissionText(p *kafka.Permission) string {
	name := report.Printable(p.Name)
	if p.Pattern == "prefixed" {
		name += "*"
	}
	if p.Resource == "cluster" {
		return p.Operation + " cluster"
	}
	return p.Operation + " " + strings.ReplaceAll(p.Resource, "_", " ") + " " + name
}

func (s *sheet) commands(why string, commands []string) {
	if len(commands) == 0 {
		return
	}
	s.line("\n%s:", why)
	for _, c := range commands {
		s.line("  %s", report.Printable(c))
	}
}

func (s *sheet) policy(p *kafka.Policy) {
	text, err := json.MarshalIndent(p, "  ", "  ")
	if err != nil {
		s.err = err
		return
	}
	s.line("\nthe same for AWS MSK with IAM (fill in what is in capitals):\n  %s", text)
}
