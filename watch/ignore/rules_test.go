package ignore_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toold/toold/watch/ignore"
)

// The cases that git has no word on: other ignore files, no repository, repositories within repositories, and a workspace
// that is a part of one.
func TestRules(t *testing.T) {
	repo := func(dir string) map[string]string {
		return map[string]string{dir + ".git/HEAD": "ref: refs/heads/main\n", dir + ".git/objects/": ""}
	}
	tests := []struct {
		name     string
		files    map[string]string
		repos    []string
		root     string
		patterns []string
		want     string
	}{
		{"no repository", map[string]string{".gitignore": "*.o\n", "a.o": "", "d/b.o": "", "c": ""}, nil, "", nil, "a.o d/b.o"},
		{"parents count up to the repository's root", map[string]string{".gitignore": "*.o\n", "w/.gitignore": "!b.o\n", "w/a.o": "", "w/b.o": ""}, []string{""}, "w", nil, "a.o"},
		{"anchored patterns of parents", map[string]string{".gitignore": "/w/x\n/x\n", "w/x": "", "w/d/x": ""}, []string{""}, "w", nil, "x"},
		{"parents of no repository do not count", map[string]string{".gitignore": "*.o\n", "w/a.o": ""}, nil, "w", nil, ""},
		{"parents above the repository do not count", map[string]string{".gitignore": "*.o\n", "r/w/a.o": ""}, []string{"r/"}, "r/w", nil, ""},
		{"a workspace that is ruled out itself", map[string]string{".gitignore": "build/\n*.o\n", "build/w/a.o": "", "build/w/x": ""}, []string{""}, "build/w", nil, ""},
		{"info/exclude from a sub-folder", map[string]string{".git/info/exclude": "/w/x\n*.o\n", "w/x": "", "w/a.o": "", "w/b": ""}, []string{""}, "w", nil, "a.o x"},
		{".ignore has the last word", map[string]string{".gitignore": "*.o\n", ".ignore": "!a.o\nz\n", "a.o": "", "b.o": "", "z": ""}, nil, "", nil, "b.o z"},
		{"a nested repository begins anew", map[string]string{".gitignore": "*.o\n", ".ignore": "*.x\n", "sub/a.o": "", "sub/b.x": "", "sub/.git/info/exclude": "c\n", "sub/c": ""}, []string{"", "sub/"}, "", nil, "sub/b.x sub/c"},
		{"a nested repository that is ruled out", map[string]string{".gitignore": "sub/\n", "sub/a": ""}, []string{"", "sub/"}, "", nil, "sub sub/a"},
		{"the configuration counts more than files", map[string]string{".gitignore": "!gen\n", "gen": "", "d/gen": ""}, nil, "", []string{"gen", "!d/gen"}, "gen"},
		{"a link is no ignore file", map[string]string{"pats": "*\n", ".gitignore": "->pats", "a": ""}, nil, "", nil, ""},
		{"long outputs and version control", map[string]string{".tool-output/x": "", ".hg/x": "", "CVS/x": "", "d/.svn/x": "", "x": ""}, nil, "", nil, ".hg .hg/x .tool-output .tool-output/x CVS CVS/x d/.svn d/.svn/x"},
		{"a folder that hides itself, opened by itself", map[string]string{".gitignore": "*\n", "a": "", "d/.gitignore": "*\n", "d/b": ""}, nil, "", nil, "d/.gitignore d/b"},
		{"a folder that hides all but one, opened by itself", map[string]string{".gitignore": "/*\n!/debian/\n", "a": ""}, nil, "", nil, ""},
		{"a repository that hides all", map[string]string{".gitignore": "*\n", "a": ""}, []string{""}, "", nil, ".gitignore a"},
		{"a byte order mark", map[string]string{".gitignore": "\ufeffa\n", "a": "", "b": ""}, nil, "", nil, "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			top := t.TempDir()
			plant(t, top, map[string]string{tt.root + "/": ""})
			for name, text := range tt.files {
				if target, ok := strings.CutPrefix(text, "->"); ok {
					if err := os.Symlink(target, filepath.Join(top, name)); err != nil {
						t.Fatal(err)
					}
					continue
				}
				plant(t, top, map[string]string{name: text})
			}
			for _, r := range tt.repos {
				plant(t, top, repo(r))
			}
			root := filepath.Join(top, tt.root)
			outside, _ := ignore.Surroundings{Root: root, Patterns: tt.patterns}.Outside()
			rules := outside.Root(disk(root))
			if diff := cmp.Diff(tt.want, strings.Join(excluded(t, root, rules), " ")); diff != "" {
				t.Errorf("ignored paths (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUserConfiguration(t *testing.T) {
	const own, shared = "own\n", "shared\n"
	tests := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"the default place", map[string]string{"home/.config/git/ignore": own}, "own"},
		{"~/.gitconfig names another", map[string]string{"home/.gitconfig": "[core]\n\texcludesFile = ~/pats\n", "home/pats": shared, "home/.config/git/ignore": own}, "shared"},
		{"quoted, with a comment", map[string]string{"home/.gitconfig": "[CORE] excludesfile = \"~/pa\\\"ts\" ; mine\n", "home/pa\"ts": shared}, "shared"},
		{"the repository's wins", map[string]string{"home/.gitconfig": "[core]\nexcludesFile=~/pats\n", "home/pats": shared, "w/.git/config": "[core]\n  excludesFile = \\\n~/own\n", "home/own": own}, "own"},
		{"an included file", map[string]string{"home/.gitconfig": "[include]\n path = more\n", "home/more": "[core]\nexcludesFile=~/pats\n", "home/pats": shared}, "shared"},
		{"a file that includes itself", map[string]string{"home/.gitconfig": "[include]\n path = .gitconfig\n[core]\nexcludesFile=~/pats\n", "home/pats": shared}, "shared"},
		{"switched off", map[string]string{"home/.gitconfig": "[core]\nexcludesFile=\n", "home/.config/git/ignore": own}, ""},
		{"another section", map[string]string{"home/.gitconfig": "[core \"x\"]\nexcludesFile=~/pats\n", "home/pats": shared}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			top := t.TempDir()
			plant(t, top, tt.files)
			plant(t, top, map[string]string{"w/.git/HEAD": "", "w/own": "", "w/shared": ""})
			root := filepath.Join(top, "w")
			outside, seen := ignore.Surroundings{Root: root, Home: filepath.Join(top, "home")}.Outside()
			rules := outside.Root(disk(root))
			if diff := cmp.Diff(tt.want, strings.Join(excluded(t, root, rules), " ")); diff != "" {
				t.Errorf("ignored paths (-want +got):\n%s", diff)
			}
			for name := range tt.files {
				if strings.HasSuffix(name, "config") && !slices.ContainsFunc(seen, func(d ignore.Decider) bool { return d.Path == filepath.Join(top, name) && d.Info != nil }) {
					t.Errorf("%s is not among the files that decide: %v", name, seen)
				}
			}
		})
	}
}

// FuzzParse feeds ignore files that nobody meant: none may panic or take long.
func FuzzParse(f *testing.F) {
	f.Add([]byte("*.o\n!/a/**/b\n[z-a]\n\\\n"), "a/b/c.o")
	f.Add([]byte("**/**/**/*a*a*a*b\n*[[:alpha:]*]\n"), "aaaaaaaaaaaaaaaaaaaaaa/aaaaaaaaaaaaaaaaaaa")
	f.Fuzz(func(t *testing.T, data []byte, p string) {
		l := ignore.Parse(data)
		l.Match(p, false, false)
		l.Match(p, true, true)
	})
}
