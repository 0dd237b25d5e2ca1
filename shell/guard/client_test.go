package guard

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"

	"github.com/toold/toold/shell"
)

type sink struct{}

func (sink) Write(p []byte) (int, error) { return len(p), nil }
func (sink) Close() error                { return nil }

// driveHolds says that whatever comes instead of a guard's output, it is no success unless the guard has said so, and
// nothing but framed output is passed on.
func driveHolds(t *rapid.T) {
	var stream, want bytes.Buffer
	greeted := rapid.Bool().Draw(t, "greeted")
	if greeted {
		stream.WriteString(magic)
	}
	whole, finished := greeted, false
	for range rapid.IntRange(0, 6).Draw(t, "frames") {
		kind := rapid.SampledFrom([]byte{frameStdout, frameStderr, frameStarted, '?'}).Draw(t, "kind")
		text := rapid.SliceOf(rapid.Byte()).Draw(t, "text")
		if kind == frameStarted {
			text = []byte(`{"pid":7}`)
		}
		if whole && (kind == frameStdout || kind == frameStderr) {
			want.Write(text)
		}
		_ = writeFrame(&stream, kind, text)
	}
	switch rapid.IntRange(0, 2).Draw(t, "end") {
	case 0:
		_ = writeJSON(&stream, frameExit, exit{Exit: 3})
		finished = greeted
	case 1:
		stream.Write(rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(t, "rest")) // no whole header
	}
	var got bytes.Buffer
	status, err := Drive(context.Background(), sink{}, &stream, Request{}, nil, &got, &got)
	if finished != (err == nil) || finished && status.Exit != 3 {
		t.Fatalf("status %+v, error %v", status, err)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Fatalf("got %q, want %q", got.Bytes(), want.Bytes())
	}
	var lost *Lost
	var other *NotGuard
	if err != nil && !errors.As(err, &lost) && !errors.As(err, &other) {
		t.Fatalf("an error that nobody can explain: %v", err)
	}
	if lost != nil && lost.Started != greeted {
		t.Fatalf("greeted %v, but started %v", greeted, lost.Started)
	}
}

func TestDriveHolds(t *testing.T) { rapid.Check(t, driveHolds) }

func FuzzDrive(f *testing.F) { f.Fuzz(rapid.MakeFuzz(driveHolds)) }

func TestFailureOfAGuard(t *testing.T) {
	for code, want := range map[string]string{codeUnprivileged: "", shell.NotFound: shell.NotFound} {
		var stream bytes.Buffer
		io.WriteString(&stream, magic)
		_ = writeJSON(&stream, frameFailed, failed{Code: code, Text: "why"})
		_, err := Drive(t.Context(), sink{}, &stream, Request{}, nil, io.Discard, io.Discard)
		if want == "" && !errors.Is(err, ErrUnprivileged) || want != "" && shell.Code(err) != want {
			t.Errorf("%s: %v", code, err)
		}
	}
}
