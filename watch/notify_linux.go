package watch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"
)

// notifier tells of changes through inotify. One goroutine does nothing but move events into the queue, so that the
// kernel's queue is drained however long the applier takes.
//
// How a search knows that every earlier change is in the queue: inotify has one queue per instance, in the order of the
// changes. A file in the runtime folder, watched by the same instance, is renamed; when the event of that arrives,
// everything before it has arrived.
type notifier struct {
	fs   *fsnotify.Watcher
	root string
	q    *queue
	dir  string // of the cookie file
	done chan struct{}
	trouble

	overflows atomic.Int64 // how often events were lost

	mu      sync.Mutex // guards the fields below
	n       int        // number of the cookie file's present name
	waiting map[string][]*ticket
}

func newNotifier(root, runtimeDir string, q *queue, t trouble) (*notifier, error) {
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	tidy(runtimeDir)
	dir, err := os.MkdirTemp(runtimeDir, fmt.Sprintf("%s%d-", cookieFolder, os.Getpid()))
	if err == nil {
		err = fs.Add(dir)
	}
	if err != nil {
		fs.Close()
		return nil, fmt.Errorf("watch the runtime folder: %w", err)
	}
	n := &notifier{fs: fs, root: root, q: q, dir: dir, done: make(chan struct{}), waiting: map[string][]*ticket{}, trouble: t}
	go n.drain()
	return n, nil
}

// cookieFolder is what the name of a notifier's folder begins with; the process's number follows.
const cookieFolder = "watch-"

// tidy removes the folders of processes that died.
func tidy(runtimeDir string) {
	found, _ := filepath.Glob(filepath.Join(runtimeDir, cookieFolder+"*"))
	for _, dir := range found {
		var pid int
		if _, err := fmt.Sscanf(filepath.Base(dir), cookieFolder+"%d-", &pid); err == nil && unix.Kill(pid, 0) == unix.ESRCH {
			_ = os.RemoveAll(dir)
		}
	}
}

// close ends the watching. Whoever waits is let go.
func (n *notifier) close() error {
	err := n.fs.Close()
	<-n.done
	return errors.Join(err, os.RemoveAll(n.dir))
}

// drain moves events into the queue until the watcher is closed.
func (n *notifier) drain() {
	defer close(n.done)
	for events, errs := n.fs.Events, n.fs.Errors; events != nil; {
		if n.trouble.event != nil {
			n.trouble.event()
		}
		select {
		case ev, ok := <-events:
			if !ok {
				events = nil
				break
			}
			n.event(ev)
		case err, ok := <-errs:
			if !ok {
				errs = nil
				break
			}
			n.fault(err)
		}
	}
	n.release()
}

func (n *notifier) event(ev fsnotify.Event) {
	if name, ok := strings.CutPrefix(ev.Name, n.dir+"/"); ok {
		if ev.Has(fsnotify.Create) {
			n.arrived(name)
		}
		return
	}
	h := hintLook
	if ev.Has(fsnotify.Create) {
		h |= hintMade
	}
	if ev.Has(fsnotify.Write) || ev.Has(fsnotify.Create) {
		h |= hintWrote
	}
	if ev.Name == n.root {
		n.q.add(".", hintLook)
	} else if p, ok := strings.CutPrefix(ev.Name, strings.TrimSuffix(n.root, "/")+"/"); ok {
		n.q.add(p, h)
	}
}

// fault handles lost events. Whoever waits for a cookie is served by the look at everything that follows: the cookie's
// event may be among those lost.
func (n *notifier) fault(err error) {
	if errors.Is(err, unix.EINVAL) {
		return // a watch was to be given back that the system had taken away already
	}
	n.q.loseTrack()
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		n.overflows.Add(1)
		n.release()
	}
}

func (n *notifier) release() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for name, ws := range n.waiting {
		for _, w := range ws {
			n.q.settle(w)
		}
		delete(n.waiting, name)
	}
}

func (n *notifier) arrived(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range n.waiting[name] {
		n.q.settle(w)
	}
	delete(n.waiting, name)
}

// settle closes the ticket when every change that was finished before the call has been applied.
func (n *notifier) settle(t *ticket) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	from := n.cookie()
	n.n++
	to := n.cookie()
	n.waiting[filepath.Base(to)] = append(n.waiting[filepath.Base(to)], t)
	err := os.Rename(from, to)
	if os.IsNotExist(err) {
		err = n.bake(to)
	}
	if err != nil {
		delete(n.waiting, filepath.Base(to))
		return fmt.Errorf("cookie: %w", err)
	}
	return nil
}

func (n *notifier) cookie() string { return filepath.Join(n.dir, fmt.Sprintf("cookie-%d", n.n)) }

// bake makes the cookie file, which is not there at first, or any more when somebody cleared the runtime folder.
func (n *notifier) bake(name string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if os.IsNotExist(err) {
		if err := os.MkdirAll(n.dir, 0o700); err != nil {
			return err
		}
		_ = n.fs.Remove(n.dir)
		if err := n.fs.Add(n.dir); err != nil {
			return err
		}
		f, err = os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// watch asks for the events of a folder. With again a watch that it has is made anew: it may be on a folder that was here
// before, or be lost, when the folder was moved meanwhile.
func (n *notifier) watch(f *folder, again bool) error {
	if f.watched && !again {
		return nil
	}
	n.unwatch(f)
	err := n.add(filepath.Join(n.root, f.path))
	switch {
	case err == nil:
		f.watched = true
	case errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.ENOMEM):
		err = errNoWatches
	}
	return err
}

func (n *notifier) add(dir string) error {
	if n.trouble.watches != nil {
		if err := n.trouble.watches(); err != nil {
			return err
		}
	}
	return n.fs.Add(dir)
}

// unwatch gives a folder's watch back.
func (n *notifier) unwatch(f *folder) {
	if f.watched {
		// An error means that the system took the watch away already, with the folder.
		_ = n.fs.Remove(filepath.Join(n.root, f.path))
		f.watched = false
	}
}

// silent says whether the file system of a folder changes without events: others can change it elsewhere.
func (d *disk) silent(dir string) bool {
	var st unix.Statfs_t
	fd, err := d.openat(dir, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return true
	}
	defer unix.Close(fd)
	if unix.Fstatfs(fd, &st) != nil {
		return true
	}
	switch uint32(st.Type) {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.V9FS_MAGIC, unix.FUSE_SUPER_MAGIC,
		unix.OVERLAYFS_SUPER_MAGIC, unix.CEPH_SUPER_MAGIC, unix.AFS_SUPER_MAGIC, unix.CODA_SUPER_MAGIC, unix.OCFS2_SUPER_MAGIC, unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC,
		gfs2Magic, lustreMagic, virtiofsMagic, vboxsfMagic, prlfsMagic, vmhgfsMagic:
		return true
	}
	return false
}

// File systems that others can change, whose numbers are not in package unix.
const (
	gfs2Magic     = 0x01161970
	lustreMagic   = 0x0bd00bd0
	virtiofsMagic = 0x6a656a63
	vboxsfMagic   = 0x786f4256
	prlfsMagic    = 0x7c7c6673
	vmhgfsMagic   = 0xbacbacbc
)
