package docker

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/docker/docker/client"
	"github.com/docker/go-connections/tlsconfig"
)

// Endpoint says where an engine is.
type Endpoint struct {
	Host    string // unix:///path, tcp://host:port, npipe://…
	Version string // the API version to speak; "" negotiates
	Source  string // where this was found, for people: "DOCKER_HOST", "context NAME", "default"

	TLS      bool   // speak TLS over tcp
	Insecure bool   // do not verify the engine's certificate
	Certs    string // the folder of ca.pem, cert.pem and key.pem
}

// FindEndpoint finds the engine that the docker command would use: DOCKER_HOST, then DOCKER_CONTEXT, then the current
// context of the docker configuration, then the default socket. getenv is os.Getenv; home is the user's home folder.
func FindEndpoint(getenv func(string) string, home string) (Endpoint, error) {
	at := Endpoint{Host: client.DefaultDockerHost, Source: "default", Version: getenv("DOCKER_API_VERSION")}
	folder := getenv("DOCKER_CONFIG")
	if folder == "" {
		folder = filepath.Join(home, ".docker")
	}
	if host := getenv("DOCKER_HOST"); host != "" {
		at.Host, at.Source = host, "DOCKER_HOST"
		return at.fromEnvironment(getenv, folder), nil
	}
	name := getenv("DOCKER_CONTEXT")
	if name == "" {
		var err error
		if name, err = currentContext(folder); err != nil {
			return at, err
		}
	}
	if name == "" || name == "default" {
		return at.fromEnvironment(getenv, folder), nil
	}
	return at.fromContext(folder, name)
}

func (at Endpoint) fromEnvironment(getenv func(string) string, folder string) Endpoint {
	at.Certs = getenv("DOCKER_CERT_PATH")
	verify := getenv("DOCKER_TLS_VERIFY") != ""
	at.TLS = verify || at.Certs != "" || getenv("DOCKER_TLS") != ""
	at.Insecure = at.TLS && !verify
	if at.TLS && at.Certs == "" {
		at.Certs = folder
	}
	return at
}

func currentContext(folder string) (string, error) {
	text, err := os.ReadFile(filepath.Join(folder, "config.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read docker configuration: %w", err)
	}
	var config struct{ CurrentContext string }
	if err := json.Unmarshal(text, &config); err != nil {
		return "", fmt.Errorf("read docker configuration %s: %w", filepath.Join(folder, "config.json"), err)
	}
	return config.CurrentContext, nil
}

// fromContext reads what `docker context create` has stored.
func (at Endpoint) fromContext(folder, name string) (Endpoint, error) {
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:])
	text, err := os.ReadFile(filepath.Join(folder, "contexts", "meta", id, "meta.json"))
	if err != nil {
		return at, fmt.Errorf("find docker context %q (`docker context ls` lists them): %w", name, err)
	}
	var meta struct {
		Endpoints map[string]struct {
			Host          string
			SkipTLSVerify bool
		}
	}
	if err := json.Unmarshal(text, &meta); err != nil {
		return at, fmt.Errorf("read docker context %q: %w", name, err)
	}
	docker := meta.Endpoints["docker"]
	if docker.Host == "" {
		return at, fmt.Errorf("read docker context %q: it names no host", name)
	}
	at.Host, at.Source, at.Insecure = docker.Host, "context "+name, docker.SkipTLSVerify
	certs := filepath.Join(folder, "contexts", "tls", id, "docker")
	if _, err := os.Stat(certs); err == nil {
		at.TLS, at.Certs = true, certs
	}
	at.TLS = at.TLS || docker.SkipTLSVerify
	return at, nil
}

// tls gives the configuration for an endpoint that speaks TLS, else nil.
func (at Endpoint) tls() (*tls.Config, error) {
	if !at.TLS || !strings.HasPrefix(at.Host, "tcp://") {
		return nil, nil
	}
	opts := tlsconfig.Options{InsecureSkipVerify: at.Insecure, ExclusiveRootPools: true}
	for name, field := range map[string]*string{"ca.pem": &opts.CAFile, "cert.pem": &opts.CertFile, "key.pem": &opts.KeyFile} {
		path := filepath.Join(at.Certs, name)
		if _, err := os.Stat(path); err == nil {
			*field = path
		}
	}
	config, err := tlsconfig.Client(opts)
	if err != nil {
		return nil, fmt.Errorf("read the docker certificates in %s: %w", at.Certs, err)
	}
	return config, nil
}
