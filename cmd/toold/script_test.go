package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes the test binary also the command toold, so that scripts run the real program, which starts the real
// daemon from the same binary.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"toold": main, "echo-peer": echoMain})
}

// TestScript runs the specification: each file in testdata/script is a user at a terminal with a home of their own.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			runtimeDir, err := os.MkdirTemp("", "toold")
			if err != nil {
				return err
			}
			e.Defer(func() {
				stopDaemonOf(runtimeDir, e)
				os.RemoveAll(runtimeDir)
			})
			ws := filepath.Join(e.WorkDir, "ws")
			if err := os.MkdirAll(ws, 0o777); err != nil {
				return err
			}
			for k, v := range map[string]string{
				"HOME": filepath.Join(e.WorkDir, "home"), "XDG_RUNTIME_DIR": runtimeDir, "XDG_STATE_HOME": filepath.Join(e.WorkDir, "state"),
				"XDG_CONFIG_HOME": filepath.Join(e.WorkDir, "config"), "WS": ws, "NO_COLOR": "1", "LC_ALL": "C.UTF-8",
			} {
				e.Setenv(k, v)
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"sha256": sha256Command,
			"mode":   modeCommand,
			"printf": printfCommand,
			"repeat": repeatCommand,
			"seq":    seqCommand,
			"ln-s":   symlinkCommand,
		},
	})
}

// stopDaemonOf ends the daemon that a script started, however the script ended.
func stopDaemonOf(runtimeDir string, e *testscript.Env) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	exe, err := os.Executable()
	if err != nil {
		return
	}
	c := exec.CommandContext(ctx, filepath.Join(filepath.Dir(exe), "toold"), "stop")
	if path, err := exec.LookPath("toold"); err == nil {
		c.Path = path
	}
	c.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+runtimeDir, "XDG_STATE_HOME="+e.Getenv("XDG_STATE_HOME"), "HOME="+e.Getenv("HOME"))
	_ = c.Run()
}

// sha256 FILE HEX: the file's content has that hash.
func sha256Command(ts *testscript.TestScript, neg bool, args []string) {
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	sum := sha256.Sum256(data)
	if (hex.EncodeToString(sum[:]) == args[1]) == neg {
		ts.Fatalf("%s has sha256 %x", args[0], sum)
	}
}

// mode FILE OCTAL: the file has these permission bits.
func modeCommand(ts *testscript.TestScript, neg bool, args []string) {
	st, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if (fmt.Sprintf("%04o", st.Mode().Perm()) == args[1]) == neg {
		ts.Fatalf("%s has mode %04o", args[0], st.Mode().Perm())
	}
}

// printf FILE TEXT: writes TEXT with Go's escapes to FILE, keeping nothing else.
func printfCommand(ts *testscript.TestScript, _ bool, args []string) {
	text, err := unescape(args[1])
	ts.Check(err)
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[0])), 0o777))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o666))
}

func unescape(s string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'f':
			b.WriteByte('\f')
		case '\\':
			b.WriteByte('\\')
		case 'x':
			v, err := hex.DecodeString(s[i+1 : i+3])
			if err != nil {
				return "", err
			}
			b.Write(v)
			i += 2
		default:
			return "", fmt.Errorf("unknown escape \\%c", s[i])
		}
	}
	return b.String(), nil
}

// repeat FILE N TEXT: writes TEXT N times.
func repeatCommand(ts *testscript.TestScript, _ bool, args []string) {
	var n int
	_, err := fmt.Sscan(args[1], &n)
	ts.Check(err)
	text, err := unescape(args[2])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat(text, n)), 0o666))
}

// seq FILE FROM TO FORMAT: writes a line for each number.
func seqCommand(ts *testscript.TestScript, _ bool, args []string) {
	var from, to int
	_, err := fmt.Sscan(args[1]+" "+args[2], &from, &to)
	ts.Check(err)
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, args[3]+"\n", i)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o666))
}

// ln-s LINK TARGET: makes a symbolic link whose text is TARGET.
func symlinkCommand(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.Symlink(args[1], ts.MkAbs(args[0])))
}
