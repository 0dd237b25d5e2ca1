package ignore

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

// tracked are the paths that a repository's index has. Git's ignore rules say nothing about them.
type tracked struct {
	paths []string // of files, in byte order, relative to the repository's root; submodules are among them
	subs  []string // of submodules
}

// maxIndex bounds the index files that are read, in bytes.
const maxIndex = 1 << 30

// parseIndex reads the paths of a git index file. An index that it cannot read, or that has a part in another file, has
// none: then what the patterns rule out is left out.
func parseIndex(data []byte, sha256Names bool) *tracked {
	hash := 20 // bytes of an object's name
	if sha256Names {
		hash = 32
	}
	t := &tracked{}
	if len(data) < 12+hash || string(data[:4]) != "DIRC" {
		return t
	}
	version, n := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	rest := data[12 : len(data)-hash]
	if version < 2 || version > 4 || int(n) > len(rest)/(40+hash) {
		return t
	}
	t.paths = make([]string, 0, n)
	for range n {
		e, after, ok := indexEntry(rest, hash, version, t.last())
		if !ok {
			return &tracked{}
		}
		rest = after
		if e.path == t.last() && len(t.paths) > 0 {
			continue // the stages of a merge
		}
		t.paths = append(t.paths, e.path)
		if e.sub {
			t.subs = append(t.subs, e.path)
		}
	}
	if bytes.HasPrefix(rest, []byte("link")) {
		return &tracked{} // a split index
	}
	return t
}

func (t *tracked) last() string {
	if len(t.paths) == 0 {
		return ""
	}
	return t.paths[len(t.paths)-1]
}

type indexed struct {
	path string
	sub  bool
}

// indexEntry reads one entry: times and numbers, the object's name, flags, the path.
func indexEntry(data []byte, hash int, version uint32, before string) (e indexed, rest []byte, ok bool) {
	fixed := 40 + hash + 2
	if len(data) < fixed {
		return e, nil, false
	}
	e.sub = binary.BigEndian.Uint32(data[24:])&0o170000 == 0o160000
	if binary.BigEndian.Uint16(data[40+hash:])&0x4000 != 0 && version > 2 {
		fixed += 2
	}
	if len(data) < fixed {
		return e, nil, false
	}
	name := data[fixed:]
	keep := ""
	if version == 4 {
		drop, used := offsetNumber(name)
		if used == 0 || drop > len(before) {
			return e, nil, false
		}
		keep, name = before[:len(before)-drop], name[used:]
	}
	end := bytes.IndexByte(name, 0)
	if end < 0 {
		return e, nil, false
	}
	e.path = keep + string(name[:end])
	size := len(data) - len(name) + end + 1
	if version < 4 {
		size = (fixed + end + 8) &^ 7
	}
	if size > len(data) {
		return e, nil, false
	}
	return e, data[size:], true
}

// offsetNumber reads the variable-length number that git also uses in packs, and gives how many bytes it has.
func offsetNumber(b []byte) (n, used int) {
	for i, c := range b {
		if i > 4 {
			return 0, 0
		}
		n = n<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return n, i + 1
		}
		n++
	}
	return 0, 0
}

// has says whether the index has the path itself, or, for a folder, something in it.
func (t *tracked) has(p string, folder bool) bool {
	if t == nil || len(t.paths) == 0 {
		return false
	}
	if _, found := slices.BinarySearch(t.paths, p); found || !folder {
		return found
	}
	p += "/"
	i, _ := slices.BinarySearch(t.paths, p)
	return i < len(t.paths) && strings.HasPrefix(t.paths[i], p)
}

// sub says whether the path is a submodule.
func (t *tracked) sub(p string) bool {
	if t == nil {
		return false
	}
	_, found := slices.BinarySearch(t.subs, p)
	return found
}

// difference gives the paths that only one of two indexes has.
func (t *tracked) difference(other *tracked) []string {
	var a, b []string
	if t != nil {
		a = t.paths
	}
	if other != nil {
		b = other.paths
	}
	var out []string
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			out, a = append(out, a[0]), a[1:]
		case len(a) == 0 || b[0] < a[0]:
			out, b = append(out, b[0]), b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return out
}
