package edit

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"path"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/toold/toold/edit/lines"
	"go.yaml.in/yaml/v3"
)

// maxParsed is the largest text that is parsed for a note, in bytes: an edit does not wait seconds for one.
const maxParsed = 2 << 20

// ParseNote says that a file which parsed before does not parse now, and where: "parsed before, does not parse now:
// line 14: …". It gives "" for kinds of file it does not know, and when there is nothing to say. before is nil for a
// file that was not there.
func ParseNote(name string, before, after []byte) string {
	parse := parserFor(name)
	if parse == nil || max(len(before), len(after)) > maxParsed {
		return ""
	}
	err := parse(bytes.TrimPrefix(after, []byte(bom)))
	if err == nil {
		return ""
	}
	if before == nil {
		return "does not parse: " + err.Error()
	}
	if len(bytes.TrimSpace(before)) == 0 || parse(bytes.TrimPrefix(before, []byte(bom))) != nil {
		return ""
	}
	return "parsed before, does not parse now: " + err.Error()
}

// parserFor gives what checks a file of that name; its errors begin with "line n: " where the line is known.
func parserFor(name string) func([]byte) error {
	switch strings.ToLower(path.Ext(name)) {
	case ".go":
		return parseGo
	case ".json":
		return parseJSON
	case ".xml", ".svg", ".xsd", ".xsl", ".xslt", ".plist", ".csproj", ".vcxproj", ".resx", ".xaml", ".pom":
		return parseXML
	case ".yaml", ".yml":
		return parseYAML
	case ".toml":
		return parseTOML
	}
	return nil
}

func onLine(line int, what string) error { return fmt.Errorf("line %d: %s", line, what) }

func parseGo(b []byte) error {
	_, err := parser.ParseFile(token.NewFileSet(), "", b, parser.SkipObjectResolution)
	var list scanner.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		return onLine(list[0].Pos.Line, list[0].Msg)
	}
	return err
}

func parseJSON(b []byte) error {
	if json.Valid(b) {
		return nil
	}
	var v json.RawMessage
	err := json.Unmarshal(b, &v)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return onLine(lines.At(b, min(max(int(syntax.Offset)-1, 0), len(b))), syntax.Error())
	}
	return err
}

func parseXML(b []byte) error {
	d := xml.NewDecoder(bytes.NewReader(b))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var syntax *xml.SyntaxError
		if errors.As(err, &syntax) {
			return onLine(syntax.Line, syntax.Msg)
		}
		if err != nil {
			return err
		}
	}
}

func parseYAML(b []byte) error {
	d := yaml.NewDecoder(bytes.NewReader(b))
	for {
		var node yaml.Node
		err := d.Decode(&node)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return yamlError(strings.TrimPrefix(err.Error(), "yaml: "))
		}
	}
}

// yamlError puts the line right in an error of the YAML parser: what its grammar finds it counts from 0, and leaves
// line 0 out; what its scanner finds it counts from 1.
func yamlError(text string) error {
	line, what := 0, text
	if _, err := fmt.Sscanf(text, "line %d:", &line); err == nil {
		_, what, _ = strings.Cut(text, ": ")
	}
	switch what {
	case "did not find expected node content", "did not find expected '-' indicator", "did not find expected key",
		"did not find expected ',' or ']'", "did not find expected ',' or '}'", "did not find expected <document start>":
		line++
	}
	if line == 0 {
		return errors.New(text)
	}
	return onLine(line, what)
}

// parseTOML leaves out texts on which the parser's time grows out of hand: tables nested, or keys dotted, by the hundred.
func parseTOML(b []byte) error {
	if deepTOML(b) {
		return nil
	}
	var v map[string]any
	_, err := toml.Decode(string(b), &v)
	var parse toml.ParseError
	if errors.As(err, &parse) {
		return onLine(parse.Position.Line, parse.Message)
	}
	return err
}

func deepTOML(b []byte) bool {
	const maxDepth, maxDots = 200, 1000
	depth, dots := 0, 0
	for _, c := range b {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		case '.':
			dots++
		case '\n':
			dots = 0
		}
		if depth > maxDepth || dots > maxDots {
			return true
		}
	}
	return false
}
