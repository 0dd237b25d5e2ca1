package docker_test

import (
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// proxy stands between the daemon and the engine, and can cut all connections as a daemon that dies does.
type proxy struct {
	host string
	l    net.Listener
	wait sync.WaitGroup

	mu    sync.Mutex // guards conns
	conns []net.Conn
}

func unixProxy(t *testing.T) *proxy {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, l, "unix://"+path)
}

func serve(t *testing.T, l net.Listener, host string) *proxy {
	t.Helper()
	p := &proxy{host: host, l: l}
	p.wait.Go(p.accept)
	t.Cleanup(func() { l.Close(); p.cut(); p.wait.Wait() })
	return p
}

func (p *proxy) accept() {
	for {
		a, err := p.l.Accept()
		if err != nil {
			return
		}
		b, err := net.Dial("unix", strings.TrimPrefix(engine.Host, "unix://"))
		if err != nil {
			a.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, a, b)
		p.mu.Unlock()
		p.wait.Go(func() { io.Copy(b, a); b.Close() })
		p.wait.Go(func() { io.Copy(a, b); a.Close() })
	}
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}
