package config

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Show writes the configuration in force, with a comment behind each value that says where it comes from. Flags are
// the settings that the command line gives, by name.
func Show(text []byte, flags map[string]string) (string, error) {
	f, err := Parse(text)
	if err != nil {
		return "", err
	}
	var file, all yaml.Node
	if err := yaml.Unmarshal(text, &file); err != nil {
		return "", err
	}
	if err := all.Encode(f); err != nil {
		return "", fmt.Errorf("show the configuration: %w", err)
	}
	given := &yaml.Node{}
	if len(file.Content) > 0 {
		given = file.Content[0]
	}
	annotate(&all, given, flags)
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(&all); err != nil {
		return "", fmt.Errorf("show the configuration: %w", err)
	}
	return b.String(), nil
}

// annotate comments the leaves of n: from the file where given has them.
func annotate(n, given *yaml.Node, flags map[string]string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		from := member(given, key.Value)
		flag, overruled := flags[key.Value]
		switch {
		case overruled:
			var d Duration
			if d.UnmarshalYAML(&yaml.Node{Value: flag}) == nil {
				flag = d.String()
			}
			value.SetString(flag)
			value.LineComment = "flag"
		case value.Kind == yaml.MappingNode && from == nil && len(value.Content) > 0:
			annotate(value, &yaml.Node{}, nil)
		case value.Kind == yaml.MappingNode && from != nil:
			annotate(value, from, nil)
		case from != nil:
			value.LineComment = "file"
		default:
			value.LineComment = "default"
		}
		if value.Kind == yaml.SequenceNode && len(value.Content) > 0 {
			key.LineComment, value.LineComment = value.LineComment, ""
		}
	}
}

func member(n *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}
