//go:build !unix

package exporter

import "time"

// cpuTime is not known here.
func cpuTime() time.Duration { return 0 }
