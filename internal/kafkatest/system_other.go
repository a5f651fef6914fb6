//go:build !unix

package kafkatest

import (
	"os"
	"syscall"
)

// This system has no signal but the one that kills: a stopped process dies at once, and none can be paused.
const (
	stopSignal   = syscall.SIGKILL
	pauseSignal  = syscall.SIGINT
	resumeSignal = syscall.SIGINT
)

// lockFile does not lock here: two packages that fetch at once may both do the work.
func lockFile(*os.File) error { return nil }
