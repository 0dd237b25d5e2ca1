package guards

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// page is what the reference guard knows of an HTML page.
type page struct {
	ids     map[string]bool
	inline  []script
	sources []string // of its script elements
}

// script is an inline script with the line that it begins on.
type script struct {
	text []byte
	line int
}

// parsePage reads the ids that a page declares and the scripts that it has. Comments, and the text of scripts and of
// other raw elements, declare nothing.
func parsePage(text []byte) page {
	p := page{ids: map[string]bool{}}
	z := html.NewTokenizer(bytes.NewReader(text))
	line, inScript := 1, false
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return p
		}
		raw := z.Raw()
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			next := line + bytes.Count(raw, []byte("\n"))
			inScript = p.element(z, line)
			line = next
			continue
		case html.TextToken:
			if inScript {
				p.inline = append(p.inline, script{bytes.Clone(raw), line})
			}
		}
		inScript = false
		line += bytes.Count(raw, []byte("\n"))
	}
}

// element reads a start tag, and tells whether the text of an inline script follows.
func (p *page) element(z *html.Tokenizer, line int) (inlineScript bool) {
	name, more := z.TagName()
	isScript := string(name) == "script"
	kind, src, hasSrc, hasID := "", "", false, false
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch k := string(key); {
		case k == "id" && !hasID:
			hasID = true
			if len(value) > 0 {
				p.ids[string(value)] = true
			}
		case k == "src" && !hasSrc:
			src, hasSrc = string(value), true
		case k == "type":
			kind = strings.ToLower(strings.TrimSpace(string(value)))
		case strings.HasPrefix(k, "on") && len(value) > 0:
			p.inline = append(p.inline, script{bytes.Clone(value), line})
		}
	}
	if !isScript || !runs(kind) {
		return false
	}
	if hasSrc {
		p.sources = append(p.sources, src)
	}
	return !hasSrc
}

// runs tells whether a script element of this type is run, rather than data.
func runs(kind string) bool {
	for _, mark := range []string{"javascript", "ecmascript", "module", "babel", "typescript", "jsx"} {
		if strings.Contains(kind, mark) {
			return true
		}
	}
	return kind == ""
}
