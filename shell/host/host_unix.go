//go:build unix

package host

import (
	"os"
	"os/exec"
	"syscall"
)

// session begins a session of its own: no terminal to ask on, and one group to end.
func session() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func endGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }

func interpreter() []string {
	if path, err := exec.LookPath("bash"); err == nil {
		return []string{path, "-c"}
	}
	return []string{"/bin/sh", "-c"}
}

func code(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
