package watch

// store keeps the contents of the files in the table, as far as searches need them.
type store struct{}

// put says that a file is new or changed. With force its content changed even if its stat is the same.
func (s *store) put(p string, st Stat, force bool) {}

// drop says that a file is gone.
func (s *store) drop(p string) {}

// flush brings the contents up to date with everything that was put and dropped.
func (s *store) flush() {}
