package store

import (
	"crypto/rand"
	"strconv"
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
	var id [idTime]byte
	ms := at.UnixMilli()
	for i := idTime - 1; i >= 0; i-- {
		id[i] = idDigits[ms&31]
		ms >>= 5
	}
	return string(id[:]) + newTag()
}

// newTag gives random digits.
func newTag() string {
	var tag [idEntropy]byte
	_, _ = rand.Read(tag[:]) // never fails: it ends the program instead
	for i, b := range tag {
		tag[i] = idDigits[b&31]
	}
	return string(tag[:])
}

// editID gives the id of a change from its number and its tag.
func editID(seq int64, tag string) string { return strconv.FormatInt(seq, 10) + tag }

// parseEditID gives the parts of a change's id; the number is 0, which no change has, when it is none.
func parseEditID(id string) (seq int64, tag string) {
	n := len(id) - idEntropy
	if n < 1 {
		return 0, ""
	}
	seq, err := strconv.ParseInt(id[:n], 10, 64)
	if err != nil {
		return 0, ""
	}
	return seq, id[n:]
}
