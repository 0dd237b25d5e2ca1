package store

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sourcegraph/conc"
)

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}

// BenchmarkChange is what the journal adds to a change of a 4 KiB file whose contents are both new.
func BenchmarkChange(b *testing.B) {
	for _, clients := range []int{1, 8, 64} {
		b.Run("clients="+strconv.Itoa(clients), func(b *testing.B) {
			s := openStore(b, b.TempDir(), nil)
			var n atomic.Int64
			b.SetParallelism(clients) // times GOMAXPROCS, which the caller sets to 1
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					in := intent("r1", "dir/file"+strconv.FormatInt(n.Add(1)%1000, 10), "b", "a")
					in.BeforeBytes, in.AfterBytes = randomBytes(4096), randomBytes(4096)
					id, err := s.Begin(b.Context(), in)
					if err == nil {
						err = s.Finish(b.Context(), id, Event{Kind: "edit", Workspace: "/w", Data: []byte(`{"path":"dir/file"}`)})
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

// BenchmarkBegin is the part of it that overlaps with writing the temporary file.
func BenchmarkBegin(b *testing.B) {
	s := openStore(b, b.TempDir(), nil)
	for b.Loop() {
		in := intent("r1", "dir/file", "b", "a")
		in.BeforeBytes, in.AfterBytes = randomBytes(4096), randomBytes(4096)
		if _, err := s.Begin(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkByHand is the yardstick: a 4 KiB file replaced durably without any journal.
func BenchmarkByHand(b *testing.B) {
	dir := b.TempDir()
	data := randomBytes(4096)
	for b.Loop() {
		if err := byHand(dir, data); err != nil {
			b.Fatal(err)
		}
	}
}

func byHand(dir string, data []byte) error {
	f, err := os.CreateTemp(dir, "")
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), filepath.Join(dir, "file")); err != nil {
		return err
	}
	return syncFolder(dir)
}

func BenchmarkBlob(b *testing.B) {
	s := openStore(b, b.TempDir(), nil)
	h := must[Hash](b)(s.PutBlob(b.Context(), randomBytes(4096)))
	for b.Loop() {
		if _, err := s.Blob(b.Context(), h); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDurableWrite takes turns between a journalled durable write and one by hand, so that a busy machine slows
// both alike, and reports the medians and their ratio.
func BenchmarkDurableWrite(b *testing.B) {
	s, dir := openStore(b, b.TempDir(), nil), b.TempDir()
	before := randomBytes(4096)
	ok(b, os.WriteFile(filepath.Join(dir, "file"), before, 0o600))
	var ours, hands []time.Duration
	for b.Loop() {
		after := randomBytes(4096)
		start := time.Now()
		ok(b, journalled(b, s, dir, before, after))
		middle := time.Now()
		ok(b, byHand(dir, after))
		ours, hands = append(ours, middle.Sub(start)), append(hands, time.Since(middle))
		before = after
	}
	slices.Sort(ours)
	slices.Sort(hands)
	us := func(d []time.Duration, q int) float64 { return float64(d[len(d)*q/100].Microseconds()) }
	for _, q := range []int{2, 10, 50} {
		name := "p" + strconv.Itoa(q)
		b.ReportMetric(us(ours, q), name+"-us")
		b.ReportMetric(us(hands, q), name+"-hand-us")
		b.ReportMetric(us(ours, q)/us(hands, q), name+"-ratio")
	}
}

// journalled replaces the file as the door does: the intent is committed while the temporary file is written, and
// closed while the folder is synced.
func journalled(b *testing.B, s *Store, dir string, before, after []byte) error {
	in := intent("r1", "file", "b", "a")
	in.BeforeBytes, in.AfterBytes = before, after
	var id string
	var begun error
	var begin conc.WaitGroup
	begin.Go(func() { id, begun = s.Begin(b.Context(), in) })
	f, err := os.CreateTemp(dir, "")
	if err == nil {
		_, err = f.Write(after)
	}
	if err == nil {
		err = f.Sync()
	}
	defer f.Close()
	begin.Wait()
	if err = errors.Join(err, begun); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), filepath.Join(dir, "file")); err != nil {
		return err
	}
	var finish conc.WaitGroup
	finish.Go(func() {
		err = s.Finish(b.Context(), id, Event{Kind: "edit", Workspace: "/w", Data: []byte(`{"path":"file"}`)})
	})
	sync := syncFolder(dir)
	finish.Wait()
	return errors.Join(err, sync)
}
