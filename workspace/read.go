package workspace

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toold/toold/workspace/store"
)

// ReadRequest asks for a file or a range of its lines. Nil bounds mean: not given.
type ReadRequest struct {
	Path       Path
	Start, End *int
	Agent      string
	MaxContext int64 // above this size a whole file is offloaded; 0 = never
	MaxReply   int64 // the longest text of a range, in bytes
}

// ReadResult is what read_file answers.
type ReadResult struct {
	Text     string
	Revision string // sha256 of the content, hex
	Lines    int
	Bytes    int64
	Encoding string // "utf-8" or "unknown-8bit"
	EOL      string // "lf", "crlf", "mixed" or "none"
	Mode     string // octal permission bits
	From, To int    // the range shown, 0 for a whole file
	Stored   string // where the full content was stored, or ""
	Cut      bool   // the text is not the whole of what was asked for
}

const lineLimit = 64 << 10 // a longer line inside a range is cut

// Read reads a file as read_file does: the raw text, or with a range its numbered lines under a header.
func (w *Workspace) Read(ctx context.Context, q ReadRequest) (*ReadResult, error) {
	if kind := MediaKind(q.Path); kind != "" {
		return nil, errorf("binary_file", "%s is %s by its name and cannot be read as text; list_files with path %q shows that it is there and how large it is", show(q.Path), kind, string(q.Path.Dir()))
	}
	f, st, real, err := w.openFile(q.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 8000)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, pathError("read", q.Path, err)
	}
	if err := w.textual(q.Path, head[:n]); err != nil {
		return nil, err
	}
	if q.Start != nil || q.End != nil {
		return w.readRange(ctx, f, st, real, q)
	}
	return w.readWhole(ctx, f, st, real, q)
}

// MediaKind names the kind of format that a path's extension announces ("an image"), or "" for text and the unknown.
func MediaKind(p Path) string { return mediaKind(p.Ext()) }

// textual refuses what is binary by content.
func (w *Workspace) textual(p Path, head []byte) error {
	if enc := encodingOf(head); enc != "" {
		return errorf("not_utf8", "%s is %s text, which the file tools do not show; convert it with run_shell: iconv -f %s -t UTF-8 %s", show(p), enc, enc[:6], shellQuote(string(p)))
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return errorf("binary_file", "%s is a binary file (%s; it has NUL bytes); it cannot be read as text. run_shell with file or xxd looks into it", show(p), http.DetectContentType(head))
	}
	return nil
}

func shellQuote(s string) string {
	if strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./", r))
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func (w *Workspace) readWhole(ctx context.Context, f *os.File, st info, real Path, q ReadRequest) (*ReadResult, error) {
	if q.MaxContext > 0 && st.size > q.MaxContext {
		return w.offloadFile(ctx, f, st, real, q)
	}
	limit := int64(DefaultMaxFileBytes)
	data, st, err := readAll(ctx, f, limit)
	if errors.Is(err, errTooLarge) {
		return nil, errorf("too_large", "%s is larger than %d bytes; read a range of it with start_line and end_line", show(q.Path), limit)
	}
	if err != nil {
		return nil, pathError("read", q.Path, err)
	}
	if q.MaxContext > 0 && int64(len(data)) > q.MaxContext {
		return w.offloadFile(ctx, f, st, real, q)
	}
	if err := w.textual(q.Path, data); err != nil {
		return nil, err
	}
	sum := store.HashOf(data)
	w.files.Saw(q.Agent, w.Key(real), sum, data)
	var c counter
	c.add(data)
	r := c.result(st)
	r.Revision = string(sum)
	r.Text = valid(data)
	if c.invalid > 0 {
		r.Text += c.notice(q.Path)
	}
	return r, nil
}

// counter counts what the metadata of a file say, over chunks.
type counter struct {
	bytes          int64
	newlines, crlf int
	invalid        int
	last           byte
	tail           []byte // an incomplete UTF-8 sequence at the end of the last chunk
}

func (c *counter) add(chunk []byte) {
	if len(chunk) == 0 {
		return
	}
	c.bytes += int64(len(chunk))
	n := bytes.Count(chunk, []byte("\n"))
	c.newlines += n
	if n > 0 {
		c.crlf += bytes.Count(chunk, []byte("\r\n"))
		if chunk[0] == '\n' && c.last == '\r' {
			c.crlf++
		}
	}
	c.last = chunk[len(chunk)-1]
	c.utf8(chunk)
}

func (c *counter) utf8(chunk []byte) {
	if len(c.tail) > 0 {
		chunk = append(c.tail, chunk...)
		c.tail = nil
	}
	if utf8.Valid(chunk) {
		return
	}
	for len(chunk) > 0 {
		r, size := utf8.DecodeRune(chunk)
		if r == utf8.RuneError && size == 1 {
			if !utf8.FullRune(chunk) {
				c.tail = slices.Clone(chunk)
				return
			}
			c.invalid++
		}
		chunk = chunk[size:]
	}
}

func (c *counter) lines() int {
	if c.bytes > 0 && c.last != '\n' {
		return c.newlines + 1
	}
	return c.newlines
}

func (c *counter) result(st info) *ReadResult {
	c.invalid += len(c.tail)
	c.tail = nil
	r := &ReadResult{Lines: c.lines(), Bytes: c.bytes, Encoding: "utf-8", EOL: "none", Mode: fmt.Sprintf("%04o", st.mode.Perm())}
	if c.invalid > 0 {
		r.Encoding = "unknown-8bit"
	}
	switch {
	case c.newlines > 0 && c.crlf == 0:
		r.EOL = "lf"
	case c.newlines > 0 && c.crlf == c.newlines:
		r.EOL = "crlf"
	case c.newlines > 0:
		r.EOL = "mixed"
	}
	return r
}

func (c *counter) notice(p Path) string {
	return fmt.Sprintf("\n[%s: %d bytes are not valid UTF-8 and are shown as \ufffd; edit_file keeps them as they are, write_file would not]", show(p), c.invalid)
}

// valid gives data as valid UTF-8, each byte that is none as U+FFFD.
func valid(data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	var b strings.Builder
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		b.WriteRune(r)
		data = data[size:]
	}
	return b.String()
}

// readRange streams the file once: it shows the lines asked for and counts and hashes all of it, holding no more than
// the text of the range.
func (w *Workspace) readRange(ctx context.Context, f *os.File, st info, real Path, q ReadRequest) (*ReadResult, error) {
	start, end := 1, int(^uint(0)>>1)
	if q.Start != nil {
		start = *q.Start
	}
	if q.End != nil {
		end = *q.End
	}
	if start < 1 || end < start {
		n, err := countLines(ctx, f)
		if err != nil {
			return nil, pathError("read", q.Path, err)
		}
		if start < 1 {
			return nil, errorf("out_of_range", "start_line %d is not a line: lines are counted from 1, and %s has %d", start, show(q.Path), n)
		}
		return nil, errorf("out_of_range", "end_line %d is before start_line %d; %s has %d lines", end, start, show(q.Path), n)
	}
	keep := st.size <= seenFileSize
	s := &rangeScan{start: start, end: end, limit: q.MaxReply, hash: sha256.New(), keep: keep}
	if err := s.run(ctx, f); err != nil {
		return nil, pathError("read", q.Path, err)
	}
	if s.binary {
		return nil, w.textual(q.Path, []byte{0})
	}
	n := s.count.lines()
	if start > n {
		return nil, errorf("out_of_range", "start_line %d is past the end: %s has %d lines", start, show(q.Path), n)
	}
	if s.over {
		fits := start + max(0, s.fits-1)
		return nil, errorf("too_large", "lines %d-%d of %s are more than one reply may hold (%d bytes); start_line %d with end_line %d fits", start, min(end, n), show(q.Path), q.MaxReply, start, fits)
	}
	r := s.count.result(st)
	r.From, r.To = start, min(end, n)
	r.Revision, r.Cut = hex.EncodeToString(s.hash.Sum(nil)), s.cut
	r.Text = fmt.Sprintf("[%s: lines %d-%d of %d]\n%s", show(q.Path), r.From, r.To, n, s.out.String())
	if s.count.invalid > 0 {
		r.Text += s.count.notice(q.Path)
	}
	w.files.Saw(q.Agent, w.Key(real), store.Hash(r.Revision), s.all)
	return r, nil
}

func countLines(ctx context.Context, f *os.File) (int, error) {
	var c counter
	buf := make([]byte, 256<<10)
	r := io.NewSectionReader(f, 0, 1<<62)
	for {
		n, err := r.Read(buf)
		c.add(buf[:n])
		if err == io.EOF {
			return c.lines(), nil
		}
		if err != nil {
			return 0, err
		}
		if err := cause(ctx); err != nil {
			return 0, err
		}
	}
}

// rangeScan is one pass over a file that collects the text of a range of its lines.
type rangeScan struct {
	start, end int
	limit      int64
	hash       hash.Hash
	keep       bool
	all        []byte // the whole content, when keep
	count      counter
	out        strings.Builder
	line       int // the line that the next byte belongs to
	cur        []byte
	curLen     int // length of the current line so far, also what cur does not hold
	fits       int // lines of the range that fitted
	over, cut  bool
	binary     bool
}

func (s *rangeScan) run(ctx context.Context, f *os.File) error {
	buf := make([]byte, 256<<10)
	r := io.NewSectionReader(f, 0, 1<<62)
	s.line = 1
	for {
		n, err := r.Read(buf)
		s.chunk(buf[:n])
		if err == io.EOF {
			if s.curLen > 0 {
				s.endLine()
			}
			return nil
		}
		if err != nil {
			return err
		}
		if err := cause(ctx); err != nil {
			return err
		}
	}
}

func (s *rangeScan) chunk(b []byte) {
	s.hash.Write(b)
	s.count.add(b)
	if s.keep {
		s.all = append(s.all, b...)
	}
	for len(b) > 0 && s.line <= s.end {
		i := bytes.IndexByte(b, '\n')
		piece := b
		if i >= 0 {
			piece = b[:i]
		}
		s.piece(piece)
		if i < 0 {
			return
		}
		s.endLine()
		b = b[i+1:]
	}
}

func (s *rangeScan) piece(p []byte) {
	s.curLen += len(p)
	if s.line >= s.start && len(s.cur) <= lineLimit {
		s.cur = append(s.cur, p[:min(len(p), lineLimit+1-len(s.cur))]...)
		s.binary = s.binary || bytes.IndexByte(p, 0) >= 0
	}
}

func (s *rangeScan) endLine() {
	if s.line >= s.start && s.line <= s.end && !s.over {
		text := s.cur
		marker := ""
		if len(text) > lineLimit {
			text = text[:lineLimit]
			for len(text) > 0 && !utf8.Valid(text[len(text)-min(len(text), 4):]) && !utf8.FullRune(text[lastRune(text):]) {
				text = text[:lastRune(text)]
			}
			marker = fmt.Sprintf(" [cut: the line has %d bytes, %d are shown; run_shell with cut -c %d- shows more]", s.curLen, len(text), len(text)+1)
			s.cut = true
		} else {
			text = bytes.TrimSuffix(text, []byte("\r"))
		}
		if s.out.Len() > 0 {
			s.out.WriteByte('\n')
		}
		s.out.WriteString(strconv.Itoa(s.line))
		s.out.WriteString("| ")
		s.out.WriteString(valid(text))
		s.out.WriteString(marker)
		if s.limit > 0 && int64(s.out.Len()) > s.limit {
			s.over = true
		} else {
			s.fits++
		}
	}
	s.cur, s.curLen = s.cur[:0], 0
	s.line++
}

// lastRune gives the index at which the last, perhaps incomplete, character of b begins.
func lastRune(b []byte) int {
	for i := len(b) - 1; i >= max(0, len(b)-utf8.UTFMax); i-- {
		if utf8.RuneStart(b[i]) {
			return i
		}
	}
	return len(b) - 1
}

// offloadFile answers a read of a file that is too large for the context: the full content is stored below
// .tool-output, the reply has the head and how to read the rest.
func (w *Workspace) offloadFile(ctx context.Context, f *os.File, st info, real Path, q ReadRequest) (*ReadResult, error) {
	out, name, err := w.NewOutput(path.Base(string(q.Path)))
	if err != nil {
		return nil, err
	}
	defer out.Close()
	var c counter
	sum := sha256.New()
	var head []byte
	headSize := int(min(q.MaxContext, 8<<10))
	var all []byte
	r := bufio.NewReaderSize(io.NewSectionReader(f, 0, 1<<62), 256<<10)
	buf := make([]byte, 256<<10)
	for {
		n, rerr := r.Read(buf)
		b := buf[:n]
		c.add(b)
		sum.Write(b)
		if len(head) < headSize {
			head = append(head, b[:min(n, headSize-len(head))]...)
		}
		if st.size <= seenFileSize {
			all = append(all, b...)
		}
		if c.bytes <= outputBudget {
			if _, err := out.Write(b); err != nil {
				return nil, pathError("store the output of", q.Path, err)
			}
		}
		if rerr == io.EOF {
			break
		}
		if rerr != nil {
			return nil, pathError("read", q.Path, rerr)
		}
		if err := cause(ctx); err != nil {
			return nil, err
		}
	}
	res := c.result(st)
	res.Revision, res.Stored, res.Cut = hex.EncodeToString(sum.Sum(nil)), string(name), true
	w.files.Saw(q.Agent, w.Key(real), store.Hash(res.Revision), all)
	res.Text = offloadText(q.Path, head, res)
	return res, nil
}

func offloadText(p Path, head []byte, r *ReadResult) string {
	if i := bytes.LastIndexByte(head, '\n'); i > 0 {
		head = head[:i+1]
	} else if i := lastRune(head); !utf8.FullRune(head[i:]) {
		head = head[:i]
	}
	shown := bytes.Count(head, []byte("\n"))
	text := valid(head)
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	where := fmt.Sprintf("The full content is stored in %s.", r.Stored)
	if r.Lines <= 1 || shown == 0 {
		return text + fmt.Sprintf("[%s has %d line(s) and %d bytes, too large to show whole; the first %d bytes are above. %s Its lines are very long: use run_shell with cut -c or head -c to see a part of one, or search_files to find a place.]", show(p), r.Lines, r.Bytes, len(head), where)
	}
	return text + fmt.Sprintf("[%s has %d lines and %d bytes, too large to show whole; lines 1-%d are above. %s To see more call read_file with {\"path\": %s, \"start_line\": %d, \"end_line\": %d}.]",
		show(p), r.Lines, r.Bytes, shown, where, strconv.Quote(string(p)), shown+1, min(r.Lines, shown+200))
}
