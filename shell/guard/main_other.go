//go:build !linux

package guard

import (
	"fmt"
	"os"
)

// Main says that guards run in Linux containers only.
func Main([]string) int {
	fmt.Fprintln(os.Stderr, "the guard runs on Linux only")
	return 1
}
