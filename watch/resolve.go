package watch

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"golang.org/x/text/unicode/norm"
)

const maxLinks = 40 // as the system

// resolve follows the symbolic links in a path that the caller named, as long as they stay in the workspace, and gives
// the real path and what is there.
func (v *view) resolve(asked string) (string, Stat, error) {
	if asked == "" {
		asked = "."
	}
	todo := strings.Split(asked, "/")
	if path.IsAbs(asked) {
		return "", Stat{}, outside(asked)
	}
	var done []string
	st := Stat{Kind: KindFolder}
	for links := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if len(done) == 0 {
				return "", Stat{}, outside(asked)
			}
			done = done[:len(done)-1]
			continue
		}
		p := strings.Join(append(done, part), "/")
		var err error
		if st, err = v.disk.lstat(p); err != nil {
			return "", Stat{}, v.pathError(asked, strings.Join(done, "/"), part, err)
		}
		if st.Kind != KindLink {
			done = append(done, part)
			continue
		}
		if links++; links > maxLinks {
			return "", Stat{}, errorf("not_found", "%s goes through too many symbolic links; the links form a circle", showName(asked))
		}
		target, err := v.disk.readlink(p)
		if err != nil {
			return "", Stat{}, v.pathError(asked, strings.Join(done, "/"), part, err)
		}
		if path.IsAbs(target) {
			rel, ok := v.below(target)
			if !ok {
				return "", Stat{}, outside(asked)
			}
			target, done = rel, nil
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	if len(done) == 0 {
		return ".", Stat{Kind: KindFolder}, nil
	}
	real := strings.Join(done, "/")
	st, err := v.disk.lstat(real)
	if err != nil {
		return "", Stat{}, v.pathError(asked, path.Dir(real), path.Base(real), err)
	}
	return real, st, nil
}

// below gives the path under the root of an absolute path, if it is there.
func (v *view) below(abs string) (string, bool) {
	abs = path.Clean(abs)
	if abs == v.root {
		return ".", true
	}
	return strings.CutPrefix(abs, strings.TrimSuffix(v.root, "/")+"/")
}

func outside(asked string) error {
	return errorf("outside_workspace", "%s lies outside the workspace; search_files looks into the workspace only. Give a path relative to its root", showName(asked))
}

// pathError explains why the entry name of a folder, on the way to the asked path, cannot be used.
func (v *view) pathError(asked, dir, name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return errorf("permission", "%s cannot be searched: permission denied", showName(asked))
	case !missing(err):
		return errorf("internal", "%s cannot be searched: %s", showName(asked), reason(err))
	}
	entries, _, _ := v.disk.list(dotted(dir))
	best, score := "", 3
	for _, e := range entries {
		if d := distance(fold(name), fold(e.name), score); d < score || d == score && best == "" && d < len(name)/2 {
			best, score = e.name, d
		}
	}
	if best == "" {
		return errorf("not_found", "%s does not exist; list_files shows what is in %s", showName(asked), showName(dotted(dir)))
	}
	return errorf("not_found", "%s does not exist; the nearest name in %s is %s", showName(asked), showName(dotted(dir)), showName(best))
}

// fold makes names alike that are easily taken for each other.
func fold(s string) string { return strings.ToLower(norm.NFKC.String(s)) }

// distance is how many bytes have to be changed, put in or taken out to get from a to b, or a number above limit.
func distance(a, b string, limit int) int {
	if abs(len(a)-len(b)) > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

func abs(n int) int { return max(n, -n) }
