package shell

import (
	"fmt"
	"strings"
)

// RenderJob gives what an agent reads of a job that [Jobs.Start] has started; tail is the end of its log, for a job
// that has ended already.
func RenderJob(j Job, tail string) string {
	if j.Running() {
		return fmt.Sprintf("Started in the background: job %s, pid %d, log %s\n"+
			"Read the log with read_logs (source \"file\", target %q).", j.ID, j.PID, j.Log, j.Log)
	}
	var b strings.Builder
	switch {
	case j.Exit != nil && *j.Exit == 0:
		fmt.Fprintf(&b, "The background command has ended already with exit code 0 (job %s, log %s).", j.ID, j.Log)
	case j.Exit != nil:
		fmt.Fprintf(&b, "Error: the background command ended at once with exit code %d (job %s, log %s).", *j.Exit, j.ID, j.Log)
	default:
		fmt.Fprintf(&b, "Error: the background command did not start: %s", sentence(j.Err.Error()))
	}
	if tail = strings.TrimRight(tail, "\n"); tail != "" {
		b.WriteString("\nIt had printed:\n" + tail)
	}
	return b.String()
}
