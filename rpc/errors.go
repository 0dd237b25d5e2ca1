package rpc

import (
	"encoding/json"
	"errors"
	"strings"

	"go.lsp.dev/jsonrpc2"
)

// The codes of errors.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeCancelled      = -32800
	CodeShuttingDown   = -32050 // the call was not begun; it can be repeated
)

// Error is a JSON-RPC error: the call did not reach a tool.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// Error gives the message.
func (e *Error) Error() string { return e.Message }

// failure gives the reply that says that a call failed.
func failure(id jsonrpc2.ID, err error) []byte {
	return jsonrpc2.AppendResponse(nil, id, nil, wireError(err))
}

// wireError gives an error the form that goes over the wire; a plain error is an internal one.
func wireError(err error) *jsonrpc2.Error {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Code: CodeInternal, Message: err.Error()}
	}
	w := jsonrpc2.NewError(jsonrpc2.Code(e.Code), strings.ToValidUTF8(e.Message, "\ufffd"))
	if e.Data != nil {
		if raw, err := encode(e.Data); err == nil {
			w.Data = raw
		}
	}
	return w
}

// fromWire gives an error that came over the wire as ours.
func fromWire(err error) error {
	var w *jsonrpc2.Error
	if !errors.As(err, &w) {
		return err
	}
	e := &Error{Code: int(w.Code), Message: w.Message}
	if w.Data != nil {
		e.Data = json.RawMessage(w.Data)
	}
	return e
}
