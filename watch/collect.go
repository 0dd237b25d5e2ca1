package watch

// collector takes what is found, in path order, and decides when enough is known.
type collector struct {
	max      int
	context  bool
	answer   Answer
	text     int  // bytes of text so far, roughly
	files    int  // files with matches, those past the cap too
	total    int  // matches or files, those past the cap too
	after    int  // files looked at since the cap was passed
	complete bool // everything was looked at
}

// countingFiles is how many more files are looked at when the answer is full, to say how many matches there are in all.
const countingFiles = 500

func newCollector(p *plan) *collector {
	return &collector{max: p.Max, context: p.Context > 0, complete: true}
}

// file takes a file that the glob selects.
func (c *collector) file(p string) bool {
	c.answer.SearchedFiles++
	c.total++
	if len(c.answer.Files) < c.max && c.text < maxText {
		c.answer.Files = append(c.answer.Files, p)
		c.text += len(p) + 1
	} else {
		c.answer.Cut = true
	}
	return true
}

// matches takes what the next file has. It gives false when no more files need to be looked at.
func (c *collector) matches(f found) bool {
	c.answer.SearchedFiles++
	if f.total > 0 {
		c.total += f.total
		c.files++
		taken := 0
		for _, m := range f.matches {
			if len(c.answer.Matches) == c.max || c.text >= maxText {
				break
			}
			c.answer.Matches = append(c.answer.Matches, m)
			c.text += size(m)
			taken++
		}
		if taken > 0 {
			c.answer.Files = append(c.answer.Files, f.path)
		}
		c.answer.Cut = c.answer.Cut || taken < f.total
	}
	if c.answer.Cut {
		if c.after++; c.after > countingFiles {
			c.complete = false
		}
	}
	return c.complete
}

// size estimates what a match adds to the text, in bytes.
func size(m Match) int {
	n := len(m.Path) + len(m.Text) + 16
	for _, l := range m.Before {
		n += len(m.Path) + len(l) + 16
	}
	for _, l := range m.After {
		n += len(m.Path) + len(l) + 16
	}
	return n
}

func (c *collector) finish() Answer {
	c.answer.TotalKnown = c.complete
	if c.complete {
		c.answer.Total, c.answer.TotalFiles = c.total, c.files
	}
	return c.answer
}
