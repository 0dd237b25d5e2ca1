package guards

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"go/version"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toold/toold/workspace"
)

// BenchmarkFalseAlarms replays the history of real projects as writes, and reports how many of a thousand the guards
// would refuse. For every module that the module cache (of TOOLD_STUDY_CACHE, or else Go's own) has in several
// versions, each file of a version is written over the one of the version before. Releases lie months apart, so a
// figure here is far above what single edits meet. TOOLD_STUDY_OUT names a file that gets one line for each refusal.
func BenchmarkFalseAlarms(b *testing.B) {
	s := study{b: b, judged: map[string]int{}, refused: map[string]int{}}
	for b.Loop() {
		s.run(studyCache())
	}
	for guard, n := range s.refused {
		b.ReportMetric(1000*float64(n)/float64(max(1, s.judged[guard])), strings.ReplaceAll(guard, " ", "-")+"/1000")
	}
	b.ReportMetric(float64(s.writes)/float64(b.N), "writes")
	if out := os.Getenv("TOOLD_STUDY_OUT"); out != "" {
		slices.Sort(s.lines)
		if err := os.WriteFile(out, []byte(strings.Join(slices.Compact(s.lines), "")), 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

func studyCache() string {
	if dir := os.Getenv("TOOLD_STUDY_CACHE"); dir != "" {
		return dir
	}
	if dir := os.Getenv("GOMODCACHE"); dir != "" {
		return dir
	}
	home, _ := os.UserHomeDir()
	return filepath.Join(home, "go", "pkg", "mod")
}

type study struct {
	b               *testing.B
	judged, refused map[string]int
	writes          int
	lines           []string
}

func (s *study) run(cache string) {
	for module, versions := range modulesIn(cache) {
		slices.SortFunc(versions, func(a, b string) int {
			return cmp.Or(version.Compare("go"+a[1:], "go"+b[1:]), strings.Compare(a, b))
		})
		for i := 1; i < len(versions); i++ {
			s.replay(module, filepath.Join(cache, module+"@"+versions[i-1]), filepath.Join(cache, module+"@"+versions[i]))
		}
	}
}

// modulesIn gives the modules of a cache with their versions.
func modulesIn(cache string) map[string][]string {
	found := map[string][]string{}
	_ = filepath.WalkDir(cache, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		if e.Name() == "cache" {
			return filepath.SkipDir
		}
		if name, version, ok := strings.Cut(e.Name(), "@"); ok {
			rel, _ := filepath.Rel(cache, filepath.Join(filepath.Dir(p), name))
			found[rel] = append(found[rel], version)
			return filepath.SkipDir
		}
		return nil
	})
	return found
}

// replay writes the files of a newer version over those of an older one.
func (s *study) replay(module, before, after string) {
	older, newer := os.DirFS(before), os.DirFS(after)
	_ = fs.WalkDir(newer, ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		fresh, err := fs.ReadFile(newer, p)
		if err != nil || !utf8.Valid(fresh) || bytes.IndexByte(fresh, 0) >= 0 {
			return err
		}
		old, err := fs.ReadFile(older, p)
		if err == nil && !bytes.Equal(old, fresh) || err != nil {
			s.judge(module, filepath.Base(before)+" → "+filepath.Base(after), &workspace.Change{
				Op: workspace.OpWrite, Path: workspace.Path(p), Real: workspace.Path(p), Existed: err == nil, Before: old, After: fresh, Input: fresh, FS: older,
			})
		}
		return nil
	})
}

func (s *study) judge(module, versions string, c *workspace.Change) {
	s.writes++
	for _, g := range New(Options{}).Guards() {
		o, err := g.judge(context.Background(), c)
		if err != nil {
			s.b.Errorf("%s %s: %s: %v", module, c.Path, g.Name, err)
		}
		s.judged[g.Name]++
		if o == nil {
			continue
		}
		s.refused[g.Name]++
		s.lines = append(s.lines, fmt.Sprintf("%s\t%s\t%s\t%s\t%d → %d bytes\t%s\n", g.Name, path.Base(module), versions, c.Path, len(c.Before), len(c.After), strings.ReplaceAll(o.Lost, "\n", " / ")))
	}
}
