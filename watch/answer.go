package watch

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Answer is what a query found. Text says all of it to an agent; the other fields are for programs.
type Answer struct {
	Text          string
	Matches       []Match      // lines in the order of the text; empty when only files were asked for
	Files         []string     // the files that have the matches, or the files asked for; in path order
	Total         int          // matching lines, or files, when TotalKnown: those not in the answer too
	TotalFiles    int          // files with matching lines, when TotalKnown
	TotalKnown    bool         // counting all was cheap
	Cut           bool         // there are more than the answer has
	SearchedFiles int          // files whose content was looked at, or judged by an index
	Ignored       int          // ignored files and folders that were left out; a folder counts once
	IgnoredNames  []string     // the first of them; folders end with a slash
	Binary        int          // files left out because they are not text
	Unreadable    []Unreadable // files and folders that could not be read
	Rescanned     bool         // more had changed than the system could tell: everything was looked at for this answer
	Deadline      bool         // time ran out: what comes after the last file in path order was not searched
}

// Match is one matching line.
type Match struct {
	Path          string
	Line          int // 1-based
	Text          string
	Before, After []string // context lines, those that an earlier match shows already left out
}

// Unreadable is a file or folder that could not be read, and why.
type Unreadable struct {
	Path, Reason string
}

// maxText bounds an answer's text, in bytes.
const maxText = 8 << 20

// render writes the text of an answer.
func render(p *plan, a *Answer) {
	var b strings.Builder
	switch {
	case len(a.Matches) > 0:
		renderMatches(&b, a, p.Context > 0)
	case len(a.Files) > 0:
		for _, f := range a.Files {
			b.WriteString(showName(f) + "\n")
		}
	default:
		b.WriteString(nothing(p, a) + "\n")
	}
	for _, n := range notices(p, a) {
		b.WriteString("[" + n + "]\n")
	}
	a.Text = strings.TrimSuffix(b.String(), "\n")
}

func renderMatches(b *strings.Builder, a *Answer, context bool) {
	var last Match
	for i, m := range a.Matches {
		name := showName(m.Path)
		from := m.Line - len(m.Before)
		if context && i > 0 && (last.Path != m.Path || from > last.Line+len(last.After)+1) {
			b.WriteString("--\n")
		}
		for j, l := range m.Before {
			fmt.Fprintf(b, "%s-%d- %s\n", name, from+j, l)
		}
		fmt.Fprintf(b, "%s:%d: %s\n", name, m.Line, m.Text)
		for j, l := range m.After {
			fmt.Fprintf(b, "%s-%d- %s\n", name, m.Line+1+j, l)
		}
		last = m
	}
}

// nothing says why an answer is empty.
func nothing(p *plan, a *Answer) string {
	where := ""
	if p.Path != "." {
		where = " in " + showName(p.Path)
	}
	if p.Glob != "" {
		where += fmt.Sprintf(" (glob %q)", p.Glob)
	}
	if a.Deadline {
		return fmt.Sprintf("Nothing was found%s before the time ran out, after %s.", where, count(a.SearchedFiles, "file"))
	}
	if a.SearchedFiles == 0 && (p.Text == "" || a.Binary == 0 && len(a.Unreadable) == 0) {
		return "There is no file to search" + where + "." + globHint(p)
	}
	return fmt.Sprintf("No line matches %q%s; %s searched.", clip(valid([]byte(p.Text)), 200), where, count(a.SearchedFiles, "file")) + textHint(p)
}

func globHint(p *plan) string {
	switch {
	case p.Glob == "":
		return ""
	case strings.Contains(p.Glob, "/"):
		return " A glob with a / is matched against the whole path, from the root or from path; ** stands for any folders."
	}
	return " A glob without a / is matched against the file's name, in every folder; case counts."
}

// textHint helps when plain text looks like an expression.
func textHint(p *plan) string {
	if p.Regex {
		return ""
	}
	for _, s := range []string{"|", ".*", ".+", `\b`, `\d`, `\s`, `\w`, `\(`, `\.`, "^", "$", "["} {
		if strings.Contains(p.Text, s) {
			return " The query was taken as plain text; set regex to true to use it as a regular expression."
		}
	}
	return ""
}

// notices are the sentences after the findings: what was cut, and what was not looked into.
func notices(p *plan, a *Answer) []string {
	var out []string
	if a.Cut {
		out = append(out, cutNotice(p, a))
	}
	if a.Deadline {
		out = append(out, fmt.Sprintf("The search was stopped after %d seconds with %s searched: this is not everything. Narrow it with path or glob", int(deadline/time.Second), count(a.SearchedFiles, "file")))
	}
	if a.Rescanned {
		out = append(out, "So much had changed at once that all files were looked at again for this answer")
	}
	var left []string
	if a.Binary > 0 {
		left = append(left, count(a.Binary, "binary file"))
	}
	if a.Ignored > 0 {
		names := make([]string, len(a.IgnoredNames))
		for i, n := range a.IgnoredNames {
			names[i] = showName(n)
		}
		s := "ignored " + strings.Join(names, ", ")
		if more := a.Ignored - len(names); more > 0 {
			s += fmt.Sprintf(" and %s more", thousands(more))
		}
		left = append(left, s+" (include_ignored searches them)")
	}
	if len(left) > 0 {
		out = append(out, "Not searched: "+strings.Join(left, "; "))
	}
	if n := len(a.Unreadable); n > 0 {
		var names []string
		for _, u := range a.Unreadable[:min(n, 10)] {
			names = append(names, fmt.Sprintf("%s (%s)", showName(u.Path), u.Reason))
		}
		s := fmt.Sprintf("%s could not be read: %s", count(n, "entry"), strings.Join(names, ", "))
		if n > 10 {
			s += fmt.Sprintf(" and %s more", thousands(n-10))
		}
		out = append(out, s)
	}
	return out
}

func cutNotice(p *plan, a *Answer) string {
	narrow := "Narrow the search with path, glob or a longer query, or raise max_results"
	shown, what := len(a.Matches), "matches"
	if p.pattern == nil {
		shown, what = len(a.Files), "files"
		narrow = "Narrow it with path or glob, or raise max_results"
	}
	switch {
	case !a.TotalKnown:
		return fmt.Sprintf("The first %s %s are shown; there are more. %s", thousands(shown), what, narrow)
	case p.pattern == nil:
		return fmt.Sprintf("%s of %s files are shown. %s", thousands(shown), thousands(a.Total), narrow)
	}
	return fmt.Sprintf("%s of %s matches in %s are shown. %s", thousands(shown), thousands(a.Total), count(a.TotalFiles, "file"), narrow)
}

func count(n int, word string) string {
	switch {
	case n == 1:
		return "1 " + word
	case strings.HasSuffix(word, "y"):
		return thousands(n) + " " + strings.TrimSuffix(word, "y") + "ies"
	}
	return thousands(n) + " " + word + "s"
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// showName gives a path as it is, or as a quoted Go string when it has characters that could break a line or hide
// something.
func showName(s string) string {
	for _, r := range s {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return strconv.QuoteToASCII(s)
		}
	}
	return s
}
