package watch

import (
	"os"
	"path/filepath"

	"github.com/toold/toold/watch/ignore"
)

// outer is what decides about ignored files and gives no events: files outside of the workspace, and those in git's own
// folders. They are few, and looked at for every search.
type outer struct {
	surroundings *ignore.Surroundings
	root         []signature          // what the rules of the root were made from
	nested       map[string]signature // the exclude files of repositories within the workspace
}

// rules makes the rules of the workspace's root.
func (o *outer) rules(src ignore.Source) *ignore.Rules {
	r, seen := o.surroundings.Rules(src)
	o.root = o.root[:0]
	for _, p := range seen {
		o.root = append(o.root, sign(p))
	}
	return r
}

// repository notes that the folder at a workspace path is the root of a repository.
func (o *outer) repository(folder string) {
	if o.nested == nil {
		o.nested = map[string]signature{}
	}
	o.nested[folder] = sign(filepath.Join(o.surroundings.Root, folder, ".git", "info", "exclude"))
}

// changed says whether one of the files is another than when the rules were made.
func (o *outer) changed() bool {
	for _, s := range o.root {
		if sign(s.path) != s {
			return true
		}
	}
	for _, s := range o.nested {
		if sign(s.path) != s {
			return true
		}
	}
	return false
}

// signature tells whether a file changed.
type signature struct {
	path        string
	mode        os.FileMode
	size, mtime int64
}

// sign looks at a file. Of what git itself changes all the time only the kind counts.
func sign(p string) signature {
	st, err := os.Stat(p)
	if err != nil {
		return signature{path: p}
	}
	if name := filepath.Base(p); st.IsDir() || name == "HEAD" {
		return signature{path: p, mode: st.Mode().Type() | 1}
	}
	return signature{p, st.Mode(), st.Size(), st.ModTime().UnixNano()}
}
