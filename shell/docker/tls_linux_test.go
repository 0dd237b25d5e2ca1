package docker_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/toold/toold/shell"
	"github.com/toold/toold/shell/docker"
	"github.com/toold/toold/shell/docker/dockertest"
)

// authority makes a certificate authority's folder: ca.pem, and cert.pem and key.pem that it has signed for 127.0.0.1.
func authority(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"ca.pem": {Type: "CERTIFICATE", Bytes: cert}, "cert.pem": {Type: "CERTIFICATE", Bytes: cert}, "key.pem": {Type: "EC PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// tlsProxy speaks TLS in front of the engine and asks for a certificate of the same authority.
func tlsProxy(t *testing.T, certs string) *proxy {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(filepath.Join(certs, "cert.pem"), filepath.Join(certs, "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(filepath.Join(certs, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool})
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, l, "tcp://"+l.Addr().String())
}

func TestTLS(t *testing.T) {
	certs := authority(t)
	p := tlsProxy(t, certs)
	dir := folder(t)
	c := engine.Run(t, dockertest.Container{Binds: []string{dir + ":/workspace"}})
	for name, tt := range map[string]struct {
		at   docker.Endpoint
		want string
	}{
		"a certificate of the authority": {docker.Endpoint{Host: p.host, TLS: true, Certs: certs}, ""},
		"another authority":              {docker.Endpoint{Host: p.host, TLS: true, Certs: authority(t)}, shell.EngineUnreachable},
		"no certificate":                 {docker.Endpoint{Host: p.host, TLS: true, Insecure: true, Certs: t.TempDir()}, shell.EngineUnreachable},
		"no TLS":                         {docker.Endpoint{Host: p.host}, shell.EngineUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := docker.Open(tt.at, guardPath, docker.Limits{Silence: 20 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			got, _, err := run(t, e.New(docker.Config{Workspace: dir, Name: c}), "echo hi; sleep 0.2; seq 20000 | tail -n 1")
			if shell.Code(err) != tt.want || err == nil && got != "hi\n20000\nExit code: 0" {
				t.Errorf("%s: %v", got, err)
			}
		})
	}
}
