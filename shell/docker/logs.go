package docker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/docker/docker/api/types/container"

	"github.com/toold/toold/shell"
	"github.com/toold/toold/shell/logs"
)

var _ logs.Containers = (*Engine)(nil)

// pieceSize is the most that the engine stores of a line in one piece.
const pieceSize = 16 << 10

// longest is how much is kept of one line.
const longest = 1 << 20

// errEnough ends the reading of a log.
var errEnough = errors.New("enough")

// Logs hands over the lines of a container's log, with their times, of both streams, oldest first. Lines that the engine
// has stored in pieces come whole.
func (e *Engine) Logs(ctx context.Context, name string, pieces int, take func(line []byte) bool) (int, error) {
	found, err := e.inspect(ctx, name)
	if err != nil {
		return 0, e.unread(ctx, name, err)
	}
	opts := container.LogsOptions{ShowStdout: true, ShowStderr: true, Timestamps: true, Tail: "all"}
	if pieces > 0 {
		opts.Tail = strconv.Itoa(pieces)
	}
	reading, stop := context.WithTimeout(ctx, slow) // take's own limit comes first, unless the engine hangs
	defer stop()
	body, err := e.api.ContainerLogs(reading, found.ID, opts)
	if err != nil {
		return 0, e.unread(ctx, name, err)
	}
	defer body.Close()
	j := &joiner{take: take}
	if found.Config != nil && found.Config.Tty {
		err = j.raw(body)
	} else {
		err = j.framed(body)
	}
	if err == nil || errors.Is(err, errEnough) {
		return j.pieces, nil
	}
	return j.pieces, e.unread(ctx, name, err)
}

// unread explains why a log cannot be read.
func (e *Engine) unread(ctx context.Context, name string, err error) error {
	if strings.Contains(err.Error(), "does not support reading") {
		return shell.Errorf(shell.NotFound, nil, "the logging driver of the container %q does not keep logs that can be read; look for its own log files (source \"file\")", name)
	}
	explained := e.failed(ctx, name, err)
	var se *shell.Error
	if errors.As(explained, &se) && se.Code == shell.Internal {
		return shell.Errorf(shell.Internal, err, "the logs of the container %q cannot be read", name)
	}
	return explained
}

// joiner puts the pieces of lines together. Every piece begins with its time; the line keeps that of the first.
type joiner struct {
	take   func(line []byte) bool
	pieces int
	open   [2][]byte // the lines of both streams that have no end yet
}

// piece takes what the engine stored at once.
func (j *joiner) piece(stream int, p []byte) error {
	j.pieces++
	line := j.open[stream]
	if line != nil {
		_, p, _ = bytes.Cut(p, []byte{' '})
	}
	if room := longest - len(line); room > 0 {
		line = append(line, p[:min(len(p), room)]...)
	}
	if !bytes.HasSuffix(p, []byte{'\n'}) {
		j.open[stream] = line
		return nil
	}
	j.open[stream] = nil
	return j.line(line)
}

func (j *joiner) line(line []byte) error {
	if !j.take(bytes.TrimRight(line, "\r\n")) {
		return errEnough
	}
	return nil
}

// framed reads a log in which every piece has a header with its stream and length.
func (j *joiner) framed(r io.Reader) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var buf []byte
	for {
		var h [8]byte
		if _, err := io.ReadFull(in, h[:]); err != nil {
			return j.close(err)
		}
		n := binary.BigEndian.Uint32(h[4:])
		if n > longest+128 {
			return fmt.Errorf("read the engine's log stream: a piece has %d bytes", n)
		}
		buf = append(buf[:0], make([]byte, n)...)
		if _, err := io.ReadFull(in, buf); err != nil {
			return j.close(err)
		}
		stream := 0
		if h[0] == 2 {
			stream = 1
		}
		if err := j.piece(stream, buf); err != nil {
			return err
		}
	}
}

// raw reads the log of a container with a terminal, which has no headers: a piece ends with a line break or when it
// is as long as one can be.
func (j *joiner) raw(r io.Reader) error {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		stamp, err := in.ReadSlice(' ')
		if err != nil {
			return j.close(err)
		}
		piece := bytes.Clone(stamp)
		for n := 0; n < pieceSize && err == nil; n++ {
			var b byte
			if b, err = in.ReadByte(); err == nil {
				piece = append(piece, b)
			}
			if b == '\n' {
				break
			}
		}
		if enough := j.piece(0, piece); enough != nil {
			return enough
		}
		if err != nil {
			return j.close(err)
		}
	}
}

// close hands over lines without an end.
func (j *joiner) close(err error) error {
	for _, line := range j.open {
		if line != nil {
			if err := j.line(line); err != nil {
				return err
			}
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
