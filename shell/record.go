package shell

import "time"

// HeadSize is how much of each stream a [Record] keeps, in bytes.
const HeadSize = 4 << 10

// The outcomes of a recorded command.
const (
	OutcomeRunning = "running" // it has not ended, or the daemon died while it ran
	OutcomeOK      = "ok"      // it ran to its end, whatever its exit code
	OutcomeDenied  = "denied"  // a person said no; nothing was run
	OutcomeError   = "error"   // it could not be started, or its end is not known
)

// Record is one row of the command log. It exists before the command starts and is completed after it, so that a
// crash leaves a row that says so.
type Record struct {
	ID         string        // unique everywhere
	Time       time.Time     // when it was asked for
	Run        string        // the run, or ""
	Turn       string        // the turn, or ""
	Agent      string        // who asked
	Client     string        // the client program
	Workspace  string        // the workspace's root
	Container  string        // the container's name, or ""
	Command    string        // with secrets of known shapes redacted
	Background bool          // started as a job
	Exit       *int          // the exit code; nil when there is none
	Duration   time.Duration // from the start to the end
	Stdout     int64         // bytes printed
	Stderr     int64         // bytes printed
	StdoutHead string        // at most HeadSize bytes, redacted
	StderrHead string        // at most HeadSize bytes, redacted
	Outcome    string        // an outcome above, Timeout or Cancelled
	Approval   string        // the approval's id, or ""
}

// Finish completes a record with the result of [Run] and its error.
func (r *Record) Finish(res Result, err error) {
	r.Duration = res.Duration
	r.Stdout, r.Stderr = res.Stdout.Bytes, res.Stderr.Bytes
	r.StdoutHead, r.StderrHead = head(res.Stdout.Head), head(res.Stderr.Head)
	r.Outcome = Outcome(err)
	if err == nil {
		exit := res.Exit
		r.Exit = &exit
	}
}

// Outcome gives the word for how a command ended.
func Outcome(err error) string {
	switch code := Code(err); code {
	case "":
		return OutcomeOK
	case Timeout, Cancelled:
		return code
	default:
		return OutcomeError
	}
}

// head redacts before it cuts: a secret that the cut would split is still recognised.
func head(s string) string {
	return cutAt(Redact(s), HeadSize)
}
