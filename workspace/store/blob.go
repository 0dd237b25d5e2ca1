package store

import (
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// inlineLimit is the size in bytes up to which content stands in the database and is committed with the row that
// needs it; larger content gets a file.
const inlineLimit = 128 << 10

// Hash names content: its SHA-256 in lower-case hexadecimal digits. The empty Hash is no content at all.
type Hash string

// HashOf gives the name of content.
func HashOf(content []byte) Hash {
	sum := sha256.Sum256(content)
	return Hash(hex.EncodeToString(sum[:]))
}

// column gives the hash as the database has it.
func (h Hash) column() driver.Value {
	if h == "" {
		return nil
	}
	b, _ := hex.DecodeString(string(h))
	return b
}

func hashOf(column []byte) Hash { return Hash(hex.EncodeToString(column)) }

func (h Hash) valid() bool {
	b, err := hex.DecodeString(string(h))
	return err == nil && len(b) == sha256.Size
}

// blob is content on its way into the store.
type blob struct {
	hash Hash
	data []byte
	file bool // it is in a file already, durable
}

func newBlob(data []byte) *blob {
	if data == nil {
		data = []byte{} // nil would be NULL in the database
	}
	return &blob{hash: HashOf(data), data: data}
}

// large tells whether the content gets a file of its own.
func (b *blob) large() bool { return len(b.data) > inlineLimit }

// PutBlob stores content that no change or snapshot has yet. It is kept for a day at least; longer only when
// something that names it is recorded.
func (s *Store) PutBlob(ctx context.Context, content []byte) (Hash, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("store content: %w", err)
	}
	b := newBlob(content)
	if err := s.record(&task{durable: true}, func(t *tx) error { return t.touchBlob(b.hash, s.now()) }, b); err != nil {
		return "", fmt.Errorf("store content: %w", err)
	}
	return b.hash, nil
}

// record puts content into the store and runs a task that needs it, in one transaction.
func (s *Store) record(t *task, run func(*tx) error, blobs ...*blob) error {
	now := s.now()
	for _, b := range blobs {
		t.bytes += len(b.data)
		if b.large() {
			s.files.RLock()
			defer s.files.RUnlock()
			break
		}
	}
	for _, b := range blobs {
		if err := s.spill(b); err != nil {
			return err
		}
	}
	t.run = func(t *tx) error {
		for _, b := range blobs {
			if err := t.putBlob(b, now); err != nil {
				return err
			}
		}
		return run(t)
	}
	return s.writer.do(t)
}

func (t *tx) putBlob(b *blob, now time.Time) error {
	hash := b.hash.column()
	if _, err := t.number(`SELECT 1 FROM blobs WHERE hash = ?`, hash); !errors.Is(err, ErrNotFound) {
		return err
	}
	var content driver.Value
	if !b.file {
		id, err := t.insert(`INSERT INTO contents (data) VALUES (?)`, b.data)
		if err != nil {
			return err
		}
		content = id
	}
	return t.exec(`INSERT INTO blobs (hash, size, time, content) VALUES (?, ?, ?, ?)`, hash, int64(len(b.data)), stamp(now), content)
}

func (t *tx) touchBlob(h Hash, now time.Time) error {
	return t.exec(`UPDATE blobs SET time = ? WHERE hash = ?`, stamp(now), h.column())
}

// Blob gives stored content, after checking that it is what its name says. The error is [ErrCollected] for content
// that is not stored (any more), and [ErrCorrupt] when the bytes are not the ones that were stored.
func (s *Store) Blob(ctx context.Context, h Hash) ([]byte, error) {
	data, err := s.blob(ctx, h)
	if err != nil {
		return nil, fmt.Errorf("read the content %.12s: %w", string(h), translate(err))
	}
	if HashOf(data) != h {
		return nil, fmt.Errorf("read the content %.12s: its bytes have changed: %w", string(h), ErrCorrupt)
	}
	return data, nil
}

func (s *Store) blob(ctx context.Context, h Hash) ([]byte, error) {
	if !h.valid() {
		return nil, ErrCollected
	}
	var inline bool
	var data []byte
	err := s.row(ctx, `SELECT b.content IS NOT NULL, c.data FROM blobs b LEFT JOIN contents c ON c.id = b.content WHERE b.hash = ?`, h.column()).Scan(&inline, &data)
	if err = translate(err); errors.Is(err, ErrNotFound) {
		if data, ok := s.open.content(h); ok {
			return data, nil
		}
		return nil, ErrCollected
	}
	if inline && data == nil {
		data = []byte{}
	}
	if err != nil || inline {
		return data, err
	}
	data, err = os.ReadFile(s.blobFile(h))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("its file is missing: %w", ErrCorrupt)
	}
	return data, err
}

func (s *Store) blobDir() string { return filepath.Join(s.dir, blobsName) }
func (s *Store) tempDir() string { return filepath.Join(s.dir, blobsName, "tmp") }
func (s *Store) blobFile(h Hash) string {
	return filepath.Join(s.blobDir(), string(h[:2]), string(h[2:]))
}

func (s *Store) has(h Hash) (bool, error) {
	var have bool
	p, err := s.reads.prepare(`SELECT EXISTS (SELECT 1 FROM blobs WHERE hash = ?)`)
	if err == nil {
		err = p.QueryRow(h.column()).Scan(&have)
	}
	return have, translate(err)
}

// spill writes large content to a file and makes it durable, unless it is stored already.
func (s *Store) spill(b *blob) error {
	if !b.large() {
		return nil
	}
	b.file = true
	if have, err := s.has(b.hash); err != nil || have {
		return err
	}
	path := s.blobFile(b.hash)
	if err := makeFolder(filepath.Dir(path)); err != nil {
		return err
	}
	temp, err := s.writeTemp(b.data)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return syncFolder(filepath.Dir(path))
}

func (s *Store) writeTemp(data []byte) (string, error) {
	f, err := os.CreateTemp(s.tempDir(), "")
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// makeFolder makes one of the folders of blobs, durable.
func makeFolder(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return syncFolder(filepath.Dir(dir))
}

// removeTemps removes what a killed process had not finished writing.
func (s *Store) removeTemps() error {
	entries, err := os.ReadDir(s.tempDir())
	for _, e := range entries {
		err = errors.Join(err, os.Remove(filepath.Join(s.tempDir(), e.Name())))
	}
	return err
}
