package workspace

import (
	"context"
	"slices"
	"sync"
)

// locks are the locks of real files, by key. A lock exists only while somebody holds or awaits it.
type locks struct {
	mu   sync.Mutex // guards held
	held map[string]*lock
}

type lock struct {
	users int           // holders and waiters
	token chan struct{} // holds one value while the lock is free
}

// acquire takes the locks of all keys, in sorted order so that no two callers can wait for each other, and gives the
// function that releases them. It gives up when the context ends.
func (l *locks) acquire(ctx context.Context, keys ...string) (release func(), err error) {
	keys = slices.Clone(keys)
	slices.Sort(keys)
	keys = slices.Compact(keys)
	for i, key := range keys {
		if err := l.one(ctx, key); err != nil {
			l.release(keys[:i])
			return nil, err
		}
	}
	return func() { l.release(keys) }, nil
}

func (l *locks) one(ctx context.Context, key string) error {
	l.mu.Lock()
	k := l.held[key]
	if k == nil {
		k = &lock{token: make(chan struct{}, 1)}
		k.token <- struct{}{}
		l.held[key] = k
	}
	k.users++
	l.mu.Unlock()
	select {
	case <-k.token:
		return nil
	case <-ctx.Done():
		l.drop(key, k)
		return context.Cause(ctx)
	}
}

func (l *locks) release(keys []string) {
	for _, key := range keys {
		l.mu.Lock()
		k := l.held[key]
		l.mu.Unlock()
		k.token <- struct{}{}
		l.drop(key, k)
	}
}

func (l *locks) drop(key string, k *lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.users--; k.users == 0 {
		delete(l.held, key)
	}
}
