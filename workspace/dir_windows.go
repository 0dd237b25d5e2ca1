package workspace

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// folder is an open folder, reached through os.Root so that links cannot lead out of it. On Windows the door writes
// beside and renames; the exchange with its look at the displaced bytes exists on Linux only.
type folder struct{ r *os.Root }

type info struct {
	mode         fs.FileMode
	size         int64
	dev, ino     uint64
	nlink        uint64
	mtime, ctime int64
	uid, gid     uint32
	file         fs.FileInfo
}

func (i info) same(j info) bool { return i.file != nil && j.file != nil && os.SameFile(i.file, j.file) }

func infoOf(st fs.FileInfo) info {
	return info{mode: st.Mode(), size: st.Size(), mtime: st.ModTime().UnixNano(), nlink: 1, file: st}
}

func again(call func() error) error { return call() }

func openFolder(name string) (folder, error) {
	r, err := os.OpenRoot(name)
	return folder{r}, err
}

func (d folder) close() { d.r.Close() }

func (d folder) folder(name string) (folder, error) {
	r, err := d.r.OpenRoot(name)
	return folder{r}, err
}

func (d folder) dup() (folder, error) { return d.folder(".") }

func (d folder) file() (*os.File, error) { return d.r.Open(".") }

func (d folder) open(name string) (*os.File, error) { return d.r.Open(name) }

func (d folder) openWrite(name string) (*os.File, error) { return d.r.OpenFile(name, os.O_RDWR, 0) }

func (d folder) create(name string, perm fs.FileMode) (*os.File, error) {
	return d.r.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

func (d folder) lstat(name string) (info, error) {
	st, err := d.r.Lstat(name)
	if err != nil {
		return info{}, err
	}
	return infoOf(st), nil
}

func statFile(f *os.File) (info, error) {
	st, err := f.Stat()
	if err != nil {
		return info{}, err
	}
	return infoOf(st), nil
}

func statPath(name string) (info, error) {
	st, err := os.Stat(name)
	if err != nil {
		return info{}, err
	}
	return infoOf(st), nil
}

func (d folder) readlink(name string) (string, error) { return d.r.Readlink(name) }

func (d folder) mkdir(name string) error { return d.r.Mkdir(name, 0o777) }

func (d folder) remove(name string) error { return d.r.Remove(name) }

func (d folder) rmdir(name string) error { return d.r.Remove(name) }

func (d folder) names() ([]fs.DirEntry, error) {
	f, err := d.r.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

func (d folder) sync() error { return nil }

func keepOwner(f, old *os.File, was info) {}

func setMode(f *os.File, mode fs.FileMode) error { return nil }

func (d folder) parentOf() (folder, error) { return folder{}, errors.ErrUnsupported }

func (d folder) anonymous() (*os.File, error) { return nil, errors.ErrUnsupported }

func (d folder) link(*os.File, string) error { return errors.ErrUnsupported }

func (d folder) exchange(a, b string) error { return errors.ErrUnsupported }

func (d folder) renameNew(from, to string) error {
	if _, err := d.r.Lstat(to); err == nil {
		return fs.ErrExist
	}
	return d.r.Rename(from, to)
}

func writerGone(*os.File, time.Duration) {}
