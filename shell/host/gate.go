package host

import (
	"io"
	"sync"
)

// gate keeps the two streams of a command from writing at the same time, and from writing at all after it has ended: a
// child that was left running may still hold a pipe.
type gate struct {
	mu     sync.Mutex // held while a writer writes
	closed bool
}

type gated struct {
	g *gate
	w io.Writer
}

func (g *gate) writer(w io.Writer) io.Writer { return gated{g, w} }

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

func (w gated) Write(p []byte) (int, error) {
	w.g.mu.Lock()
	defer w.g.mu.Unlock()
	if w.g.closed {
		return 0, io.ErrClosedPipe
	}
	return w.w.Write(p)
}
