package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// checkText refuses parameters whose text Go's decoder would silently change: bytes that are not UTF-8, and halves of
// surrogate pairs, both of which it turns into U+FFFD.
func checkText(params []byte) error {
	switch {
	case !utf8.Valid(params):
		return &Error{Code: CodeInvalidParams, Message: "the parameters are not valid UTF-8; send the text as UTF-8"}
	case badSurrogate(params):
		return &Error{Code: CodeInvalidParams, Message: "the parameters have a lone surrogate (half of a \\u pair), which is no character; send the text as UTF-8"}
	}
	return nil
}

// badSurrogate tells whether valid JSON escapes half of a surrogate pair.
func badSurrogate(raw []byte) bool {
	for i := 0; ; {
		j := bytes.IndexByte(raw[i:], '\\')
		if j < 0 {
			return false
		}
		i += j
		r, ok := escapedUnit(raw, i)
		switch {
		case !ok:
			i += 2
		case r < 0xd800 || r > 0xdfff:
			i += 6
		default:
			low, ok := escapedUnit(raw, i+6)
			if r >= 0xdc00 || !ok || low < 0xdc00 || low > 0xdfff {
				return true
			}
			i += 12
		}
		if i >= len(raw) {
			return false
		}
	}
}

// escapedUnit reads a \u escape at i.
func escapedUnit(raw []byte, i int) (rune, bool) {
	if i+6 > len(raw) || raw[i] != '\\' || raw[i+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range raw[i+2 : i+6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// encode gives a value as one line of JSON in valid UTF-8, without escaping for HTML.
func encode(v any) ([]byte, error) {
	if raw, ok := v.(json.RawMessage); ok && raw != nil {
		return checkRaw(raw)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// checkRaw holds JSON that somebody else made to the same rules.
func checkRaw(raw []byte) ([]byte, error) {
	if !validJSON(raw) || !utf8.Valid(raw) {
		return nil, errors.New("encode JSON: the raw value is not valid JSON in UTF-8")
	}
	if bytes.IndexByte(raw, '\n') < 0 {
		return raw, nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	return b.Bytes(), nil
}
