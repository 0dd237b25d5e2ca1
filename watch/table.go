package watch

import (
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/toold/toold/watch/ignore"
)

// table is what is known of a workspace's files. Only the applier changes it.
type table struct {
	mu      sync.RWMutex // guards everything below, and every folder
	root    *folder
	files   int
	folders int
	ignored int

	blind    int   // folders that give no events
	limited  bool  // the system gave no more watches
	rescans  int64 // how often everything was looked at
	audits   int64 // how often everything was audited
	diverged int64 // folders that an audit found to be other than the table
}

// inode tells folders apart, wherever they are moved.
type inode struct{ dev, ino uint64 }

func (s Stat) inode() inode { return inode{s.Dev, s.Ino} }

// folder is one folder with what is in it.
type folder struct {
	parent  *folder
	path    string // "" for the root
	name    string
	id      inode
	rules   *ignore.Rules
	decide  []entry   // the ignore files that the rules were made from
	folders []*folder // as byFolder orders their names
	files   []entry   // by name
	ignored []string  // names that are ruled out, sorted; those of folders end with a slash
	fault   error     // why it cannot be read
	blind   bool      // changes in it give no events: it is looked at for every search
	watched bool      // the notifier has a watch for it
	seen    int       // the applier's batch in which everything in it was looked at
	looked  int64     // when it was last read, in nanoseconds since 1970
}

func (f *folder) child(name string) *folder {
	i, ok := slices.BinarySearchFunc(f.folders, name, func(c *folder, n string) int { return byFolder(c.name, n) })
	if !ok {
		return nil
	}
	return f.folders[i]
}

// byFolder orders the names of folders as they stand in whole paths, with a slash at the end.
func byFolder(a, b string) int {
	n := min(len(a), len(b))
	switch c := strings.Compare(a[:n], b[:n]); {
	case c != 0 || len(a) == len(b):
		return c
	case len(a) < len(b):
		return int('/') - int(b[n])
	}
	return int(a[n]) - int('/')
}

func (f *folder) file(name string) (int, bool) {
	return slices.BinarySearchFunc(f.files, name, func(r entry, n string) int { return strings.Compare(r.name, n) })
}

// at gives the folder of a path, nil when it is not known.
func (t *table) at(p string) *folder {
	f := t.root
	if p == "" || p == "." {
		return f
	}
	for name := range strings.SplitSeq(p, "/") {
		if f == nil {
			return nil
		}
		f = f.child(name)
	}
	return f
}

// below goes through the folder and all folders in it.
func (f *folder) below() iter.Seq[*folder] {
	return func(yield func(*folder) bool) { f.eachBelow(yield) }
}

func (f *folder) eachBelow(yield func(*folder) bool) bool {
	if !yield(f) {
		return false
	}
	for _, c := range f.folders {
		if !c.eachBelow(yield) {
			return false
		}
	}
	return true
}

// inOrder calls file and ignored for everything in the folder, in the byte order of the whole paths.
func (f *folder) inOrder(file func(in *folder, name string) bool, ignored func(in *folder, path string, folder bool) bool) bool {
	dirs, files, ign := f.folders, f.files, f.ignored
	pre := prefix(f.path)
	for len(dirs)+len(files)+len(ign) > 0 {
		switch {
		case len(dirs) > 0 && (len(files) == 0 || dirs[0].name+"/" < files[0].name) && (len(ign) == 0 || dirs[0].name+"/" < ign[0]):
			if !dirs[0].inOrder(file, ignored) {
				return false
			}
			dirs = dirs[1:]
		case len(files) > 0 && (len(ign) == 0 || files[0].name < ign[0]):
			if !file(f, files[0].name) {
				return false
			}
			files = files[1:]
		default:
			name, isFolder := strings.CutSuffix(ign[0], "/")
			if !ignored(f, pre+name, isFolder) {
				return false
			}
			ign = ign[1:]
		}
	}
	return true
}
