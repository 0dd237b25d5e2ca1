package shell

import (
	"context"
	"errors"
	"fmt"
)

// The codes of an [Error], stable words for programs.
const (
	NoContainer       = "no_container"       // there is no usable container, or it went away while the command ran
	EngineUnreachable = "engine_unreachable" // the container engine does not answer; nothing was run
	EngineLost        = "engine_lost"        // the engine went away while the command ran; how it ended is not known
	Timeout           = "timeout"            // the time limit passed; the command was killed
	Cancelled         = "cancelled"          // the caller gave up or went away; the command was killed
	InvalidArgument   = "invalid_argument"   // an argument cannot be used
	NotFound          = "not_found"          // the named thing does not exist
	Permission        = "permission"         // access is refused
	NotRegular        = "not_regular"        // the target is no regular file
	TooLarge          = "too_large"          // the answer would take too long or too much
	Internal          = "internal"           // something else failed
)

// Error is a failure that an agent can act on: Text says what happened and what to do next.
type Error struct {
	Code string // one of the codes above
	Text string // a sentence without the leading "Error: "
	Err  error  // the cause, or nil

	// Started says that the command had begun. Otherwise nothing was run.
	Started bool
}

// Error gives the text and its cause.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Text
	}
	return e.Text + ": " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an [Error] with a code, a cause that may be nil, and a text.
func Errorf(code string, cause error, format string, args ...any) *Error {
	return &Error{Code: code, Text: fmt.Sprintf(format, args...), Err: cause}
}

// Code gives the code of err: that of the first [Error] in its chain, else [Internal]; "" for nil.
func Code(err error) string {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Code
	default:
		return Internal
	}
}

// Ended is the error of a command that was killed because ctx ended.
func Ended(ctx context.Context) *Error {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return Errorf(Timeout, nil, "the time limit passed and the command was ended")
	}
	return Errorf(Cancelled, nil, "the call was cancelled and the command was ended")
}
