package guard

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/toold/toold/shell"
	"github.com/toold/toold/shell/logs"
)

// tail answers a [logs.Query] on standard input with a [Tail] on standard output: the log is read where it is.
func tail() int {
	var q logs.Query
	if err := json.NewDecoder(os.Stdin).Decode(&q); err != nil {
		return 1
	}
	answer := Tail{}
	f, err := os.OpenFile(q.Target, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO must not block
	if err == nil {
		defer f.Close()
		answer.Tail, err = logs.TailFile(context.Background(), f, q)
	}
	var se *shell.Error
	switch {
	case errors.As(err, &se):
		answer.Code, answer.Text = se.Code, se.Text
	case errors.Is(err, fs.ErrNotExist):
		answer.Code, answer.Text = shell.NotFound, "there is no file "+q.Target+" in the container"
	case errors.Is(err, fs.ErrPermission):
		answer.Code, answer.Text = shell.Permission, q.Target+" may not be read by the user that commands run as"
	case err != nil:
		answer.Code, answer.Text = shell.Internal, "cannot read "+q.Target+" in the container (try run_shell with tail): "+err.Error()
	}
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		return 1
	}
	return 0
}
