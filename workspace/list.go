package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

const (
	// DefaultDepth is how deep list_files goes when it is not told.
	DefaultDepth = 3
	listCap      = 2000
)

// Listing is what list_files answers.
type Listing struct {
	Text    string
	Folders int // shown
	Files   int // shown
	Cut     int // entries that were found but not shown
}

// List shows the tree below the folder p, depth levels deep, folders first.
func (w *Workspace) List(ctx context.Context, p Path, depth int) (*Listing, error) {
	pl, err := w.resolve(p, true)
	if err != nil {
		return nil, pathError("list", p, err)
	}
	defer pl.close()
	if !pl.exists {
		return nil, w.notFound(p, pl)
	}
	if pl.name != "." && !pl.info.mode.IsDir() {
		return nil, errorf("invalid_argument", "%s is a file of %s, not a folder; read_file shows its content", show(p), size(pl.info.size))
	}
	dir := pl.parent
	if pl.name != "." {
		if dir, err = pl.parent.folder(pl.name); err != nil {
			return nil, pathError("list", p, err)
		}
		defer dir.close()
	}
	l := &lister{w: w, ctx: ctx, asked: p, depth: depth}
	if err := l.top(dir, pl.real()); err != nil {
		return nil, err
	}
	return &Listing{Text: l.out.String(), Folders: l.folders, Files: l.files, Cut: l.cut}, nil
}

type lister struct {
	w              *Workspace
	ctx            context.Context
	asked          Path
	depth          int
	out            strings.Builder
	shown          int
	folders, files int
	cut            int
	cutAt          Path // the first folder of which something was cut
}

// entry is one name of a folder.
type entry struct {
	name string
	info info
	err  error
}

func (l *lister) read(d folder) ([]entry, error) {
	names, err := d.names()
	if err != nil {
		return nil, err
	}
	entries := make([]entry, 0, len(names))
	for _, n := range names {
		if IsTemp(n.Name()) {
			continue
		}
		st, err := d.lstat(n.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		entries = append(entries, entry{n.Name(), st, err})
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if a.info.mode.IsDir() != b.info.mode.IsDir() {
			if a.info.mode.IsDir() {
				return -1
			}
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
	return entries, nil
}

func (l *lister) top(d folder, real Path) error {
	entries, err := l.read(d)
	if err != nil {
		return pathError("list", l.asked, err)
	}
	fmt.Fprintf(&l.out, "%s/ %s\n", show(l.asked), counts(entries))
	if err := l.entries(d, real, entries, 1); err != nil {
		return err
	}
	if l.cut > 0 {
		fmt.Fprintf(&l.out, "[%d entries shown, %d more are not. To see them call list_files with path %q and a smaller depth, or search_files with path %q and a glob]\n", l.shown, l.cut, string(l.cutAt), string(l.cutAt))
	}
	return nil
}

func (l *lister) entries(d folder, at Path, entries []entry, level int) error {
	if err := cause(l.ctx); err != nil {
		return err
	}
	for i, e := range entries {
		if l.shown >= listCap {
			if l.cut == 0 {
				l.cutAt = at
			}
			l.cut += len(entries) - i
			return nil
		}
		if err := l.entry(d, at, e, level); err != nil {
			return err
		}
	}
	return nil
}

func (l *lister) entry(d folder, at Path, e entry, level int) error {
	l.shown++
	p := Path(path.Join(string(at), e.name))
	line := strings.Repeat("  ", level) + ShowName(e.name)
	switch {
	case e.err != nil:
		l.files++
		fmt.Fprintf(&l.out, "%s [cannot be looked at: %v]\n", line, errors.Unwrap(e.err))
	case e.info.mode&fs.ModeSymlink != 0:
		l.files++
		target, err := d.readlink(e.name)
		if err != nil {
			target = "?"
		}
		fmt.Fprintf(&l.out, "%s -> %s\n", line, ShowName(target))
	case e.info.mode.IsDir():
		l.folders++
		return l.folder(d, p, e, line, level)
	case e.info.mode.IsRegular():
		l.files++
		fmt.Fprintf(&l.out, "%s %s\n", line, size(e.info.size))
	default:
		l.files++
		fmt.Fprintf(&l.out, "%s [%s]\n", line, kindName(e.info.mode))
	}
	return nil
}

func (l *lister) folder(d folder, p Path, e entry, line string, level int) error {
	sub, err := d.folder(e.name)
	if err != nil {
		fmt.Fprintf(&l.out, "%s/ [cannot be read: permission denied or gone]\n", line)
		return nil
	}
	defer sub.close()
	entries, err := l.read(sub)
	if err != nil {
		fmt.Fprintf(&l.out, "%s/ [cannot be read: %v]\n", line, errors.Unwrap(err))
		return nil
	}
	closed := ""
	if e.name == ".git" || p == outputDir || l.w.opts.Ignored != nil && l.w.opts.Ignored(string(p), true) {
		closed = ", not expanded"
	}
	fmt.Fprintf(&l.out, "%s/ %s\n", line, strings.TrimSuffix(counts(entries), ")")+closed+")")
	if closed != "" || level >= l.depth {
		return nil
	}
	return l.entries(sub, p, entries, level+1)
}

func counts(entries []entry) string {
	folders := 0
	for _, e := range entries {
		if e.info.mode.IsDir() {
			folders++
		}
	}
	files := len(entries) - folders
	switch {
	case folders == 0 && files == 0:
		return "(empty)"
	case folders == 0:
		return "(" + plural(files, "file") + ")"
	case files == 0:
		return "(" + plural(folders, "folder") + ")"
	}
	return "(" + plural(folders, "folder") + ", " + plural(files, "file") + ")"
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// size gives a number of bytes for people, exact below 1 KB.
func size(n int64) string {
	units := []string{"KB", "MB", "GB", "TB"}
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	f, i := float64(n)/1024, 0
	for f >= 1024 && i < len(units)-1 {
		f, i = f/1024, i+1
	}
	return fmt.Sprintf("%.1f %s", f, units[i])
}
