//go:build unix

package exporter

import (
	"syscall"
	"time"
)

// cpuTime is what the process has used so far: unlike the clock, it does not
// count what others do on the machine.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
