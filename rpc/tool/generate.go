package tool

import (
	"fmt"
	"sort"
	"strings"
)

// Schema gives the JSON Schema (2020-12) of a tool's arguments.
func Schema(params []Param) map[string]any {
	props := map[string]any{}
	required := []string{}
	for _, p := range params {
		props[p.Name] = p.schema()
		if p.Required {
			required = append(required, p.Name)
		}
	}
	s := map[string]any{"type": "object", "properties": props, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

func (p Param) schema() map[string]any {
	s := map[string]any{"type": p.Type, "description": p.Desc}
	if p.Min != nil {
		s["minimum"] = *p.Min
	}
	if p.Max != nil {
		s["maximum"] = *p.Max
	}
	if len(p.Enum) > 0 {
		s["enum"] = p.Enum
	}
	if p.Type == "array" {
		s["items"] = map[string]any{"type": "string"}
		if !p.Strings {
			s["items"] = Schema(p.Items)
		}
	}
	return s
}

// Flag gives the name of a parameter's command-line flag.
func (p Param) Flag() string { return strings.ReplaceAll(p.Name, "_", "-") }

// Markdown writes the reference page of the tools.
func Markdown(tools []Info) string {
	var b strings.Builder
	b.WriteString("# Tools\n\nGenerated from the declarations in `rpc/catalog` by `toold tools --markdown`; do not edit.\n\n")
	b.WriteString("| tool | group | tier | effect |\n|---|---|---|---|\n")
	for _, t := range tools {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s | %s |\n", t.Name, t.Name, t.Group, t.Tier, t.Effect)
	}
	for _, t := range tools {
		fmt.Fprintf(&b, "\n## %s\n\n`%s`\n\n%s\n\n", t.Name, Signature(t), t.Description)
		if len(t.Params) > 0 {
			b.WriteString("| parameter | type | required | default | meaning |\n|---|---|---|---|---|\n")
			markdownRows(&b, "", t.Params)
		}
		if len(t.Aliases) > 0 {
			fmt.Fprintf(&b, "\nOther names: %s.\n", aliasText(t.Aliases))
		}
	}
	return b.String()
}

func markdownRows(b *strings.Builder, prefix string, params []Param) {
	for _, p := range params {
		req := "no"
		if p.Required {
			req = "yes"
		}
		fmt.Fprintf(b, "| `%s%s` | %s | %s | %s | %s |\n", prefix, p.Name, p.Type, req, orDash(p.Default), strings.ReplaceAll(p.Desc, "|", "\\|"))
		markdownRows(b, prefix+p.Name+"[].", p.Items)
	}
}

func orDash(s string) string {
	if s == "" {
		return "—"
	}
	return s
}

func aliasText(aliases map[string]string) string {
	var parts []string
	for alias, name := range aliases {
		parts = append(parts, fmt.Sprintf("`%s` for `%s`", alias, name))
	}
	sort.Strings(parts)
	return strings.Join(parts, ", ")
}

// Signature gives a tool's call form, with a question mark behind each optional parameter.
func Signature(t Info) string {
	var parts []string
	for _, p := range t.Params {
		if p.Required {
			parts = append(parts, p.Name)
		} else {
			parts = append(parts, p.Name+"?")
		}
	}
	return t.Name + "(" + strings.Join(parts, ", ") + ")"
}

// TypeScript writes the types of the tools' arguments for the editor extension.
func TypeScript(tools []Info) string {
	var b strings.Builder
	b.WriteString("// Generated from the declarations in rpc/catalog by `toold tools --typescript`; do not edit.\n\n")
	for _, t := range tools {
		fmt.Fprintf(&b, "/** %s */\nexport interface %s {\n", firstSentence(t.Description), tsName(t.Name))
		tsFields(&b, "  ", t.Params)
		b.WriteString("}\n\n")
	}
	b.WriteString("/** The arguments of each tool, by its name. */\nexport interface ToolArguments {\n")
	for _, t := range tools {
		fmt.Fprintf(&b, "  %s: %s;\n", t.Name, tsName(t.Name))
	}
	b.WriteString("}\n\n/** The names of the tools. */\nexport type ToolName = keyof ToolArguments;\n\n")
	b.WriteString("/** What every tool answers. */\nexport interface ToolResult {\n  text: string;\n  isError: boolean;\n  code?: string;\n  meta?: Record<string, unknown>;\n}\n")
	return b.String()
}

func tsFields(b *strings.Builder, indent string, params []Param) {
	for _, p := range params {
		opt := "?"
		if p.Required {
			opt = ""
		}
		fmt.Fprintf(b, "%s/** %s */\n%s%s%s: ", indent, p.Desc, indent, p.Name, opt)
		switch {
		case len(p.Enum) > 0:
			b.WriteString(`"` + strings.Join(p.Enum, `" | "`) + `"`)
		case p.Type == "integer":
			b.WriteString("number")
		case p.Strings:
			b.WriteString("string[]")
		case p.Type == "array":
			b.WriteString("Array<{\n")
			tsFields(b, indent+"  ", p.Items)
			b.WriteString(indent + "}>")
		default:
			b.WriteString(p.Type)
		}
		b.WriteString(";\n")
	}
}

func tsName(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String() + "Arguments"
}

func firstSentence(s string) string {
	if i := strings.Index(s, ". "); i >= 0 {
		return s[:i+1]
	}
	return s
}
