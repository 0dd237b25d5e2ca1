package edit

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the generated part of docs/edit.md")

const (
	docsPath   = "../docs/edit.md"
	docsMarker = "<!-- From here on written by `go test ./edit -run TestDocs -update`. -->\n"
)

const (
	serverGo = "package server\n\nfunc (s *Server) Close() error {\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n\tif s.closed {\n\t\treturn nil\n\t}\n" +
		"\ts.closed = true\n\treturn s.listener.Close()\n}\n\nfunc (s *Server) Addr() string {\n\treturn s.listener.Addr().String()\n}\n"
	modelPy = "class Model:\n    def load(self, path):\n        data = read(path)\n        check(data)\n        self.data = data\n\n" +
		"    def save(self, path):\n        write(path, self.data)\n"
	deployYAML = "services:\n  web:\n    image: web:1\n    restart: always\n  db:\n    image: db:1\n    restart: always\n"
)

// refusals are edits that are not made. They are kinds that models really send.
func refusals() []example {
	ranged := func(start, end int, search, replace string) Request {
		return spot{search: search, replace: replace, start: start, end: end}.request()
	}
	search := func(search, replace string) Request { return Request{Search: search, Replace: replace} }
	then := func(r Request, change func(*Request)) Request { change(&r); return r }
	return []example{
		{"one token of a block is not as the file has it", "server.go", serverGo, search("\tif s.closed {\n\t\treturn ErrClosed\n\t}\n\ts.closed = true\n", "\ts.closed = true\n")},
		{"one letter is off", "server.go", serverGo, search("func (s *Server) Address() string {", "func (s *Server) Address() net.Addr {")},
		{"a line in the middle is left out", "model.py", modelPy, search("        data = read(path)\n        self.data = data\n", "        self.data = read(path)\n")},
		{"an ellipsis for the middle", "model.py", modelPy, search("    def load(self, path):\n        ...\n        self.data = data\n", "    def load(self, path):\n        self.data = read(path)\n")},
		{"the text goes on past the end of the file", "model.py", modelPy, search("    def save(self, path):\n        write(path, self.data)\n        self.saved = True\n", "")},
		{"two places match but for blanks", "deploy.yaml", deployYAML, search("\trestart: always", "\trestart: \"no\"")},
		{"a part of a line with other blanks", "server.go", serverGo, search("s.listener . Close()", "s.shut()")},
		{"accents composed in one and decomposed in the other", "menu.txt", "cafe\u0301: 3\ntea: 2\n", search("café: 3", "café: 4")},
		{"an invisible character", "menu.txt", "coffee\u200b: 3\ntea: 2\nwater: 0\n", search("coffee: 3", "coffee: 4")},
		{"letter case", "README", "Getting Started\n\nRun make.\nThen run make install.\n", search("Getting started", "Install")},
		{"the edit has been made before", "server.go", serverGo, search("\treturn s.addr\n", "\treturn s.listener.Addr().String()\n")},
		{"the text is outside the range", "deploy.yaml", deployYAML, ranged(5, 7, "image: web:1", "image: web:2")},
		{"the range cuts the text", "deploy.yaml", deployYAML, ranged(4, 7, "    image: web:1\n    restart: always\n", "    image: web:2\n")},
		{"somebody else has changed the text", "server.go", strings.ReplaceAll(serverGo, "s.closed", "s.done"), then(search("\ts.closed = true\n", "\ts.closed = now()\n"), func(r *Request) {
			r.History = func() []Version { return []Version{{Text: []byte(serverGo), By: "B", When: "14:02"}} }
		})},
		{"a second miss in a row", "model.py", modelPy, then(search("        verify(data)\n", "        verify(data, strict=True)\n"), func(r *Request) { r.Missed = true })},
		{"escaped newlines", "model.py", modelPy, search(`check(data)\n        self.data = data`, `check(data)`)},
		{"nothing like it", "deploy.yaml", deployYAML, search("volumes:", "volumes: {}")},
		{"only blanks", "deploy.yaml", deployYAML, search("\t\t", "    ")},
		{"a document for each of several hits", "deploy.yaml", deployYAML, search("restart: always", deployYAML)},
		{"a title replaced by the whole document", "README", "# Tool\n\nOld text.\n", search("# Tool", "# Tool\n\nNew text.\n\n## Use\n\nRun it.\n")},
		{"an empty search on a file that exists", "README", "# Tool\n\nOld text.\n", search("", "# Tool\n\nNew text.\n")},
		{"a range past the end", "deploy.yaml", deployYAML, ranged(12, 14, "", "  cache:\n    image: cache:1\n")},
		{"the lines were changed since they were read", "deploy.yaml", strings.Replace("# by hand\n"+deployYAML, "db:1", "db:2", 1), then(ranged(6, 6, "", "    image: db:3\n"), func(r *Request) {
			r.Seen = &Seen{Text: []byte(deployYAML), By: "B", When: "14:02"}
		})},
		{"text beyond ASCII into a Latin-1 file", "old.cfg", "name = caf\xe9\nflag = no\n", ranged(2, 2, "", "flag = “no”\n")},
		{"line numbers on a part of the replacement", "deploy.yaml", deployYAML, search("3|     image: web:1", "3|     image: web:2\n    tty: true")},
		{"a file in UTF-16", "win.txt", "\xff\xfea\x00\n\x00", search("a", "b")},
	}
}

// statuses are edits that are made.
func statuses() []example {
	ranged := func(start, end int, search, replace string) Request {
		return spot{search: search, replace: replace, start: start, end: end}.request()
	}
	search := func(search, replace string) Request { return Request{Search: search, Replace: replace} }
	then := func(r Request, change func(*Request)) Request { change(&r); return r }
	return []example{
		{"one place", "server.go", serverGo, search("return nil", "return ErrClosed")},
		{"more lines than before", "server.go", serverGo, search("\ts.closed = true\n", "\ts.closed = true\n\ts.log(\"closed\")\n")},
		{"lines taken away", "server.go", serverGo, search("\tif s.closed {\n\t\treturn nil\n\t}\n", "")},
		{"several places", "deploy.yaml", deployYAML, search("restart: always", "restart: \"no\"")},
		{"places inside of longer words", "server.go", serverGo, search("Add", "Append")},
		{"other indentation", "server.go", serverGo, search("    if s.closed {\n        return nil\n    }", "    if s.closed {\n        return ErrClosed\n    }")},
		{"other spacing and blanks at the end", "sum.go", "a   := 1\nb   := 2 \nc(a, b)\n", search("a := 1\nb := 2\n", "a := 1\nb := 3\n")},
		{"typographic quotes", "README", "Say ‘hi’.\nThen go.\n", search("Say 'hi'.", "Say 'ho'.")},
		{"line numbers in the call", "deploy.yaml", deployYAML, search("3|     image: web:1", "3|     image: web:2")},
		{"a range", "deploy.yaml", deployYAML, ranged(5, 7, "", "  cache:\n    image: cache:1\n")},
		{"a range past the end", "deploy.yaml", deployYAML, ranged(5, 99, "", "")},
		{"a range that others have moved", "deploy.yaml", "# by hand\n" + deployYAML, then(ranged(6, 6, "", "    image: db:3\n"), func(r *Request) {
			r.Seen = &Seen{Text: []byte(deployYAML), By: "B", When: "14:02"}
		})},
		{"the whole file", "README", "# Tool\n\nOld text.\n", ranged(1, 3, "", "# Tool\n\nNew text.\nAnd more.\n")},
		{"nothing to do", "server.go", serverGo, search("s.closed = true", "s.closed = true")},
		{"two lines joined", "README", "one\ntwo\nthree\n", search("two\n", "2 ")},
		{"a newline more than the search has", "README", "one\ntwo\n", search("one", "1\n")},
		{"an empty file", "README", "", search("", "# Tool\n")},
	}
}

type example struct {
	what, path, before string
	req                Request
}

func TestDocs(t *testing.T) {
	text, err := os.ReadFile(docsPath)
	if err != nil {
		t.Fatal(err)
	}
	head, got, found := strings.Cut(string(text), docsMarker)
	if !found {
		t.Fatalf("%s has no line %q", docsPath, docsMarker)
	}
	want := writeDocs(t)
	if *update {
		if err := os.WriteFile(docsPath, []byte(head+docsMarker+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got); go test ./edit -run TestDocs -update writes it:\n%s", docsPath, diff)
	}
}

func writeDocs(t *testing.T) string {
	t.Helper()
	var out, texts strings.Builder
	out.WriteString("\n## Refused\n\n| | what happened | code |\n|---|---|---|\n")
	for i, c := range refusals() {
		c.req.Path = c.path
		_, err := Apply([]byte(c.before), true, c.req)
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("%s: not refused", c.what)
		}
		fmt.Fprintf(&out, "| %d | %s | `%s` |\n", i+1, c.what, e.Code)
		fmt.Fprintf(&texts, "\n%d. %s (%s)\n\n```\nError: %s\n```\n", i+1, c.what, docsRequest(c.req), e.Text)
	}
	out.WriteString(texts.String())
	out.WriteString("\n## Made\n\n| what happened | match | status |\n|---|---|---|\n")
	for _, c := range statuses() {
		c.req.Path = c.path
		p, err := Apply([]byte(c.before), true, c.req)
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		fmt.Fprintf(&out, "| %s (%s) | `%s` | %s |\n", c.what, strings.ReplaceAll(docsRequest(c.req), "|", "\\|"), p.Match, p.Status)
	}
	return out.String()
}

func docsRequest(r Request) string {
	what := "empty search"
	if r.Search != "" {
		what = "search `` " + strings.ReplaceAll(clip(r.Search, 60), "\n", "⏎") + " ``"
	}
	if r.Start != nil {
		what += fmt.Sprintf(", lines %d-%d", *r.Start, *r.End)
	}
	return what
}
