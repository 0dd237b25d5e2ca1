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
	base         *ignore.Rules         // from outside of the workspace; nil when they have to be made again
	sources      []signature           // what base was made from
	repositories map[string]repository // by their folder, "" for the one that the workspace is in
}

// repository is what counts of a repository's git folder.
type repository struct {
	exclude signature // of info/exclude, which sources have for the one that the workspace is in
	index   *ignore.Index
	stamp   signature // of the index file, before it was read
}

// root gives the rules of the workspace's root.
func (o *outer) root(src ignore.Source) *ignore.Rules {
	if o.base == nil {
		base, deciders := o.surroundings.Outside()
		o.base, o.sources, o.repositories = base, make([]signature, len(deciders)), map[string]repository{}
		for i, d := range deciders {
			o.sources[i] = signed(d.Path, d.Info)
		}
		o.repository("", base)
	}
	return o.base.Root(src)
}

// repository notes the repository that begins at a folder of the workspace, or that the workspace is in.
func (o *outer) repository(folder string, r *ignore.Rules) {
	repo := repository{index: r.Index()}
	if folder != "" {
		repo.exclude = sign(filepath.Join(o.surroundings.Root, folder, ".git", "info", "exclude"))
	}
	if repo.index != nil {
		file := repo.index.File()
		if !filepath.IsAbs(file) {
			file = filepath.Join(o.surroundings.Root, file)
		}
		repo.stamp = sign(file)
		repo.index.Reload()
	}
	o.repositories[folder] = repo
}

// changed says whether rules have to be made again, because one of the files is another than it was.
func (o *outer) changed() bool {
	for _, s := range o.sources {
		if sign(s.path) != s {
			return true
		}
	}
	for _, r := range o.repositories {
		if r.exclude.path != "" && sign(r.exclude.path) != r.exclude {
			return true
		}
	}
	return false
}

// tracked brings the indexes of the repositories up to date and gives the workspace paths that came or went.
func (o *outer) tracked() []string {
	var out []string
	for folder, r := range o.repositories {
		if r.index == nil {
			continue
		}
		if now := sign(r.stamp.path); now != r.stamp {
			r.stamp = now
			o.repositories[folder] = r
			out = append(out, r.index.Reload()...)
		}
	}
	return out
}

// signature tells whether a file changed.
type signature struct {
	path        string
	mode        os.FileMode
	size, mtime int64
}

func sign(p string) signature {
	st, err := os.Stat(p)
	if err != nil {
		st = nil
	}
	return signed(p, st)
}

// signed gives the signature of a file from what is known of it. Of what git itself changes all the time only the kind
// counts.
func signed(p string, st os.FileInfo) signature {
	if st == nil {
		return signature{path: p}
	}
	if name := filepath.Base(p); st.IsDir() || name == "HEAD" {
		return signature{path: p, mode: st.Mode().Type() | 1}
	}
	return signature{p, st.Mode(), st.Size(), st.ModTime().UnixNano()}
}
