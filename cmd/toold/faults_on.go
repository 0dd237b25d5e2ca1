//go:build faults

package main

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/toold/toold/workspace"
)

// injectFaults makes the daemon die or fail at a step of a write: TOOLD_FAULT=STEP:N:WHAT, where N counts how often
// the step is passed first and WHAT is "kill" or the number of an errno.
func injectFaults(files *workspace.Files) {
	parts := strings.Split(os.Getenv("TOOLD_FAULT"), ":")
	if len(parts) != 3 {
		return
	}
	after, err := strconv.Atoi(parts[1])
	if err != nil {
		panic("TOOLD_FAULT: " + err.Error())
	}
	var passed atomic.Int64
	files.Fail(func(step string) error {
		if step != parts[0] || passed.Add(1) != int64(after) {
			return nil
		}
		if parts[2] == "kill" {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		n, err := strconv.Atoi(parts[2])
		if err != nil {
			panic("TOOLD_FAULT: " + err.Error())
		}
		return syscall.Errno(n)
	})
}
