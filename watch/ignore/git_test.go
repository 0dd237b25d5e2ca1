package ignore_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toold/toold/watch/ignore"
)

// disk is a source for tests, over a folder of the host.
type disk string

func (d disk) Has(p string) bool {
	_, err := os.Lstat(filepath.Join(string(d), p))
	return err == nil
}

func (d disk) Read(p string) []byte {
	st, err := os.Lstat(filepath.Join(string(d), p))
	if err != nil || !st.Mode().IsRegular() {
		return nil
	}
	data, _ := os.ReadFile(filepath.Join(string(d), p))
	return data
}

// plant writes the files below a new folder; names that end with a slash become folders.
func plant(t interface {
	Helper()
	Fatal(...any)
}, dir string, files map[string]string,
) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(p, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// excluded walks everything below root and gives the paths that the rules rule out, those in ruled out folders too.
func excluded(t interface{ Fatal(...any) }, root string, rules *ignore.Rules) []string {
	byFolder := map[string]*ignore.Rules{"": rules}
	out := []string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == "." {
			return err
		}
		if d.Name() == ".git" {
			return fs.SkipDir
		}
		dir := filepath.Dir(p)
		if dir == "." {
			dir = ""
		}
		if byFolder[dir].Ignores(d.Name(), d.IsDir()) {
			out = append(out, p)
		}
		if d.IsDir() {
			byFolder[p] = byFolder[dir].Enter(d.Name(), disk(root))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// git runs git with a home of its own, so that this machine's configuration does not matter.
func git(t interface{ Fatal(...any) }, dir, home, stdin string, args ...string) string {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	cmd.Stdin = strings.NewReader(stdin)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatal(strings.Join(args, " "), err, errs.String())
	}
	return string(out)
}

// gitExcluded asks git the same as excluded.
func gitExcluded(t interface{ Fatal(...any) }, root, home string) []string {
	var in strings.Builder
	err := fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		if d.Name() == ".git" {
			return fs.SkipDir
		}
		if p != "." {
			in.WriteString(p + "\x00")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	out := git(t, root, home, in.String(), "check-ignore", "--stdin", "-z")
	names := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	if out == "" {
		names = []string{}
	}
	slices.Sort(names)
	return names
}

var (
	names = rapid.SampledFrom([]string{"a", "b", "ab", "foo", "foo.o", "bar", "x y", ".hid", "a-b", "z]", "B", "é"})
	piece = rapid.SampledFrom([]string{
		"a", "b", "foo", "bar", "*", "**", "?", "/", "/", "!", "\\", "[ab]", "[!a]", "[^f]", "[a-f]", "[]a]", "[[:alpha:]]", "[[:bad:]]", "[[:", "[a", "-", "#", " ", "\\ ", "\t",
		".o", "*.o", "foo.o", "**/", "/**", "/*", "x y", "é", ".", "..", "\\*", "\\[", "o", "[\\]]", "\r",
	})
	line = rapid.Custom(func(t *rapid.T) string {
		l := strings.Join(rapid.SliceOfN(piece, 1, 5).Draw(t, "pieces"), "")
		if rapid.IntRange(0, 3).Draw(t, "negate") == 0 {
			l = "!" + l
		}
		return l
	})
	ignoreFile = rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(line, 1, 6).Draw(t, "lines"), rapid.SampledFrom([]string{"\n", "\n", "\r\n"}).Draw(t, "eol"))
	})
	filePath = rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(names, 1, 4).Draw(t, "parts"), "/")
	})
)

// agreesWithGit plants a random tree with nested ignore files and compares every decision with git's.
func agreesWithGit(t *rapid.T) {
	root, err := os.MkdirTemp("", "ignore")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(root)
	home := filepath.Join(root, "home")
	work := filepath.Join(root, "work")
	plant(t, root, map[string]string{
		"home/.config/git/ignore": rapid.OneOf(rapid.Just(""), ignoreFile).Draw(t, "excludesFile"),
		"work/.git/HEAD":          "ref: refs/heads/main\n", "work/.git/objects/": "", "work/.git/refs/": "",
		"work/.git/info/exclude": rapid.OneOf(rapid.Just(""), ignoreFile).Draw(t, "exclude"),
		"work/.git/config":       "[core]\n\trepositoryformatversion = 0\n\tignorecase = " + rapid.SampledFrom([]string{"false", "false", "true"}).Draw(t, "ignorecase") + "\n",
	})
	for _, p := range rapid.SliceOfN(filePath, 3, 12).Draw(t, "paths") {
		full := filepath.Join(work, p)
		if os.MkdirAll(filepath.Dir(full), 0o755) == nil {
			_ = os.WriteFile(full, nil, 0o644) // a folder of that name is as good
		}
	}
	folders := []string{"."}
	_ = fs.WalkDir(os.DirFS(work), ".", func(p string, d fs.DirEntry, _ error) error {
		if d.IsDir() && !strings.HasPrefix(p, ".git") && p != "." {
			folders = append(folders, p)
		}
		return nil
	})
	files := folders
	_ = fs.WalkDir(os.DirFS(work), ".", func(p string, d fs.DirEntry, _ error) error {
		if !d.IsDir() && !strings.HasPrefix(p, ".git/") {
			files = append(files, p)
		}
		return nil
	})
	for range rapid.IntRange(1, 3).Draw(t, "files") {
		dir := rapid.SampledFrom(folders).Draw(t, "folder")
		plant(t, work, map[string]string{dir + "/.gitignore": ignoreFile.Draw(t, "patterns")})
	}
	if tracked := rapid.SliceOfN(rapid.SampledFrom(files), 0, 2).Draw(t, "tracked"); len(tracked) > 0 {
		git(t, work, home, "", append([]string{"-c", "core.ignorecase=false", "add", "-f", "--ignore-errors", "--"}, tracked...)...)
		git(t, work, home, "", "update-index", "--index-version", rapid.SampledFrom([]string{"2", "3", "4"}).Draw(t, "version"))
	}
	outside, _ := ignore.Surroundings{Root: work, Home: home}.Outside()
	rules := outside.Root(disk(work))
	if diff := cmp.Diff(gitExcluded(t, work, home), excluded(t, work, rules)); diff != "" {
		t.Fatalf("ignored paths (-git +ours):\n%s", diff)
	}
}

func TestAgreesWithGit(t *testing.T) { rapid.Check(t, agreesWithGit) }

func FuzzAgreesWithGit(f *testing.F) { f.Fuzz(rapid.MakeFuzz(agreesWithGit)) }
