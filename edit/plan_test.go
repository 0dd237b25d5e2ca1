package edit

import (
	"bytes"

	"github.com/google/go-cmp/cmp"
	"github.com/toold/toold/edit/lines"
)

// checkHunks rebuilds the outcome from the hunks and compares the lines outside of them.
func checkHunks(t interface {
	Helper()
	Errorf(string, ...any)
}, before string, p Plan,
) {
	t.Helper()
	old := lines.Split(bytes.TrimPrefix([]byte(before), []byte(bom)))
	fresh := lines.Split(bytes.TrimPrefix(p.After, []byte(bom)))
	i, j := 0, 0
	for _, h := range append(p.Hunks, Hunk{len(old) + 1, 0, len(fresh) + 1, 0}) {
		if h.OldStart-1-i != h.NewStart-1-j || h.OldStart-1 < i || h.OldStart-1 > len(old) || h.NewStart-1 > len(fresh) {
			t.Errorf("hunk %+v does not follow line %d → %d", h, i, j)
			return
		}
		for ; i < h.OldStart-1; i, j = i+1, j+1 {
			if diff := cmp.Diff(string(old[i]), string(fresh[j])); diff != "" {
				t.Errorf("line %d outside of the hunks changed:\n%s", i+1, diff)
			}
		}
		i, j = i+h.OldLines, j+h.NewLines
	}
}
