package edit

import "testing"

func TestElision(t *testing.T) {
	for _, line := range []string{
		"// ... existing code ...",
		"    // ... existing code ...",
		"//... existing code",
		"// …existing code…",
		"# rest unchanged",
		"# ... rest of methods ...",
		"# ...",
		"// ...",
		"//...",
		"// …",
		"/* ... */",
		"/* ... rest of the file ... */",
		"<!-- ... -->",
		"<!-- rest of the page unchanged -->",
		"<!-- ... existing markup ... -->",
		"{/* ... existing props ... */}",
		"{/* ... */}",
		"-- ... remaining columns ...",
		"; ... unchanged",
		"% ...",
		"# existing code unchanged",
		"// rest of the function remains the same",
		"// Rest of code unchanged...",
		"// [... rest of implementation ...]",
		"// (rest of the code remains unchanged)",
		"/// ... existing fields",
		"## ... existing rules ...",
		"(* ... rest ... *)",
		"{# ... existing blocks ... #}",
		"// ... (existing code)",
		"// existing imports...",
		"// remaining methods ...",
		"// ... all the existing code",
		"# --- rest of file unchanged ---",
		"x = 1 # ... rest unchanged",
		"func f() { /* ... existing code ... */ }",
		"return a; // ... existing code ...",
		"// ... other existing code ...",
		"// ... code omitted for brevity ...",
		"// ... keep existing code",
	} {
		if n, got, found := Elision([]byte("package x\n"), []byte("first\n"+line+"\nlast\n")); !found || n != 2 {
			t.Errorf("%q is not found: line %d, %q", line, n, got)
		}
	}
	for _, line := range []string{
		"...",
		"    ...",
		"def f(): ...",
		"f(a, ...)",
		"func f(args ...int) {",
		"[...new Set(x)]",
		"const a = {...existing, b: 1}",
		"// existing users keep their id",
		"# the rest of the cake",
		"// loading remaining items...",
		"// Wait ...",
		"// see above ...",
		"# existing",
		"# Existing code",
		"// unchanged",
		"rest unchanged",
		"... existing code ...",
		"print('loading...')",
		"log(\"rest unchanged ...\")",
		"// 1, 2, ... n",
		"# usage: tool [options] ...",
		"// TODO: ...",
		"url = \"http://x/...\"",
		"--- a/file",
		"---",
		"#!/bin/sh",
		"# restart the rest server",
		"// ... and so on",
		"// ... then use the remaining budget",
		"// ... more than the rest of us",
		"/* */",
		"//",
		"#",
		"- ...",
		"* ...",
		"x := y % z // ...",
		"",
	} {
		if n, got, found := Elision(nil, []byte(line+"\n")); found {
			t.Errorf("%q is taken for an elision: line %d, %q", line, n, got)
		}
	}
}

func TestElisionThatTheFileHas(t *testing.T) {
	before := []byte("a()\n\t// ... existing code ...\nb()\n")
	if _, got, found := Elision(before, []byte("c()\n// ... existing code ...\n")); found {
		t.Errorf("%q stands in the file", got)
	}
	if _, _, found := Elision(before, []byte("c()\n// ... rest ...\n")); !found {
		t.Error("another elision is not found")
	}
}
