package guards

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toold/toold/workspace"
)

func TestReferenceGuard(t *testing.T) {
	for _, tt := range []struct {
		name          string
		files         map[string]string
		path          string
		before, after string
		lost          string // "" means: let through
	}{
		{"by id", map[string]string{"app.js": "document.getElementById('menu')"}, "index.html", `<nav id="menu"></nav>`, `<nav></nav>`, "#menu (app.js line 1)"},
		{"by selector", map[string]string{"app.js": "\n\ndocument.querySelector('#menu')"}, "index.html", `<nav id=menu>`, `<nav>`, "#menu (app.js line 3)"},
		{"by all", map[string]string{"app.js": `x.querySelectorAll("#menu")`}, "index.htm", `<nav id='menu'>`, `<nav id='other'>`, "#menu (app.js line 1)"},
		{"still there", map[string]string{"app.js": "getElementById('a')"}, "p.html", `<p id=a>`, `<div id="a" class=x>`, ""},
		{"missing before", map[string]string{"app.js": "getElementById('a')"}, "p.html", `<p id=b>`, `<p>`, ""},
		{"nobody looks it up", map[string]string{"app.js": "getElementById('b')"}, "p.html", `<p id=a>`, `<p>`, ""},
		{"computed", map[string]string{"app.js": "getElementById('a' + i); getElementById(`a${i}`); getElementById(name); querySelector('#' + id)"}, "p.html", `<p id=a>`, `<p>`, ""},
		{"longer selectors", map[string]string{"app.js": "querySelector('#a .b'); querySelector('p#a'); querySelector('#a, #b'); querySelector('#a:hover'); querySelector('.a')"}, "p.html", `<p id=a>`, `<p>`, ""},
		{"in a comment of the script", map[string]string{"app.js": "// getElementById('a')\n/* querySelector('#a') */"}, "p.html", `<p id=a>`, `<p>`, ""},
		{"in a string of the script", map[string]string{"app.js": `log("getElementById('a')")`}, "p.html", `<p id=a>`, `<p>`, ""},
		{"in a template's expression", map[string]string{"app.js": "`x ${document.getElementById('a').value} y`"}, "p.html", `<p id=a>`, `<p>`, "#a (app.js line 1)"},
		{"template as a literal", map[string]string{"app.js": "getElementById(`a`)"}, "p.html", `<p id=a>`, `<p>`, "#a"},
		{"after a regular expression", map[string]string{"app.js": `s.replace(/['"]/g, ""); getElementById('a')`}, "p.html", `<p id=a>`, `<p>`, "#a"},
		{"after a division", map[string]string{"app.js": `w = (a) / 2; getElementById('a') / 2`}, "p.html", `<p id=a>`, `<p>`, "#a"},
		{"JSX text with an apostrophe", map[string]string{"app.jsx": "<p>Don't</p>\ndocument.getElementById('a')"}, "p.html", `<p id=a>`, `<p>`, "#a (app.jsx line 2)"},
		{"TypeScript", map[string]string{"app.ts": "document.querySelector<HTMLElement>('#a')!.focus(); document.getElementById?.('b')"}, "p.html", `<p id=a><p id=b>`, `<p>`, "2 element ids that scripts look up: #a (app.ts line 1), #b"},
		{"over several lines", map[string]string{"app.js": "document\n  .getElementById(\n    // the menu\n    'a',\n  )"}, "p.html", `<p id=a>`, `<p>`, "#a (app.js line 2)"},
		{"all kinds of scripts", map[string]string{"1.js": "getElementById('a')", "2.mjs": "getElementById('b')", "3.cjs": "getElementById('c')", "4.tsx": "getElementById('d')"}, "p.html", `<p id=a><p id=b><p id=c><p id=d>`, ``, "4 element ids"},
		{"scripts of other folders", map[string]string{"lib/app.js": "getElementById('a')", "app.txt": "getElementById('b')"}, "p.html", `<p id=a><p id=b>`, `<p>`, ""},
		{"named by the page", map[string]string{"lib/app.js": "getElementById('a')"}, "site/p.html", `<p id=a>`, `<script src="../lib/app.js?v=2"></script>`, "#a (lib/app.js line 1)"},
		{"named with blanks", map[string]string{"my lib/app.js": "getElementById('a')"}, "p.html", `<p id=a>`, `<script src="my%20lib/app.js"></script>`, "#a"},
		{"named, elsewhere", nil, "p.html", `<p id=a>`, `<script src="https://example.org/app.js"></script><script src="//x/y.js"></script><script src="/abs.js"></script><script src="../../out.js"></script><script src="gone.js"></script>`, ""},
		{"inline", nil, "p.html", `<p id=a>`, "<p>\n<script>\ndocument.getElementById('a')\n</script>", "#a (p.html line 3)"},
		{"inline, gone too", nil, "p.html", "<p id=a><script>getElementById('a')</script>", "<p>", ""},
		{"inline module", nil, "p.html", `<p id=a>`, "<script type=module>getElementById('a')</script>", "#a"},
		{"data in a script element", nil, "p.html", `<p id=a>`, `<script type="application/json">{"x": "getElementById('a')"}</script><script type="text/template">getElementById('a')</script>`, ""},
		{"event handler", nil, "p.html", `<p id=a>`, `<button onclick="document.getElementById('a').hidden = true">`, "#a"},
		{"declared in a comment only", map[string]string{"app.js": "getElementById('a')"}, "p.html", `<!-- <p id=a> -->`, `<p>`, ""},
		{"moved into a comment", map[string]string{"app.js": "getElementById('a')"}, "p.html", `<p id=a>`, `<!-- <p id=a> -->`, "#a"},
		{"moved into a script's text", map[string]string{"app.js": "getElementById('a')"}, "p.html", `<p id=a>`, `<script>s = "<p id=a>"</script>`, "#a"},
		{"entities", map[string]string{"app.js": "getElementById('a&b')"}, "p.html", `<p id="a&amp;b">`, `<p id="a">`, "#a&b"},
		{"case of letters", map[string]string{"app.js": "getElementById('Menu')"}, "P.HTML", `<P ID=Menu>`, `<p id=menu>`, "#Menu"},
		{"the first of two ids", map[string]string{"app.js": "getElementById('b')"}, "p.html", `<p id=a id=b>`, `<p>`, ""},
		{"no page", map[string]string{"app.js": "getElementById('a')"}, "p.xml", `<p id=a>`, `<p>`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDoor(t)
			for p, text := range tt.files {
				d.put(p, text)
			}
			d.put(tt.path, tt.before)
			err := d.write(tt.path, tt.after)
			if tt.lost == "" {
				d.passes(err)
				return
			}
			r := d.refused(err, "reference_guard", tt.lost, "edit_file")
			if !r.Again || r.Tag != "REF-GUARD" {
				t.Errorf("%+v", r)
			}
			d.passes(d.write(tt.path, tt.after))
		})
	}
}

func TestReferenceGuardOnEdits(t *testing.T) {
	d := newDoor(t)
	d.put("app.js", "getElementById('a'); getElementById('b')")
	d.put("p.html", "<p id=a></p>\n<p id=b></p>\n")
	r := d.refused(d.edit("p.html", "id=a", "class=a"), "reference_guard", "#a", "not edited", "edit_file for the same path")
	if diff := cmp.Diff([]Reference{{"a", "app.js", 1}}, r.Evidence.([]*Objection)[0].Facts); diff != "" {
		t.Error(diff)
	}
	d.passes(d.edit("p.html", "id=a", "class=a"))
	d.passes(d.edit("p.html", "<p class", "<p lang=en class"))
}

func TestReferenceGuardFailsClosed(t *testing.T) {
	d := newDoor(t)
	d.put("app.js", "getElementById('a')")
	d.put("p.html", "<p id=a>")
	change := func(after string, broken map[string]error) *workspace.Change {
		c := d.change(workspace.OpWrite, "p.html", after)
		c.FS = brokenFS{d.files, broken}
		return c
	}
	d.failed(d.apply(change("<p>", map[string]error{"app.js": fs.ErrPermission})), "app.js")
	d.failed(d.apply(change("<p>", map[string]error{".": errors.New("input/output error")})))
	d.passes(d.apply(change("<p id=a>x", map[string]error{"app.js": fs.ErrPermission}))) // nothing dropped: no script is read
	outside := &workspace.Error{Code: "outside_workspace", Text: "it leads out"}
	d.passes(d.apply(change("<p>", map[string]error{"app.js": outside}))) // a link that leads elsewhere is none of ours
}

func TestManyLostIDsAreCut(t *testing.T) {
	d := newDoor(t)
	var page, script strings.Builder
	for i := range 50 {
		fmt.Fprintf(&page, "<p id=id%02d>\n", i)
		fmt.Fprintf(&script, "getElementById('id%02d')\n", i)
	}
	d.put("p.html", page.String())
	d.put("app.js", script.String())
	r := d.refused(d.write("p.html", "<p>"), "shrink_guard", "50 element ids", "and more")
	if len(r.Text) > 3000 {
		t.Errorf("%d bytes", len(r.Text))
	}
	if n := len(r.Evidence.([]*Objection)[1].Facts.([]Reference)); n != 50 {
		t.Errorf("%d ids in the evidence", n)
	}
}

func TestReferenceProperties(t *testing.T) { rapid.Check(t, referenceProperties) }

func FuzzReference(f *testing.F) { f.Fuzz(rapid.MakeFuzz(referenceProperties)) }

// referenceProperties: whatever the page and the script are, nothing crashes; what is reported was declared before and
// is not now; a page that keeps its markup is never refused.
func referenceProperties(t *rapid.T) {
	part := rapid.OneOf(
		rapid.SampledFrom([]string{"<p id=a>", "<p id='b'>", "</p>", "<!--", "-->", "<script>", "</script>", "<script src=x.js>", "<svg><title id=a>", "<textarea>", "id=a", "\n", "<", "\x00", "<plaintext>"}),
		rapid.String(),
	)
	code := rapid.OneOf(
		rapid.SampledFrom([]string{"getElementById('a')", "querySelector('#b')", "querySelectorAll(`#a`)", "'", `"`, "`", "${", "}", "{", "//", "/*", "*/", "/", "\\", "\n", "(", ")", "<", "return "}),
		rapid.String(),
	)
	markup := func(name string) []byte { return []byte(strings.Join(rapid.SliceOf(part).Draw(t, name), "")) }
	before, after := parsePage(markup("before")), parsePage(markup("after"))
	script := []byte(strings.Join(rapid.SliceOf(code).Draw(t, "script"), ""))
	gone := map[string]bool{}
	for id := range before.ids {
		if !after.ids[id] {
			gone[id] = true
		}
	}
	for _, r := range find(script, "x.js", 1, gone) {
		if !before.ids[r.ID] || after.ids[r.ID] {
			t.Fatalf("%q is reported", r.ID)
		}
		if r.Line < 1 || r.Line > 1+strings.Count(string(script), "\n") {
			t.Fatalf("line %d", r.Line)
		}
	}
	if lost := find(script, "x.js", 1, map[string]bool{}); len(lost) > 0 {
		t.Fatalf("nothing gone, and %v reported", lost)
	}
}

// TestPlainLookupsAreFound: a look-up between statements is found whatever strings, comments and regular expressions
// stand before it.
func TestPlainLookupsAreFound(t *testing.T) {
	statements := []string{
		"let x = 'it\\'s';", `log("say \"hi\"")`, "// don't\n", "/* it's */", "x = /['\"`]/.test(y);", "x = a / b / c;", "t = `a ${b} 'c`;", "t = `x ${ `y ${z}` } it's`;",
		"if (x) /'/.test(x);\n", "const f = () => ({ a: '}' });", "a = [1] / 2;", "return /[/']/;", "x++ / 2;", "label: { }", "s = '//';", "s = '/*';",
	}
	rapid.Check(t, func(t *rapid.T) {
		before := strings.Join(rapid.SliceOf(rapid.SampledFrom(statements)).Draw(t, "statements"), "\n")
		script := []byte(before + "\ndocument.getElementById('wanted');\n")
		if len(find(script, "x.js", 1, map[string]bool{"wanted": true})) != 1 {
			t.Fatalf("not found in %s", script)
		}
	})
}

func BenchmarkReference10MB(b *testing.B) {
	page := big(func(i int) string { return fmt.Sprintf("<div class=row id=row%d><span>text</span></div>\n", i) })
	script := big(func(i int) string {
		return fmt.Sprintf("const e%d = document.getElementById('row%d'); // it's row %d\n", i, i, i)
	})
	b.Run("page", func(b *testing.B) {
		b.SetBytes(int64(len(page)))
		for b.Loop() {
			parsePage(page)
		}
	})
	b.Run("script", func(b *testing.B) {
		b.SetBytes(int64(len(script)))
		for b.Loop() {
			find(script, "x.js", 1, map[string]bool{"row1": true})
		}
	})
}
