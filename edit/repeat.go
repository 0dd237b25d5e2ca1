package edit

import (
	"fmt"
	"strings"
)

// AppliesTwice says whether the request, sent again by mistake after it was carried out, would be carried out again on
// its own outcome: its replacement holds what it looks for, or it replaces lines of a range by others that then stand
// there. A request that changes nothing does not.
func (r Request) AppliesTwice() bool {
	search, replace := strings.ReplaceAll(r.Search, "\r\n", "\n"), strings.ReplaceAll(r.Replace, "\r\n", "\n")
	if replace == search || replace == "" {
		return false
	}
	if search == "" {
		return r.Start != nil || r.End != nil
	}
	if strings.Contains(replace, search) {
		return true
	}
	// Tolerantly found, tolerantly found again.
	fresh := searchLines(replace)
	return len(wholeLines(window{start: 1, text: fresh}, searchLines(search), ladder())) > 0
}

// Repeated is the refusal of a request that [Request.AppliesTwice] and that the same agent sent just before, with
// nothing changed in between. h is where the first one landed.
func Repeated(path, when string, h Hunk) *Error {
	where := linesWord(h.NewStart, h.NewStart+h.NewLines-1)
	return &Error{Code: AlreadyApplied, Line: h.NewStart, Text: fmt.Sprintf("%s: already applied%s, %s. The same edit again would put its text in "+
		"twice. Nothing was changed. If that is what you want, send it once more.", path, at(when), where)}
}
