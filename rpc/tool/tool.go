// Package tool lets a tool be declared once: a struct of parameters with tags, a [Spec] and a function. Decoding,
// JSON Schema, command-line flags, documentation and TypeScript types all come from that declaration.
package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Tier says how far a tool reaches, in the words of the engines that use them.
type Tier string

// The tiers.
const (
	Standard Tier = "standard" // stays inside the workspace
	Elevated Tier = "elevated" // runs commands or reads logs: subject to approval
	Operator Tier = "operator" // follows explicit paths outside the workspace: subject to approval
)

// Effect says what a tool does to the world.
type Effect string

// The effects.
const (
	Reads    Effect = "reads"
	Writes   Effect = "writes"
	Executes Effect = "executes"
)

// Spec declares a tool's name and nature.
type Spec struct {
	Name        string
	Title       string
	Group       string
	Tier        Tier
	Effect      Effect
	Research    bool              // withdrawn in a write phase
	Idempotent  bool              // doing it twice changes nothing more
	Verbatim    bool              // its text is a content, which a command line prints byte for byte
	Aliases     map[string]string // other names of parameters, and the names that they stand for
	Description string            // what a model reads
}

// Result is what a tool answers. Text is for the model, Code and Meta are for programs.
type Result struct {
	Text    string         `json:"text"`
	IsError bool           `json:"isError"`
	Code    string         `json:"code,omitempty"`
	Meta    map[string]any `json:"meta,omitempty"`
}

// Error is a tool's failure: a code word for programs, a sentence for the model.
type Error struct {
	Code string
	Text string
}

// Error gives the sentence.
func (e *Error) Error() string { return e.Text }

// Failure makes the result of a failed or refused call.
func Failure(code, text string, meta map[string]any) Result {
	return Result{Text: "Error: " + text, IsError: true, Code: code, Meta: meta}
}

// Tool is a declared tool; E is the environment that its function works in.
type Tool[E any] struct {
	Spec   Spec
	Params []Param
	bind   func(args json.RawMessage) (Bound[E], error)
}

// Bound is a call whose arguments have been decoded: what approvals look at and what runs.
type Bound[E any] struct {
	Args   map[string]any // the arguments by their proper names
	Params any            // the struct of parameters
	Run    func(context.Context, E) (Result, error)
}

// Param is one parameter, as read from the struct's tags.
type Param struct {
	Name     string
	Type     string // string, integer, boolean, array or object
	Desc     string
	Required bool
	Default  string // as documentation shows it, or ""
	Min, Max *int
	Enum     []string
	Items    []Param // of an array of objects
	Strings  bool    // an array of strings
	field    int
}

// Define declares a tool. P is a struct whose exported fields carry the tags json (the name), desc, and optionally
// required:"true", default, min, max and enum:"a,b". It panics on a declaration that is wrong, which a test of the
// catalogue finds.
func Define[P, E any](s Spec, fn func(context.Context, E, P) (Result, error)) Tool[E] {
	params := paramsOf(reflect.TypeFor[P]())
	return Tool[E]{Spec: s, Params: params, bind: func(raw json.RawMessage) (Bound[E], error) {
		var p P
		args, err := decode(raw, params, s.Aliases, reflect.ValueOf(&p).Elem())
		if err != nil {
			return Bound[E]{}, err
		}
		return Bound[E]{Args: args, Params: p, Run: func(ctx context.Context, env E) (Result, error) { return fn(ctx, env, p) }}, nil
	}}
}

// Bind decodes the arguments of a call. The error is an *[Error] with code invalid_argument.
func (t Tool[E]) Bind(args json.RawMessage) (Bound[E], error) { return t.bind(args) }

// Registry is an ordered set of tools.
type Registry[E any] struct {
	tools  []Tool[E]
	byName map[string]int
}

// NewRegistry makes a registry of the tools in the order given.
func NewRegistry[E any](tools ...Tool[E]) *Registry[E] {
	r := &Registry[E]{tools: tools, byName: map[string]int{}}
	for i, t := range tools {
		if _, twice := r.byName[t.Spec.Name]; twice {
			panic("tool " + t.Spec.Name + " is declared twice")
		}
		r.byName[t.Spec.Name] = i
	}
	return r
}

// Get finds a tool by name.
func (r *Registry[E]) Get(name string) (Tool[E], bool) {
	i, ok := r.byName[name]
	if !ok {
		return Tool[E]{}, false
	}
	return r.tools[i], true
}

// All gives the tools in order.
func (r *Registry[E]) All() []Tool[E] { return r.tools }

// Info describes a tool to clients and generators; it has no function.
type Info struct {
	Name        string            `json:"name"`
	Title       string            `json:"title"`
	Group       string            `json:"group"`
	Tier        Tier              `json:"tier"`
	Effect      Effect            `json:"effect"`
	Description string            `json:"description"`
	InputSchema map[string]any    `json:"inputSchema"`
	Aliases     map[string]string `json:"aliases,omitempty"`
	Annotations map[string]any    `json:"annotations"`
	Verbatim    bool              `json:"-"`
	Params      []Param           `json:"-"`
}

// Info describes the tool.
func (t Tool[E]) Info() Info {
	s := t.Spec
	return Info{
		Name: s.Name, Title: s.Title, Group: s.Group, Tier: s.Tier, Effect: s.Effect, Description: s.Description,
		InputSchema: Schema(t.Params), Aliases: s.Aliases, Verbatim: s.Verbatim, Params: t.Params,
		Annotations: map[string]any{
			"title": s.Title, "readOnlyHint": s.Effect == Reads, "destructiveHint": s.Effect == Executes,
			"idempotentHint": s.Idempotent || s.Effect == Reads, "openWorldHint": s.Tier != Standard,
		},
	}
}

// Infos describes all tools in order.
func (r *Registry[E]) Infos() []Info {
	infos := make([]Info, len(r.tools))
	for i, t := range r.tools {
		infos[i] = t.Info()
	}
	return infos
}

// Nearest gives the word of the list that is closest to word, or "" when none is close.
func Nearest(word string, list []string) string {
	best, at := "", len(word)/2+2
	for _, w := range list {
		if strings.Contains(w, word) || strings.Contains(word, w) {
			return w
		}
		if d := edits(word, w); d < at {
			best, at = w, d
		}
	}
	return best
}

func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func names(params []Param) []string {
	out := make([]string, len(params))
	for i, p := range params {
		out[i] = p.Name
	}
	return out
}

func invalid(format string, args ...any) *Error {
	return &Error{Code: "invalid_argument", Text: fmt.Sprintf(format, args...)}
}

func find(params []Param, name string) (Param, bool) {
	i := slices.IndexFunc(params, func(p Param) bool { return p.Name == name })
	if i < 0 {
		return Param{}, false
	}
	return params[i], true
}
