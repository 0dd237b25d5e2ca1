package rpc

import (
	"context"
	"slices"
	"sync"
)

// slots limits the heavy calls that run at the same time. When all slots are taken the sessions that wait get the next
// ones in turn, so that one with many calls does not hold up the others.
type slots struct {
	mu      sync.Mutex // guards what follows
	free    int
	turns   []*Session // those that wait, the next one first
	waiting map[*Session][]chan struct{}
}

func newSlots(n int) *slots { return &slots{free: n, waiting: map[*Session][]chan struct{}{}} }

// acquire waits for a slot. The error is why the context ended before there was one.
func (l *slots) acquire(ctx context.Context, s *Session) error {
	l.mu.Lock()
	if l.free > 0 {
		l.free--
		l.mu.Unlock()
		return nil
	}
	mine := make(chan struct{})
	if len(l.waiting[s]) == 0 {
		l.turns = append(l.turns, s)
	}
	l.waiting[s] = append(l.waiting[s], mine)
	l.mu.Unlock()
	select {
	case <-mine:
		return nil
	case <-ctx.Done():
		l.leave(s, mine)
		return context.Cause(ctx)
	}
}

// leave gives up a place in the queue, or the slot when it has come in the meantime.
func (l *slots) leave(s *Session, mine chan struct{}) {
	l.mu.Lock()
	i := slices.Index(l.waiting[s], mine)
	if i >= 0 {
		l.waiting[s] = slices.Delete(l.waiting[s], i, i+1)
		if len(l.waiting[s]) == 0 {
			delete(l.waiting, s)
			l.turns = slices.DeleteFunc(l.turns, func(t *Session) bool { return t == s })
		}
	}
	l.mu.Unlock()
	if i < 0 {
		l.release()
	}
}

// release hands a slot to the next session in turn.
func (l *slots) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.turns) == 0 {
		l.free++
		return
	}
	s := l.turns[0]
	l.turns = l.turns[1:]
	close(l.waiting[s][0])
	if l.waiting[s] = l.waiting[s][1:]; len(l.waiting[s]) > 0 {
		l.turns = append(l.turns, s)
	} else {
		delete(l.waiting, s)
	}
}
