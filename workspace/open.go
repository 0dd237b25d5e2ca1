package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// openFile opens the regular file at p for reading. Everything else than a regular file is refused at once; opening
// never blocks.
func (w *Workspace) openFile(p Path) (*os.File, info, Path, error) {
	pl, err := w.resolve(p, true)
	if err != nil {
		return nil, info{}, "", pathError("read", p, err)
	}
	defer pl.close()
	if !pl.exists {
		return nil, info{}, "", w.notFound(p, pl)
	}
	f, st, err := openRegular(pl, p)
	return f, st, pl.real(), err
}

func openRegular(pl *place, p Path) (*os.File, info, error) {
	if err := regular(p, pl.info); err != nil {
		return nil, info{}, err
	}
	f, err := pl.parent.open(pl.name)
	if err != nil {
		return nil, info{}, pathError("read", p, err)
	}
	st, err := statFile(f)
	if err == nil {
		err = regular(p, st)
	}
	if err != nil {
		f.Close()
		return nil, info{}, pathError("read", p, err)
	}
	return f, st, nil
}

// regular refuses what is no regular file, naming what it is.
func regular(p Path, st info) error {
	switch {
	case st.mode.IsRegular():
		return nil
	case st.mode.IsDir():
		return errorf("is_directory", "%s is a folder, not a file; list_files with path %q shows what is in it", show(p), string(p))
	}
	return errorf("not_regular", "%s is %s, not a regular file; the file tools only read and write regular files", show(p), kindName(st.mode))
}

func kindName(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe (FIFO)"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	}
	return "a special file"
}

// readAll reads f from its start to its end, at most limit bytes. Files that report size 0 but have content are read
// to the end like others. A file that changed while it was read is read again, so that the bytes are of one version.
func readAll(ctx context.Context, f *os.File, limit int64) ([]byte, info, error) {
	for try := 0; ; try++ {
		if err := cause(ctx); err != nil {
			return nil, info{}, err
		}
		before, err := statFile(f)
		if err != nil {
			return nil, info{}, err
		}
		data, err := readOnce(f, before.size, limit)
		if err != nil {
			return nil, info{}, err
		}
		after, err := statFile(f)
		if err != nil {
			return nil, info{}, err
		}
		if try == 5 || before.size == after.size && before.mtime == after.mtime && before.ctime == after.ctime {
			return data, after, nil
		}
	}
}

var errTooLarge = errors.New("larger than the limit")

func readOnce(f *os.File, size, limit int64) ([]byte, error) {
	if size > limit {
		return nil, errTooLarge
	}
	data := make([]byte, 0, size+512)
	for off := int64(0); ; {
		n, err := f.ReadAt(data[len(data):cap(data)], off)
		data, off = data[:len(data)+n], off+int64(n)
		if int64(len(data)) > limit {
			return nil, errTooLarge
		}
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = append(data, make([]byte, len(data)+4096)...)[:len(data)]
		}
	}
}

// notFound is the error of a missing file. It names what the reader may have meant: the nearest existing sibling,
// with invisible characters made visible, or the form with slashes for backslashes.
func (w *Workspace) notFound(p Path, pl *place) error {
	text := fmt.Sprintf("%s does not exist", show(p))
	if strings.Contains(string(p), "\\") {
		slashed := Path(path.Clean(strings.ReplaceAll(string(p), "\\", "/")))
		if ok, _, err := w.Lookup(slashed); err == nil && ok {
			return errorf("not_found", "%s; a backslash is an ordinary character here, and %s exists: use that", text, show(slashed))
		}
	}
	wanted := pl.name
	if len(pl.missing) > 0 {
		wanted = pl.missing[0]
		text += fmt.Sprintf(" (there is no folder %s)", show(Path(path.Join(string(pl.dir), wanted))))
	}
	if near, why := nearest(wanted, pl.parent); near != "" {
		return errorf("not_found", "%s; did you mean %s%s?", text, show(Path(path.Join(string(pl.dir), near))), why)
	}
	return errorf("not_found", "%s; list_files or search_files with a glob shows what there is", text)
}

// twin gives the name in the folder that a person could not tell from name: equal after NFC and blank folding, but
// not the same bytes.
func twin(name string, entries []fs.DirEntry) string {
	folded := fold(name)
	for _, e := range entries {
		if e.Name() != name && fold(e.Name()) == folded {
			return e.Name()
		}
	}
	return ""
}

// fold maps names that look the same to the same text: NFC, every kind of blank as a plain one, invisible characters
// left out.
func fold(s string) string {
	if isPlain(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\u00a0' || r == '\u202f' || r == '\u3000' || r == '\u205f' || r >= '\u2000' && r <= '\u200a':
			return ' '
		case r >= '\u200b' && r <= '\u200f', r == '\u2060', r == '\ufeff', r == '\u00ad':
			return -1
		}
		return r
	}, norm.NFC.String(s))
}

func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// nearest gives the entry of the folder whose name is closest to name, and how it differs when that cannot be seen.
func nearest(name string, in folder) (string, string) {
	entries, err := in.names()
	if err != nil {
		return "", ""
	}
	if t := twin(name, entries); t != "" {
		return t, " (it looks the same; its name is " + visible(t) + ")"
	}
	best, bestAt := "", max(2, len(name)/3)+1
	for _, e := range entries {
		if strings.EqualFold(e.Name(), name) {
			return e.Name(), ""
		}
		if d := distance(name, e.Name(), bestAt); d < bestAt || d == bestAt && best != "" && e.Name() < best {
			best, bestAt = e.Name(), d
		}
	}
	return best, ""
}

// visible spells out the characters of a name that cannot be told from others by eye.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "<U+%04X>", r)
	}
	return b.String()
}

// distance is the number of single-character changes between two names, or limit when it is at least that.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit || len(a) > 255 || len(b) > 255 {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(b)], limit)
}

// encodingOf names the encoding that a byte-order mark announces, or "".
func encodingOf(head []byte) string {
	for _, e := range []struct{ mark, name string }{
		{"\xff\xfe\x00\x00", "UTF-32LE"}, {"\x00\x00\xfe\xff", "UTF-32BE"}, {"\xff\xfe", "UTF-16LE"}, {"\xfe\xff", "UTF-16BE"},
	} {
		if bytes.HasPrefix(head, []byte(e.mark)) {
			return e.name
		}
	}
	return ""
}
