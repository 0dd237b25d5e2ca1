package watch

import (
	"context"
	"time"
)

// Trouble is what a test lets go wrong.
type Trouble struct {
	Watches func() error
	Silent  bool
	Event   func()
	Open    func(path string) error
	Rest    <-chan time.Time
	Audit   <-chan time.Time
	Late    bool
}

// With gives options with trouble.
func (o Options) With(t Trouble) Options {
	o.trouble = trouble{t.Watches, t.Silent, t.Event, t.Open, t.Rest, t.Audit, t.Late}
	return o
}

// Ready waits until the first reading of the workspace is done.
func (t *Tree) Ready(ctx context.Context) error {
	v, release, err := t.acquire()
	if err != nil {
		return err
	}
	defer release()
	select {
	case <-v.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Read is Search by reading the folders and the files, whatever is known about them.
func (t *Tree) Read(ctx context.Context, q Query) (Answer, error) {
	p, err := newPlan(q)
	if err != nil {
		return Answer{}, err
	}
	v, release, err := t.acquire()
	if err != nil {
		return Answer{}, err
	}
	defer release()
	return v.answer(ctx, p, nil)
}
