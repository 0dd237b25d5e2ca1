package rpc

import (
	"context"
	"net"

	"go.lsp.dev/jsonrpc2"
)

// bareMain answers every call with its parameters, with nothing around jsonrpc2.
func bareMain(socket string) error {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	return jsonrpc2.Serve(context.Background(), l, jsonrpc2.HandlerServer(func(_ context.Context, req *jsonrpc2.Request) (any, error) {
		return jsonrpc2.RawMessage(append([]byte(nil), req.Params()...)), nil
	}), 0)
}
