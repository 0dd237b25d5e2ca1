//go:build unix

package rpc

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

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

// BenchmarkEcho calls our server and a bare one of jsonrpc2, each in a process of its own, call by call in turn.
// ns/bare is the median of a bare call with a bare client; x/server has the bare client and our server, x/both our client and our server.
func BenchmarkEcho(b *testing.B) {
	for _, size := range []int{20, 4 << 10, 256 << 10, 4 << 20} {
		b.Run(byteCount(size), func(b *testing.B) { benchmarkEcho(b, strings.Repeat("x", size)) })
	}
}

func byteCount(n int) string {
	switch {
	case n >= 1<<20:
		return "MiB"
	case n >= 256<<10:
		return "256KiB"
	case n >= 1<<10:
		return "4KiB"
	}
	return "small"
}

func benchmarkEcho(b *testing.B, text string) {
	daemon, bare := benchServer(b, "daemon"), benchServer(b, "bare")
	ours := NewClient(benchDial(b, daemon))
	defer ours.Close()
	mixed, peer := bareClient(b, daemon), bareClient(b, bare)
	ctx := context.Background()
	params := []string{text}
	var times [3][]time.Duration
	measure := func(i int, f func(out *[]string) error) {
		var out []string
		begun := time.Now()
		if err := f(&out); err != nil || len(out) != 1 || len(out[0]) != len(text) {
			b.Fatal(err)
		}
		times[i] = append(times[i], time.Since(begun))
	}
	for b.Loop() {
		measure(0, func(out *[]string) error { _, err := peer.Call(ctx, "echo", params, out); return err })
		measure(1, func(out *[]string) error { _, err := mixed.Call(ctx, "echo", params, out); return err })
		measure(2, func(out *[]string) error { return ours.Call(ctx, "echo", params, out) })
	}
	base := float64(median(times[0]))
	b.ReportMetric(base, "ns/bare")
	b.ReportMetric(float64(median(times[1]))/base, "x/server")
	b.ReportMetric(float64(median(times[2]))/base, "x/both")
}

// BenchmarkClients has 64 clients call at once: the time of all, ours by the bare one's, and ours' 99th percentile by
// the median.
func BenchmarkClients(b *testing.B) {
	const clients, each = 64, 200
	daemon, bare := benchServer(b, "daemon"), benchServer(b, "bare")
	var wall [2]time.Duration
	var all []time.Duration
	for b.Loop() {
		for i, socket := range []string{bare, daemon} {
			begun := time.Now()
			times := crowd(b, socket, clients, each)
			wall[i] += time.Since(begun)
			if i == 1 {
				all = append(all, times...)
			}
		}
	}
	slices.Sort(all)
	b.ReportMetric(float64(wall[1])/float64(wall[0]), "x/bare")
	b.ReportMetric(float64(all[len(all)*99/100])/float64(median(all)), "p99/p50")
}

func crowd(b *testing.B, socket string, clients, each int) []time.Duration {
	var mu sync.Mutex
	var times []time.Duration
	var all sync.WaitGroup
	for range clients {
		c := bareClient(b, socket)
		all.Go(func() {
			var mine []time.Duration
			for range each {
				var out []string
				begun := time.Now()
				if _, err := c.Call(context.Background(), "echo", []string{"x"}, &out); err != nil {
					b.Error(err)
					return
				}
				mine = append(mine, time.Since(begun))
			}
			mu.Lock()
			times = append(times, mine...)
			mu.Unlock()
		})
	}
	all.Wait()
	return times
}

func median(times []time.Duration) time.Duration {
	times = slices.Sorted(slices.Values(times))
	return times[len(times)/2]
}

// benchServer runs the test program as a server and gives its socket.
func benchServer(b *testing.B, mode string) string {
	path := filepath.Join(socketFolder(b), "toold", "s")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	c := exec.Command(os.Args[0], path)
	c.Env = append(os.Environ(), modeEnv+"="+mode)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	return path
}

func benchDial(b *testing.B, socket string) net.Conn {
	for pause := time.Millisecond; ; pause *= 2 {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			return conn
		}
		if pause > 10*time.Second {
			b.Fatal(err)
		}
		wait(context.Background(), pause)
	}
}

func bareClient(b *testing.B, socket string) jsonrpc2.Conn {
	c := jsonrpc2.NewConn(jsonrpc2.NewStream(benchDial(b, socket)))
	c.Go(context.Background(), jsonrpc2.MethodNotFoundHandler)
	b.Cleanup(func() { c.Close() })
	return c
}
