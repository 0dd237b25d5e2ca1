//go:build unix

package main

import "golang.org/x/sys/unix"

// openFileLimit gives the soft and the hard limit of open files of this process, 0 for no limit.
func openFileLimit() (soft, hard int) {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return 0, 0
	}
	return int(l.Cur), int(l.Max)
}
