package watch

import (
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/toold/toold/watch/ignore"
)

// applier brings the table up to date. It alone changes the table, on one goroutine, and asks the file system for
// everything: an event only says where to look.
type applier struct {
	disk     *disk
	table    *table
	notifier *notifier // nil where there are no events
	outer    outer
	skip     func(string) bool
	store    *store
	now      func() time.Time

	inodes    map[inode]*folder // where every folder is, to notice one that was moved
	blind     map[*folder]bool  // the folders that give no events
	silent    map[uint64]bool   // by device: the file system gives no events
	allSilent bool              // none does
	batch     int               // the number of the batch that is being applied
}

// apply looks at everything that a batch names.
func (a *applier) apply(b batch) {
	a.batch++
	if len(b.waiters) > 0 && a.outer.changed() {
		a.outer.base = nil
		b.lost = true
	}
	if b.lost {
		a.everything()
	}
	if len(b.waiters) > 0 {
		for _, p := range a.outer.tracked() {
			a.retrack(p)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(b.dirty)) {
		a.path(p, b.dirty[p])
	}
	if len(b.waiters) > 0 {
		for f := range maps.Clone(a.blind) {
			if a.blind[f] {
				a.refresh(f, false)
			}
		}
	}
	a.store.flush()
	a.table.mu.Lock()
	a.table.blind = len(a.blind)
	a.table.mu.Unlock()
}

// everything looks at the whole workspace, trusting nothing of what was known.
func (a *applier) everything() {
	root := a.table.root
	if root == nil {
		root = &folder{}
		a.table.mu.Lock()
		a.table.root = root
		a.table.folders = 1
		a.table.mu.Unlock()
	}
	a.refresh(root, true)
	a.table.mu.Lock()
	a.table.rescans++
	a.table.mu.Unlock()
}

// path looks at one entry, by its workspace path.
func (a *applier) path(p string, h hint) {
	if p == "." {
		a.refresh(a.table.root, h&hintMade != 0)
		return
	}
	f := a.table.root
	for {
		name, rest, deeper := strings.Cut(p, "/")
		next := f.child(name)
		if !deeper || next == nil {
			a.entry(f, name, h)
			return
		}
		f, p = next, rest
	}
}

// retrack looks at a path that came into a repository's index or left it, where that makes a difference.
func (a *applier) retrack(p string) {
	f := a.table.root
	for {
		name, rest, deeper := strings.Cut(p, "/")
		if f.rules.Matches(name, deeper) {
			a.entry(f, name, hintLook)
			if c := f.child(name); deeper && c != nil {
				a.refresh(c, true)
			}
			return
		}
		if f = f.child(name); !deeper || f == nil {
			return
		}
		p = rest
	}
}

// entry looks at one entry of a known folder.
func (a *applier) entry(f *folder, name string, h hint) {
	p := prefix(f.path) + name
	st, err := a.disk.lstat(p)
	if err != nil && !missing(err) {
		a.refresh(f, false) // the folder itself cannot be entered
		return
	}
	if ignore.IsFile(name) && (h&hintWrote != 0 || decides(f, name, st, err)) {
		a.refresh(f, true)
	}
	if err != nil || a.skip(name) || ignore.Always(name, st.Kind == KindFolder) || st.Kind > KindFolder {
		a.forget(f, name)
		return
	}
	if f.rules.Ignores(name, st.Kind == KindFolder) {
		a.forget(f, name)
		a.setIgnored(f, name, st.Kind == KindFolder)
		return
	}
	if st.Kind == KindFile {
		a.forgetFolder(f, name)
		a.unignore(f, name)
		a.setFile(f, entry{name, st}, h&hintWrote != 0)
		return
	}
	a.forgetFile(f, name)
	a.unignore(f, name)
	a.entryFolder(f, name, st, h)
}

// entryFolder looks at a folder in a known folder.
func (a *applier) entryFolder(f *folder, name string, st Stat, h hint) {
	c := f.child(name)
	switch {
	case c == nil || c.id != st.inode():
		a.forgetFolder(f, name)
		a.refresh(a.addFolder(f, name), true)
	case c.seen == a.batch: // looked at after everything that this batch tells of
	default:
		// Its rights may have changed; or it was moved away and back, and lost its watch on the way.
		a.refresh(c, h&hintMade != 0)
	}
}

// decides says that an ignore file is not the one that the folder's rules were made from.
func decides(f *folder, name string, st Stat, err error) bool {
	i := slices.IndexFunc(f.decide, func(e entry) bool { return e.name == name })
	if err != nil {
		return i >= 0
	}
	return i < 0 || f.decide[i] != decider(entry{name, st})
}

// decider gives what has to change of an ignore file for the rules to change. Of a folder (.git) only which one it is.
func decider(e entry) entry {
	if e.folder() {
		e.stat = Stat{Dev: e.stat.Dev, Ino: e.stat.Ino, Kind: KindFolder}
	}
	return e
}

// refresh looks at a folder again: watch it first, then read it, so that nothing falls between. When deep, what was known
// about the folders in it is void too. Otherwise only new ones are entered.
func (a *applier) refresh(f *folder, deep bool) {
	for range 3 {
		werr := a.watch(f, deep)
		entries, self, err := a.disk.listStat(dotted(f.path))
		if err != nil {
			a.setBlind(f, true) // until it can be read
			a.unreadable(f, err)
			return
		}
		if f.id == self.inode() {
			a.setBlind(f, werr != nil || a.inodes[f.id] != f || a.givesNoEvents(f))
			a.contents(f, entries, deep)
			return
		}
		known := f.id != inode{}
		a.identify(f, self.inode())
		if !known {
			a.setBlind(f, werr != nil || a.inodes[f.id] != f || a.givesNoEvents(f))
			a.contents(f, entries, deep)
			return
		}
		deep = true // watch again: the watch may be on the folder that was here before
	}
	// Somebody keeps replacing it. The events of the folder above will bring us back.
}

// identify notes which folder on the disk this is. Where it was known under another path, it was moved.
func (a *applier) identify(f *folder, id inode) {
	if a.inodes[f.id] == f {
		delete(a.inodes, f.id)
	}
	if old := a.inodes[id]; old != nil && old != f {
		if st, err := a.disk.lstat(dotted(old.path)); err == nil && st.inode() == id {
			f.id = id // mounted twice: one watch cannot tell the two places apart
			return
		} else if old.parent != nil {
			a.forgetFolder(old.parent, old.name)
		}
	}
	f.id = id
	if a.inodes[id] == nil {
		a.inodes[id] = f
	}
}

// watch asks for the events of a folder. With again a watch that may have been lost on the way is made anew.
func (a *applier) watch(f *folder, again bool) error {
	if a.notifier == nil {
		return errNoEvents
	}
	err := a.notifier.watch(f, again)
	if err == errNoWatches {
		a.table.mu.Lock()
		a.table.limited = true
		a.table.mu.Unlock()
	}
	return err
}

// givesNoEvents says whether the folder is on a file system whose changes the system does not tell.
func (a *applier) givesNoEvents(f *folder) bool {
	silent, known := a.silent[f.id.dev]
	if !known {
		silent = a.allSilent || a.disk.silent(dotted(f.path))
		a.silent[f.id.dev] = silent
	}
	return silent
}

func (a *applier) setBlind(f *folder, blind bool) {
	f.blind = blind
	if blind {
		a.blind[f] = true
	} else {
		delete(a.blind, f)
	}
}

// unreadable empties a folder that cannot be read, or forgets one that is gone.
func (a *applier) unreadable(f *folder, err error) {
	if missing(err) && f.parent != nil {
		a.forgetFolder(f.parent, f.name)
		return
	}
	a.contents(f, nil, true)
	a.table.mu.Lock()
	f.fault = err
	a.table.mu.Unlock()
}

// contents makes the folder's content what entries say.
func (a *applier) contents(f *folder, entries []entry, deep bool) {
	if deep {
		f.seen = a.batch
	}
	if a.makeRules(f, entries, deep) {
		deep = true
	}
	var files []entry
	var folders []*folder
	var ignored []string
	var enter []*folder
	for _, e := range entries {
		switch {
		case a.skip(e.name) || ignore.Always(e.name, e.folder()) || e.stat.Kind > KindFolder:
		case f.rules.Ignores(e.name, e.folder()):
			ignored = append(ignored, slashed(e.name, e.folder()))
		case e.folder():
			c := f.child(e.name)
			known := c != nil && c.id == e.stat.inode()
			if !known {
				c = &folder{parent: f, name: e.name, path: prefix(f.path) + e.name}
			}
			folders = append(folders, c)
			if !known || deep {
				enter = append(enter, c)
			}
		default:
			files = append(files, e)
		}
	}
	slices.SortFunc(files, func(x, y entry) int { return strings.Compare(x.name, y.name) })
	slices.SortFunc(folders, func(x, y *folder) int { return byFolder(x.name, y.name) })
	slices.Sort(ignored)
	a.replace(f, files, folders, ignored)
	for _, c := range enter {
		if c.parent == f && f.child(c.name) == c { // it may have been found elsewhere meanwhile
			a.refresh(c, true)
		}
	}
}

// makeRules makes the folder's rules when its ignore files, or the rules above, may be others than before.
func (a *applier) makeRules(f *folder, entries []entry, deep bool) (changed bool) {
	var decide []entry
	for _, e := range entries {
		if ignore.IsFile(e.name) {
			decide = append(decide, decider(e))
		}
	}
	slices.SortFunc(decide, func(x, y entry) int { return strings.Compare(x.name, y.name) })
	if !deep && f.rules != nil && slices.Equal(decide, f.decide) {
		return false
	}
	src := listing{a.disk, f.path, entries}
	var rules *ignore.Rules
	if f.parent == nil {
		rules = a.outer.root(src)
	} else {
		rules = f.parent.rules.Enter(f.name, src)
		if len(decide) > 0 && decide[0].name == ".git" && !rules.RuledOut() {
			a.outer.repository(f.path, rules)
		} else {
			delete(a.outer.repositories, f.path)
		}
	}
	a.table.mu.Lock()
	f.rules, f.decide = rules, decide
	a.table.mu.Unlock()
	return true
}

// replace puts the new content in place and passes on what is different.
func (a *applier) replace(f *folder, files []entry, folders []*folder, ignored []string) {
	old, oldFolders := f.files, f.folders
	looked := f.looked
	f.looked = a.now().UnixNano()
	a.table.mu.Lock()
	f.files, f.folders, f.fault = files, folders, nil
	a.table.files += len(files) - len(old)
	for _, c := range folders {
		if c.seen == 0 && c.id == (inode{}) {
			a.table.folders++
		}
	}
	a.table.ignored += len(ignored) - len(f.ignored)
	f.ignored = ignored
	a.table.mu.Unlock()
	pre := prefix(f.path)
	for len(old) > 0 || len(files) > 0 {
		switch {
		case len(files) == 0 || len(old) > 0 && old[0].name < files[0].name:
			a.store.drop(pre + old[0].name)
			old = old[1:]
		case len(old) == 0 || files[0].name < old[0].name:
			a.store.put(pre+files[0].name, files[0].stat, false)
			files = files[1:]
		default:
			if racy := f.blind && files[0].stat.Mtime > looked-int64(racyTime); racy || old[0].stat != files[0].stat {
				a.store.put(pre+files[0].name, files[0].stat, racy)
			}
			old, files = old[1:], files[1:]
		}
	}
	for _, c := range oldFolders {
		if f.child(c.name) != c {
			a.discard(c)
		}
	}
}

// racyTime is how long after a change a file may change again without its stat showing it, at worst.
const racyTime = 3 * time.Second

// discard gives up a folder and everything in it, after it was taken out of its parent.
func (a *applier) discard(f *folder) {
	for c := range f.below() {
		delete(a.outer.repositories, c.path)
		if a.notifier != nil {
			a.notifier.unwatch(c)
		}
		if a.inodes[c.id] == c {
			delete(a.inodes, c.id)
		}
		delete(a.blind, c)
		for _, r := range c.files {
			a.store.drop(prefix(c.path) + r.name)
		}
		a.table.mu.Lock()
		a.table.files -= len(c.files)
		a.table.ignored -= len(c.ignored)
		a.table.folders--
		a.table.mu.Unlock()
	}
}

func slashed(name string, folder bool) string {
	if folder {
		return name + "/"
	}
	return name
}

// forget takes an entry out, whatever it was.
func (a *applier) forget(f *folder, name string) {
	a.forgetFile(f, name)
	a.forgetFolder(f, name)
	a.unignore(f, name)
}

func (a *applier) forgetFile(f *folder, name string) {
	i, ok := f.file(name)
	if !ok {
		return
	}
	a.table.mu.Lock()
	f.files = slices.Concat(f.files[:i], f.files[i+1:])
	a.table.files--
	a.table.mu.Unlock()
	a.store.drop(prefix(f.path) + name)
}

func (a *applier) forgetFolder(f *folder, name string) {
	c := f.child(name)
	if c == nil {
		return
	}
	a.table.mu.Lock()
	f.folders = slices.DeleteFunc(slices.Clone(f.folders), func(x *folder) bool { return x == c })
	a.table.mu.Unlock()
	a.discard(c)
}

func (a *applier) unignore(f *folder, name string) {
	a.table.mu.Lock()
	defer a.table.mu.Unlock()
	kept := slices.DeleteFunc(slices.Clone(f.ignored), func(s string) bool { return strings.TrimSuffix(s, "/") == name })
	a.table.ignored += len(kept) - len(f.ignored)
	f.ignored = kept
}

func (a *applier) setIgnored(f *folder, name string, folder bool) {
	s := slashed(name, folder)
	i, ok := slices.BinarySearch(f.ignored, s)
	if ok {
		return
	}
	a.table.mu.Lock()
	defer a.table.mu.Unlock()
	f.ignored = slices.Insert(slices.Clone(f.ignored), i, s)
	a.table.ignored++
}

func (a *applier) setFile(f *folder, r entry, force bool) {
	i, ok := f.file(r.name)
	same := ok && f.files[i].stat == r.stat
	if same && !force {
		return
	}
	a.table.mu.Lock()
	if ok {
		f.files[i] = r
	} else {
		f.files = slices.Insert(slices.Clone(f.files), i, r)
		a.table.files++
	}
	a.table.mu.Unlock()
	a.store.put(path.Join(f.path, r.name), r.stat, force)
}

func (a *applier) addFolder(f *folder, name string) *folder {
	c := &folder{parent: f, name: name, path: prefix(f.path) + name}
	i, _ := slices.BinarySearchFunc(f.folders, name, func(c *folder, n string) int { return byFolder(c.name, n) })
	a.table.mu.Lock()
	defer a.table.mu.Unlock()
	f.folders = slices.Insert(slices.Clone(f.folders), i, c)
	a.table.folders++
	return c
}
