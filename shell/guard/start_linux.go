package guard

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/toold/toold/shell"
)

type process struct {
	pid            int
	stdout, stderr *os.File // the read ends of its pipes
}

// shells are tried in this order.
var shells = [...]string{"/bin/bash", "/usr/bin/bash", "/bin/sh", "/usr/bin/sh"}

// The failures that describe explains.
var (
	errDir     = errors.New("change to the folder")
	errProgram = errors.New("find the program")
	errUser    = errors.New("find the user")
	errStart   = errors.New("start the command")
)

// start starts the request's command in a session of its own, with empty input and with pipes for its output.
func start(req Request) (*process, error) {
	if err := os.Chdir(req.Dir); err != nil {
		return nil, fmt.Errorf("%w: %w", errDir, err)
	}
	argv := req.Argv
	if req.Script != "" {
		argv = []string{interpreter(), "-c", shell.Operand(req.Script)}
	}
	program, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errProgram, err)
	}
	who, err := identify(req)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUser, err)
	}
	env := append(who.environ(os.Environ()), req.Env...)
	if req.Mark != "" {
		env = append(env, MarkVariable+"="+req.Mark)
	}
	return spawn(program, argv, env, who.credential())
}

func interpreter() string {
	for _, sh := range shells {
		if info, err := os.Stat(sh); err == nil && info.Mode()&0o111 != 0 {
			return sh
		}
	}
	return shells[2]
}

func spawn(program string, argv, env []string, as *syscall.Credential) (*process, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errStart, err)
	}
	defer null.Close()
	stdout, outEnd, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errStart, err)
	}
	defer outEnd.Close()
	stderr, errEnd, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errStart, err)
	}
	defer errEnd.Close()
	pid, err := syscall.ForkExec(program, argv, &syscall.ProcAttr{
		Env:   dedupe(env),
		Files: []uintptr{null.Fd(), outEnd.Fd(), errEnd.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true, Credential: as},
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errStart, err)
	}
	return &process{pid: pid, stdout: stdout, stderr: stderr}, nil
}

// dedupe keeps the last value of each variable.
func dedupe(env []string) []string {
	at := map[string]int{}
	var kept []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if i, ok := at[name]; ok {
			kept[i] = kv
			continue
		}
		at[name] = len(kept)
		kept = append(kept, kv)
	}
	return kept
}

// describe turns a failed start into what an agent reads.
func describe(req Request, err error) failed {
	switch {
	case errors.Is(err, errDir):
		return failed{shell.NotFound, fmt.Sprintf("cannot run in %s: %v", req.Dir, errors.Unwrap(err))}
	case errors.Is(err, errProgram) && req.Script != "":
		return failed{shell.NotFound, "there is no shell (/bin/bash or /bin/sh) in the container, so no command can run; ask the user for another image"}
	case errors.Is(err, errProgram):
		return failed{shell.NotFound, fmt.Sprintf("%s is not installed there", req.Argv[0])}
	case errors.Is(err, errUser):
		return failed{shell.InvalidArgument, fmt.Sprintf("the configured user %q does not exist in the container; ask the user to correct container.user: %v", req.User, err)}
	case errors.Is(err, syscall.EPERM):
		return failed{codeUnprivileged, err.Error()}
	case errors.Is(err, syscall.E2BIG):
		return failed{shell.InvalidArgument, "the command and its environment are too long: write the command to a file with write_file and run that"}
	case errors.Is(err, syscall.EAGAIN):
		return failed{shell.Internal, "no more processes can be started there: its limit of processes is reached. Stop some (`ps`, jobs/stop) and try again"}
	default:
		return failed{shell.Internal, err.Error()}
	}
}
