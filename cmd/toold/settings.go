package main

import (
	"time"

	"github.com/toold/toold/rpc/engine"
	"github.com/toold/toold/workspace"
)

// settings are the daemon's effective configuration.
type settings struct{ d *daemon }

func (d *daemon) settings() (*settings, error) { return &settings{d}, nil }

func (s *settings) forRoot(string) (engine.Settings, error) {
	return engine.Settings{
		ContainerRoot: "/workspace", MaxFileBytes: workspace.DefaultMaxFileBytes, MaxContext: workspace.DefaultMaxContextBytes,
	}, nil
}

func (s *settings) idle() time.Duration {
	if s.d.idle >= 0 {
		return s.d.idle
	}
	return 30 * time.Minute
}
