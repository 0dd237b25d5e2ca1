package docker_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docker/docker/client"
	"github.com/google/go-cmp/cmp"

	"github.com/toold/toold/shell/docker"
)

// put writes a file below a folder.
func put(t *testing.T, text string, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFindEndpoint(t *testing.T) {
	home := t.TempDir()
	folder := filepath.Join(home, ".docker")
	sum := sha256.Sum256([]byte("far"))
	id := hex.EncodeToString(sum[:])
	meta, err := json.Marshal(map[string]any{"Name": "far", "Endpoints": map[string]any{"docker": map[string]any{"Host": "tcp://far:2376", "SkipTLSVerify": true}}})
	if err != nil {
		t.Fatal(err)
	}
	put(t, string(meta), folder, "contexts", "meta", id, "meta.json")
	put(t, "x", folder, "contexts", "tls", id, "docker", "ca.pem")
	certs := filepath.Join(folder, "contexts", "tls", id, "docker")
	far := docker.Endpoint{Host: "tcp://far:2376", Source: "context far", TLS: true, Insecure: true, Certs: certs}
	for _, c := range []struct {
		name, config string
		env          map[string]string
		want         docker.Endpoint
		fails        string
	}{
		{name: "nothing", want: docker.Endpoint{Host: client.DefaultDockerHost, Source: "default"}},
		{name: "the current context", config: `{"currentContext":"far"}`, want: far},
		{name: "the default context", config: `{"currentContext":"default"}`, want: docker.Endpoint{Host: client.DefaultDockerHost, Source: "default"}},
		{name: "another context", env: map[string]string{"DOCKER_CONTEXT": "far"}, want: far},
		{name: "a host before a context", config: `{"currentContext":"far"}`, env: map[string]string{"DOCKER_HOST": "unix:///x", "DOCKER_CONTEXT": "far"}, want: docker.Endpoint{Host: "unix:///x", Source: "DOCKER_HOST"}},
		{name: "TLS", env: map[string]string{"DOCKER_HOST": "tcp://h:1", "DOCKER_TLS_VERIFY": "1"}, want: docker.Endpoint{Host: "tcp://h:1", Source: "DOCKER_HOST", TLS: true, Certs: folder}},
		{name: "certificates", env: map[string]string{"DOCKER_HOST": "tcp://h:1", "DOCKER_CERT_PATH": "/c", "DOCKER_API_VERSION": "1.41"}, want: docker.Endpoint{Host: "tcp://h:1", Source: "DOCKER_HOST", Version: "1.41", TLS: true, Insecure: true, Certs: "/c"}},
		{name: "an unknown context", env: map[string]string{"DOCKER_CONTEXT": "none"}, fails: "docker context ls"},
		{name: "a broken configuration", config: "{", fails: "config.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			os.Remove(filepath.Join(folder, "config.json"))
			if c.config != "" {
				put(t, c.config, folder, "config.json")
			}
			got, err := docker.FindEndpoint(func(k string) string { return c.env[k] }, home)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("got %+v, %v", got, err)
				}
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Error(diff, err)
			}
		})
	}
}
