package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
)

// BenchmarkSmallCall is a read of a small file through the socket, beside a bare jsonrpc2 echo on a socket of its own:
// x/echo is the ratio of the two, call by call in turn.
func BenchmarkSmallCall(b *testing.B) {
	h := newHome(b)
	if err := os.WriteFile(filepath.Join(h.ws, "a.txt"), []byte("hello\n"), 0o666); err != nil {
		b.Fatal(err)
	}
	h.start()
	c := h.client("bench")
	echo := echoPeer(b)
	ctx := context.Background()
	var ours, peer stopwatch
	for b.Loop() {
		ours.time(func() { c.must("read_file", map[string]any{"path": "a.txt"}) })
		peer.time(func() {
			var out map[string]any
			if _, err := echo.Call(ctx, "echo", map[string]any{"path": "a.txt"}, &out); err != nil {
				b.Fatal(err)
			}
		})
	}
	report(b, ours, peer, "echo")
}

// echoPeer is a client of a bare jsonrpc2 server in a process of its own, as the daemon is one.
func echoPeer(b *testing.B) jsonrpc2.Conn {
	dir, err := os.MkdirTemp("", "echo")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	server := exec.Command("echo-peer", socket)
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	var conn net.Conn
	for range 1000 {
		if conn, err = net.Dial("unix", socket); err == nil {
			break
		}
		time.Sleep(time.Millisecond) // until the peer listens
	}
	if err != nil {
		b.Fatal(err)
	}
	client := jsonrpc2.NewConn(jsonrpc2.NewStream(conn))
	client.Go(context.Background(), jsonrpc2.MethodNotFoundHandler)
	b.Cleanup(func() { client.Close() })
	return client
}

// echoMain is the program echo-peer: it answers every call on one connection with its parameters.
func echoMain() {
	l, err := net.Listen("unix", os.Args[1])
	if err != nil {
		os.Exit(1)
	}
	conn, err := l.Accept()
	if err != nil {
		os.Exit(1)
	}
	server := jsonrpc2.NewConn(jsonrpc2.NewStream(conn))
	server.Go(context.Background(), func(_ context.Context, req *jsonrpc2.Request) (any, error) {
		return jsonrpc2.RawMessage(append([]byte(nil), req.Params()...)), nil
	})
	<-server.Done()
}

// BenchmarkDurableWrite is a write of 4 KiB over an existing file through the socket, beside temp + fsync + rename +
// fsync of the folder by hand.
func BenchmarkDurableWrite(b *testing.B) {
	h := newHome(b)
	h.start()
	c := h.client("bench")
	dir := filepath.Join(h.ws, "peer")
	if err := os.Mkdir(dir, 0o777); err != nil {
		b.Fatal(err)
	}
	var ours, peer stopwatch
	n := 0
	for b.Loop() {
		n++
		text := strings.Repeat(fmt.Sprintf("line of version %06d of this benchmark\n", n), 105)
		ours.time(func() {
			if r := c.tool("write_file", map[string]any{"path": "ours.txt", "content": text}); r.IsError {
				c.must("write_file", map[string]any{"path": "ours.txt", "content": text})
			}
		})
		peer.time(func() { byHand(b, dir, text) })
	}
	report(b, ours, peer, "by-hand")
}

func byHand(b *testing.B, dir, text string) {
	temp, err := os.CreateTemp(dir, "t")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := temp.WriteString(text); err != nil {
		b.Fatal(err)
	}
	if err := temp.Sync(); err != nil {
		b.Fatal(err)
	}
	temp.Close()
	if err := os.Rename(temp.Name(), filepath.Join(dir, "peer.txt")); err != nil {
		b.Fatal(err)
	}
	d, err := os.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		b.Fatal(err)
	}
}
