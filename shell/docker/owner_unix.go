//go:build unix

package docker

import (
	"fmt"
	"os"
	"syscall"
)

// owner gives the owner of a folder of this machine as "uid:gid", or "".
func owner(folder string) string {
	info, err := os.Stat(folder)
	if err != nil {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d", st.Uid, st.Gid)
}
