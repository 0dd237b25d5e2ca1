//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// folder is an open folder. Everything below it is reached by descriptor, one component at a time and never through a
// symbolic link, so that nobody who swaps a folder for a link meanwhile can lead a call out of the root.
type folder struct{ f *os.File }

// info is what toold needs to know of a file, from one stat.
type info struct {
	mode     fs.FileMode
	size     int64
	dev, ino uint64
	nlink    uint64
	mtime    int64 // nanoseconds
	ctime    int64 // nanoseconds
	uid, gid uint32
}

func (i info) same(j info) bool { return i.dev == j.dev && i.ino == j.ino }

func infoOf(st *unix.Stat_t) info {
	m := fs.FileMode(st.Mode & 0o777)
	if st.Mode&unix.S_ISUID != 0 {
		m |= fs.ModeSetuid
	}
	if st.Mode&unix.S_ISGID != 0 {
		m |= fs.ModeSetgid
	}
	if st.Mode&unix.S_ISVTX != 0 {
		m |= fs.ModeSticky
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		m |= fs.ModeDir
	case unix.S_IFLNK:
		m |= fs.ModeSymlink
	case unix.S_IFIFO:
		m |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		m |= fs.ModeSocket
	case unix.S_IFCHR:
		m |= fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFBLK:
		m |= fs.ModeDevice
	}
	mt, ct := statTimes(st)
	return info{
		mode: m, size: st.Size, dev: uint64(st.Dev), ino: st.Ino, nlink: uint64(st.Nlink),
		mtime: mt, ctime: ct, uid: st.Uid, gid: st.Gid,
	}
}

// again repeats a system call that a signal interrupted.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func openFolder(name string) (folder, error) {
	f, err := os.OpenFile(name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	return folder{f}, err
}

func (d folder) fd() int { return int(d.f.Fd()) }

func (d folder) close() { d.f.Close() }

func (d folder) openat(name string, flags int, perm uint32) (*os.File, error) {
	var fd int
	err := again(func() (e error) { fd, e = unix.Openat(d.fd(), name, flags|unix.O_CLOEXEC, perm); return })
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// folder opens the sub-folder called name; a symbolic link there is an error.
func (d folder) folder(name string) (folder, error) {
	f, err := d.openat(name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	return folder{f}, err
}

// dup opens the folder a second time.
func (d folder) dup() (folder, error) {
	f, err := d.openat(".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	return folder{f}, err
}

// open opens the file called name for reading without ever blocking on a FIFO and without following a link.
func (d folder) open(name string) (*os.File, error) {
	return d.openat(name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_NOCTTY, 0)
}

// openWrite opens the existing file called name for writing in place.
func (d folder) openWrite(name string) (*os.File, error) {
	return d.openat(name, unix.O_RDWR|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_NOCTTY, 0)
}

// create makes the file called name, which must not exist.
func (d folder) create(name string, perm fs.FileMode) (*os.File, error) {
	return d.openat(name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, uint32(perm.Perm()))
}

func (d folder) lstat(name string) (info, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstatat(d.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return info{}, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return infoOf(&st), nil
}

func statFile(f *os.File) (info, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstat(int(f.Fd()), &st) }); err != nil {
		return info{}, &fs.PathError{Op: "fstat", Path: f.Name(), Err: err}
	}
	return infoOf(&st), nil
}

func statPath(name string) (info, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Stat(name, &st) }); err != nil {
		return info{}, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return infoOf(&st), nil
}

func (d folder) readlink(name string) (string, error) {
	buf := make([]byte, 4096)
	n, err := unix.Readlinkat(d.fd(), name, buf)
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	return string(buf[:n]), nil
}

func (d folder) mkdir(name string) error {
	if err := unix.Mkdirat(d.fd(), name, 0o777); err != nil {
		return &fs.PathError{Op: "mkdir", Path: name, Err: err}
	}
	return nil
}

func (d folder) remove(name string) error {
	if err := again(func() error { return unix.Unlinkat(d.fd(), name, 0) }); err != nil {
		return &fs.PathError{Op: "remove", Path: name, Err: err}
	}
	return nil
}

func (d folder) rmdir(name string) error {
	return unix.Unlinkat(d.fd(), name, unix.AT_REMOVEDIR)
}

// names lists the entries of the folder, unsorted.
func (d folder) names() ([]fs.DirEntry, error) {
	c, err := d.dup()
	if err != nil {
		return nil, err
	}
	defer c.close()
	return c.f.ReadDir(-1)
}

// sync makes the folder's entries durable. A file system that cannot do so is no reason to fail a write.
func (d folder) sync() error {
	err := again(func() error { return unix.Fsync(d.fd()) })
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	return err
}

// keepOwner gives f the owner, group and extended attributes of the file old, as far as this user may.
func keepOwner(f, old *os.File, was info) {
	fd := int(f.Fd())
	if now, err := statFile(f); err == nil && (now.uid != was.uid || now.gid != was.gid) {
		if unix.Fchown(fd, int(was.uid), int(was.gid)) != nil {
			_ = unix.Fchown(fd, -1, int(was.gid))
		}
	}
	buf := make([]byte, 4096)
	n, err := unix.Flistxattr(int(old.Fd()), buf)
	if err != nil || n <= 0 {
		return
	}
	value := make([]byte, 65536)
	for name := range strings.SplitSeq(strings.TrimSuffix(string(buf[:n]), "\x00"), "\x00") {
		if m, err := unix.Fgetxattr(int(old.Fd()), name, value); err == nil {
			_ = unix.Fsetxattr(fd, name, value[:m], 0)
		}
	}
}

func setMode(f *os.File, mode fs.FileMode) error { return f.Chmod(mode) }

// parentOf opens the folder that d is in.
func (d folder) parentOf() (folder, error) {
	f, err := d.openat("..", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	return folder{f}, err
}

// file gives the folder as a file, for listing.
func (d folder) file() (*os.File, error) {
	c, err := d.dup()
	return c.f, err
}
