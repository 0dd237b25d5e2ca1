package main

import (
	"log/slog"
	"time"

	"github.com/toold/toold/cmd/toold/config"
	"github.com/toold/toold/rpc/engine"
	outputs "github.com/toold/toold/workspace/run"
)

// settings are the daemon's effective configuration: flags before the file, the file before the defaults.
type settings struct {
	live *config.Live
	flag time.Duration // --idle; negative when not given
	log  *slog.Logger
}

// settings loads the configuration. A broken file ends the daemon before it begins.
func (d *daemon) settings() (*settings, error) {
	path, err := config.Path(d.g.config)
	if err != nil {
		return nil, fail(exitFailed, "%w", err)
	}
	live, err := config.Open(path, d.g.config != "")
	if err != nil {
		return nil, fail(exitFailed, "the configuration is broken, so the daemon does not start: %w", err)
	}
	return &settings{live, d.idle, d.log}, nil
}

// current gives the configuration in force, and logs when a change of the file could not be read.
func (s *settings) current() config.File {
	f, err := s.live.Current()
	if err != nil {
		s.log.Warn("the configuration was changed to something that cannot be read; the one before still holds", "err", err)
	}
	return f
}

func (s *settings) forRoot(root string) (engine.Settings, error) {
	f := s.current()
	w := f.For(root)
	return engine.Settings{
		ContainerRoot: w.Container.Root, Protected: w.Protected, Ignore: w.Ignore, MaxFileBytes: int64(w.Limits.MaxFileBytes), MaxContext: int64(f.Read.MaxContextBytes),
	}, nil
}

func (s *settings) makers() map[outputs.Class][]string {
	m := map[outputs.Class][]string{}
	for class, tools := range s.current().Makers {
		m[outputs.Class(class)] = tools
	}
	return m
}

func (s *settings) idle() time.Duration {
	if s.flag >= 0 {
		return s.flag
	}
	return time.Duration(s.current().IdleShutdown)
}
