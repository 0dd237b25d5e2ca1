package main

// openFileLimit gives the soft and the hard limit of open files of this process, 0 for no limit.
func openFileLimit() (soft, hard int) { return 0, 0 }
