package watch

import "context"

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
