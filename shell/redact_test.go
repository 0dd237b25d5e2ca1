package shell_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toold/toold/shell"
)

// secret is put together here so that no scanner takes this file for a leak.
func secret(parts ...string) string { return strings.Join(parts, "") }

func TestRedact(t *testing.T) {
	body := "0123456789abcdefABCDEF0123456789abcdef"
	for _, c := range []struct{ name, in, want string }{
		{"AWS", "aws configure set k " + secret("AKIA", "IOSFODNN7EXAMPLE"), "aws configure set k [redacted]"},
		{"GitHub", "echo " + secret("ghp", "_", body) + " x", "echo [redacted] x"},
		{"GitHub, fine-grained", secret("github", "_pat_", body), "[redacted]"},
		{"GitLab", secret("glpat", "-", body), "[redacted]"},
		{"Slack", secret("xoxb", "-123-456-abcdefgh"), "[redacted]"},
		{"Stripe", secret("sk", "_live_", body), "[redacted]"},
		{"OpenAI", secret("sk", "-proj-", body), "[redacted]"},
		{"Google", secret("AI", "za", "SyA0123456789abcdefghijklmnopqrstuv"), "[redacted]"},
		{"npm", secret("npm", "_", body), "[redacted]"},
		{"a JSON web token", "curl -H x:" + secret("eyJ", "hbGciOiJIUzI1NiJ9.", "eyJzdWIiOiIxIn0.", "abcdefghij"), "curl -H x:[redacted]"},
		{"a private key", "cat > k <<E\n-----BEGIN OPENSSH PRIVATE KEY-----\nabc\ndef\n-----END OPENSSH PRIVATE KEY-----\nE", "cat > k <<E\n[redacted]\nE"},
		{"a private key that is cut off", "-----BEGIN PRIVATE KEY-----\nabc", "[redacted]"},
		{"a password in a URL", "git clone https://me:hunter2@host/x.git", "git clone https://me:[redacted]@host/x.git"},
		{"a password without a user", "redis-cli -u redis://:hunter2@host", "redis-cli -u redis://:[redacted]@host"},
		{"a bearer header", `curl -H "Authorization: Bearer abc.def" u`, `curl -H "Authorization: Bearer [redacted]" u`},
		{"a basic header", "curl -H 'authorization: Basic YWJj' u", "curl -H 'authorization: Basic [redacted]' u"},
		{"another header", "curl -H 'X-Api-Key: abc' u", "curl -H 'X-Api-Key: [redacted]' u"},
		{"a variable", "DB_PASSWORD=hunter2 ./run", "DB_PASSWORD=[redacted] ./run"},
		{"an exported variable", `export API_TOKEN="a b c"; x`, `export API_TOKEN=[redacted]; x`},
		{"an option", "tool --password hunter2 --verbose", "tool --password [redacted] --verbose"},
		{"an option with =", "tool --client-secret='a b' x", "tool --client-secret=[redacted] x"},
		{"JSON", `{"password": "hunter2", "user": "me"}`, `{"password": [redacted], "user": "me"}`},
		{"curl -u", "curl -u me:hunter2 u", "curl -u me:[redacted] u"},
		{"mysql -p", "mysql -u root -phunter2 db", "mysql -u root -p[redacted] db"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := shell.Redact(c.in); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if !shell.CarriesSecret(c.in) {
				t.Error("no secret was seen")
			}
		})
	}
	for _, plain := range []string{
		"ls -la", "git commit -m 'add the token parser'", "grep -rn password src", "docker run -p 80:80 x", "cat tokens.txt",
		"go test ./pkg/secret/...", "ssh-keygen -t ed25519", "echo https://host:8080/a@b", "make test", "sort -u a:b", "npm run build",
		"mysql -u root -p", "cat sk-learn.txt", "curl -u me https://x",
	} {
		if got := shell.Redact(plain); got != plain {
			t.Errorf("%q became %q", plain, got)
		}
	}
}

func redactHolds(t *rapid.T) {
	s := rapid.OneOf(rapid.String(), rapid.StringMatching(`([a-z]{1,8}[ =:"'@/_-]){0,12}`)).Draw(t, "s")
	once := shell.Redact(s)
	if again := shell.Redact(once); again != once {
		t.Fatalf("%q, redacted again %q", once, again)
	}
	token := secret("ghp", "_", rapid.StringMatching(`[A-Za-z0-9]{36}`).Draw(t, "token"))
	if got := shell.Redact(s + " " + token + " " + s); strings.Contains(got, token) {
		t.Fatalf("the token is left in %q", got)
	}
}

func TestRedactHolds(t *testing.T) { rapid.Check(t, redactHolds) }

func FuzzRedact(f *testing.F) { f.Fuzz(rapid.MakeFuzz(redactHolds)) }
