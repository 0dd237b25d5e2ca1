package shell_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toold/toold/shell"
)

// script is an executor that prints what it is told to.
type script func(ctx context.Context, cmd shell.Command, stdout, stderr io.Writer) (shell.Status, error)

func (s script) Exec(ctx context.Context, cmd shell.Command, stdout, stderr io.Writer) (shell.Status, error) {
	return s(ctx, cmd, stdout, stderr)
}

func prints(out, errs string, status shell.Status, err error) script {
	return func(_ context.Context, _ shell.Command, stdout, stderr io.Writer) (shell.Status, error) {
		io.WriteString(stdout, out)
		io.WriteString(stderr, errs)
		return status, err
	}
}

func TestRender(t *testing.T) {
	lost := &shell.Error{Code: shell.EngineLost, Text: "the engine is gone", Started: true}
	for _, c := range []struct {
		name string
		ex   script
		want string
	}{
		{"stdout alone", prints("hi\n", "", shell.Status{}, nil), "hi\nExit code: 0"},
		{"nothing", prints("", "", shell.Status{Exit: 1}, nil), "\nExit code: 1"},
		{"only the last break goes", prints("a\n\n", "", shell.Status{}, nil), "a\n\nExit code: 0"},
		{"both streams", prints("out\n", "err\n", shell.Status{Exit: 2}, nil), "out\nSTDERR:\nerr\n\nExit code: 2"},
		{"stderr alone", prints("", "err", shell.Status{Exit: 2}, nil), "\nSTDERR:\nerr\nExit code: 2"},
		{"only control sequences", prints("", "\x1b[0m", shell.Status{}, nil), "\nExit code: 0"},
		{"a child is left", prints("hi\n", "", shell.Status{Left: 1}, nil), "hi\nExit code: 0\n[1 process that it started is still running]"},
		{"children are left", prints("hi\n", "", shell.Status{Left: 3}, nil), "hi\nExit code: 0\n[3 processes that it started are still running]"},
		{"an error", prints("", "", shell.Status{}, lost), "Error: the engine is gone."},
		{"an error after output", prints("out\n", "err\n", shell.Status{Survivors: true}, lost), "Error: the engine is gone. Whether all of its processes have ended could not be confirmed.\nIt had printed until then:\nout\nSTDERR:\nerr\n"},
		{"an error after errors", prints("", "err\n", shell.Status{}, lost), "Error: the engine is gone.\nIt had printed until then:\nSTDERR:\nerr\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := shell.Run(t.Context(), c.ex, shell.Command{Script: "x"}, shell.Options{})
			if diff := cmp.Diff(c.want, shell.Render(res, err, 0)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

type spill struct {
	bytes.Buffer
	fail   error
	closed bool
}

func (s *spill) Write(p []byte) (int, error) {
	if s.fail != nil {
		return 0, s.fail
	}
	return s.Buffer.Write(p)
}

func (s *spill) Close() error { s.closed = true; return nil }

func TestSpill(t *testing.T) {
	long := strings.Repeat("0123456789\n", 1000)
	for _, c := range []struct {
		name  string
		out   string
		fail  error
		spill bool
		says  string
	}{
		{"short output is not stored", "short", nil, false, "short\nExit code: 0"},
		{"long output is", long, nil, true, "0123456789\n[… 990 lines, 10890 bytes left out here; the full output is in out.txt (11000 bytes), read a range of it with read_file]\n0123456789"},
		{"of one line", strings.Repeat("x", 5000), nil, true, "xx\n[… 4880 bytes left out here; the full output is in out.txt (5000 bytes), cut from it with run_shell and `cut -c`]\nxx"},
		{"a full disk", long, errors.New("no space"), true, "; the full output could not be stored: no space]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stored *spill
			opt := shell.Options{Limit: 120, Spill: func() (io.WriteCloser, string, error) {
				stored = &spill{fail: c.fail}
				return stored, "out.txt", nil
			}}
			res, err := shell.Run(t.Context(), prints(c.out, "", shell.Status{}, nil), shell.Command{}, opt)
			got := shell.Render(res, err, 120)
			if !strings.Contains(got, c.says) {
				t.Errorf("got %q", got)
			}
			if (stored != nil) != c.spill {
				t.Errorf("stored: %v", stored != nil)
			}
			if stored != nil && (!stored.closed || c.fail == nil && stored.String() != c.out) {
				t.Errorf("closed %v, stored %d bytes of %d", stored.closed, stored.Len(), len(c.out))
			}
		})
	}
}

func TestSpillKeepsTheOrder(t *testing.T) {
	stored := &spill{}
	ex := script(func(_ context.Context, _ shell.Command, stdout, stderr io.Writer) (shell.Status, error) {
		for i := range 20 {
			fmt.Fprintf(stdout, "\x1b[1mout %d\n", i)
			fmt.Fprintf(stderr, "err %d\r\n", i)
		}
		return shell.Status{}, nil
	})
	_, err := shell.Run(t.Context(), ex, shell.Command{}, shell.Options{Limit: 50, Spill: func() (io.WriteCloser, string, error) { return stored, "x", nil }})
	if err != nil || !strings.HasPrefix(stored.String(), "\x1b[1mout 0\nerr 0\r\n\x1b[1mout 1\n") || !strings.HasSuffix(stored.String(), "err 19\r\n") {
		t.Errorf("%v, %q", err, stored.String())
	}
}

// endless prints n bytes in lines.
func endless(n int) script {
	line := []byte(strings.Repeat("é", 49) + "\n")
	return func(_ context.Context, _ shell.Command, stdout, _ io.Writer) (shell.Status, error) {
		for left := n; left > 0; left -= len(line) {
			stdout.Write(line)
		}
		return shell.Status{}, nil
	}
}

func TestMemoryIsBounded(t *testing.T) {
	res := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := shell.Run(b.Context(), endless(8<<20), shell.Command{}, shell.Options{Limit: 64 << 10}); err != nil {
				b.Fatal(err)
			}
		}
	})
	if res.AllocedBytesPerOp() > 2<<20 {
		t.Errorf("%d bytes for 8 MiB of output", res.AllocedBytesPerOp())
	}
}

// outputHolds says that whatever was printed, the reply is bounded, whole text, and its head and tail are those of the output.
func outputHolds(t *rapid.T) {
	unit := rapid.SampledFrom([]string{"x", "é\n", "😀", "line\n", "\xff", "a≤b"}).Draw(t, "unit")
	out := strings.Repeat(unit, rapid.IntRange(0, 2000).Draw(t, "out"))
	errs := strings.Repeat(unit, rapid.IntRange(0, 2000).Draw(t, "errs"))
	limit := rapid.Int64Range(16, 4000).Draw(t, "limit")
	res, err := shell.Run(context.Background(), prints(out, errs, shell.Status{}, nil), shell.Command{}, shell.Options{Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	text := shell.Render(res, nil, limit)
	if !utf8.ValidString(text) || int64(len(text)) > limit+400 {
		t.Fatalf("%d bytes for a limit of %d: %q", len(text), limit, text)
	}
	for _, o := range []struct {
		kept shell.Output
		full string
	}{{res.Stdout, out}, {res.Stderr, errs}} {
		clean, fit := shell.Clean(o.full), o.kept.Fit(limit)
		if !strings.HasPrefix(clean, fit.Head) || fit.Omitted > 0 && !strings.HasSuffix(clean, fit.Tail) {
			t.Fatalf("%+v is not the head and the tail of %q", fit, clean)
		}
		if fit.Size()+fit.Omitted != int64(len(clean)) || o.kept.Bytes != int64(len(o.full)) {
			t.Fatalf("%d shown and %d omitted are not %d", fit.Size(), fit.Omitted, len(clean))
		}
		if fit.Lines+int64(strings.Count(fit.Head+fit.Tail, "\n")) != int64(strings.Count(clean, "\n")) {
			t.Fatalf("lines do not add up: %+v", fit)
		}
	}
}

func TestOutputHolds(t *testing.T) { rapid.Check(t, outputHolds) }

func FuzzOutput(f *testing.F) { f.Fuzz(rapid.MakeFuzz(outputHolds)) }

func TestTimeoutSaysWhatToDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := script(func(ctx context.Context, cmd shell.Command, stdout, _ io.Writer) (shell.Status, error) {
			time.Sleep(time.Hour) // making a container does not count
			cmd.Started(1)
			io.WriteString(stdout, "begun\n")
			<-ctx.Done()
			return shell.Status{}, shell.Ended(ctx)
		})
		res, err := shell.Run(t.Context(), wait, shell.Command{Script: "x"}, shell.Options{Timeout: 90 * time.Second})
		want := "Error: the time limit of 1m30s passed and the command was ended. Give a larger timeout (at most 3600), or background: true for a server.\n" +
			"It had printed until then:\nbegun"
		if diff := cmp.Diff(want, shell.Render(res, err, 0)); diff != "" || shell.Outcome(err) != shell.Timeout || res.Duration != time.Hour+90*time.Second {
			t.Error(diff, err, res.Duration)
		}
	})
}

func TestNoExecutor(t *testing.T) {
	_, err := shell.Run(t.Context(), shell.None{Root: "/home/me/x"}, shell.Command{Script: "id"}, shell.Options{})
	if shell.Code(err) != shell.NoContainer || !strings.Contains(err.Error(), "/home/me/x") {
		t.Error(err)
	}
	_, err = shell.Run(t.Context(), shell.None{}, shell.Command{Script: strings.Repeat("x", shell.MaxScript+1)}, shell.Options{})
	if shell.Code(err) != shell.InvalidArgument {
		t.Error(err)
	}
}

func TestRecord(t *testing.T) {
	out := strings.Repeat("x", shell.HeadSize-8) + " ghp_0123456789abcdefghijABCDEFGHIJ0123 é"
	res, err := shell.Run(t.Context(), prints(out, "err", shell.Status{Exit: 3}, nil), shell.Command{}, shell.Options{})
	var r shell.Record
	r.Finish(res, err)
	if r.Outcome != shell.OutcomeOK || r.Exit == nil || *r.Exit != 3 || r.Stdout != int64(len(out)) || r.StderrHead != "err" {
		t.Errorf("%+v", r)
	}
	if len(r.StdoutHead) > shell.HeadSize || strings.Contains(r.StdoutHead, "ghp") {
		t.Errorf("%d bytes, %q", len(r.StdoutHead), r.StdoutHead[shell.HeadSize-20:])
	}
	for code, want := range map[string]string{shell.Timeout: shell.Timeout, shell.Cancelled: shell.Cancelled, shell.EngineLost: shell.OutcomeError} {
		r := shell.Record{}
		if r.Finish(res, shell.Errorf(code, nil, "x")); r.Outcome != want || r.Exit != nil {
			t.Errorf("%s: %+v", code, r)
		}
	}
}
