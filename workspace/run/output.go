package run

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	wordsSuffix = regexp.MustCompile(`^(.*\S)\s+words\s+(\d[\d\s.,–+-]*)$`)
	wordRange   = regexp.MustCompile(`^(\d{1,9})\s*[-–]\s*(\d{1,9})$`)
)

// Output is a file that a stage or a turn owes.
type Output struct {
	Path     string // normalised
	Words    bool   // its length is asked for
	Min, Max int    // words, both included; only with Words
}

// String gives the form that ParseOutput reads.
func (o Output) String() string {
	if !o.Words {
		return o.Path
	}
	return fmt.Sprintf("%s words %d-%d", o.Path, o.Min, o.Max)
}

// Format gives the binary format that the file's name asks for; without one it is text.
func (o Output) Format() (Format, bool) { return FormatOf(o.Path) }

// ParseOutput reads a specification of a required output: "path" or "path words A-B".
func ParseOutput(spec string, norm Normalise) (Output, error) {
	spec = strings.TrimSpace(spec)
	name, words, found := cutWords(spec)
	o := Output{Words: found}
	if found {
		m := wordRange.FindStringSubmatch(words)
		if m == nil {
			return o, fmt.Errorf("required output %q: the words are a range such as \"words 400-520\"", spec)
		}
		o.Min, _ = strconv.Atoi(m[1])
		o.Max, _ = strconv.Atoi(m[2])
		if o.Min > o.Max {
			return o, fmt.Errorf("required output %q: the range ends before it begins", spec)
		}
	}
	if name == "" {
		return o, errors.New("a required output is \"path\" or \"path words A-B\"; this one has no path")
	}
	var err error
	if o.Path, err = norm(name); err != nil {
		return o, fmt.Errorf("required output %q: %w", spec, err)
	}
	if o.Path == "." || path.Base(o.Path) == ".." {
		return o, fmt.Errorf("required output %q is a folder; name a file in it", spec)
	}
	if f, binary := o.Format(); binary && found {
		return o, fmt.Errorf("required output %q: %s has no words to count; leave the range out", spec, f.Name)
	}
	return o, nil
}

// cutWords splits "path words 400-520". A path may have blanks, and the word "words", in it: only one that digits
// follow begins a range.
func cutWords(spec string) (name, words string, found bool) {
	m := wordsSuffix.FindStringSubmatch(spec)
	if m == nil {
		return spec, "", false
	}
	return m[1], strings.TrimSpace(m[2]), true
}

// ParseOutputs reads several specifications. A file that is named twice counts once; of two ranges for one file the
// later is taken.
func ParseOutputs(specs []string, norm Normalise) ([]Output, error) {
	var outputs []Output
	for _, s := range specs {
		o, err := ParseOutput(s, norm)
		if err != nil {
			return nil, err
		}
		outputs = merge(outputs, o)
	}
	return outputs, nil
}

func merge(outputs []Output, more ...Output) []Output {
	outputs = slices.Clone(outputs)
	for _, o := range more {
		i := slices.IndexFunc(outputs, func(have Output) bool { return have.Path == o.Path })
		switch {
		case i < 0:
			outputs = append(outputs, o)
		case o.Words:
			outputs[i] = o
		}
	}
	return outputs
}

// Status says how far a required output is.
type Status string

// The states of a required output.
const (
	OK          Status = "ok"
	Missing     Status = "missing"      // the file is not there
	Empty       Status = "empty"        // it has no bytes, or a text file nothing but blanks
	WordsShort  Status = "words_short"  // a text has fewer words than asked for
	WordsOver   Status = "words_over"   // a text has more
	HeaderWrong Status = "header_wrong" // a binary format that does not begin as the format does
)

// Result is the judgement of one required output.
type Result struct {
	Output Output
	Status Status
	Words  int    // counted words; only when the output asks for a range
	Detail string // a sentence for people and models
}

// Delivered tells whether something is on the disk, right or wrong.
func (r Result) Delivered() bool { return r.Status != Missing && r.Status != Empty }

// HeaderBytes is how much of the beginning of a binary file Check needs; text is needed whole.
const HeaderBytes = 64 << 10

// Check judges one required output by the file's content: of a binary format the first [HeaderBytes] will do.
func Check(o Output, content []byte, existed bool) Result {
	r := Result{Output: o, Status: OK}
	format, binary := o.Format()
	switch {
	case !existed:
		r.Status, r.Detail = Missing, o.Path+" does not exist yet"
	case len(content) == 0, !binary && len(bytes.TrimSpace(content)) == 0:
		r.Status, r.Detail = Empty, o.Path+" is empty"
	case binary && !format.Matches(content):
		r.Status = HeaderWrong
		r.Detail = fmt.Sprintf("%s is not %s: it begins with %s", o.Path, format.Name, beginning(content))
	case o.Words:
		r.countWords(content)
	default:
		r.Detail = o.Path + " is there"
	}
	return r
}

func (r *Result) countWords(content []byte) {
	o := r.Output
	r.Words = CountWords(o.Path, content)
	switch {
	case r.Words < o.Min:
		r.Status = WordsShort
		r.Detail = fmt.Sprintf("%s has %d words, %d too few: %d to %d are asked for", o.Path, r.Words, o.Min-r.Words, o.Min, o.Max)
	case r.Words > o.Max:
		r.Status = WordsOver
		r.Detail = fmt.Sprintf("%s has %d words, %d too many: %d to %d are asked for", o.Path, r.Words, r.Words-o.Max, o.Min, o.Max)
	default:
		r.Detail = fmt.Sprintf("%s has %d words, as asked for (%d to %d)", o.Path, r.Words, o.Min, o.Max)
	}
}

// beginning shows how a file begins, so that a stand-in is recognised.
func beginning(content []byte) string {
	const shown = 24
	head := content[:min(len(content), shown)]
	for _, b := range head {
		if b < ' ' && b != '\n' && b != '\t' && b != '\r' || b >= 0x7f {
			return fmt.Sprintf("the bytes % x", head[:min(len(head), 12)])
		}
	}
	return fmt.Sprintf("the text %q", head)
}
