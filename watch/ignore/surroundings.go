package ignore

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Surroundings say where the rules come from that stand outside of the workspace.
type Surroundings struct {
	Root     string   // the workspace's absolute path, without symbolic links
	Home     string   // the user's home folder, or "": then no user configuration is read
	Config   string   // $XDG_CONFIG_HOME, or "" for .config in Home
	System   string   // git's system-wide configuration file, or ""
	Patterns []string // patterns of toold's own configuration, relative to Root; they count more than any file
}

// Host gives the surroundings of a workspace on this machine, for the user that the process runs as.
func Host(root string, patterns []string) Surroundings {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return Surroundings{Root: root, Home: home, Config: os.Getenv("XDG_CONFIG_HOME"), System: "/etc/gitconfig", Patterns: patterns}
}

// maxFile bounds what is read of one ignore or configuration file, in bytes.
const maxFile = 8 << 20

// Outside gives what stands outside of the workspace's root folder as rules, which [Rules.Root] completes, and the files of
// the host that decided about them. When one of those changes the rules have to be made again. The index file is not among
// them: see [Rules.Index].
func (s Surroundings) Outside() (*Rules, []Decider) {
	h := &host{Surroundings: s}
	top, git, common := h.repository()
	cfg := h.gitConfig(common)
	r := &Rules{fold: cfg.ignoreCase}
	rel := prefix(relative(top, s.Root))
	r.global = above(h.read(cfg.excludesFile), "", rel)
	r.git = append(r.git, r.global...)
	if common != "" {
		r.git = append(r.git, above(h.read(filepath.Join(common, "info", "exclude")), "", rel)...)
		file := filepath.Join(git, "index")
		r.index = &Index{file: file, sha256: cfg.sha256, above: rel, read: func() []byte { return readIndex(file) }}
	}
	h.parents(r, top, rel)
	r.config = r.scope([]byte(strings.Join(s.Patterns, "\n")))
	return r, h.seen
}

// Root completes the rules for the entries of the workspace's root with what its own ignore files say.
func (r *Rules) Root(src Source) *Rules {
	c := *r
	c.load(src)
	// A folder whose ignore file rules out everything hides from the repository around it. Here there is none, and somebody
	// opened exactly this folder.
	if n := len(c.git); c.index == nil && n > len(r.git) && c.git[n-1].list.matchesAll() {
		c.git = r.git
	}
	c.own = append(slices.Clip(c.own), r.config...)
	return &c
}

// Decider is a file of the host that decided about rules, as it was before it was read.
type Decider struct {
	Path string
	Info fs.FileInfo // nil when there was none, which decides too
}

// host reads what surrounds a workspace and remembers what it looked at.
type host struct {
	Surroundings
	seen []Decider
}

// look remembers a path, and gives what is there, nil for nothing.
func (h *host) look(name string) fs.FileInfo {
	st, err := os.Stat(name)
	if err != nil {
		st = nil
	}
	h.seen = append(h.seen, Decider{name, st})
	return st
}

// parents adds the ignore files of the folders from the repository's root down to the workspace's parent. When they rule
// out the workspace itself they say nothing about what is in it: somebody opened exactly this folder.
func (h *host) parents(r *Rules, top, rel string) {
	git, own := r.git, r.own
	dir, rest := "", rel
	for rest != "" {
		at := filepath.Join(top, filepath.FromSlash(dir))
		git = append(git, above(h.read(filepath.Join(at, ".gitignore")), dir, rel)...)
		own = append(own, above(h.read(filepath.Join(at, ".ignore")), dir, rel)...)
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		dir += name + "/"
		if ruledOut(git, own, strings.TrimSuffix(dir, "/"), r.fold) {
			return
		}
	}
	r.git, r.own = git, own
}

// ruledOut judges a folder at or above the workspace's root, by its path below the repository's root.
func ruledOut(git, own []scoped, dir string, fold bool) bool {
	judge := func(lists []scoped) Verdict {
		for i := len(lists) - 1; i >= 0; i-- {
			if v := lists[i].list.Match(dir[lists[i].base:], true, fold); v != Silent {
				return v
			}
		}
		return Silent
	}
	if v := judge(own); v != Silent {
		return v == Exclude
	}
	return judge(git) == Exclude
}

// above scopes patterns of the folder dir ("a/b/", "" for the repository's root), which lies above the workspace's root
// rel ("a/b/c/") or is it.
func above(data []byte, dir, rel string) []scoped {
	l := Parse(data)
	if l.empty() {
		return nil
	}
	return []scoped{{list: l, base: len(dir), pre: rel}}
}

// repository finds the root of the repository that the workspace is in, its git folder, and the one that it shares with
// other worktrees. Outside of any, the top is the workspace itself and the others are "".
func (h *host) repository() (top, git, common string) {
	for dir := h.Root; ; dir = filepath.Dir(dir) {
		if git, common := h.gitFolder(dir); git != "" {
			return dir, git, common
		}
		if dir == filepath.Dir(dir) {
			return h.Root, "", ""
		}
	}
}

// gitFolder gives the folder that holds the index of the repository whose root is dir, and the one that holds info/exclude
// and config; "" when it is none.
func (h *host) gitFolder(dir string) (git, common string) {
	git = filepath.Join(dir, ".git")
	st := h.look(git)
	if st == nil {
		return "", ""
	}
	if !st.IsDir() {
		to, ok := strings.CutPrefix(string(h.read(git)), "gitdir:")
		if !ok {
			return "", ""
		}
		git = absolute(dir, strings.TrimSpace(to))
	}
	if st := h.look(filepath.Join(git, "HEAD")); st == nil || !st.Mode().IsRegular() {
		return "", ""
	}
	if common := strings.TrimSpace(string(h.read(filepath.Join(git, "commondir")))); common != "" {
		return git, absolute(git, common)
	}
	return git, git
}

func absolute(dir, p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(dir, p)
}

// relative gives the slash-separated path of root below top, "" when they are the same.
func relative(top, root string) string {
	rel, err := filepath.Rel(top, root)
	if err != nil || rel == "." {
		return ""
	}
	return filepath.ToSlash(rel)
}

// read reads a regular file of the host, nil when there is none.
func (h *host) read(name string) []byte {
	if name == "" {
		return nil
	}
	st := h.look(name)
	if st == nil || !st.Mode().IsRegular() {
		return nil
	}
	return readFile(name, maxFile)
}

// readFile reads at most limit bytes of a file.
func readFile(name string, limit int64) []byte {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return nil
	}
	return data
}

// readIndex reads an index file. It does not block on a FIFO.
func readIndex(name string) []byte {
	if st, err := os.Stat(name); err != nil || !st.Mode().IsRegular() {
		return nil
	}
	return readFile(name, maxIndex)
}

// gitFolders gives the git folder of a repository inside of the workspace, and the one that it shares with other worktrees.
// They may stand elsewhere (a submodule, a worktree), but are followed only within the workspace: else they are "".
func gitFolders(dir string, src Source) (git, common string) {
	git = join(dir, ".git")
	if to, ok := strings.CutPrefix(string(src.Read(git)), "gitdir:"); ok {
		if git = within(dir, strings.TrimSpace(to)); git == "" {
			return "", ""
		}
	}
	common = git
	if to := strings.TrimSpace(string(src.Read(git + "/commondir"))); to != "" {
		if common = within(git, to); common == "" {
			return "", ""
		}
	}
	return git, common
}

// within resolves a relative path against a folder of the workspace, "" when that leads out of it.
func within(dir, to string) string {
	p := path.Join(dir, to)
	if path.IsAbs(to) || p == ".." || strings.HasPrefix(p, "../") {
		return ""
	}
	return p
}
