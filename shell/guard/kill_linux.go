package guard

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// killAll ends every descendant and reports whether none is left.
func (g *guard) killAll(gently bool) bool {
	if gently {
		for _, pid := range living() {
			_ = syscall.Kill(pid, syscall.SIGTERM)
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
		select {
		case <-g.idle:
			return true
		case <-g.kill: // a second order means now
		case <-time.After(grace):
		}
	}
	late := time.After(killTime)
	for {
		for _, pid := range freeze() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		select {
		case <-g.idle:
			return true
		case <-late:
			return len(living()) == 0
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// freeze stops all descendants, so that none can make another one while the others are killed, and gives them.
func freeze() []int {
	stopped := map[int]bool{}
	for range 20 {
		fresh := false
		for _, pid := range living() {
			if !stopped[pid] {
				fresh, stopped[pid] = true, true
				_ = syscall.Kill(pid, syscall.SIGSTOP)
			}
		}
		if !fresh {
			break
		}
	}
	pids := make([]int, 0, len(stopped))
	for pid := range stopped {
		pids = append(pids, pid)
	}
	return pids
}

// living gives the guard's descendants that have not ended. Zombies are left out: they wait for their parent.
func living() []int {
	parents, dead := table()
	children := map[int][]int{}
	for pid, parent := range parents {
		children[parent] = append(children[parent], pid)
	}
	var found []int
	queue := children[os.Getpid()]
	for len(queue) > 0 {
		pid := queue[0]
		queue = append(queue[1:], children[pid]...)
		if !dead[pid] {
			found = append(found, pid)
		}
	}
	return found
}

// table gives every process's parent, and which processes are zombies.
func table() (parents map[int]int, dead map[int]bool) {
	parents, dead = map[int]int{}, map[int]bool{}
	proc, err := os.Open("/proc")
	if err != nil {
		return parents, dead
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if state, parent, ok := stat(name); ok {
			parents[pid] = parent
			dead[pid] = state == 'Z' || state == 'X'
		}
	}
	return parents, dead
}

// stat reads a process's state and parent. The name before them may hold anything, so they are found from its end.
func stat(pid string) (state byte, parent int, ok bool) {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, 0, false
	}
	i := bytes.LastIndexByte(text, ')')
	if i < 0 {
		return 0, 0, false
	}
	fields := bytes.Fields(text[i+1:])
	if len(fields) < 2 {
		return 0, 0, false
	}
	parent, err = strconv.Atoi(string(fields[1]))
	return fields[0][0], parent, err == nil
}
