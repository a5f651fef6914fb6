//go:build unix

package kafkatest

import (
	"os"
	"syscall"
)

const (
	stopSignal   = syscall.SIGTERM
	pauseSignal  = syscall.SIGSTOP
	resumeSignal = syscall.SIGCONT
)

// lockFile waits for the lock on f; closing f gives it back, and so does the death of this process.
func lockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }
