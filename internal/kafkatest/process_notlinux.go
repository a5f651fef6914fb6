//go:build !linux

package kafkatest

import "os/exec"

// dieWithParent cannot be asked of this system: a test binary that is killed leaves its Kafka behind.
func dieWithParent(*exec.Cmd) {}
