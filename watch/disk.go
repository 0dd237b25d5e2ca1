package watch

import (
	"errors"
	"io/fs"
	"syscall"
)

// Kind says what an entry of a folder is.
type Kind uint8

// The kinds of entries. Only files are searched, and only folders are walked.
const (
	KindFile Kind = iota
	KindFolder
	KindLink
	KindOther
)

// Stat is what tells two versions of a file apart. Times are in nanoseconds since 1970; a system that does not know a
// field leaves it 0.
type Stat struct {
	Dev, Ino     uint64
	Size         int64
	Mtime, Ctime int64
	Kind         Kind
}

// entry is one name in a folder. Where only the names were asked for, its stat has no more than the kind.
type entry struct {
	name string
	stat Stat
}

func (e entry) folder() bool { return e.stat.Kind == KindFolder }

var errNotRegular = errors.New("not a regular file")

func kindOf(m fs.FileMode) Kind {
	switch m.Type() {
	case 0:
		return KindFile
	case fs.ModeDir:
		return KindFolder
	case fs.ModeSymlink:
		return KindLink
	}
	return KindOther
}

// missing says that an error means the entry is not there (any more), or is not what it was.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotRegular) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}

// reason gives an error without the operation and the path that the caller names anyway.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return err.Error()
}

// Read gives the content of an ignore file of the workspace, or nil.
func (d *disk) Read(p string) []byte {
	f, err := d.open(p)
	if err != nil {
		return nil
	}
	defer f.close()
	data, err := f.all(nil, maxIgnoreFile)
	if err != nil {
		return nil
	}
	return data
}

// maxIgnoreFile bounds what is read of one ignore file or git index, in bytes.
const maxIgnoreFile = 1 << 30

// Has says whether there is an entry of that path.
func (d *disk) Has(p string) bool {
	_, err := d.lstat(p)
	return err == nil
}

// all reads the rest of the file, at most limit bytes, into buf when it is large enough.
func (f *file) all(buf []byte, limit int) ([]byte, error) {
	want := int(min(f.stat.Size, int64(limit))) + 1
	if cap(buf) < want {
		buf = make([]byte, 0, want+want/8)
	}
	buf = buf[:0]
	for len(buf) < limit {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := f.read(buf[len(buf):min(cap(buf), limit)])
		buf = buf[:len(buf)+n]
		if err != nil {
			return buf, err
		}
		if n == 0 {
			break
		}
	}
	return buf, nil
}

// whole is all for somebody who wants one version: when the file is written to meanwhile it is read again.
func (f *file) whole(buf []byte, limit int) ([]byte, error) {
	for range 5 {
		buf, err := f.all(buf, limit)
		if err != nil {
			return buf, err
		}
		now, err := f.again()
		if err != nil || now == f.stat {
			return buf, err
		}
		f.stat = now
		if err := f.rewind(); err != nil {
			return buf, err
		}
	}
	return f.all(buf, limit) // it never rests: any moment is as good
}

// fill reads until b is full or the file ends.
func (f *file) fill(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		m, err := f.read(b[n:])
		n += m
		if err != nil || m == 0 {
			return n, err
		}
	}
	return n, nil
}
