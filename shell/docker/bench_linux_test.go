package docker_test

import (
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/toold/toold/shell"
	"github.com/toold/toold/shell/docker"
	"github.com/toold/toold/shell/docker/dockertest"
)

func benchExecutor(b *testing.B) *docker.Executor {
	b.Helper()
	dir := b.TempDir()
	e, err := docker.Open(docker.Endpoint{Host: engine.Host}, guardPath, docker.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { e.Close() })
	ex := e.New(docker.Config{Workspace: dir, Image: dockertest.Busybox, Network: "none"})
	name, err := ex.Ready(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = engine.API.ContainerRemove(b.Context(), name, container.RemoveOptions{Force: true})
	})
	return ex
}

func benchRun(b *testing.B, script string) {
	ex := benchExecutor(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := shell.Run(b.Context(), ex, shell.Command{Script: script}, shell.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkExec is a command that does nothing.
func BenchmarkExec(b *testing.B) { benchRun(b, "true") }

// BenchmarkOutput is 256 MiB of output.
func BenchmarkOutput(b *testing.B) {
	b.SetBytes(256 << 20)
	benchRun(b, "head -c 268435456 /dev/zero | tr '\\0' x")
}

// BenchmarkLines is 100 MB of output in lines.
func BenchmarkLines(b *testing.B) {
	b.SetBytes(100_000_000)
	benchRun(b, "yes 123456789 | head -c 100000000")
}
