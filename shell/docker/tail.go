package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/toold/toold/shell"
	"github.com/toold/toold/shell/guard"
	"github.com/toold/toold/shell/logs"
)

var _ logs.Container = (*Executor)(nil)

// searched is how much of a file's end is looked at for a filter where the guard does not run.
const searched = 16 << 20

// TailFile reads the end of a file in the container, there.
func (x *Executor) TailFile(ctx context.Context, file string, q logs.Query) (logs.Tail, error) {
	if !path.IsAbs(file) {
		return logs.Tail{}, shell.Errorf(shell.InvalidArgument, nil, "%s is no absolute path of the container", file)
	}
	q.Target = file
	c, err := x.find(ctx)
	if err != nil {
		return logs.Tail{}, err
	}
	w, err := x.way(ctx, c)
	if err != nil {
		return logs.Tail{}, x.explain(ctx, c, err)
	}
	var t logs.Tail
	if w == asShell {
		t, err = x.tailByShell(ctx, q)
	} else {
		t, err = x.tailByGuard(ctx, c, q)
	}
	if err == nil {
		t.Where = "Read in the container " + c.name + "."
	}
	return t, err
}

func (x *Executor) tailByGuard(ctx context.Context, c usable, q logs.Query) (logs.Tail, error) {
	conn, err := x.engine.attach(ctx, c.id, container.ExecOptions{
		User: x.user(guard.Request{User: x.cfg.User}), WorkingDir: "/", Cmd: []string{x.engine.guard.name, guard.Arg, guard.ArgTail},
		AttachStdin: true, AttachStdout: true, AttachStderr: true,
	})
	if err != nil {
		return logs.Tail{}, x.explain(ctx, c, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	var answer guard.Tail
	err = json.NewEncoder(conn).Encode(q)
	if err == nil {
		err = json.NewDecoder(io.LimitReader(conn, 64<<20)).Decode(&answer)
	}
	switch {
	case err != nil:
		return logs.Tail{}, x.explain(ctx, c, fmt.Errorf("read %s in the container: %w", q.Target, err))
	case answer.Code != "":
		return logs.Tail{}, shell.Errorf(answer.Code, nil, "%s", answer.Text)
	}
	return answer.Tail, nil
}

// tailByShell reads the end of a file with the container's own tools.
func (x *Executor) tailByShell(ctx context.Context, q logs.Query) (logs.Tail, error) {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	if err := x.regular(ctx, q.Target); err != nil {
		return logs.Tail{}, err
	}
	argv := []string{"tail", "-n", strconv.Itoa(q.Lines), "--", q.Target}
	if q.Filter != "" {
		argv = []string{"tail", "-c", strconv.Itoa(searched), "--", q.Target}
	}
	var said strings.Builder
	s := logs.NewStream(q)
	status, err := x.Exec(ctx, shell.Command{Argv: argv}, s, &said)
	switch {
	case err != nil:
		return logs.Tail{}, err
	case status.Exit != 0:
		return logs.Tail{}, shell.Errorf(shell.Internal, errors.New(shell.Clean(strings.TrimSpace(said.String()))), "cannot read %s in the container (try run_shell with tail)", q.Target)
	}
	return s.Tail(), nil
}

// regular refuses what is no regular file.
func (x *Executor) regular(ctx context.Context, file string) error {
	for _, test := range []struct{ flag, code, text string }{
		{"-e", shell.NotFound, "there is no file %s in the container"},
		{"-f", shell.NotRegular, "%s is no regular file, so it has no lines to read"},
		{"-r", shell.Permission, "%s may not be read by the user that commands run as"},
	} {
		status, err := x.Exec(ctx, shell.Command{Argv: []string{"test", test.flag, file}}, io.Discard, io.Discard)
		if err != nil {
			return err
		}
		if status.Exit != 0 {
			return shell.Errorf(test.code, nil, test.text, file)
		}
	}
	return nil
}
