package kafkatest

import (
	"os/exec"
	"syscall"
)

// dieWithParent has the kernel kill the child with us, also where a panic or a test timeout skips every cleanup.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
