package shell

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Output is what is kept of one stream: all of it, or its head and its tail.
type Output struct {
	Bytes   int64  // bytes that the command printed
	Head    string // the beginning, clean text
	Tail    string // the end, when something between them was left out
	Omitted int64  // bytes of clean text between Head and Tail
	Lines   int64  // line breaks between Head and Tail
}

// Empty reports whether nothing visible was printed.
func (o Output) Empty() bool { return o.Head == "" && o.Tail == "" }

// Size is the length of the kept text in bytes.
func (o Output) Size() int64 { return int64(len(o.Head) + len(o.Tail)) }

// Fit gives o with at most n bytes of text: its head and its tail, cut between characters, at line breaks where there
// are some.
func (o Output) Fit(n int64) Output {
	if o.Size() <= n {
		return o
	}
	tail := o.Tail
	if o.Omitted == 0 {
		tail = o.Head
	}
	headSize := min(n/2, int64(len(o.Head)))
	h := lineEnd(cutAt(o.Head, int(headSize)))
	t := lineStart(cutFrom(tail, int(n-headSize)))
	var gone string
	if o.Omitted == 0 {
		gone = o.Head[len(h) : len(o.Head)-len(t)]
	} else {
		gone = o.Head[len(h):] + o.Tail[:len(o.Tail)-len(t)]
	}
	o.Head, o.Tail = h, t
	o.Omitted += int64(len(gone))
	o.Lines += int64(strings.Count(gone, "\n"))
	return o
}

// lineEnd drops a last partial line unless that would drop most of s.
func lineEnd(s string) string {
	if i := strings.LastIndexByte(s, '\n'); i >= len(s)/2 {
		return s[:i+1]
	}
	return s
}

// lineStart drops a first partial line unless that would drop most of s.
func lineStart(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 && i < len(s)/2 {
		return s[i+1:]
	}
	return s
}

// cutAt gives at most n bytes of the beginning of s, whole characters only.
func cutAt(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// cutFrom gives at most n bytes of the end of s, whole characters only.
func cutFrom(s string, n int) string {
	if len(s) <= n {
		return s
	}
	i := len(s) - n
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}

// capture keeps the head and the tail of the clean text of one stream in constant memory. The zero value keeps
// nothing; limit is the most that each of both holds.
type capture struct {
	limit int
	head  []byte
	full  bool // the head is complete: all that follows goes to the tail
	tail  []byte
	gone  int64 // bytes dropped from the tail's beginning
	lines int64 // line breaks in them
}

// add takes whole characters.
func (c *capture) add(p []byte) {
	if !c.full {
		n := min(len(p), c.limit-len(c.head))
		for n > 0 && n < len(p) && !utf8.RuneStart(p[n]) {
			n--
		}
		c.head = append(c.head, p[:n]...)
		p = p[n:]
		c.full = len(p) > 0
	}
	if len(p) == 0 {
		return
	}
	c.tail = append(c.tail, p...)
	if len(c.tail) > 2*c.limit {
		c.drop(len(c.tail) - c.limit)
	}
}

// drop forgets at least n bytes of the tail's beginning, up to a character border.
func (c *capture) drop(n int) {
	for n < len(c.tail) && !utf8.RuneStart(c.tail[n]) {
		n++
	}
	c.gone += int64(n)
	c.lines += int64(bytes.Count(c.tail[:n], []byte{'\n'}))
	c.tail = append(c.tail[:0], c.tail[n:]...)
}

func (c *capture) output(raw int64) Output {
	if c.gone == 0 {
		return Output{Bytes: raw, Head: string(c.head) + string(c.tail)}
	}
	return Output{Bytes: raw, Head: string(c.head), Tail: string(c.tail), Omitted: c.gone, Lines: c.lines}
}
