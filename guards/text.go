package guards

import (
	"fmt"
	"strings"

	"github.com/toold/toold/workspace"
)

func name(c *workspace.Change) string { return workspace.ShowName(string(c.Path)) }

// verb says what was not done.
func verb(c *workspace.Change) string {
	switch c.Op {
	case workspace.OpEdit:
		return "edited"
	case workspace.OpRevert:
		return "reverted"
	}
	return "written"
}

// refusalText tells what would be lost and what to do instead.
func refusalText(c *workspace.Change, all []said, closing string) string {
	if len(all) == 1 && all[0].whole != "" {
		return all[0].whole
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s was not %s: ", name(c), verb(c))
	for i, o := range all {
		if len(all) > 1 {
			fmt.Fprintf(&b, "(%d) ", i+1)
		}
		b.WriteString(o.Lost)
		if !strings.HasSuffix(o.Lost, "\n") {
			b.WriteString(". ")
		}
		if o.Do != "" {
			b.WriteString(o.Do + ". ")
		}
	}
	b.WriteString(closing)
	return strings.TrimRight(b.String(), " ")
}

// againText says that a deliberate change is not blocked.
func againText(c *workspace.Change) string {
	tool := "write_file"
	if c.Op == workspace.OpEdit {
		tool = "edit_file"
	}
	return fmt.Sprintf("Nothing was changed. If this is what you mean to do, call %s for the same path again and it goes through.", tool)
}

// plural gives a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// clip shortens a line for a message.
func clip(s string, limit int) string {
	s = strings.TrimSpace(s)
	r := []rune(s)
	if len(r) <= limit {
		return s
	}
	return string(r[:limit]) + "…"
}
