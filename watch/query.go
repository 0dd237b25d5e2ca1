package watch

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/toold/toold/watch/glob"
)

// DefaultMax is how many matching lines or files an answer has when the query does not say.
const DefaultMax = 200

// Query is a question to a [Tree].
type Query struct {
	Text           string // what to find; "" asks for the files that the glob selects
	Path           string // folder or file below the root to search in, "" or "." for everything
	Glob           string // which files, as package glob reads it; "" for all
	Regex          bool   // Text is an RE2 expression, applied line by line
	IgnoreCase     bool   // upper and lower case are alike
	IncludeIgnored bool   // search what ignore files rule out, too
	Context        int    // lines to show before and after each match
	Max            int    // most matching lines, or files, to answer with; 0 for DefaultMax
}

// Error is a question that cannot be answered. Its text is for the one who asked.
type Error struct {
	Code string // a stable word: invalid_pattern, invalid_argument, not_found, outside_workspace, root_gone, permission
	Text string
}

// Error gives the sentence.
func (e *Error) Error() string { return e.Text }

func errorf(code, format string, args ...any) *Error {
	return &Error{code, fmt.Sprintf(format, args...)}
}

// plan is a query that has been checked.
type plan struct {
	Query
	glob    *glob.Glob
	pattern *pattern // nil when only files are asked for
}

func newPlan(q Query) (*plan, error) {
	switch {
	case q.Max < 0:
		return nil, errorf("invalid_argument", "max_results is %d; it takes a number above 0", q.Max)
	case q.Max == 0:
		q.Max = DefaultMax
	}
	if q.Context < 0 {
		return nil, errorf("invalid_argument", "context is %d; it takes a number of lines, 0 or more", q.Context)
	}
	p := &plan{Query: q}
	var err error
	if p.glob, err = glob.Parse(q.Glob); err != nil {
		var ge *glob.Error
		errors.As(err, &ge)
		return nil, errorf("invalid_pattern", "the glob pattern %q cannot be used: %s", strings.TrimSpace(ge.Pattern), ge.Reason)
	}
	if q.Text == "" {
		return p, nil
	}
	p.pattern, err = compile(q)
	return p, err
}

// pattern finds the lines of a text that match.
type pattern struct {
	literal []byte         // plain text in exact case and in one line: found as it stands
	re      *regexp.Regexp // everything else
	across  bool           // re may match across lines
	needles *needles       // what a match of re has, when re is applied line by line
}

func compile(q Query) (*pattern, error) {
	text := q.Text
	if !q.Regex {
		lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
		if len(lines) == 1 && !q.IgnoreCase {
			return &pattern{literal: []byte(text)}, nil
		}
		for i := range lines {
			lines[i] = regexp.QuoteMeta(lines[i])
		}
		text = strings.Join(lines, `\r?\n`)
		if q.IgnoreCase {
			text = "(?i)" + text
		}
		re, err := regexp.Compile(text)
		if err != nil {
			return nil, errorf("invalid_pattern", "the query cannot be used: %s", reason(err))
		}
		return &pattern{re: re, across: len(lines) > 1, needles: needlesIn(text)}, nil
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, explain(text, err)
	}
	if spansLines(parsed) {
		return nil, errorf("invalid_pattern", "the regular expression contains a line end, but it is applied line by line and would never match. Use a plain query (regex false) with a line break in it: that matches across lines")
	}
	if q.IgnoreCase {
		text = "(?i)" + text
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, explain(q.Text, err)
	}
	return &pattern{re: re, needles: needlesIn(text)}, nil
}

func needlesIn(expression string) *needles {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil
	}
	return needlesOf(re)
}

// spansLines says that an expression can match only text with a line end in it.
func spansLines(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return strings.ContainsRune(string(re.Rune), '\n')
	case syntax.OpCharClass:
		return len(re.Rune) == 2 && re.Rune[0] == '\n' && re.Rune[1] == '\n'
	case syntax.OpCapture, syntax.OpPlus:
		return spansLines(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min > 0 && spansLines(re.Sub[0])
	case syntax.OpConcat:
		for _, s := range re.Sub {
			if spansLines(s) {
				return true
			}
		}
	case syntax.OpAlternate:
		for _, s := range re.Sub {
			if !spansLines(s) {
				return false
			}
		}
		return true
	}
	return false
}

// explain says what is wrong with an expression, and where.
func explain(text string, err error) *Error {
	var se *syntax.Error
	if !errors.As(err, &se) {
		return errorf("invalid_pattern", "the regular expression cannot be used: %v", err)
	}
	where := ""
	if i := strings.Index(text, se.Expr); i >= 0 && se.Expr != "" {
		where = fmt.Sprintf(" at byte %d: %q", i+1, clip(se.Expr, 60))
	}
	what, hint := string(se.Code), `To find the text as it stands set regex to false; to quote a character put \ before it`
	switch rest := text[max(0, strings.Index(text, se.Expr)):]; {
	case lookAround(rest):
		what, hint = "look-around is not supported (the syntax is RE2)", "Search for the part that matters and filter the lines found, or search twice"
	case se.Code == syntax.ErrInvalidEscape && len(se.Expr) == 2 && se.Expr[1] >= '1' && se.Expr[1] <= '9':
		what, hint = "back-references are not supported (the syntax is RE2)", "Write out the alternatives instead"
	case strings.HasPrefix(rest, "(?>") || se.Code == syntax.ErrInvalidRepeatOp && strings.HasSuffix(se.Expr, "+"):
		what, hint = "atomic groups and possessive repetition are not supported (the syntax is RE2)", "The plain form finds the same lines here"
	}
	return errorf("invalid_pattern", "the regular expression %q cannot be used%s: %s. %s", clip(text, 200), where, what, hint)
}

func lookAround(s string) bool {
	for _, p := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// clip shortens a text for a message, at characters.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return string([]byte(s[:runeStart([]byte(s), limit)])) + "…"
}
