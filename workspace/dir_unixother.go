//go:build unix && !linux

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

func statTimes(st *unix.Stat_t) (mtime, ctime int64) { return 0, 0 }

func (d folder) anonymous() (*os.File, error) { return nil, errors.ErrUnsupported }

func (d folder) link(*os.File, string) error { return errors.ErrUnsupported }

func (d folder) exchange(a, b string) error { return errors.ErrUnsupported }

// renameNew renames to a name that must be free. Without a kernel call that does both, a link shows whether it is.
func (d folder) renameNew(from, to string) error {
	if err := unix.Linkat(d.fd(), from, d.fd(), to, 0); err != nil {
		return &fs.PathError{Op: "rename", Path: to, Err: err}
	}
	return d.remove(from)
}

func writerGone(*os.File, time.Duration) {}
