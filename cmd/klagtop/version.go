package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version and commit are set by the linker where a release is built.
var version, commit string

// build is what the binary knows of how it was made.
func build() (v, revision string) {
	v, revision = version, commit
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v, revision
	}
	if v == "" && info.Main.Version != "" {
		v = info.Main.Version
	}
	dirty := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && revision == "":
			revision = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = ", changed since"
		}
	}
	if v == "" {
		v = "(devel)"
	}
	if revision != "" {
		revision += dirty
	}
	return v, revision
}

func versionText() string {
	v, revision := build()
	if revision == "" {
		revision = "unknown"
	}
	return fmt.Sprintf("klagtop %s (commit %s, %s, %s/%s)", v, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print version, commit and Go version",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(p.stdout, versionText())
			return err
		},
	}
}
