// Package guard keeps a command and everything that it starts under control from inside its container. The daemon's
// own binary, copied there, runs as the guard: it is the reaper of all descendants of the command, so neither
// setsid nor an empty environment nor an ignored signal lets one escape, and it ends them all when its standard input,
// which the daemon holds, is closed.
//
// The daemon sends one line of JSON, a [Request], and then single control bytes. The guard answers on its standard
// output with [magic] and then frames: a kind, the length of the payload as four bytes, the payload. The command gets
// pipes of the guard, so it can neither forge a frame nor hold the connection open; and a connection that ends without
// an exit frame is known to be lost, whatever the engine says about an exit code.
package guard

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Arg is the first argument that makes a binary the guard; see [Main].
const Arg = "__guard"

// ArgSweep after [Arg] makes the guard kill every process that has the mark on its standard input in its environment.
const ArgSweep = "sweep"

// MarkVariable is the environment variable that holds a command's mark.
const MarkVariable = "TOOLD_EXEC"

// magic begins the guard's output. What comes instead of it was printed by the engine.
const magic = "toold-guard 1\n"

// maxFrame bounds a frame's payload.
const maxFrame = 64 << 10

// The control bytes.
const (
	ctlTerminate = 'T' // SIGTERM, then SIGKILL
	ctlKill      = 'K' // SIGKILL
	ctlDetach    = 'D' // the command has ended; what it left running may go on
	ctlBeat      = 'B' // the daemon and the engine between still live
)

// The kinds of frames.
const (
	frameStarted  = 's' // payload: started
	frameStdout   = '1'
	frameStderr   = '2'
	frameExit     = 'x' // payload: exit
	frameFailed   = 'e' // payload: failed
	frameDetached = 'd' // what was left running goes on; nothing follows
)

// Request says what the guard runs.
type Request struct {
	Script string        `json:"script,omitempty"`
	Argv   []string      `json:"argv,omitempty"`
	Dir    string        `json:"dir"`
	Env    []string      `json:"env,omitempty"`
	User   string        `json:"user,omitempty"`  // "user[:group]"
	Owner  string        `json:"owner,omitempty"` // run as the owner of this folder, when User is empty
	Limit  time.Duration `json:"limit,omitempty"`

	// Lease is how long the guard goes on without a sign of the daemon: an engine that dies does not close standard
	// input. 0 is for ever.
	Lease time.Duration `json:"lease,omitempty"`

	// Mark is put into the command's environment as [MarkVariable], so that [ArgSweep] finds what is left of a command
	// that has killed its guard.
	Mark string `json:"mark,omitempty"`
}

type started struct {
	PID int `json:"pid"`
}

type exit struct {
	Exit      int  `json:"exit"`
	Left      int  `json:"left,omitempty"`
	Killed    bool `json:"killed,omitempty"`
	Limit     bool `json:"limit,omitempty"` // the guard's own time limit ended it
	Survivors bool `json:"survivors,omitempty"`
}

type failed struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// codeUnprivileged is the failure of a guard that may not become the command's user.
const codeUnprivileged = "unprivileged"

func writeFrame(w io.Writer, kind byte, payload []byte) error {
	frame := make([]byte, 5, 5+len(payload))
	frame[0] = kind
	binary.BigEndian.PutUint32(frame[1:], uint32(len(payload)))
	_, err := w.Write(append(frame, payload...))
	return err
}

func writeJSON(w io.Writer, kind byte, v any) error {
	payload, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return writeFrame(w, kind, payload)
}

// readFrame reads one frame; the payload is valid until buf is used again.
func readFrame(r io.Reader, buf []byte) (kind byte, payload []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, fmt.Errorf("read guard frame: %d bytes are more than %d", n, maxFrame)
	}
	_, err = io.ReadFull(r, buf[:n])
	return head[0], buf[:n], err
}
