package ignore

import (
	"io"
	"os"
	"path"
	"path/filepath"
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

// Rules gives the rules for the entries of the workspace's root, and the paths of the host that decided about them, also
// by not being there. When one of those changes the rules have to be made again.
func (s Surroundings) Rules(src Source) (*Rules, []string) {
	h := &host{Surroundings: s}
	top, repo := h.repository()
	cfg := h.gitConfig(repo)
	r := &Rules{fold: cfg.ignoreCase}
	rel := relative(top, s.Root)
	if rel != "" {
		rel += "/"
	}
	r.global = above(h.read(cfg.excludesFile), "", rel)
	r.git = append(r.git, r.global...)
	if repo != "" {
		r.git = append(r.git, above(h.read(filepath.Join(repo, "info", "exclude")), "", rel)...)
	}
	h.parents(r, top, rel)
	r.load(src)
	r.own = append(r.own, r.scope([]byte(strings.Join(s.Patterns, "\n")))...)
	return r, h.seen
}

// host reads what surrounds a workspace and remembers what it looked at.
type host struct {
	Surroundings
	seen []string
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

// repository finds the root of the repository that the workspace is in, and its common git folder. Outside of any, the
// top is the workspace itself and repo is "".
func (h *host) repository() (top, repo string) {
	for dir := h.Root; ; dir = filepath.Dir(dir) {
		if repo := h.gitFolder(dir); repo != "" {
			return dir, repo
		}
		if dir == filepath.Dir(dir) {
			return h.Root, ""
		}
	}
}

// gitFolder gives the folder that holds info/exclude and config of the repository whose root is dir, or "".
func (h *host) gitFolder(dir string) string {
	git := filepath.Join(dir, ".git")
	h.seen = append(h.seen, git)
	st, err := os.Lstat(git)
	if err != nil {
		return ""
	}
	if !st.IsDir() {
		to, ok := strings.CutPrefix(string(h.read(git)), "gitdir:")
		if !ok {
			return ""
		}
		git = absolute(dir, strings.TrimSpace(to))
	}
	head := filepath.Join(git, "HEAD")
	h.seen = append(h.seen, head)
	if st, err := os.Stat(head); err != nil || !st.Mode().IsRegular() {
		return ""
	}
	if common := strings.TrimSpace(string(h.read(filepath.Join(git, "commondir")))); common != "" {
		return absolute(git, common)
	}
	return git
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

// read reads a regular file of the host, nil when there is none. It does not block on a FIFO.
func (h *host) read(name string) []byte {
	if name == "" {
		return nil
	}
	h.seen = append(h.seen, name)
	if st, err := os.Stat(name); err != nil || !st.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil
	}
	return data
}

// repositoryExclude gives info/exclude of a repository inside of the workspace. Its git folder may stand elsewhere (a
// submodule, a worktree), but is followed only within the workspace.
func repositoryExclude(dir string, src Source) []byte {
	git := join(dir, ".git")
	if to, ok := strings.CutPrefix(string(src.Read(git)), "gitdir:"); ok {
		to = strings.TrimSpace(to)
		if path.IsAbs(to) {
			return nil
		}
		if git = path.Join(dir, to); git == ".." || strings.HasPrefix(git, "../") {
			return nil
		}
		if common := strings.TrimSpace(string(src.Read(git + "/commondir"))); common != "" {
			git = path.Join(git, common)
		}
	}
	return src.Read(git + "/info/exclude")
}
