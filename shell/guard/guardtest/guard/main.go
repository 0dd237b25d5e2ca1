// Command guard is the guard alone, for tests: the test binaries are not static.
package main

import (
	"os"

	"github.com/toold/toold/shell/guard"
)

func main() { os.Exit(guard.Main(os.Args[2:])) }
