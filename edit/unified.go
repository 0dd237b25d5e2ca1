package edit

import "github.com/aymanbagabas/go-udiff"

// context is how many unchanged lines a unified diff shows around a change.
const context = 3

// Unified gives the unified diff from before to after, or "" when they are equal.
func Unified(path string, before, after []byte) string {
	a, b := splitText(before), splitText(after)
	offset := offsets(a)
	var edits []udiff.Edit
	for _, k := range compare(a, b) {
		edits = append(edits, udiff.Edit{Start: offset[k.a0], End: offset[k.a1], New: string(join(b[k.b0:k.b1]))})
	}
	text, err := udiff.ToUnified("a/"+path, "b/"+path, string(before), edits, context)
	if err != nil {
		// The edits are in order and within the text, which is all it asks for.
		panic("edit: unified diff: " + err.Error())
	}
	return text
}

func offsets(text []string) []int {
	out := make([]int, len(text)+1)
	for i, line := range text {
		out[i+1] = out[i] + len(line)
	}
	return out
}
