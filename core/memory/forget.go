package memory

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"appserver/protocol"
	"appserver/rollout/database"
	"appserver/rollout/disk"
)

// Selection is which rows are to be forgotten: those with the ids, or all, of one repository
// where RepoKey is given.
type Selection struct {
	IDs     []string
	All     bool
	RepoKey string
}

func (s Selection) has(r Row, id string) bool {
	return (s.RepoKey == "" || r.RepoKey == s.RepoKey) && (s.All || slices.Contains(s.IDs, id))
}

// Forget takes rows out of all files, and leaves nothing of them there: nor of their words, nor of
// their vectors. It tells how many there were. Where a server still reads the database, which a
// warning tells, pages of it may stay until that ends. Code that was forgotten comes back when
// its file changes.
func (s *Store) Forget(ctx context.Context, selection Selection) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	db, err := s.readyLocked(ctx, false)
	if err != nil || db == nil {
		return 0, err
	}
	removed := map[string]bool{}
	if err := s.rewrite(selection.has, removed); err != nil {
		return 0, err
	}
	if err := s.eraseLocked(selection, removed); err != nil {
		return len(removed),
			fmt.Errorf("what was to be forgotten is out of %s, but not out of %s: %w", linesFile, databaseFile, err)
	}
	return len(removed), nil
}

// Reset forgets everything, damaged lines too.
func (s *Store) Reset(ctx context.Context) error {
	_, err := s.Forget(ctx, Selection{All: true})
	return err
}

// rewrite makes the file of lines anew without some rows, whose ids it puts into removed, and
// without those that were taken back before. A line that is none stays, unless no row does: it
// may be part of one.
//
// First a line says what is forgotten: so it is also where the disk has no room for the rewrite.
func (s *Store) rewrite(drop func(r Row, id string) bool, removed map[string]bool) error {
	lock, err := s.lines.Lock(disk.Exclusive)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	data, err := s.content()
	if err != nil || data == nil {
		return err
	}
	gone := forgottenIn(data)
	var ids []string
	kept, stay := keep(data, func(r Row, id string) bool {
		if !drop(r, id) {
			return gone[id]
		}
		ids = append(ids, id)
		return true
	})
	for _, id := range ids {
		removed[id] = true
	}
	if stay == 0 {
		kept = nil
	}
	if bytes.Equal(kept, data) {
		return nil
	}
	if len(ids) > 0 {
		raw, err := protocol.Marshal(forgotten{ids})
		if err == nil {
			err = s.lines.Append(append(raw, '\n'))
		}
		if err != nil {
			return err
		}
	}
	return s.lines.Replace(kept)
}

// content is all of the file of lines; nil where there is none.
func (s *Store) content() ([]byte, error) {
	file, info, err := s.lines.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data := make([]byte, info.Size())
	n, err := file.ReadAt(data, 0)
	if n < len(data) {
		return nil, err
	}
	return data, nil
}

// forgottenIn are the ids that the last line about them takes back.
func forgottenIn(data []byte) map[string]bool {
	gone := map[string]bool{}
	for raw := range bytes.Lines(data) {
		l, ok := parseLine(raw)
		if !ok {
			continue
		}
		for _, id := range l.forget {
			gone[id] = true
		}
		if l.forget == nil && len(gone) > 0 {
			delete(gone, l.row.ID())
		}
	}
	return gone
}

// keep is the lines without those of dropped rows and without those that take rows back, and how
// many rows stay.
func keep(data []byte, drop func(r Row, id string) bool) (kept []byte, rows int) {
	for raw := range bytes.Lines(data) {
		l, ok := parseLine(raw)
		switch {
		case !ok:
		case l.forget != nil, drop(l.row, l.row.ID()):
			continue
		default:
			rows++
		}
		kept = append(kept, raw...)
	}
	return kept, rows
}

// eraseLocked takes rows out of the database, and what is nobody's any more.
func (s *Store) eraseLocked(selection Selection, removed map[string]bool) error {
	s.embeds.dropMatrices()
	if err := os.Remove(s.databasePath() + database.DamagedSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := database.Erase(s.db.Write, func(tx *sql.Tx) error {
		for id := range removed {
			if err := removeWhere(tx, "id = ?", id); err != nil {
				return err
			}
		}
		return errors.Join(removeSelected(tx, selection, removed), tidy(tx))
	})
	if errors.Is(err, database.ErrInUse) {
		s.warn("the memory database " + s.databasePath() + ": " + err.Error())
		err = nil
	}
	return err
}

// removeSelected takes out what has no line: code, and with all of it that it was read.
func removeSelected(tx *sql.Tx, selection Selection, removed map[string]bool) error {
	condition, args := "1", []any(nil)
	if selection.RepoKey != "" {
		condition, args = "repo = (SELECT key FROM repos WHERE name = ?)", []any{selection.RepoKey}
	}
	if selection.All {
		if err := collect(tx, removed, condition, args...); err != nil {
			return err
		}
		_, err := tx.Exec("DELETE FROM files WHERE "+condition, args...)
		return errors.Join(err, removeWhere(tx, condition, args...))
	}
	for _, id := range selection.IDs {
		with := append(slices.Clone(args), id)
		if err := errors.Join(collect(tx, removed, condition+" AND id = ?", with...),
			removeWhere(tx, condition+" AND id = ?", with...)); err != nil {
			return err
		}
	}
	return nil
}

// collect notes the ids of rows that are about to go.
func collect(tx *sql.Tx, ids map[string]bool, condition string, args ...any) error {
	rows, err := tx.Query("SELECT id FROM rows WHERE "+condition, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return err
		}
		ids[id] = true
	}
	return rows.Err()
}

// tidy removes what belongs to no row; FTS5 keeps words of deleted rows until it merges.
func tidy(tx *sql.Tx) error {
	for _, statement := range []string{
		"DELETE FROM vectors WHERE hash NOT IN (SELECT hash FROM rows)",
		"DELETE FROM repos WHERE key NOT IN (SELECT repo FROM rows) AND key NOT IN (SELECT repo FROM files)",
		"INSERT INTO words(words) VALUES ('optimize')",
	} {
		if _, err := tx.Exec(statement); err != nil {
			return err
		}
	}
	return nil
}
