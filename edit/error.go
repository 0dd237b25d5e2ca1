package edit

import "fmt"

// Code is the stable word for why an edit is refused.
type Code string

// The reasons.
const (
	NoMatch              Code = "no_match"
	Ambiguous            Code = "ambiguous"
	OversizedReplacement Code = "oversized_replacement"
	DuplicatedDocument   Code = "duplicated_document"
	OutOfRange           Code = "out_of_range"
	NotUTF8              Code = "not_utf8"
	NotFound             Code = "not_found"
	InvalidArgument      Code = "invalid_argument"
	Stale                Code = "stale"
	AlreadyApplied       Code = "already_applied"
)

// Error is a refused edit: nothing changes, and Text says why and what to do.
type Error struct {
	Code Code
	Text string // what the agent reads, without a leading "Error: "
	Line int    // the line the text is about, 0 for none
}

// Error gives the text that the agent reads.
func (e *Error) Error() string { return e.Text }

func fail(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Text: fmt.Sprintf(format, args...)}
}
