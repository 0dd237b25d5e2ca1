// Package docker runs commands in a container of a Docker engine and reads containers' logs. It is the only package
// that knows the engine's API.
package docker

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/docker/docker/client"

	"github.com/toold/toold/shell"
)

const (
	quick = 10 * time.Second // for an answer of the engine that needs no work
	slow  = 60 * time.Second // for creating, starting and filling a container
)

// Engine is a Docker engine. It connects when it is needed and again after the engine was away.
type Engine struct {
	api    *client.Client
	at     Endpoint
	guard  *guardFile
	limits Limits
}

// Limits bound what one engine call may take. The zero value means the defaults.
type Limits struct {
	Quick   time.Duration // an answer that needs no work; 10 s
	Silence time.Duration // no output: the engine is asked whether it still lives; 5 s
	Hung    time.Duration // no answer for so long while a command runs: it counts as lost; 20 s
	Lease   time.Duration // how long a command goes on after the engine died; 20 s
}

func (l Limits) withDefaults() Limits {
	if l.Quick == 0 {
		l.Quick = quick
	}
	if l.Silence == 0 {
		l.Silence = 5 * time.Second
	}
	if l.Hung == 0 {
		l.Hung = 20 * time.Second
	}
	if l.Lease == 0 {
		l.Lease = 20 * time.Second
	}
	return l
}

// Open prepares an engine; nothing is connected yet. guard is the path of a static Linux binary that calls
// guard.Main, such as "/proc/self/exe"; when it cannot be used, commands are ended less thoroughly.
func Open(at Endpoint, guard string, limits Limits) (*Engine, error) {
	dial, err := at.dialer()
	if err != nil {
		return nil, err
	}
	opts := []client.Opt{
		client.WithHTTPClient(&http.Client{Transport: &http.Transport{MaxIdleConns: 6, IdleConnTimeout: 30 * time.Second}, CheckRedirect: client.CheckRedirect}),
		client.WithHost(at.Host), client.WithAPIVersionNegotiation(),
	}
	if dial != nil {
		opts = append(opts, client.WithDialContext(dial))
	}
	if at.Version != "" {
		opts = append(opts, client.WithVersion(at.Version))
	}
	api, err := client.NewClientWithOpts(opts...)
	if err != nil {
		return nil, fmt.Errorf("open docker engine %s: %w", at.Host, err)
	}
	return &Engine{api: api, at: at, guard: &guardFile{path: guard}, limits: limits.withDefaults()}, nil
}

// Close gives up the engine's idle connections.
func (e *Engine) Close() error { return e.api.Close() }

// Version gives the engine's version, and fails when it does not answer.
func (e *Engine) Version(ctx context.Context) (string, error) {
	ctx, stop := context.WithTimeout(ctx, e.limits.Quick)
	defer stop()
	v, err := e.api.ServerVersion(ctx)
	if err != nil {
		return "", e.unreachable(err)
	}
	return v.Version, nil
}

// hijack marks the context of a request whose connection is taken over: the client does not watch its context then,
// so the dialer sets a deadline on the connection.
type hijack struct{}

// dialer gives the function that connects to the engine; nil is the client's own.
func (at Endpoint) dialer() (func(ctx context.Context, network, addr string) (net.Conn, error), error) {
	proto, addr, _ := strings.Cut(at.Host, "://")
	switch proto {
	case "unix", "tcp":
	case "npipe":
		return nil, nil
	default:
		return nil, shell.Errorf(shell.EngineUnreachable, nil,
			"the docker host %q is not supported: use unix://, or tcp:// with TLS (set DOCKER_HOST or choose a context with `docker context use`)", at.Host)
	}
	addr, _, _ = strings.Cut(addr, "/")
	if proto == "unix" {
		addr = strings.TrimPrefix(at.Host, "unix://")
	}
	tlsConfig, err := at.tls()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := dial(ctx, proto, addr, tlsConfig)
		if deadline, ok := ctx.Deadline(); err == nil && ok && ctx.Value(hijack{}) != nil {
			err = conn.SetDeadline(deadline)
		}
		return conn, err
	}, nil
}

func dial(ctx context.Context, proto, addr string, config *tls.Config) (net.Conn, error) {
	d := &net.Dialer{Timeout: quick, KeepAlive: 15 * time.Second}
	if config != nil {
		return (&tls.Dialer{NetDialer: d, Config: config}).DialContext(ctx, proto, addr)
	}
	return d.DialContext(ctx, proto, addr)
}
