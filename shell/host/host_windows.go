package host

import (
	"os"
	"syscall"
)

func session() *syscall.SysProcAttr { return nil }

func endGroup(p *os.Process) error { return p.Kill() }

func interpreter() []string { return []string{"bash", "-c"} }

func code(s *os.ProcessState) int { return s.ExitCode() }
