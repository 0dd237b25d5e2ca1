package store

import (
	"crypto/rand"
	"time"
)

const (
	idDigits  = "0123456789abcdefghjkmnpqrstvwxyz" // base 32 without letters that look like digits
	idTime    = 9                                  // digits of the time in milliseconds: 45 bits
	idEntropy = 11                                 // random digits: 55 bits
)

// NewID gives an id that no other store gives either. Ids sort by the time they were made, to the millisecond; that
// is a help for people, and nothing relies on it.
func (s *Store) NewID() string { return newID(s.now()) }

func newID(at time.Time) string {
	var id [idTime + idEntropy]byte
	ms := at.UnixMilli()
	for i := idTime - 1; i >= 0; i-- {
		id[i] = idDigits[ms&31]
		ms >>= 5
	}
	_, _ = rand.Read(id[idTime:]) // never fails: it ends the program instead
	for i := idTime; i < len(id); i++ {
		id[i] = idDigits[id[i]&31]
	}
	return string(id[:])
}
