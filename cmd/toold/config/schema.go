package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/toold/toold/rpc/tool"
)

// schema are the keys that a mapping may have; nil stands for a value of any form.
type schema map[string]schema

func schemaOf(v any) schema { return schemaType(reflect.TypeOf(v)) }

func schemaType(t reflect.Type) schema {
	switch t.Kind() {
	case reflect.Slice, reflect.Pointer:
		return schemaType(t.Elem())
	case reflect.Struct:
		s := schema{}
		for i := range t.NumField() {
			s[t.Field(i).Tag.Get("yaml")] = schemaType(t.Field(i).Type)
		}
		return s
	}
	return nil
}

// known refuses keys that nothing reads, naming the nearest one that something does.
func known(n *yaml.Node, s schema) error {
	if s == nil {
		return nil
	}
	switch n.Kind {
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if err := known(item, s); err != nil {
				return err
			}
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			sub, ok := s[key.Value]
			if !ok {
				return unknownKey(key, s)
			}
			if err := known(n.Content[i+1], sub); err != nil {
				return err
			}
		}
	}
	return nil
}

func unknownKey(key *yaml.Node, s schema) error {
	var names []string
	for name := range s {
		names = append(names, name)
	}
	slices.Sort(names)
	hint := "the keys here are " + strings.Join(names, ", ")
	if near := tool.Nearest(key.Value, names); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return fmt.Errorf("%d:%d: there is no key %q; %s", key.Line, key.Column, key.Value, hint)
}

// at makes an error that points at the value of a key.
func at(doc *yaml.Node, path []string, format string, args ...any) error {
	line, column := doc.Line, doc.Column
	for _, name := range path {
		for i := 0; doc != nil && i+1 < len(doc.Content); i += 2 {
			if doc.Content[i].Value == name {
				doc = doc.Content[i+1]
				line, column = doc.Line, doc.Column
				break
			}
		}
	}
	return fmt.Errorf("%d:%d: %s", line, column, fmt.Sprintf(format, args...))
}

// Markdown writes the table of all settings.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| setting | default | meaning |\n|---|---|---|\n")
	rows(&b, "", reflect.TypeFor[File]())
	return b.String()
}

func rows(b *strings.Builder, prefix string, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name := prefix + f.Tag.Get("yaml")
		switch ft := f.Type; {
		case ft.Kind() == reflect.Struct:
			rows(b, name+".", ft)
		case ft.Kind() == reflect.Slice && ft.Elem().Kind() == reflect.Struct:
			rows(b, name+"[].", ft.Elem())
		default:
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", name, f.Tag.Get("default"), f.Tag.Get("doc"))
		}
	}
}
