package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

func statTimes(st *unix.Stat_t) (mtime, ctime int64) { return st.Mtim.Nano(), st.Ctim.Nano() }

// anonymous makes a file without a name in the folder: a process that dies leaves nothing of it behind.
func (d folder) anonymous() (*os.File, error) {
	return d.openat(".", unix.O_RDWR|unix.O_TMPFILE, 0o600)
}

// link gives the anonymous file f a name that must be free.
func (d folder) link(f *os.File, name string) error {
	from := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	if err := again(func() error { return unix.Linkat(unix.AT_FDCWD, from, d.fd(), name, unix.AT_SYMLINK_FOLLOW) }); err != nil {
		return &fs.PathError{Op: "link", Path: name, Err: err}
	}
	return nil
}

// exchange swaps two names in one step.
func (d folder) exchange(a, b string) error {
	err := again(func() error { return unix.Renameat2(d.fd(), a, d.fd(), b, unix.RENAME_EXCHANGE) })
	if err != nil {
		return &fs.PathError{Op: "exchange", Path: b, Err: err}
	}
	return nil
}

// renameNew renames to a name that must be free.
func (d folder) renameNew(from, to string) error {
	err := again(func() error { return unix.Renameat2(d.fd(), from, d.fd(), to, unix.RENAME_NOREPLACE) })
	if err != nil {
		return &fs.PathError{Op: "rename", Path: to, Err: err}
	}
	return nil
}

// writerGone waits until no other process has f open for writing, so that what is read from f afterwards is final. It
// asks the kernel for a read lease, which is refused while there is a writer. After the given time, or where leases
// are not to be had, it gives up; the caller then works with the bytes that are there.
func writerGone(f *os.File, wait time.Duration) {
	deadline := time.Now().Add(wait)
	pause := 100 * time.Microsecond
	for {
		_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
		if err == nil {
			_, _ = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
			return
		}
		if err != unix.EAGAIN || time.Now().After(deadline) {
			return
		}
		time.Sleep(pause)
		pause = min(2*pause, 10*time.Millisecond)
	}
}
