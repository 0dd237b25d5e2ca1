//go:build !linux

package watch

import (
	"io"
	"io/fs"
	"os"
)

// disk reads a workspace by descriptors: os.Root resolves every path below the root.
type disk struct {
	path    string
	trouble func(path string) error // for tests, nil otherwise: what to say to the opening of a file
	root    *os.Root
	self    fs.FileInfo
}

func openDisk(root string) (*disk, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	self, err := r.Stat(".")
	if err != nil {
		r.Close()
		return nil, err
	}
	return &disk{path: root, root: r, self: self}, nil
}

func (d *disk) close() error { return d.root.Close() }

// gone says that the folder at the root's path is not the one that was opened.
func (d *disk) gone() bool {
	now, err := os.Stat(d.path)
	return err != nil || !os.SameFile(now, d.self)
}

// list gives the entries of a folder, in no order, and what the folder itself is.
func (d *disk) list(dir string) ([]entry, Stat, error) {
	f, err := d.root.Open(dir)
	if err != nil {
		return nil, Stat{}, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, Stat{}, err
	}
	des, err := f.ReadDir(-1)
	entries := make([]entry, 0, len(des))
	for _, de := range des {
		entries = append(entries, entry{name: de.Name(), stat: Stat{Kind: kindOf(de.Type())}})
	}
	return entries, infoStat(fi), err
}

// listStat is list with everything about the files and folders. What vanishes meanwhile is left out.
func (d *disk) listStat(dir string) ([]entry, Stat, error) {
	entries, self, err := d.list(dir)
	out := entries[:0]
	for _, e := range entries {
		st, gone := d.lstat(prefix(dir) + e.name)
		if gone == nil {
			out = append(out, entry{e.name, st})
		}
	}
	return out, self, err
}

// lstat looks at an entry without following a link at its end.
func (d *disk) lstat(p string) (Stat, error) {
	fi, err := d.root.Lstat(p)
	if err != nil {
		return Stat{}, err
	}
	return infoStat(fi), nil
}

func (d *disk) readlink(p string) (string, error) { return d.root.Readlink(p) }

// open opens a regular file for reading. Anything else is an error, at once.
func (d *disk) open(p string) (*file, error) {
	if d.trouble != nil {
		if err := d.trouble(p); err != nil {
			return nil, err
		}
	}
	before, err := d.root.Lstat(p)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, errNotRegular
	}
	f, err := d.root.Open(p)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil && !os.SameFile(before, fi) {
		err = errNotRegular // swapped in between, perhaps for a link
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &file{f: f, stat: infoStat(fi)}, nil
}

// file is an open regular file.
type file struct {
	f    *os.File
	stat Stat
}

func (f *file) read(b []byte) (int, error) {
	n, err := f.f.Read(b)
	if err == io.EOF {
		err = nil
	}
	return n, err
}

// again looks at the file once more, to see whether it changed while it was read.
func (f *file) again() (Stat, error) {
	fi, err := f.f.Stat()
	if err != nil {
		return Stat{}, err
	}
	return infoStat(fi), nil
}

func (f *file) rewind() error {
	_, err := f.f.Seek(0, io.SeekStart)
	return err
}

func (f *file) close() { _ = f.f.Close() }

// infoStat has no inode and no change time: these systems do not give them in one way.
func infoStat(fi fs.FileInfo) Stat {
	return Stat{Size: fi.Size(), Mtime: fi.ModTime().UnixNano(), Kind: kindOf(fi.Mode().Type())}
}
