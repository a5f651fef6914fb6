package main

import (
	"context"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/klagtop/klagtop/collect/kafka"
)

func (p *program) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "connection, versions, permissions, and what would mend them",
		Long: `doctor reaches each broker by itself, says at which step a way ends, and asks one
by one what this user may do: what each permission buys, what its absence costs,
and the kafka-acls commands that would grant what is missing. It only reads, but
unlike the other commands it asks for what may be denied: the brokers' authorizer
logs may tell of it. Filters narrow what is needed: with --group, only that.`,
		Example: `  klagtop doctor --brokers broker:9092
  klagtop doctor --command-config client.properties --group 'payments-*'
  klagtop doctor -o json | jq '.permissions[] | select(.granted == false)'`,
		Args: noArguments,
	}
	out := outputFlag(cmd, "text", "json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		format, err := out.get()
		if err != nil {
			return err
		}
		return p.doctor(cmd, format == "json")
	}
	return cmd
}

func (p *program) doctor(cmd *cobra.Command, asJSON bool) error {
	cfg, err := p.load(cmd)
	if err != nil {
		return err
	}
	for _, note := range cfg.Notes {
		p.hint(note)
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), cfg.Timeout)
	defer cancel()
	d, err := kafka.Diagnose(ctx, cfg.Kafka, kafka.DiagnosisOptions{
		Options:     kafka.Options{Filter: cfg.Filter, OffsetsTopic: cfg.OffsetsTopic, Logger: quiet(cfg, p.stderr)},
		ClusterName: cfg.ClusterName, AcceptDenied: cfg.AcceptDenied, ProbeRecords: cfg.ProbeRecords,
	})
	if err != nil {
		return err
	}
	if err := cmd.Context().Err(); err != nil {
		return &failure{code: exitFailed, err: context.Cause(cmd.Context())}
	}
	if asJSON {
		enc := json.NewEncoder(p.stdout)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		err = enc.Encode(d)
	} else {
		err = buffered(p.stdout, func(w io.Writer) error { return writeDiagnosis(w, d, cfg.Filter) })
	}
	if err != nil {
		return err
	}
	return p.diagnosed(d)
}

// diagnosed says what is wrong, as every command does, and gives the exit code
// for it.
func (p *program) diagnosed(d *kafka.Diagnosis) error {
	told := map[string]bool{}
	var hints []string
	for _, pr := range d.Problems {
		if pr.Severity == "error" {
			p.tell("error", pr.Error)
		} else {
			hints = append(hints, pr.Error)
		}
		if pr.Hint != "" && !told[pr.Hint] {
			told[pr.Hint] = true
			hints = append(hints, pr.Hint)
		}
	}
	for _, h := range hints {
		p.hint(h)
	}
	if !d.OK {
		return &failure{code: exitFailed}
	}
	return nil
}
