package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toold/toold/rpc/catalog"
	"github.com/toold/toold/rpc/tool"
)

func callCommand(g *globals) *cobra.Command {
	call := &cobra.Command{
		Use:   "call TOOL [--param value]…",
		Short: "Call one tool in the current workspace",
		Long: "Call one tool and print its text. Every parameter is a flag; a value @FILE is read from a file, - from standard input.\n" +
			"All arguments at once: --json '{…}', --json @FILE or --json -.",
		Example: "  toold call search_files --query TODO --glob '*.go'\n  toold call read_file --path main.go --start-line 1 --end-line 20\n  toold call edit_file --path main.go --search foo --replace bar",
		Args:    cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("which tool? `toold tools` lists them")
			}
			names := []string{}
			for _, t := range catalog.New().All() {
				names = append(names, t.Spec.Name)
			}
			if near := tool.Nearest(args[0], names); near != "" {
				return fmt.Errorf("there is no tool %q; did you mean %q?", args[0], near)
			}
			return fmt.Errorf("there is no tool %q; `toold tools` lists them", args[0])
		},
	}
	for _, t := range catalog.New().Infos() {
		call.AddCommand(callTool(g, t))
	}
	return call
}

// callTool is the sub-command of one tool, made from its declaration.
func callTool(g *globals, t tool.Info) *cobra.Command {
	var all string
	c := &cobra.Command{Use: t.Name + " [flags]", Short: firstSentence(t.Description), Long: wrap(t.Description, 100), Args: cobra.NoArgs}
	values := map[string]*flagValue{}
	for _, p := range t.Params {
		v := &flagValue{param: p}
		values[p.Name] = v
		f := c.Flags().VarPF(v, p.Flag(), "", usage(p))
		if p.Type == "boolean" {
			f.NoOptDefVal = "true"
		}
	}
	for alias, name := range t.Aliases {
		if v, ok := values[name]; ok {
			f := c.Flags().VarPF(v, strings.ReplaceAll(alias, "_", "-"), "", "another name for --"+name)
			f.Hidden = true
		}
	}
	c.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-"))
	})
	c.Flags().StringVar(&all, "json", "", "all arguments as a JSON object, @FILE or - for standard input")
	c.RunE = func(c *cobra.Command, _ []string) error {
		args, err := arguments(c.InOrStdin(), all, values)
		if err != nil {
			return err
		}
		return invoke(g, c, t, args)
	}
	return c
}

func usage(p tool.Param) string {
	text := p.Desc
	if p.Required {
		text += " (required)"
	} else if p.Default != "" {
		text += " (default: " + p.Default + ")"
	}
	return strings.ReplaceAll(text, "`", "'")
}

// flagValue is the value of one parameter as it stands on the command line.
type flagValue struct {
	param tool.Param
	text  string
	set   bool
}

func (v *flagValue) String() string { return "" }

func (v *flagValue) Type() string {
	if v.param.Type == "array" {
		return "json"
	}
	return v.param.Type
}

func (v *flagValue) Set(s string) error {
	v.text, v.set = s, true
	return nil
}

// json gives the value as JSON. Integers stay text: the daemon says what is wrong with them.
func (v *flagValue) json(stdin io.Reader) (any, error) {
	text, err := content(stdin, v.text)
	if err != nil {
		return nil, err
	}
	switch v.param.Type {
	case "string":
		return text, nil
	case "integer":
		if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
			return n, nil
		}
		return text, nil
	case "boolean":
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("--%s takes true or false, not %q", v.param.Flag(), text)
		}
		return b, nil
	}
	if !json.Valid([]byte(text)) {
		return nil, fmt.Errorf("--%s takes JSON", v.param.Flag())
	}
	return json.RawMessage(text), nil
}

// content reads the value of a flag: @FILE is a file, - is standard input, @@ begins a text that starts with @.
func content(stdin io.Reader, text string) (string, error) {
	switch {
	case text == "-":
		b, err := io.ReadAll(stdin)
		return string(b), err
	case strings.HasPrefix(text, "@@"):
		return text[1:], nil
	case strings.HasPrefix(text, "@"):
		b, err := os.ReadFile(text[1:])
		if err != nil {
			return "", fmt.Errorf("cannot read the value from a file: %w (a text that begins with @ is written @@…)", err)
		}
		return string(b), nil
	}
	return text, nil
}

func arguments(stdin io.Reader, all string, values map[string]*flagValue) (json.RawMessage, error) {
	args := map[string]any{}
	if all != "" {
		text, err := content(stdin, all)
		if err != nil {
			return nil, err
		}
		set := false
		for _, v := range values {
			set = set || v.set
		}
		if !set {
			if !json.Valid([]byte(text)) {
				return nil, fmt.Errorf("--json is not valid JSON")
			}
			return json.RawMessage(text), nil
		}
		if err := json.Unmarshal([]byte(text), &args); err != nil {
			return nil, fmt.Errorf("--json: %w", err)
		}
	}
	for name, v := range values {
		if !v.set {
			continue
		}
		a, err := v.json(stdin)
		if err != nil {
			return nil, err
		}
		args[name] = a
	}
	return json.Marshal(args)
}

// invoke calls the tool and prints its text: on stdout when it worked, on stderr when it failed or refused.
func invoke(g *globals, c *cobra.Command, t tool.Info, args json.RawMessage) error {
	ctx, cancel := g.context(c)
	defer cancel()
	client, err := g.session(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	stop := showProgress(c.ErrOrStderr(), client)
	var raw json.RawMessage
	err = client.Call(ctx, "tools/call", map[string]any{"name": t.Name, "arguments": args, "_meta": map[string]any{"workDoneToken": "cli"}}, &raw)
	stop()
	if err != nil {
		return callError(err)
	}
	var r tool.Result
	if err := json.Unmarshal(raw, &r); err != nil {
		return fail(exitFailed, "the daemon's reply is not what this version expects: %w; run `toold restart`", err)
	}
	return printResult(g, c, t, r, raw)
}

// printResult prints a result. A content is printed byte for byte; any other text gets its line end.
func printResult(g *globals, c *cobra.Command, t tool.Info, r tool.Result, raw json.RawMessage) error {
	if g.output == "json" {
		if err := printJSON(c.OutOrStdout(), raw); err != nil {
			return err
		}
		return resultCode(r)
	}
	out := c.OutOrStdout()
	if r.IsError {
		out = c.ErrOrStderr()
	}
	fmt.Fprint(out, r.Text)
	if r.Text != "" && !strings.HasSuffix(r.Text, "\n") && (r.IsError || !t.Verbatim || isTerminal(out)) {
		fmt.Fprintln(out)
	}
	return resultCode(r)
}

func resultCode(r tool.Result) error {
	switch {
	case r.Code == "denied" || r.Code == "unanswered":
		return silent(exitDenied)
	case r.Code == "invalid_argument" && r.IsError:
		return silent(exitUsage)
	case r.IsError:
		return silent(exitFailed)
	}
	if code, ok := r.Meta["exit_code"].(float64); ok && code != 0 {
		return silent(exitFailed)
	}
	return nil
}

func firstSentence(s string) string {
	if i := strings.Index(s, ". "); i >= 0 {
		return s[:i+1]
	}
	return s
}

// wrap breaks a text into lines of at most width characters.
func wrap(s string, width int) string {
	var b strings.Builder
	line := 0
	for word := range strings.FieldsSeq(s) {
		if line > 0 && line+1+len(word) > width {
			b.WriteByte('\n')
			line = 0
		} else if line > 0 {
			b.WriteByte(' ')
			line++
		}
		b.WriteString(word)
		line += len(word)
	}
	return b.String()
}
