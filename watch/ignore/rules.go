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

// outputName is the folder that long outputs are put in.
const outputName = ".tool-output"

// Always says whether an entry is left out whatever the rules and the caller say.
func Always(name string, folder bool) bool {
	return IsVCS(name, folder) || name == outputName && folder
}

// A Source reads the workspace, by paths below its root.
type Source interface {
	// Has says whether there is an entry of that path.
	Has(path string) bool
	// Read gives the content of a regular file, or nil. It does not follow a symbolic link.
	Read(path string) []byte
}

// Rules hold for the entries of one folder. They are cheap to keep: a folder without ignore files shares the lists of its
// parent. Only the index of a repository changes under them.
type Rules struct {
	path   string   // of the folder below the workspace's root, "" for the root
	git    []scoped // .gitignore and the like, the weakest first; they end at the root of a nested repository
	own    []scoped // what goes on into nested repositories and counts more: .ignore, and the configuration
	global []scoped // the user's core.excludesFile, where the git lists of a nested repository begin
	config []scoped // the configuration's, to be added to the root's own
	index  *Index   // of the repository that the folder is in, nil outside of any
	fold   bool
	state  state
}

// state says whether the folder itself is ruled out, and with it everything in it.
type state uint8

const (
	open    state = iota
	ruled         // by git's lists: what the index has is not meant
	dropped       // by others: everything
)

// scoped is a list with the folder that its patterns are relative to.
type scoped struct {
	list *List
	base int    // length of the part of a path to drop: that folder's path and a slash
	pre  string // what to put before a workspace path first, when the folder lies above the root: "sub/dir/"
}

// RuledOut says that the folder itself is ruled out. A folder that has not been read yet has no rules, and is not.
func (r *Rules) RuledOut() bool { return r != nil && r.state != open }

// Closed gives the rules for a folder that is ruled out, and of which nothing is wanted by itself.
func Closed(path string) *Rules { return &Rules{path: path, state: dropped} }

// Index gives the index of the repository that the folder is in, or nil.
func (r *Rules) Index() *Index { return r.index }

// Ignores says whether the entry of this name in the rules' folder is ruled out.
func (r *Rules) Ignores(name string, folder bool) bool { return r.judge(name, folder) != open }

// judge gives the state of the folder of this name, or what it would be for a file.
func (r *Rules) judge(name string, folder bool) state {
	s := r.patterns(name, folder)
	if s == ruled && r.index.has(join(r.path, name), folder) {
		return open
	}
	return s
}

// Matches says what the patterns alone say, without the index: whether it matters if that has the entry.
func (r *Rules) Matches(name string, folder bool) bool { return r.patterns(name, folder) == ruled }

func (r *Rules) patterns(name string, folder bool) state {
	if r.state == dropped || Always(name, folder) {
		return dropped
	}
	full := join(r.path, name)
	switch v := verdict(r.own, full, folder, r.fold); {
	case v == Exclude:
		return dropped
	case r.state == ruled:
		return ruled
	case v == Include:
		return open
	}
	if verdict(r.git, full, folder, r.fold) == Exclude {
		return ruled
	}
	return open
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
	c := &Rules{path: join(r.path, name), git: r.git, own: r.own, global: r.global, index: r.index, fold: r.fold}
	// A folder that is ruled out stays so even if the index has something in it: only that is meant. A submodule is meant
	// as a whole.
	if c.state = r.patterns(name, true); c.state == ruled && r.index.submodule(c.path) {
		c.state = open
	}
	if c.state != open {
		return c
	}
	if src.Has(join(c.path, ".git")) {
		c.enterRepository(src)
	}
	c.load(src)
	return c
}

// enterRepository begins git's lists anew.
func (r *Rules) enterRepository(src Source) {
	git, common := gitFolders(r.path, src)
	r.git, r.index = slices.Clone(r.global), nil
	if git == "" {
		return
	}
	r.git = append(r.git, r.scope(src.Read(common+"/info/exclude"))...)
	cfg := gitConfig{}
	parseConfig(string(src.Read(common+"/config")), cfg.set)
	r.index = &Index{file: git + "/index", sha256: cfg.sha256, nested: prefix(r.path), read: func() []byte { return src.Read(git + "/index") }}
}

// load adds the ignore files of the folder itself.
func (r *Rules) load(src Source) {
	if p := join(r.path, ".gitignore"); src.Has(p) {
		r.git = append(slices.Clip(r.git), r.scope(src.Read(p))...)
	}
	if p := join(r.path, ".ignore"); src.Has(p) {
		r.own = append(slices.Clip(r.own), r.scope(src.Read(p))...)
	}
}

// scope parses patterns that are relative to the folder.
func (r *Rules) scope(data []byte) []scoped {
	l := Parse(data[:min(len(data), maxFile)])
	if l.empty() {
		return nil
	}
	return []scoped{{list: l, base: len(prefix(r.path))}}
}

func join(dir, name string) string { return prefix(dir) + name }

func prefix(dir string) string {
	if dir == "" {
		return ""
	}
	return dir + "/"
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
