package shell

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// maxLine is how much of one line a Cleaner holds back to see whether it gets overwritten.
const maxLine = 32 << 10

// maxControl bounds a control string, so that one that never ends cannot swallow the rest of the output.
const maxControl = 4 << 10

// Cleaner makes the output of a command readable while it streams through: terminal control sequences are dropped, of
// a line that was overwritten after a carriage return only the last state stays, and bytes that are not UTF-8 are shown as
// \xNN. It holds at most one line. Its zero value is not usable; see [NewCleaner].
type Cleaner struct {
	out     func([]byte) // receives whole runes
	line    []byte       // the current line, cleaned
	partial []byte       // the beginning of a rune whose rest has not come yet
	cr      bool         // a carriage return was seen and nothing after it
	state   state
	control int // bytes of the current control sequence
}

type state uint8

const (
	ground  state = iota
	escape        // after ESC
	between       // after ESC and an intermediate byte
	csi           // a control sequence, up to its final byte
	text          // a control string, up to BEL or ST
	ending        // a control string after ESC
)

// NewCleaner makes a cleaner that hands clean text to out.
func NewCleaner(out func([]byte)) *Cleaner { return &Cleaner{out: out} }

// Write takes raw output. It never fails.
func (c *Cleaner) Write(p []byte) (int, error) {
	n := len(p)
	if len(c.partial) > 0 {
		p = append(c.partial, p...)
		c.partial = nil
	}
	for len(p) > 0 {
		if c.state == ground {
			p = c.plain(p)
			if len(p) == 0 {
				break
			}
		}
		r, size := rune(p[0]), 1
		if r >= utf8.RuneSelf {
			if !utf8.FullRune(p) {
				c.partial = bytes.Clone(p)
				break
			}
			r, size = utf8.DecodeRune(p)
		}
		c.rune(r, p[:size])
		p = p[size:]
	}
	return n, nil
}

// Close hands over what was held back.
func (c *Cleaner) Close() {
	for _, b := range c.partial {
		c.put(fmt.Appendf(nil, `\x%02x`, b))
	}
	c.partial = nil
	c.flush()
}

// plain takes the printable ASCII that p begins with, which is nearly all of most output.
func (c *Cleaner) plain(p []byte) []byte {
	i := 0
	for i < len(p) && (p[i] >= 0x20 && p[i] < 0x7f || p[i] == '\t') {
		i++
	}
	if i > 0 {
		c.put(p[:i])
	}
	return p[i:]
}

// rune takes one rune of p's bytes in any state.
func (c *Cleaner) rune(r rune, raw []byte) {
	if c.state != ground && c.sequence(r, raw) {
		return
	}
	switch {
	case r == '\n':
		c.cr = false
		c.line = append(c.line, '\n')
		c.flush()
	case r == '\r':
		c.cr = true
	case r == '\b':
		_, size := utf8.DecodeLastRune(c.line)
		c.line = c.line[:len(c.line)-size]
	case r == 0x1b:
		c.begin(escape)
	case r == 0x9b:
		c.begin(csi)
	case r == 0x90 || r == 0x98 || r >= 0x9d && r <= 0x9f:
		c.begin(text)
	case r == '\a' || r >= 0x80 && r < 0xa0:
	case r < 0x20 && r != '\t' || r == 0x7f:
		c.put(fmt.Appendf(nil, `\x%02x`, r))
	case r == utf8.RuneError && len(raw) == 1:
		c.put(fmt.Appendf(nil, `\x%02x`, raw[0]))
	default:
		c.put(raw)
	}
}

func (c *Cleaner) begin(s state) { c.state, c.control = s, 0 }

// sequence takes a rune inside a control sequence. It reports false when the rune is not part of it: the sequence is
// broken off and the rune counts as text.
func (c *Cleaner) sequence(r rune, raw []byte) bool {
	if c.control++; c.control > maxControl || r == '\n' || r == '\r' {
		c.state = ground
		return false
	}
	switch c.state {
	case escape:
		return c.afterEscape(r)
	case between:
		return c.until(r, 0x20, 0x2f, 0x30)
	case csi:
		return c.until(r, 0x20, 0x3f, 0x40)
	case ending:
		if c.state = ground; r != '\\' {
			c.begin(escape)
			return c.sequence(r, raw)
		}
	case text:
		switch r {
		case '\a', 0x9c:
			c.state = ground
		case 0x1b:
			c.state = ending
		}
	}
	return true
}

func (c *Cleaner) afterEscape(r rune) bool {
	switch {
	case r == '[':
		c.state = csi
	case r == ']' || r == 'P' || r == 'X' || r == '^' || r == '_':
		c.state = text
	case r >= 0x20 && r <= 0x2f:
		c.state = between
	case r >= 0x30 && r <= 0x7e:
		c.state = ground
	default:
		c.state = ground
		return false
	}
	return true
}

// until stays in the sequence for runes from lo to hi and ends it with one from final to '~'.
func (c *Cleaner) until(r, lo, hi, final rune) bool {
	if r >= lo && r <= hi {
		return true
	}
	c.state = ground
	return r >= final && r <= '~'
}

// put adds visible text to the line; after a carriage return it replaces the line.
func (c *Cleaner) put(p []byte) {
	if c.cr {
		c.cr, c.line = false, c.line[:0]
	}
	c.line = append(c.line, p...)
	if len(c.line) >= maxLine {
		c.flush()
	}
}

func (c *Cleaner) flush() {
	if len(c.line) > 0 {
		c.out(c.line)
		c.line = c.line[:0]
	}
}

// Clean gives s as [Cleaner] shows it.
func Clean(s string) string {
	var b bytes.Buffer
	c := NewCleaner(func(p []byte) { b.Write(p) })
	_, _ = c.Write([]byte(s))
	c.Close()
	return b.String()
}
