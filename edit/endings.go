package edit

import (
	"bytes"

	"github.com/toold/toold/edit/lines"
)

func countLines(b []byte) int { return lines.Count(b) }

// fitEndings gives text the line endings of the place it goes to. A line that the place already holds keeps its
// ending; others take theirs from the old lines one by one, surplus ones the first's. The last line of text keeps or
// lacks its ending as given.
func (d *doc) fitEndings(s span, text []byte) []byte {
	if !d.crlf && !bytes.Contains(text, []byte("\r\n")) || bytes.IndexByte(text, '\n') < 0 {
		return text
	}
	old := lines.Split(d.body[s.from:s.to])
	fresh := lines.Split(text)
	endings := d.endings(s, old)
	kept := align(contents(old), contents(fresh))
	var out []byte
	for i, line := range fresh {
		out = append(out, lines.Content(line)...)
		out = append(out, endingFor(line, i, kept[i], endings)...)
	}
	return out
}

// endingFor picks the ending of the i-th new line.
func endingFor(line []byte, i, kept int, endings [][]byte) []byte {
	own := lines.Ending(line)
	if len(own) == 0 {
		return nil
	}
	e := endings[0]
	switch {
	case kept >= 0 && kept < len(endings):
		e = endings[kept]
	case i < len(endings):
		e = endings[i]
	}
	if len(e) == 0 || bytes.HasSuffix(lines.Content(line), []byte("\r")) {
		return own
	}
	return e
}

// endings gives the ending of each line that s touches. A line that s holds without its ending counts with the ending
// it has in the file; where the file ends without one, the ending of the line before stands in.
func (d *doc) endings(s span, old [][]byte) [][]byte {
	out := make([][]byte, 0, len(old)+1)
	for _, line := range old {
		out = append(out, lines.Ending(line))
	}
	if len(out) == 0 {
		return [][]byte{d.endingNear(s.to)}
	}
	if last := len(out) - 1; len(out[last]) == 0 {
		out[last] = d.endingNear(s.to)
	}
	return out
}

// endingNear gives the ending of the line that holds offset, else of the line before it, else nothing.
func (d *doc) endingNear(offset int) []byte {
	if i := bytes.IndexByte(d.body[offset:], '\n'); i >= 0 {
		return lines.Ending(d.body[:offset+i+1])
	}
	if i := bytes.LastIndexByte(d.body[:offset], '\n'); i >= 0 {
		return lines.Ending(d.body[:i+1])
	}
	return nil
}

func contents(split [][]byte) [][]byte {
	out := make([][]byte, len(split))
	for i, line := range split {
		out[i] = lines.Content(line)
	}
	return out
}
