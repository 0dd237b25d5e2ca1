package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// frameError is a frame that cannot be handled. Unless it is fatal it has been skipped, and the connection goes on.
type frameError struct {
	code  int
	text  string
	fatal bool
}

func (e *frameError) Error() string { return e.text }

// frameReader reads frames in one of the two framings, which the first byte decides.
type frameReader struct {
	r       *bufio.Reader
	decided bool
	lines   bool
}

func newFrameReader(r io.Reader) *frameReader {
	return &frameReader{r: bufio.NewReaderSize(r, 64<<10)}
}

// next gives the next frame's body. A frame that a header promises is never allocated before its bytes arrive.
func (f *frameReader) next() ([]byte, error) {
	if !f.decided {
		b, err := f.r.Peek(1)
		if err != nil {
			return nil, err
		}
		f.decided, f.lines = true, b[0] == '{' || b[0] == '['
	}
	if f.lines {
		return f.line()
	}
	n, err := f.header()
	if err != nil {
		return nil, err
	}
	if n > FrameLimit {
		if _, err := io.CopyN(io.Discard, f.r, n); err != nil {
			return nil, err
		}
		return nil, &frameError{code: CodeInvalidRequest, text: tooLarge(n)}
	}
	var b bytes.Buffer
	b.Grow(int(min(n, 64<<10)))
	if _, err := io.CopyN(&b, f.r, n); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return b.Bytes(), nil
}

func tooLarge(n int64) string {
	return fmt.Sprintf("the message has %d bytes; the limit is %d. It was skipped", n, FrameLimit)
}

// header reads a header block and gives the length of the body.
func (f *frameReader) header() (int64, error) {
	length, size := int64(-1), 0
	for {
		line, err := f.r.ReadSlice('\n')
		size += len(line)
		switch {
		case errors.Is(err, bufio.ErrBufferFull) || err == nil && size > HeaderLimit:
			return 0, &frameError{CodeParse, fmt.Sprintf("the header block is longer than %d bytes", HeaderLimit), true}
		case err != nil:
			if size > 0 && errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			if length >= 0 {
				return length, nil
			}
			if size == len(line) {
				size = 0
				continue // blank lines between frames
			}
			return 0, &frameError{CodeParse, "the header block has no Content-Length", true}
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return 0, &frameError{CodeParse, "this is a JSON-RPC socket: frames begin with Content-Length, or each line is a JSON message", true}
		}
		if strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			if err != nil || n < 0 {
				return 0, &frameError{CodeParse, "the Content-Length is no number", true}
			}
			length = n
		}
	}
}

// line reads one line of JSON.
func (f *frameReader) line() ([]byte, error) {
	var b []byte
	skipped := int64(0)
	for {
		part, err := f.r.ReadSlice('\n')
		switch {
		case skipped > 0:
			skipped += int64(len(part))
		case len(b)+len(part) > FrameLimit:
			skipped = int64(len(b) + len(part))
			b = nil
		default:
			b = append(b, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (len(b) == 0 || !errors.Is(err, io.EOF)) {
			return nil, err
		}
		if skipped > 0 {
			return nil, &frameError{code: CodeInvalidRequest, text: tooLarge(skipped)}
		}
		if b = bytes.TrimSpace(b); len(b) > 0 {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// writeFrame writes one frame with one system call.
func writeFrame(w io.Writer, body []byte, lines bool) error {
	if lines {
		bufs := net.Buffers{body, []byte("\n")}
		_, err := bufs.WriteTo(w)
		return err
	}
	head := make([]byte, 0, 32)
	head = append(head, "Content-Length: "...)
	head = strconv.AppendInt(head, int64(len(body)), 10)
	head = append(head, "\r\n\r\n"...)
	if len(body) < 16<<10 {
		_, err := w.Write(append(head, body...))
		return err
	}
	bufs := net.Buffers{head, body}
	_, err := bufs.WriteTo(w)
	return err
}

// badSurrogate tells whether JSON escapes half of a surrogate pair, which would silently become U+FFFD.
func badSurrogate(raw []byte) bool {
	for i := bytes.Index(raw, []byte(`\u`)); i >= 0 && i+6 <= len(raw); {
		if escaped(raw, i) {
			i = nextEscape(raw, i+2)
			continue
		}
		r, err := strconv.ParseUint(string(raw[i+2:i+6]), 16, 32)
		if err != nil || r < 0xd800 || r > 0xdfff {
			i = nextEscape(raw, i+6)
			continue
		}
		if r >= 0xdc00 || i+12 > len(raw) || raw[i+6] != '\\' || raw[i+7] != 'u' {
			return true
		}
		low, err := strconv.ParseUint(string(raw[i+8:i+12]), 16, 32)
		if err != nil || low < 0xdc00 || low > 0xdfff {
			return true
		}
		i = nextEscape(raw, i+12)
	}
	return false
}

// escaped tells whether the backslash at i is itself escaped, so that what follows it is ordinary text.
func escaped(raw []byte, i int) bool {
	n := 0
	for i--; i >= 0 && raw[i] == '\\'; i-- {
		n++
	}
	return n%2 == 1
}

func nextEscape(raw []byte, from int) int {
	if from >= len(raw) {
		return -1
	}
	j := bytes.Index(raw[from:], []byte(`\u`))
	if j < 0 {
		return -1
	}
	return from + j
}
