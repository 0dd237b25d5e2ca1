package guard

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// sweep kills every process with a mark in its environment, until there is none. It prints how many it has killed.
func sweep() int {
	mark, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if mark = strings.TrimSpace(mark); err != nil || mark == "" {
		return 1
	}
	entry := []byte("\x00" + MarkVariable + "=" + mark + "\x00")
	killed := 0
	for range 20 {
		pids := marked(entry)
		if len(pids) == 0 {
			break
		}
		for _, pid := range pids {
			if syscall.Kill(pid, syscall.SIGKILL) == nil {
				killed++
			}
		}
	}
	if _, err := os.Stdout.WriteString(strconv.Itoa(killed) + "\n"); err != nil {
		return 1
	}
	return 0
}

// marked gives the living processes whose environment has an entry.
func marked(entry []byte) []int {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	var pids []int
	for _, file := range files {
		env, err := os.ReadFile(file) // empty for a zombie
		if err != nil || !bytes.Contains(append([]byte{0}, env...), entry) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
