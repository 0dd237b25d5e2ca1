package workspace

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// confined shows a workspace as a file system. It follows links only inside the root.
type confined struct{ w *Workspace }

func (c confined) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	pl, err := c.w.resolve(Path(name), true)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	defer pl.close()
	if !pl.exists {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if pl.name == "." {
		return pl.parent.file()
	}
	if pl.info.mode.IsDir() {
		d, err := pl.parent.folder(pl.name)
		if err != nil {
			return nil, err
		}
		defer d.close()
		return d.file()
	}
	f, _, err := openRegular(pl, Path(name))
	return f, err
}

// ReadDir lists a folder in order of names.
func (c confined) ReadDir(name string) ([]fs.DirEntry, error) {
	f, err := c.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errors.New("not a folder")}
	}
	entries, err := d.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// ReadFile reads a regular file whole, up to the size that the tools change.
func (c confined) ReadFile(name string) ([]byte, error) {
	f, _, _, err := c.w.openFile(Path(path.Clean(name)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, _, err := readAll(context.Background(), f, c.w.opts.MaxFileBytes)
	return data, err
}
