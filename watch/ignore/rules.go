package ignore

import (
	"path"
	"slices"
	"strings"
)

// IsFile says whether an entry of this name decides about others, so that a change of it changes decisions.
func IsFile(name string) bool { return name == ".gitignore" || name == ".ignore" || name == ".git" }

// IsVCS says whether a file or folder of this name belongs to a version control system. Those are never searched.
func IsVCS(name string, folder bool) bool {
	switch name {
	case ".git", ".hg", ".svn", ".jj", ".bzr", ".sl", ".pijul":
		return true
	case "CVS", "_darcs":
		return folder
	}
	return false
}

// A Source reads the workspace, by paths below its root.
type Source interface {
	// Has says whether there is an entry of that path.
	Has(path string) bool
	// Read gives the content of a regular file, or nil. It does not follow a symbolic link.
	Read(path string) []byte
}

// Rules hold for the entries of one folder. They are immutable and cheap to keep: a folder without ignore files shares
// the lists of its parent.
type Rules struct {
	path   string   // of the folder below the workspace's root, "" for the root
	git    []scoped // .gitignore and the like, the weakest first; they end at the root of a nested repository
	own    []scoped // what goes on into nested repositories and counts more: .ignore, and the configuration
	global []scoped // the user's core.excludesFile, where the git lists of a nested repository begin
	fold   bool
	closed bool // everything below is ruled out
}

// scoped is a list with the folder that its patterns are relative to.
type scoped struct {
	list *List
	base int    // length of the part of a workspace path to drop: that folder's path and a slash
	pre  string // what to put before a workspace path instead, when the folder lies above the root: "sub/dir/"
}

// Path gives the folder that the rules hold for, "" for the root.
func (r *Rules) Path() string { return r.path }

// RuledOut says that the folder itself is ruled out, and everything in it.
func (r *Rules) RuledOut() bool { return r.closed }

// Closed gives the rules for a folder that is ruled out itself.
func Closed(path string) *Rules { return &Rules{path: path, closed: true} }

// Ignores says whether the entry of this name in the rules' folder is ruled out.
func (r *Rules) Ignores(name string, folder bool) bool {
	if r.closed || Always(name, folder) {
		return true
	}
	full := join(r.path, name)
	if v := verdict(r.own, full, folder, r.fold); v != Silent {
		return v == Exclude
	}
	return verdict(r.git, full, folder, r.fold) == Exclude
}

// outputName is the folder that long outputs are put in.
const outputName = ".tool-output"

// Always says whether an entry is left out whatever the rules and the caller say.
func Always(name string, folder bool) bool {
	return IsVCS(name, folder) || name == outputName && folder
}

func verdict(lists []scoped, full string, folder, fold bool) Verdict {
	for i := len(lists) - 1; i >= 0; i-- {
		s := lists[i]
		p := full
		if s.pre != "" {
			p = s.pre + full
		}
		if v := s.list.Match(p[s.base:], folder, fold); v != Silent {
			return v
		}
	}
	return Silent
}

// Enter gives the rules for the entries of a sub-folder, reading its ignore files.
func (r *Rules) Enter(name string, src Source) *Rules {
	c := &Rules{path: join(r.path, name), git: r.git, own: r.own, global: r.global, fold: r.fold, closed: r.Ignores(name, true)}
	if c.closed {
		return c
	}
	if src.Has(join(c.path, ".git")) {
		c.git = append(slices.Clone(r.global), c.scope(repositoryExclude(c.path, src))...)
	}
	return c.load(src)
}

// load adds the ignore files of the folder itself.
func (r *Rules) load(src Source) *Rules {
	if p := join(r.path, ".gitignore"); src.Has(p) {
		r.git = append(slices.Clip(r.git), r.scope(src.Read(p))...)
	}
	if p := join(r.path, ".ignore"); src.Has(p) {
		r.own = append(slices.Clip(r.own), r.scope(src.Read(p))...)
	}
	return r
}

// scope parses patterns that are relative to the folder.
func (r *Rules) scope(data []byte) []scoped {
	l := Parse(data)
	if l.empty() {
		return nil
	}
	base := 0
	if r.path != "" {
		base = len(r.path) + 1
	}
	return []scoped{{list: l, base: base}}
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// At gives the rules for the entries of the folder at a workspace path, entering one folder after the other.
func (r *Rules) At(folder string, src Source) *Rules {
	if folder == "" || folder == "." {
		return r
	}
	for _, name := range strings.Split(path.Clean(folder), "/") {
		r = r.Enter(name, src)
	}
	return r
}
