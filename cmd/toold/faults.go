//go:build !faults

package main

import "github.com/toold/toold/workspace"

// injectFaults does nothing in an ordinary build; the tag "faults" makes one that dies or fails where a test says.
func injectFaults(*workspace.Files) {}
