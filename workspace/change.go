package workspace

import (
	"context"
	"io/fs"
)

// Path is a workspace path that has been normalised: slash-separated, clean, relative to the root, "." for the
// root itself. Only [Workspace.ParsePath] makes one from text that came from outside, so a path that skipped
// normalisation does not compile where a Path is wanted.
type Path string

// Op says which kind of change is being made. It decides which guards look at it.
type Op uint8

// The kinds of change.
const (
	OpWrite    Op = 1 << iota // write_file: the whole content is given
	OpEdit                    // edit_file, edit_files: a part of the content is replaced
	OpRevert                  // revert_file, run/revert: a snapshot is restored
	OpUndo                    // edits/undo: one journalled change is taken back by a person
	OpAppend                  // operator write with append
	OpOperator                // operator write
)

// String gives the word that the journal and the messages use.
func (o Op) String() string {
	switch o {
	case OpWrite:
		return "write"
	case OpEdit:
		return "edit"
	case OpRevert:
		return "revert"
	case OpUndo:
		return "undo"
	case OpAppend:
		return "append"
	case OpOperator:
		return "operator-write"
	}
	return "unknown"
}

// Actor is who makes a change. The zero Turn means a call outside of any turn.
type Actor struct {
	Agent  string // the agent's name, unique within the workspace
	Client string // the client program, for people to read
	Run    string // the run that the change belongs to
	Turn   string // the turn, or ""
	Conn   string // the connection's id
}

// Change is one change of one file as the door sees it: inside the file's lock, before anything is written. Checkers
// judge exactly these bytes. A checker may repair After and say so in Notes.
type Change struct {
	Op      Op
	Actor   Actor
	Path    Path        // as normalised; what messages name
	Real    Path        // after resolving symlinks; what is written
	Existed bool        // whether the file was there
	Unread  bool        // it was there but could not be read: Before is nil, and a judge that needs it fails closed
	Before  []byte      // its bytes, nil when it was not there
	Mode    fs.FileMode // its permission bits, or the ones that a new file gets
	After   []byte      // what is going to be written
	Delete  bool        // the file is going to be removed (revert of a created file); After is nil
	Call    string      // digest of the call's arguments; the same call again has the same digest
	Input   []byte      // the text the agent sent (write_file content, edit_file replacement), for judges of the input itself
	FS      fs.FS       // the workspace, for judges that need siblings; confined to the root
	Arrived int64       // when the call came in, as run.Asks.Arrive counts; it tells a second ask from one that raced the first
	With    []Path      // the real paths of all changes of the same call, this one's too; nil when it is alone
	Notes   []string    // sentences for the status, added by checkers and by the door
}

// Checker judges a change inside the file's lock. A *[Refusal] says no; any other error means that the judgement
// itself failed, and the change is refused with it.
type Checker interface {
	Check(ctx context.Context, c *Change) error
}

// Refusal is a deliberate no: nothing was written, and Text tells the reader what would have been lost and what to do
// instead.
type Refusal struct {
	Code     string // a stable word for programs, such as "shrink_guard"
	Tag      string // the log tag, such as "SHRINK-GUARD", or ""
	Text     string // what the agent reads, without the leading "Error: "
	Evidence any    // structured facts for an editor: lines or ids that would be lost
	EndsTurn bool   // the turn ends with this refusal
	Again    bool   // the same agent may ask again and will be let through
}

// Error gives the text that the agent reads.
func (r *Refusal) Error() string { return r.Text }
