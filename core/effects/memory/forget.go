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

	"appserver/platform/database"
	"appserver/platform/disk"
	"appserver/protocol"
)

// Selection selects rows to delete: those with the ids, or all, or all of the repository RepoKey.
type Selection struct {
	IDs     []string
	All     bool
	RepoKey string
}

func (s Selection) has(r Row, id string) bool {
	return (s.RepoKey == "" || r.RepoKey == s.RepoKey) && (s.All || slices.Contains(s.IDs, id))
}

// Forget deletes rows, their words and their vectors from all files, and returns their number. If
// another server still reads the database, pages of it may remain until that server ends; a warning
// reports it. Deleted code returns when its file changes.
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

// Reset deletes everything, also damaged lines.
func (s *Store) Reset(ctx context.Context) error {
	_, err := s.Forget(ctx, Selection{All: true})
	return err
}

// rewrite writes the file of lines again, without some rows, whose ids it adds to removed, and without
// rows that were deleted before. It keeps unreadable lines as long as a row remains, because they may
// be a part of one.
//
// It first appends the line that deletes the rows. So the deletion also holds if the disk has no room
// for the rewrite.
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

// content returns the whole file of lines, or nil if it does not exist.
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

// forgottenIn returns the ids of the rows that were deleted, by the last line about each.
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

// keep returns the lines without dropped rows and without deletions, and the number of rows that
// remain.
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

// eraseLocked deletes rows from the database, and data that belongs to no row any more.
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

// removeSelected deletes rows that have no line, which are rows of code. If all code is selected,
// it also deletes the list of read files.
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

// collect records the ids of rows before their deletion.
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

// tidy removes data that belongs to no row. FTS5 keeps words of deleted rows until it merges.
func tidy(tx *sql.Tx) error {
	for _, statement := range []string{
		"DELETE FROM vectors WHERE hash NOT IN (SELECT hash FROM rows)",
		"DELETE FROM repos WHERE key NOT IN (SELECT repo FROM rows) AND key NOT IN (SELECT repo FROM files)",
		"INSERT INTO words(words) VALUES ('optimize')",
		"DELETE FROM terms WHERE term NOT IN (SELECT term FROM vocabulary)",
	} {
		if _, err := tx.Exec(statement); err != nil {
			return err
		}
	}
	return nil
}
