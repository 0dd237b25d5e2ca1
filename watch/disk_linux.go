package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// disk reads a workspace by descriptors: every path is resolved by the kernel below the root's descriptor, and no
// symbolic link is followed, so that nobody who swaps a folder for a link meanwhile can lead a read out of the root.
type disk struct {
	path    string
	trouble func(path string) error // for tests, nil otherwise: what to say to the opening of a file
	fd      int
	slow    *os.Root    // for kernels without openat2
	old     atomic.Bool // openat2 is not there
}

func openDisk(root string) (*disk, error) {
	slow, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		slow.Close()
		return nil, &fs.PathError{Op: "open", Path: root, Err: err}
	}
	return &disk{path: root, fd: fd, slow: slow}, nil
}

func (d *disk) close() error {
	return errors.Join(unix.Close(d.fd), d.slow.Close())
}

// gone says that the folder at the root's path is not the one that was opened.
func (d *disk) gone() bool {
	var now, then unix.Stat_t
	return unix.Stat(d.path, &now) != nil || unix.Fstat(d.fd, &then) != nil || now.Ino != then.Ino || now.Dev != then.Dev
}

func (d *disk) openat(p string, flags int) (int, error) {
	if flags&unix.O_PATH == 0 {
		flags |= unix.O_NONBLOCK | unix.O_NOCTTY // a FIFO or a terminal must not hold us
	}
	how := unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC), Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS}
	for !d.old.Load() {
		fd, err := unix.Openat2(d.fd, p, &how)
		switch {
		case err == unix.EINTR || err == unix.EAGAIN:
		case err == unix.ENOSYS || err == unix.EPERM && !d.hasOpenat2():
			d.old.Store(true)
		default:
			return fd, err
		}
	}
	f, err := d.slow.OpenFile(p, flags|unix.O_NOFOLLOW, 0)
	if err != nil {
		return -1, err
	}
	defer f.Close()
	return unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
}

// hasOpenat2 tells a sandbox that forbids the call from a file that forbids the access.
func (d *disk) hasOpenat2() bool {
	fd, err := unix.Openat2(d.fd, ".", &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC})
	if err != nil {
		return false
	}
	_ = unix.Close(fd)
	return true
}

// list gives the entries of a folder, in no order, and what the folder itself is.
func (d *disk) list(dir string) ([]entry, Stat, error) {
	fd, err := d.openat(dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, Stat{}, err
	}
	f := os.NewFile(uintptr(fd), filepath.Join(d.path, dir))
	defer f.Close()
	self, err := fstat(fd)
	if err != nil {
		return nil, Stat{}, err
	}
	des, err := f.ReadDir(-1)
	entries := make([]entry, 0, len(des))
	for _, de := range des {
		entries = append(entries, entry{name: de.Name(), stat: Stat{Kind: kindOf(de.Type())}})
	}
	return entries, self, err
}

// listStat is list with everything about the files and folders. What vanishes meanwhile is left out.
func (d *disk) listStat(dir string) ([]entry, Stat, error) {
	fd, err := d.openat(dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, Stat{}, err
	}
	f := os.NewFile(uintptr(fd), filepath.Join(d.path, dir))
	defer f.Close()
	self, err := fstat(fd)
	if err != nil {
		return nil, Stat{}, err
	}
	names, err := f.Readdirnames(-1)
	entries := make([]entry, 0, len(names))
	for _, name := range names {
		var st unix.Stat_t
		switch err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err {
		case nil:
			entries = append(entries, entry{name, statOf(&st)})
		case unix.ENOENT:
		default:
			return entries, self, err
		}
	}
	return entries, self, err
}

// lstat looks at an entry without following a link at its end.
func (d *disk) lstat(p string) (Stat, error) {
	fd, err := d.openat(p, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return Stat{}, err
	}
	defer unix.Close(fd)
	return fstat(fd)
}

func (d *disk) readlink(p string) (string, error) { return d.slow.Readlink(p) }

// open opens a regular file for reading. Anything else is an error, at once.
func (d *disk) open(p string) (*file, error) {
	if d.trouble != nil {
		if err := d.trouble(p); err != nil {
			return nil, err
		}
	}
	fd, err := d.openat(p, unix.O_RDONLY|unix.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	st, err := fstat(fd)
	if err == nil && st.Kind != KindFile {
		err = errNotRegular
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return &file{fd: fd, stat: st}, nil
}

// file is an open regular file.
type file struct {
	fd   int
	stat Stat
}

func (f *file) read(b []byte) (int, error) {
	for {
		n, err := unix.Read(f.fd, b)
		if err != unix.EINTR {
			return max(n, 0), err
		}
	}
}

// again looks at the file once more, to see whether it changed while it was read.
func (f *file) again() (Stat, error) { return fstat(f.fd) }

func (f *file) rewind() error {
	_, err := unix.Seek(f.fd, 0, unix.SEEK_SET)
	return err
}

func (f *file) close() { _ = unix.Close(f.fd) }

func fstat(fd int) (Stat, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return Stat{}, err
	}
	return statOf(&st), nil
}

func statOf(st *unix.Stat_t) Stat {
	s := Stat{Dev: uint64(st.Dev), Ino: st.Ino, Size: st.Size, Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano()}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		s.Kind = KindFile
	case unix.S_IFDIR:
		s.Kind = KindFolder
	case unix.S_IFLNK:
		s.Kind = KindLink
	default:
		s.Kind = KindOther
	}
	return s
}
