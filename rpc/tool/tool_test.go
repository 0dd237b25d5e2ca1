package tool

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type params struct {
	Path  string   `json:"path" required:"true" desc:"where"`
	Start *int     `json:"start_line" desc:"from" min:"1"`
	All   bool     `json:"all" desc:"everything" default:"false"`
	Kind  string   `json:"kind" desc:"which" enum:"a,b"`
	Names []string `json:"names" desc:"some"`
	Edits []item   `json:"edits" desc:"several"`
}

type item struct {
	Path string `json:"path" required:"true" desc:"where"`
}

func example() Tool[int] {
	return Define(Spec{Name: "example", Aliases: map[string]string{"file_path": "path"}, Description: "An example. More."},
		func(_ context.Context, _ int, p params) (Result, error) { return Result{Text: p.Path}, nil })
}

func TestBind(t *testing.T) {
	for name, c := range map[string]struct{ args, want, err string }{
		"plain":             {args: `{"path": "a"}`, want: "a"},
		"empty is given":    {args: `{"path": ""}`, want: ""},
		"alias":             {args: `{"file_path": "a"}`, want: "a"},
		"alias loses":       {args: `{"file_path": "a", "path": "b"}`, want: "b"},
		"alias in items":    {args: `{"path": "a", "edits": [{"file_path": "b"}]}`, want: "a"},
		"numeric string":    {args: `{"path": "a", "start_line": " 12 "}`, want: "a"},
		"whole float":       {args: `{"path": "a", "start_line": 12.0}`, want: "a"},
		"null is not given": {args: `{"path": "a", "start_line": null}`, want: "a"},
		"missing":           {args: `{}`, err: `the parameter "path" is missing`},
		"no arguments":      {args: ``, err: `the parameter "path" is missing`},
		"unknown":           {args: `{"path": "a", "start": 1}`, err: `did you mean "start_line"`},
		"case counts":       {args: `{"PATH": "a"}`, err: `there is no parameter "PATH"`},
		"twice":             {args: `{"path": "a", "path": "b"}`, err: "given twice"},
		"wrong type":        {args: `{"path": 1}`, err: `"path" takes a string, not 1`},
		"not whole":         {args: `{"path": "a", "start_line": 1.5}`, err: "takes an integer"},
		"too small":         {args: `{"path": "a", "start_line": 0}`, err: "the smallest value is 1"},
		"enum":              {args: `{"path": "a", "kind": "c"}`, err: "one of a, b"},
		"array":             {args: `[]`, err: "must be a JSON object"},
		"broken":            {args: `{"path": `, err: "not valid JSON"},
		"lone surrogate":    {args: `{"path": "\ud800"}`, err: "lone surrogate"},
		"pair":              {args: `{"path": "\ud83d\ude00"}`, want: "😀"},
		"escaped backslash": {args: `{"path": "\\ud800"}`, want: `\ud800`},
		"item":              {args: `{"path": "a", "edits": [{}]}`, err: `edits[0]: the parameter "path" is missing`},
		"strings":           {args: `{"path": "a", "names": ["x", 1]}`, err: `"names[1]" takes a string`},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := example().Bind(json.RawMessage(c.args))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			r, err := b.Run(t.Context(), 0)
			if err != nil || r.Text != c.want {
				t.Errorf("%q, %v; want %q", r.Text, err, c.want)
			}
		})
	}
}

func TestSchema(t *testing.T) {
	got, err := json.Marshal(example().Info().InputSchema)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"additionalProperties":false,"properties":{"all":{"description":"everything","type":"boolean"},` +
		`"edits":{"description":"several","items":{"additionalProperties":false,"properties":{"path":{"description":"where","type":"string"}},"required":["path"],"type":"object"},"type":"array"},` +
		`"kind":{"description":"which","enum":["a","b"],"type":"string"},"names":{"description":"some","items":{"type":"string"},"type":"array"},` +
		`"path":{"description":"where","type":"string"},"start_line":{"description":"from","minimum":1,"type":"integer"}},"required":["path"],"type":"object"}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

// anyArguments binds whatever comes: it answers or refuses, and never panics.
func anyArguments(t *rapid.T) {
	raw := rapid.OneOf(rapid.String(), rapid.Map(rapid.MapOf(rapid.SampledFrom([]string{"path", "start_line", "all", "kind", "names", "edits", "x"}), rapid.SampledFrom([]string{
		`"a"`, `1`, `"1"`, `null`, `true`, `[]`, `[{}]`, `["x"]`, `{}`, `1e400`, `-0`, `"\ud800"`,
	})), func(m map[string]string) string {
		var parts []string
		for k, v := range m {
			parts = append(parts, `"`+k+`": `+v)
		}
		return "{" + strings.Join(parts, ",") + "}"
	})).Draw(t, "arguments")
	b, err := example().Bind(json.RawMessage(raw))
	if err == nil && b.Args["path"] == nil {
		t.Fatalf("bound %q without its required parameter", raw)
	}
}

func TestAnyArguments(t *testing.T) { rapid.Check(t, anyArguments) }

func FuzzArguments(f *testing.F) { f.Fuzz(rapid.MakeFuzz(anyArguments)) }
