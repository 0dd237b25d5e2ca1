package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// Error is a failure with a stable code word for programs and a sentence that tells the reader what to do next.
type Error struct {
	Code string
	Text string
	Err  error // the cause, or nil
}

// Error gives the sentence.
func (e *Error) Error() string { return e.Text }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

func errorf(code, format string, args ...any) *Error {
	e := fmt.Errorf(format, args...)
	return &Error{Code: code, Text: e.Error(), Err: errors.Unwrap(e)}
}

// pathError turns an error of the system about path into an Error with the code that fits. It is the one place where
// errno values become words, so that "too many open files" never reads as "not found".
func pathError(what string, p Path, err error) error {
	var known *Error
	var refusal *Refusal
	if errors.As(err, &known) || errors.As(err, &refusal) {
		return err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Error{Code: "not_found", Text: fmt.Sprintf("%s: %s does not exist", what, show(p)), Err: err}
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return &Error{Code: "disk_full", Text: fmt.Sprintf("%s %s: the disk is full; nothing was changed. Free some space, then try again", what, show(p)), Err: err}
	case errors.Is(err, syscall.EROFS):
		return &Error{Code: "permission", Text: fmt.Sprintf("%s %s: the file system is read-only; nothing was changed", what, show(p)), Err: err}
	case errors.Is(err, fs.ErrPermission):
		return &Error{Code: "permission", Text: fmt.Sprintf("%s %s: permission denied for the user that runs toold; nothing was changed", what, show(p)), Err: err}
	case errors.Is(err, syscall.ENOTDIR):
		return &Error{Code: "not_found", Text: fmt.Sprintf("%s %s: a parent of it is a file, not a folder", what, show(p)), Err: err}
	case errors.Is(err, syscall.EISDIR):
		return &Error{Code: "is_directory", Text: fmt.Sprintf("%s: %s is a folder; use list_files to see what is in it", what, show(p)), Err: err}
	case errors.Is(err, syscall.ENAMETOOLONG):
		return &Error{Code: "invalid_argument", Text: fmt.Sprintf("%s: the name is too long for the file system (255 bytes for each part); use a shorter one", what), Err: err}
	case errors.Is(err, syscall.ELOOP):
		return &Error{Code: "not_found", Text: fmt.Sprintf("%s %s: too many symbolic links (a loop)", what, show(p)), Err: err}
	}
	return &Error{Code: "internal", Text: fmt.Sprintf("%s %s: %v; nothing was changed", what, show(p), err), Err: err}
}
