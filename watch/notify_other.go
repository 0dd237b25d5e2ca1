//go:build !linux

package watch

// notifier would tell of changes. On this system every search looks at the stat of every file instead.
type notifier struct{}

func newNotifier(root, runtimeDir string, q *queue) (*notifier, error) { return nil, errNoEvents }

func (n *notifier) watch(f *folder, again bool) error { return errNoEvents }

func (n *notifier) unwatch(f *folder) {}

func (n *notifier) settle(done chan struct{}) error { return errNoEvents }

func (n *notifier) close() error { return nil }

func (d *disk) silent(dir string) bool { return true }
