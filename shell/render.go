package shell

import (
	"fmt"
	"strings"
)

// Render gives what an agent reads of a command, with at most limit bytes of output (0: [DefaultLimit]): stdout,
// then stderr when there is some, then the exit code. With an error the text begins with "Error: " and holds what was
// printed until then; err is the error of [Run].
func Render(res Result, err error, limit int64) string {
	if limit <= 0 {
		limit = DefaultLimit
	}
	body := combine(res, limit)
	if err == nil {
		return body + fmt.Sprintf("\nExit code: %d", res.Exit) + leftover(res)
	}
	text := "Error: " + sentence(err.Error())
	if res.Survivors {
		text += " Whether all of its processes have ended could not be confirmed."
	}
	if body != "" {
		text += "\nIt had printed until then:\n" + strings.TrimPrefix(body, "\n")
	}
	return text
}

// combine joins the streams. A quarter of the limit is enough for stderr, and either may use what the other leaves.
func combine(res Result, limit int64) string {
	errSize := min(res.Stderr.Size(), max(limit/4, limit-res.Stdout.Size()))
	text := strings.TrimSuffix(show(res.Stdout.Fit(limit-errSize), res.Spill), "\n")
	if !res.Stderr.Empty() {
		text += "\nSTDERR:\n" + show(res.Stderr.Fit(errSize), res.Spill)
	}
	return text
}

// show gives a stream's kept text with a line that says what was left out.
func show(o Output, spill Spilled) string {
	if o.Omitted == 0 {
		return o.Head
	}
	note := fmt.Sprintf("[… %d bytes left out here", o.Omitted)
	if o.Lines > 0 {
		note = fmt.Sprintf("[… %d lines, %d bytes left out here", o.Lines, o.Omitted)
	}
	return strings.TrimSuffix(o.Head, "\n") + "\n" + note + where(spill, o.Lines > 0) + "]\n" + o.Tail
}

// where says how to get at what was left out.
func where(s Spilled, lines bool) string {
	switch {
	case s.Name == "" && s.Err == nil:
		return "; print less, or redirect to a file"
	case s.Err != nil && s.Bytes == 0:
		return fmt.Sprintf("; the full output could not be stored: %v", s.Err)
	}
	text := fmt.Sprintf("; the full output is in %s (%d bytes", s.Name, s.Bytes)
	if s.Cut {
		text += ", cut there"
	}
	if s.Err != nil {
		text += fmt.Sprintf(", incomplete: %v", s.Err)
	}
	text += ")"
	if lines {
		return text + ", read a range of it with read_file"
	}
	return text + ", cut from it with run_shell and `cut -c`"
}

func leftover(res Result) string {
	switch res.Left {
	case 0:
		return ""
	case 1:
		return "\n[1 process that it started is still running]"
	default:
		return fmt.Sprintf("\n[%d processes that it started are still running]", res.Left)
	}
}

// sentence gives s with a full stop.
func sentence(s string) string {
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, ")") {
		return s
	}
	return s + "."
}
