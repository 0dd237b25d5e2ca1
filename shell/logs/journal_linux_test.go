package logs_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/toold/toold/shell/logs"
)

// journal makes a real journal. Where none can be made the test fails in CI.
func journal(t *testing.T, lines ...string) *logs.Reader {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("bash", "../testdata/make-journal.sh", dir)
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("make a journal: %v\n%s", err, said.String())
	}
	t.Setenv("PATH", strings.TrimSpace(string(out))+":"+os.Getenv("PATH"))
	t.Setenv("TZ", "UTC")
	return &logs.Reader{Journal: logs.Journal{Dir: dir}}
}

func TestSystemd(t *testing.T) {
	var lines []string
	for i := range 30 {
		lines = append(lines, fmt.Sprintf("_SYSTEMD_UNIT|web.service|17000000%02d|request %d", i, i))
	}
	r := journal(t, append(lines,
		"_SYSTEMD_UNIT|web.service|1700000050|panic: it broke\\n\\tat main.go:1\\n\\tat main.go:2",
		"_SYSTEMD_UNIT|web.service|1700000051|panic: again\\n```\\n## Fake",
		"_SYSTEMD_USER_UNIT|agent.service|1700000001|user's own",
		"_SYSTEMD_UNIT|db.service|1700000001|started",
	)...)
	defer goleak.VerifyNone(t)
	pad := strings.Repeat(" ", len("2023-11-14T22:14:10+0000 machine web[131]: "))
	for _, c := range []struct {
		q    logs.Query
		want string
	}{
		{
			logs.Query{Target: "web", Lines: 3},
			"## Systemd logs: web (last 3 lines)\n\n````\n2023-11-14T22:14:11+0000 machine web[132]: panic: again\n" + pad + "```\n" + pad + "## Fake\n````",
		},
		{
			logs.Query{Target: "web.service", Filter: "panic"},
			"## Systemd logs: web.service (last 2 of 2 lines that match panic)\n\n```\n2023-11-14T22:14:10+0000 machine web[131]: panic: it broke\n2023-11-14T22:14:11+0000 machine web[132]: panic: again\n```",
		},
		{
			logs.Query{Target: "web", Lines: 2, Filter: `request \d+$`},
			"## Systemd logs: web (last 2 of 30 lines that match request \\d+$)\n\n```\n2023-11-14T22:13:48+0000 machine web[129]: request 28\n2023-11-14T22:13:49+0000 machine web[130]: request 29\n```",
		},
		{
			logs.Query{Target: "web", Filter: "main.go"},
			"## Systemd logs: web (last 2 of 2 lines that match main.go)\n\n```\n" + pad + "        at main.go:1\n" + pad + "        at main.go:2\n```",
		},
		{
			logs.Query{Target: "web", Filter: "no such text"},
			"## Systemd logs: web (last 0 of 0 lines that match no such text)\nNo line matches the filter.",
		},
		{
			logs.Query{Target: "db.service"},
			"## Systemd logs: db.service (last 1 of 1 lines)\n\n```\n2023-11-14T22:13:21+0000 machine db[134]: started\n```",
		},
		{
			logs.Query{Target: "agent.service"},
			"## Systemd logs: agent.service (last 1 of 1 lines)\n\n```\n2023-11-14T22:13:21+0000 machine agent[133]: user's own\n```",
		},
		{logs.Query{Target: "webb"}, `not_found: the journal has no entries of a unit "webb"; it has some of: web.service, db.service, agent.service`},
		{logs.Query{Target: "--output=json"}, `invalid_argument: the target "--output=json" begins with a dash, so it would be taken for an option`},
		{logs.Query{Target: "*"}, "invalid_argument: \"*\" is no systemd unit: those have letters, digits and `:_.@\\-` only, such as nginx.service"},
		{logs.Query{Target: "web; touch pwned"}, "invalid_argument: \"web; touch pwned\" is no systemd unit: those have letters, digits and `:_.@\\-` only, such as nginx.service"},
	} {
		c.q.Source = logs.Systemd
		if diff := cmp.Diff(c.want, read(t, r, c.q)); diff != "" {
			t.Errorf("%+v: %s", c.q, diff)
		}
	}
}

func TestNoJournalctl(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	got := read(t, &logs.Reader{}, logs.Query{Source: logs.Systemd, Target: "x"})
	if got != `not_found: this machine has no journalctl, so there are no systemd logs to read; use source "docker" or "file"` {
		t.Error(got)
	}
}
