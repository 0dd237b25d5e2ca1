package docker_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/toold/toold/shell"
	"github.com/toold/toold/shell/docker"
	"github.com/toold/toold/shell/docker/dockertest"
	"github.com/toold/toold/shell/logs"
)

// finished makes a container that has run a script to its end.
func finished(t *testing.T, c dockertest.Container, script string) string {
	t.Helper()
	c.Cmd = []string{"sh", "-c", script}
	name := engine.Run(t, c)
	done, failed := engine.API.ContainerWait(t.Context(), name, container.WaitConditionNotRunning)
	select {
	case <-done:
	case err := <-failed:
		t.Fatal(err)
	}
	return name
}

// body gives the lines of a container's log without their times.
func body(t *testing.T, q logs.Query) (lines []string, tail logs.Tail) {
	t.Helper()
	r := &logs.Reader{Containers: open(t, "", docker.Limits{})}
	q.Source = logs.Docker
	tail, err := r.Read(t.Context(), q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	for _, line := range tail.Lines {
		stamp, text, ok := strings.Cut(line, " ")
		if !ok || !strings.HasPrefix(stamp, "20") || !strings.HasSuffix(stamp, "Z") {
			t.Errorf("%.60q has no time", line)
		}
		lines = append(lines, text)
	}
	return lines, tail
}

func TestContainerLogs(t *testing.T) {
	for _, tty := range []bool{false, true} {
		name := finished(t, dockertest.Container{Tty: tty}, `
			for i in $(seq 50); do echo line $i; done
			echo almost
			head -c 100000 /dev/zero | tr '\0' x; echo " long end"
			printf 'no end'`)
		lines, tail := body(t, logs.Query{Target: name, Lines: 3})
		if len(lines) != 3 || lines[0] != "almost" || !strings.HasPrefix(lines[1], "xxxx") || lines[2] != "no end" || tail.Counted {
			t.Errorf("tty %v: %.300q, %+v", tty, lines, tail.Total)
		}
		if strings.Contains(lines[1], "20") && !strings.Contains(lines[1], "has 1000") {
			t.Errorf("tty %v: the pieces of a long line were not joined: %.200q", tty, lines[1])
		}
		lines, tail = body(t, logs.Query{Target: name, Lines: 2000})
		if len(lines) != 53 || lines[0] != "line 1" || !tail.Counted || tail.Total != 53 {
			t.Errorf("tty %v: %d lines, first %q, %+v", tty, len(lines), lines[0], tail.Total)
		}
		lines, tail = body(t, logs.Query{Target: name, Lines: 2, Filter: `line \d$`})
		if strings.Join(lines, ",") != "line 8,line 9" || tail.Total != 9 || !tail.Counted {
			t.Errorf("tty %v: %q, %+v", tty, lines, tail.Total)
		}
		if lines, _ = body(t, logs.Query{Target: name, Filter: "long end"}); len(lines) != 1 {
			t.Errorf("tty %v: the end of a long line is not searched: %d lines", tty, len(lines))
		}
	}
}

func TestContainerLogsOfBothStreams(t *testing.T) {
	lines, tail := body(t, logs.Query{Target: finished(t, dockertest.Container{}, "echo out; echo err >&2")})
	slices.Sort(lines) // they come through two pipes
	if strings.Join(lines, ",") != "err,out" || tail.Total != 2 {
		t.Errorf("%q", lines)
	}
}

func TestContainerLogsThatAreNot(t *testing.T) {
	e := open(t, "", docker.Limits{})
	engine.Run(t, dockertest.Container{Name: "web-1"})
	mute := engine.Run(t, dockertest.Container{Change: func(_ *container.Config, h *container.HostConfig) { h.LogConfig.Type = "none" }})
	for target, want := range map[string][2]string{
		"web":              {shell.NoContainer, "web-1"},
		"t1; touch pwned":  {shell.InvalidArgument, "no container's name"},
		mute:               {shell.NotFound, "logging driver"},
		"../../etc/passwd": {shell.InvalidArgument, "no container's name"},
	} {
		_, err := (&logs.Reader{Containers: e}).Read(t.Context(), logs.Query{Source: logs.Docker, Target: target})
		if shell.Code(err) != want[0] || !strings.Contains(err.Error(), want[1]) {
			t.Errorf("%s: %v", target, err)
		}
	}
}

func TestTailFile(t *testing.T) {
	everywhere(t, func(t *testing.T, ex *docker.Executor, dir string) {
		if got, _, _ := run(t, ex, `seq 1000 > /tmp/server.log; mkfifo /tmp/fifo; echo secret > /tmp/shut; chmod 0 /tmp/shut; printf 'a\nb; c' > '/tmp/it'"'"'s; $(x)'`); got != "\nExit code: 0" {
			t.Fatal(got)
		}
		for _, c := range []struct {
			target, filter string
			want           string
		}{
			{"/tmp/server.log", "", "998,999,1000"},
			{"/tmp/server.log", "^9.$", "97,98,99"},
			{"/tmp/server.log", "$(touch /tmp/pwned)", ""},
			{"/tmp/it's; $(x)", "; c", "b; c"},
			{"/tmp/none.log", "", "not_found"},
			{"/tmp/fifo", "", "not_regular"},
			{"/tmp", "", "not_regular"},
			{"/tmp/shut", "", "permission"},
			{"relative", "", "invalid_argument"},
		} {
			tail, err := ex.TailFile(t.Context(), c.target, logs.Query{Lines: 3, Filter: c.filter})
			got := strings.Join(tail.Lines, ",") + shell.Code(err)
			if got != c.want || err == nil && !strings.HasPrefix(tail.Where, "Read in the container ") {
				t.Errorf("%s %s: got %q, want %q (%v)", c.target, c.filter, got, c.want, err)
			}
		}
	})
}

func TestTailOfABigFile(t *testing.T) {
	ex, dir := executor(t, guardPath, dockertest.Busybox)
	f, err := os.Create(filepath.Join(dir, "big"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("\nlast\n"), 1<<30); err != nil {
		t.Fatal(err)
	}
	f.Close()
	tail, err := ex.TailFile(t.Context(), "/workspace/big", logs.Query{Lines: 1, Limits: logs.Limits{Count: 1}})
	if err != nil || strings.Join(tail.Lines, ",") != "last" || tail.Counted {
		t.Errorf("%+v %v", tail, err)
	}
}
