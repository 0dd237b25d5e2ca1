package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// paramsOf reads the declarations of a struct's fields.
func paramsOf(t reflect.Type) []Param {
	params := make([]Param, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("json")
		if name == "" || f.Tag.Get("desc") == "" {
			panic(fmt.Sprintf("parameter %s.%s needs the tags json and desc", t, f.Name))
		}
		p := Param{Name: name, Desc: f.Tag.Get("desc"), Required: f.Tag.Get("required") == "true", Default: f.Tag.Get("default"), field: i}
		p.Min, p.Max = bound(f.Tag.Get("min")), bound(f.Tag.Get("max"))
		if e := f.Tag.Get("enum"); e != "" {
			p.Enum = strings.Split(e, ",")
		}
		typeOf(f.Type, &p)
		params = append(params, p)
	}
	return params
}

func bound(tag string) *int {
	if tag == "" {
		return nil
	}
	n, err := strconv.Atoi(tag)
	if err != nil {
		panic("bound " + tag + " is no number")
	}
	return &n
}

func typeOf(t reflect.Type, p *Param) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		p.Type = "string"
	case reflect.Int, reflect.Int64:
		p.Type = "integer"
	case reflect.Bool:
		p.Type = "boolean"
	case reflect.Slice:
		p.Type = "array"
		if t.Elem().Kind() == reflect.String {
			p.Strings = true
			return
		}
		p.Items = paramsOf(t.Elem())
	default:
		panic("parameter " + p.Name + " has a type that no tool takes")
	}
}

// decode reads arguments into the struct. Names count exactly, aliases are renamed first, unknown names are refused
// with the nearest known one, integers may come as numeric strings, null means not given.
func decode(raw json.RawMessage, params []Param, aliases map[string]string, into reflect.Value) (map[string]any, error) {
	fields, err := object(raw)
	if err != nil {
		return nil, err
	}
	for alias, name := range aliases {
		v, ok := fields[alias]
		if !ok {
			continue
		}
		delete(fields, alias)
		if _, both := fields[name]; !both {
			fields[name] = v
		}
	}
	args := make(map[string]any, len(fields))
	for name, v := range fields {
		p, ok := find(params, name)
		if !ok {
			return nil, unknown(name, params)
		}
		if string(v) == "null" {
			continue
		}
		arg, err := p.set(v, aliases, into.Field(p.field))
		if err != nil {
			return nil, err
		}
		args[name] = arg
	}
	for _, p := range params {
		if _, given := args[p.Name]; p.Required && !given {
			return nil, invalid("the parameter %q is missing; it takes %s: %s", p.Name, p.takes(), p.Desc)
		}
	}
	return args, nil
}

func unknown(name string, params []Param) *Error {
	if near := Nearest(name, names(params)); near != "" {
		return invalid("there is no parameter %q; did you mean %q? The parameters are %s", name, near, strings.Join(names(params), ", "))
	}
	return invalid("there is no parameter %q; the parameters are %s", name, strings.Join(names(params), ", "))
}

// object reads a JSON object's members by their exact names; a name that comes twice is refused, since which one was
// meant cannot be known.
func object(raw json.RawMessage) (map[string]json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(raw)) == 0 || string(raw) == "null" {
		return fields, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, invalid("the arguments must be a JSON object, such as {\"path\": \"src/main.go\"}")
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, invalid("the arguments are not valid JSON: %v", err)
		}
		name := t.(string)
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, invalid("the arguments are not valid JSON: %v", err)
		}
		if _, twice := fields[name]; twice {
			return nil, invalid("the parameter %q is given twice; give it once", name)
		}
		fields[name] = v
	}
	if _, err := d.Token(); err != nil {
		return nil, invalid("the arguments are not valid JSON: %v", err)
	}
	return fields, nil
}

func (p Param) takes() string {
	switch {
	case len(p.Enum) > 0:
		return "one of " + strings.Join(p.Enum, ", ")
	case p.Type == "integer":
		return "an integer"
	case p.Type == "array" && p.Strings:
		return "an array of strings"
	case p.Type == "array":
		return "an array of objects"
	}
	return "a " + p.Type
}

func (p Param) wrong(v json.RawMessage) *Error {
	s := string(v)
	if len(s) > 60 {
		s = s[:60] + "…"
	}
	return invalid("the parameter %q takes %s, not %s", p.Name, p.takes(), strings.ToValidUTF8(s, "\ufffd"))
}

// set puts one argument into its field and gives its value for approvals and records.
func (p Param) set(v json.RawMessage, aliases map[string]string, field reflect.Value) (any, error) {
	if field.Kind() == reflect.Pointer {
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	switch p.Type {
	case "string":
		return p.setString(v, field)
	case "integer":
		return p.setInteger(v, field)
	case "boolean":
		return p.setBoolean(v, field)
	}
	return p.setArray(v, aliases, field)
}

func (p Param) setString(v json.RawMessage, field reflect.Value) (any, error) {
	var s string
	if v[0] != '"' || json.Unmarshal(v, &s) != nil {
		return nil, p.wrong(v)
	}
	if loneSurrogate(v) {
		return nil, invalid("the parameter %q has a lone surrogate (an incomplete \\u escape), which is no character; send the text as UTF-8", p.Name)
	}
	if len(p.Enum) > 0 && !slices.Contains(p.Enum, s) {
		return nil, p.wrong(v)
	}
	field.SetString(s)
	return s, nil
}

func (p Param) setInteger(v json.RawMessage, field reflect.Value) (any, error) {
	text := string(v)
	if v[0] == '"' {
		if json.Unmarshal(v, &text) != nil {
			return nil, p.wrong(v)
		}
		text = strings.TrimSpace(text)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		f, ferr := strconv.ParseFloat(text, 64)
		if ferr != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			return nil, p.wrong(v)
		}
		n = int64(f)
	}
	if p.Min != nil && n < int64(*p.Min) {
		return nil, invalid("the parameter %q is %d; the smallest value is %d", p.Name, n, *p.Min)
	}
	if p.Max != nil && n > int64(*p.Max) {
		return nil, invalid("the parameter %q is %d; the largest value is %d", p.Name, n, *p.Max)
	}
	field.SetInt(n)
	return n, nil
}

func (p Param) setBoolean(v json.RawMessage, field reflect.Value) (any, error) {
	switch string(v) {
	case "true", `"true"`:
		field.SetBool(true)
		return true, nil
	case "false", `"false"`:
		return false, nil
	}
	return nil, p.wrong(v)
}

func (p Param) setArray(v json.RawMessage, aliases map[string]string, field reflect.Value) (any, error) {
	var items []json.RawMessage
	if v[0] != '[' || json.Unmarshal(v, &items) != nil {
		return nil, p.wrong(v)
	}
	field.Set(reflect.MakeSlice(field.Type(), len(items), len(items)))
	args := make([]any, len(items))
	for i, item := range items {
		if p.Strings {
			a, err := Param{Name: fmt.Sprintf("%s[%d]", p.Name, i), Type: "string"}.setString(item, field.Index(i))
			if err != nil {
				return nil, err
			}
			args[i] = a
			continue
		}
		if item[0] != '{' {
			return nil, invalid("%s[%d] takes an object", p.Name, i)
		}
		a, err := decode(item, p.Items, aliases, field.Index(i))
		if err != nil {
			return nil, invalid("%s[%d]: %v", p.Name, i, err)
		}
		args[i] = a
	}
	return args, nil
}

// loneSurrogate tells whether a JSON string literal escapes half of a surrogate pair, which encoding/json silently
// turns into U+FFFD.
func loneSurrogate(lit []byte) bool {
	for i := 0; i < len(lit); i++ {
		if lit[i] != '\\' {
			continue
		}
		i++
		if i >= len(lit) || lit[i] != 'u' {
			continue
		}
		r := hex4(lit[i+1:])
		i += 4
		if r < 0xd800 || r > 0xdfff {
			continue
		}
		if r >= 0xdc00 || i+6 >= len(lit) || lit[i+1] != '\\' || lit[i+2] != 'u' {
			return true
		}
		if low := hex4(lit[i+3:]); low < 0xdc00 || low > 0xdfff {
			return true
		}
		i += 6
	}
	return !utf8.Valid(lit)
}

func hex4(b []byte) rune {
	if len(b) < 4 {
		return 0
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 32)
	if err != nil {
		return 0
	}
	return rune(n)
}
