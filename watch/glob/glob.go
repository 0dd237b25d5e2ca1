// Package glob selects workspace paths by patterns as people write them: *.py in every folder, docs/**/*.md from the
// root, {a,b}, ! negation, several separated by commas. Case counts. Names that begin with a dot are names like others.
package glob

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Limits on a glob, so that a hostile one costs little.
const (
	maxBytes        = 4096
	maxAlternatives = 256
)

// A Glob selects paths. The zero Glob selects every path.
type Glob struct {
	include []pattern // a path needs one of these, unless there are none
	exclude []pattern // and none of these
}

// pattern is one of the patterns between commas.
type pattern struct {
	text   string // as doublestar takes it, without braces, relative to the root or the folder
	folder bool   // has a slash: matches the whole path. Else it matches the name, in every folder
	suffix string // for *suffix: what the name ends with; "" for other patterns
	exact  string // without special characters: the path or name itself, unescaped
}

// An Error is a glob that makes no sense. Offset is the byte where the offending pattern begins.
type Error struct {
	Pattern string
	Offset  int
	Reason  string
}

// Error names the pattern and what is wrong with it.
func (e *Error) Error() string { return fmt.Sprintf("glob %q: %s", e.Pattern, e.Reason) }

// Parse reads a glob. Its error is an *[Error].
func Parse(s string) (*Glob, error) {
	if len(s) > maxBytes {
		return nil, &Error{s[:60] + "…", 0, fmt.Sprintf("longer than %d bytes; select by path or by a shorter pattern", maxBytes)}
	}
	g := &Glob{}
	offset := 0
	for _, part := range split(s) {
		text, negated := strings.CutPrefix(strings.TrimSpace(part), "!")
		if text == "" {
			if negated {
				return nil, &Error{part, offset, "nothing stands after the !"}
			}
			offset += len(part) + 1
			continue
		}
		if reason := fault(text); reason != "" {
			return nil, &Error{part, offset, reason}
		}
		plain := expand(nil, text)
		if len(plain) > maxAlternatives {
			return nil, &Error{part, offset, fmt.Sprintf("the braces stand for more than %d patterns; write a wider pattern", maxAlternatives)}
		}
		for _, text := range plain {
			if negated {
				g.exclude = append(g.exclude, parse(text))
			} else {
				g.include = append(g.include, parse(text))
			}
		}
		offset += len(part) + 1
	}
	return g, nil
}

// split cuts at the commas outside of braces and brackets that no backslash protects.
func split(s string) []string {
	var parts []string
	start, braces := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			i = classEnd(s, i)
		case '{':
			braces++
		case '}':
			braces = max(0, braces-1)
		case ',':
			if braces == 0 {
				parts = append(parts, s[start:i])
				start = i + 1
			}
		}
	}
	return append(parts, s[start:])
}

// fault says what is wrong with a pattern, "" when nothing is.
func fault(p string) string {
	if doublestar.ValidatePattern(p) {
		return ""
	}
	braces := 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			if i++; i == len(p) {
				return `ends with a lone backslash; \\ is a backslash`
			}
		case '[':
			end := strings.IndexByte(p[i:], ']')
			if end < 0 {
				return fmt.Sprintf(`the [ at byte %d is not closed; write \[ for the character itself`, i+1)
			}
			i += end
		case '{':
			braces++
		case '}':
			if braces--; braces < 0 {
				return fmt.Sprintf(`the } at byte %d closes no {; write \} for the character itself`, i+1)
			}
		}
	}
	if braces > 0 {
		return `a { is not closed; write \{ for the character itself`
	}
	return "a [class] in it is malformed; write \\[ for the character itself"
}

func parse(text string) pattern {
	p := pattern{text: clean(text), folder: strings.Contains(text, "/")}
	text = p.text
	if !special(text) {
		p.exact = text
	} else if rest, ok := strings.CutPrefix(text, "*"); ok && rest != "" && !p.folder && !special(rest) {
		p.suffix = rest
	}
	return p
}

// clean drops what changes nothing: a leading slash or ./, doubled slashes. A trailing slash means everything below.
func clean(text string) string {
	var parts []string
	for _, s := range strings.Split(text, "/") {
		if s != "" && s != "." {
			parts = append(parts, s)
		}
	}
	if strings.HasSuffix(text, "/") || strings.HasSuffix(text, "/.") || len(parts) == 0 {
		parts = append(parts, "**")
	}
	return strings.Join(parts, "/")
}

func special(s string) bool { return strings.ContainsAny(s, `*?[]\`) }

// Empty says that every path is selected.
func (g *Glob) Empty() bool { return g == nil || len(g.include) == 0 && len(g.exclude) == 0 }

// ByName says that Match looks at a file's name only, so that its folder need not be known.
func (g *Glob) ByName() bool {
	return g.Empty() || !slices.ContainsFunc(g.include, wholePath) && !slices.ContainsFunc(g.exclude, wholePath)
}

func wholePath(p pattern) bool { return p.folder }

// Match says whether a file is selected by its workspace path. The folder is where the search begins, "" or "." for the
// root; a pattern with a slash may be meant from there or from the root.
func (g *Glob) Match(file, folder string) bool {
	if g.Empty() {
		return true
	}
	name := path.Base(file)
	below := ""
	if folder != "" && folder != "." {
		if rest, ok := strings.CutPrefix(file, folder+"/"); ok {
			below = rest
		}
	}
	if len(g.include) > 0 && !anyMatches(g.include, file, below, name) {
		return false
	}
	return !anyMatches(g.exclude, file, below, name)
}

func anyMatches(list []pattern, file, below, name string) bool {
	for i := range list {
		p := &list[i]
		if p.folder && (p.matches(file) || below != "" && p.matches(below)) || !p.folder && p.matches(name) {
			return true
		}
	}
	return false
}

func (p *pattern) matches(s string) bool {
	switch {
	case p.exact != "":
		return s == p.exact
	case p.suffix != "":
		return strings.HasSuffix(s, p.suffix)
	}
	return doublestar.MatchUnvalidated(p.text, s)
}

// Prefixes gives, for every pattern that selects, the folder or file that its part before the first special character
// names, from the root and from the folder where the search begins. A search looks there even when it is ignored.
func (g *Glob) Prefixes(folder string) []string {
	if g == nil {
		return nil
	}
	var out []string
	for _, p := range g.include {
		lit := p.exact
		if lit == "" {
			lit = p.text[:strings.IndexAny(p.text, `*?[]\`)]
			i := strings.LastIndexByte(lit, '/')
			if i < 0 {
				continue
			}
			lit = lit[:i]
		}
		out = append(out, lit)
		if folder != "" && folder != "." {
			out = append(out, folder+"/"+lit)
		}
	}
	return out
}
