package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// frameError is a frame that cannot be handled. Unless it is fatal the reader skips the frame and goes on.
type frameError struct {
	code  int
	text  string
	fatal bool
	http  bool // the client speaks HTTP
}

func (e *frameError) Error() string { return e.text }

const (
	readBuffer = 32 << 10
	firstGrab  = 64 << 10 // bytes of a body for which memory is taken before any has come
	noFrame    = "this is toold's JSON-RPC socket: a message begins with a Content-Length header, or is one line of JSON"
)

// frameReader reads frames in one of the two framings, which the first byte decides.
type frameReader struct {
	r        *bufio.Reader
	limit    int // bytes of a frame
	head     int // bytes of a header block
	decided  bool
	lines    bool
	skip     int64 // bytes of a frame that is too large, still to be skipped
	skipLine bool  // the rest of a line that is too large is still to be skipped
}

func newFrameReader(r io.Reader, limit, head int) *frameReader {
	return &frameReader{r: bufio.NewReaderSize(r, max(readBuffer, head)), limit: limit, head: head}
}

// next gives the next frame's body. The error is io.EOF between frames, io.ErrUnexpectedEOF within one, or a
// *frameError; what came after a frame that was too large is read by the next call, so that the client can be told
// before.
func (f *frameReader) next() ([]byte, error) {
	if err := f.skipRest(); err != nil {
		return nil, err
	}
	if err := f.decide(); err != nil {
		return nil, err
	}
	if f.lines {
		return f.line()
	}
	n, err := f.header()
	if err != nil {
		return nil, err
	}
	if n > int64(f.limit) {
		f.skip = n
		return nil, &frameError{code: CodeInvalidRequest, text: fmt.Sprintf("the message has %d bytes; the limit is %d. It is skipped: send less at once", n, f.limit)}
	}
	return f.body(int(n))
}

func (f *frameReader) decide() error {
	if f.decided {
		return nil
	}
	b, err := f.r.Peek(1)
	if err != nil {
		return err
	}
	f.lines = b[0] == '{' || b[0] == '['
	if !f.lines && !isTokenByte(b[0]) && b[0] != '\r' && b[0] != '\n' {
		return &frameError{code: CodeParse, text: noFrame, fatal: true} // binary: there may never be an end of line
	}
	f.decided = true
	return nil
}

func (f *frameReader) skipRest() error {
	n := f.skip
	f.skip = 0
	if _, err := io.CopyN(io.Discard, f.r, n); err != nil {
		return cutShort(err)
	}
	for f.skipLine {
		_, err := f.r.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		f.skipLine = err != nil
	}
	return nil
}

// body reads n bytes. Memory is taken as they come, not as they are promised.
func (f *frameReader) body(n int) ([]byte, error) {
	b := make([]byte, 0, min(n, firstGrab))
	for {
		at := len(b)
		b = b[:cap(b)]
		if _, err := io.ReadFull(f.r, b[at:]); err != nil {
			return nil, cutShort(err)
		}
		if len(b) == n {
			return b, nil
		}
		b = append(make([]byte, 0, min(n, 4*len(b))), b...)
	}
}

// cutShort names the end of the input within a frame.
func cutShort(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// header reads a header block and gives the length of the body.
func (f *frameReader) header() (int64, error) {
	length, size := int64(-1), 0
	for {
		line, err := f.r.ReadSlice('\n')
		size += len(line)
		switch {
		case errors.Is(err, bufio.ErrBufferFull) || err == nil && size > f.head:
			return 0, fatalf("the header block is longer than %d bytes", f.head)
		case err != nil && size > 0:
			return 0, cutShort(err)
		case err != nil:
			return 0, err
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text != "" {
			if err := headerLine(text, &length); err != nil {
				return 0, err
			}
			continue
		}
		if length >= 0 {
			return length, nil
		}
		if size > len(line) {
			return 0, fatalf("the header block has no Content-Length")
		}
		size = 0 // an empty line between frames
	}
}

// headerLine reads one line of a header block. It is strict, so that nothing that is not meant for this socket, such as
// a request of HTTP with a body, is taken for a call.
func headerLine(text string, length *int64) error {
	if strings.Contains(text, " HTTP/") {
		return &frameError{code: CodeParse, text: noFrame + ". It does not speak HTTP", fatal: true, http: true}
	}
	name, value, ok := strings.Cut(text, ":")
	if !ok || name == "" || strings.ContainsFunc(name, func(r rune) bool { return r > 0x7e || !isTokenByte(byte(r)) }) {
		return fatalf("%s", noFrame)
	}
	if !strings.EqualFold(name, "Content-Length") {
		return nil
	}
	n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 63)
	if err != nil {
		return fatalf("the Content-Length is not a number of bytes: %.40q", strings.TrimSpace(value))
	}
	if *length >= 0 && *length != int64(n) {
		return fatalf("the header block has two values of Content-Length")
	}
	*length = int64(n)
	return nil
}

func fatalf(format string, args ...any) error {
	return &frameError{code: CodeParse, text: fmt.Sprintf(format, args...), fatal: true}
}

// isTokenByte tells whether a header's name may have the byte.
func isTokenByte(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || b < 0x7f && strings.IndexByte("!#$%&'*+-.^_`|~", b) >= 0
}

// line reads one line of JSON. The last one may lack its end.
func (f *frameReader) line() ([]byte, error) {
	var b []byte
	for {
		part, err := f.r.ReadSlice('\n')
		if len(b)+len(part) > f.limit+1 { // the end of the line does not count
			f.skipLine = errors.Is(err, bufio.ErrBufferFull)
			return nil, &frameError{code: CodeInvalidRequest, text: fmt.Sprintf("the line has more than %d bytes, which is the limit. It is skipped: send less at once", f.limit)}
		}
		b = append(b, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if b = bytes.TrimSpace(b); len(b) > 0 {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// appendHead appends what comes before a frame's body of n bytes.
func appendHead(dst []byte, n int) []byte {
	dst = append(dst, "Content-Length: "...)
	dst = strconv.AppendInt(dst, int64(n), 10)
	return append(dst, "\r\n\r\n"...)
}
