package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
)

// Forgotten counts what was dropped by [Store.Forget].
type Forgotten struct {
	Edits int64 // changes whose contents are not named any more
	Blobs int   // contents that were removed
	Kept  int   // contents that stay because another path has them too
}

// ofPath is the condition for the rows of a file, or of all files below a folder
const ofPath = `(file = ?1 OR file >= ?1 || '/' AND file < ?1 || '0')`

// Forget drops the stored contents of the file, or of all files below the folder, with that absolute real path: for
// secrets that should not have been written. The journal's rows stay, without contents; snapshots of it cannot be
// restored any more. The bytes are overwritten in the database and its log; what the file system or the disk keeps of
// them is out of reach.
func (s *Store) Forget(ctx context.Context, fileKey string) (Forgotten, error) {
	if err := ctx.Err(); err != nil {
		return Forgotten{}, fmt.Errorf("forget %s: %w", fileKey, err)
	}
	s.files.Lock()
	defer s.files.Unlock()
	var f Forgotten
	var gone string
	err := s.writer.do(&task{durable: true, run: func(t *tx) (err error) {
		f, gone, err = t.forget(fileKey)
		return err
	}})
	if err != nil {
		return Forgotten{}, fmt.Errorf("forget %s: %w", fileKey, err)
	}
	for h := range strings.FieldsSeq(strings.ToLower(gone)) {
		if err := s.removeFile(Hash(h)); err != nil {
			return f, fmt.Errorf("forget %s: %w", fileKey, err)
		}
	}
	if err := s.eraseLog(); err != nil {
		return f, fmt.Errorf("forget %s: its contents are dropped, but still stand in the log: %w; run it again", fileKey, err)
	}
	return f, nil
}

// forget drops the contents of a path. It gives the hashes of those that had nothing else to name them.
func (t *tx) forget(fileKey string) (f Forgotten, gone string, err error) {
	for _, s := range []struct {
		query string
		args  []driver.Value
	}{
		{`CREATE TEMP TABLE IF NOT EXISTS doomed (hash BLOB PRIMARY KEY)`, nil},
		{`DELETE FROM doomed`, nil},
		{`INSERT INTO doomed SELECT before FROM edits WHERE before IS NOT NULL AND state <> 'open' AND ` + ofPath + `
			UNION SELECT after FROM edits WHERE after IS NOT NULL AND state <> 'open' AND ` + ofPath + `
			UNION SELECT hash FROM snapshots WHERE hash IS NOT NULL AND ` + ofPath, []driver.Value{fileKey}},
		{`UPDATE snapshots SET hash = NULL, unreadable = 1 WHERE hash IS NOT NULL AND ` + ofPath, []driver.Value{fileKey}},
	} {
		if err := t.exec(s.query, s.args...); err != nil {
			return f, "", err
		}
	}
	if f.Edits, err = t.change(`UPDATE edits SET before = NULL, after = NULL, forgotten = 1 WHERE state <> 'open' AND `+ofPath, fileKey); err != nil {
		return f, "", err
	}
	kept, err := t.change(`DELETE FROM doomed WHERE hash IN (SELECT before FROM edits UNION ALL SELECT after FROM edits UNION ALL SELECT hash FROM snapshots)`)
	if err != nil {
		return f, "", err
	}
	list, err := t.value(`SELECT coalesce(group_concat(hex(hash), ' '), '') FROM doomed`)
	if err != nil {
		return f, "", err
	}
	gone = list.(string)
	f.Kept, f.Blobs = int(kept), len(strings.Fields(gone))
	return f, gone, t.eraseDoomed()
}

// eraseDoomed removes the doomed contents and overwrites where they stood.
func (t *tx) eraseDoomed() error {
	for _, q := range []string{
		`PRAGMA secure_delete = ON`, `DELETE FROM contents WHERE id IN (SELECT content FROM blobs WHERE hash IN (SELECT hash FROM doomed))`,
		`DELETE FROM blobs WHERE hash IN (SELECT hash FROM doomed)`, `PRAGMA secure_delete = OFF`,
	} {
		if err := t.once(q); err != nil {
			return err
		}
	}
	return nil
}

// eraseLog empties the log: what was removed from the database still stands in it until then.
func (s *Store) eraseLog() (err error) {
	c, err := connect(dataSource(s.database(), writerPragmas...))
	if err != nil {
		return translate(err)
	}
	defer func() { err = errors.Join(err, c.close()) }()
	busy, err := c.number(`PRAGMA wal_checkpoint(TRUNCATE)`)
	if err == nil && busy != 0 {
		return errors.New("somebody is reading it")
	}
	return translate(err)
}
