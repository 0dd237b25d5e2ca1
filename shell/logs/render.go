package logs

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/toold/toold/shell"
)

// headings of the sources.
var headings = map[string]string{Docker: "## Docker logs:", Systemd: "## Systemd logs:", File: "## File log:"}

// Render gives what an agent reads of a log: a heading that says how much is shown, and the lines in a fence that
// none of them can close.
func Render(q Query, t Tail) string {
	q = q.withDefaults()
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s (%s)\n", headings[q.Source], oneLine(q.Target), extent(q, t))
	for _, note := range notes(q, t) {
		b.WriteString(note + "\n")
	}
	if len(t.Lines) == 0 {
		return strings.TrimSuffix(b.String(), "\n")
	}
	body := strings.Join(t.Lines, "\n")
	fence := strings.Repeat("`", max(3, longestRun(body)+1))
	b.WriteString("\n" + fence + "\n" + body + "\n" + fence)
	return b.String()
}

// extent says how much of the log is shown.
func extent(q Query, t Tail) string {
	text := fmt.Sprintf("last %d lines", len(t.Lines))
	switch {
	case t.Counted:
		text = fmt.Sprintf("last %d of %d lines", len(t.Lines), t.Total)
	case q.Source == File || q.Filter != "":
		text += ", too many to count in time"
	}
	if q.Filter != "" {
		text += " that match " + oneLine(q.Filter)
	}
	return text
}

func notes(q Query, t Tail) []string {
	var notes []string
	if q.Filter != "" {
		if _, err := regexp.Compile(q.Filter); err != nil {
			notes = append(notes, fmt.Sprintf("The filter is no regular expression (%v), so lines that hold it as text are given.", err))
		}
	}
	switch {
	case t.Partial:
		notes = append(notes, "The time was up before the whole log was searched: older lines may match too. Search it with run_shell and grep.")
	case len(t.Lines) == 0 && q.Filter != "":
		notes = append(notes, "No line matches the filter.")
	case len(t.Lines) == 0:
		notes = append(notes, "The log is empty.")
	}
	if t.Full {
		notes = append(notes, fmt.Sprintf("More lines than these are longer than %d bytes together; use a filter, or run_shell with tail.", q.Limits.Bytes))
	}
	if t.Where != "" {
		notes = append(notes, t.Where)
	}
	return notes
}

// oneLine keeps text from breaking out of a heading.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r == 0x2028 || r == 0x2029 {
			return '?'
		}
		return r
	}, shell.Clean(strings.ReplaceAll(s, "\n", "?")))
}

// longestRun gives the length of the longest run of backticks.
func longestRun(s string) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return longest
}
