package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// NewOutput creates a file below .tool-output for a text that is too long for a reply, and gives its workspace path.
// The folder ignores itself in git, is never listed or searched, and its oldest files are removed above its budget.
func (w *Workspace) NewOutput(name string) (*os.File, Path, error) {
	root, err := w.rootFolder()
	if err != nil {
		return nil, "", err
	}
	if err := root.mkdir(outputDir); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, "", pathError("store the output in", outputDir, err)
	}
	d, err := root.folder(outputDir)
	if err != nil {
		return nil, "", pathError("store the output in", outputDir, err)
	}
	defer d.close()
	if g, err := d.create(".gitignore", 0o666); err == nil {
		_, err = g.WriteString("*\n")
		g.Close()
		if err != nil {
			return nil, "", pathError("store the output in", outputDir, err)
		}
	}
	sweepOutputs(d)
	file := fmt.Sprintf("%s-%s-%s", w.files.now().Format("20060102-150405"), tempName()[len(tempPrefix):len(tempPrefix)+6], safeName(name))
	f, err := d.create(file, 0o600)
	if err != nil {
		return nil, "", pathError("store the output in", outputDir, err)
	}
	return f, Path(path.Join(outputDir, file)), nil
}

func safeName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x21 || r == '/' || r == 0x7f || r > 0x7e {
			return '_'
		}
		return r
	}, s)
	if len(s) > 80 {
		s = s[len(s)-80:]
	}
	return strings.TrimLeft(s, ".-")
}

// sweepOutputs removes the oldest outputs until the folder is within its budget; what it cannot remove stays.
func sweepOutputs(d folder) {
	entries, err := d.names()
	if err != nil {
		return
	}
	type file struct {
		name string
		info info
	}
	var files []file
	var total int64
	for _, e := range entries {
		if st, err := d.lstat(e.Name()); err == nil && st.mode.IsRegular() && e.Name() != ".gitignore" {
			files = append(files, file{e.Name(), st})
			total += st.size
		}
	}
	slices.SortFunc(files, func(a, b file) int { return int(time.Duration(a.info.mtime - b.info.mtime)) })
	for _, f := range files {
		if total <= outputBudget {
			return
		}
		if d.remove(f.name) == nil {
			total -= f.info.size
		}
	}
}
