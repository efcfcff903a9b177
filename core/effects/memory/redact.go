package memory

import (
	"bytes"
	"context"
)

// Redact removes secrets from the memories of a thread, and returns the number of memories that had
// some. These get new ids. Without write it only counts, and creates no file.
//
// The redacted rows are appended before the others are deleted. After a crash in between, both exist,
// and the next call deletes the ones with secrets. Unreadable lines stay unchanged.
func (s *Store) Redact(ctx context.Context, session string, write bool) (int, error) {
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	data, err := s.content()
	if err != nil {
		return 0, err
	}
	rows, ids := s.secretsOf(data, session)
	if len(ids) == 0 || !write {
		return len(ids), nil
	}
	if err := s.Append(ctx, rows); err != nil {
		return 0, err
	}
	_, err = s.Forget(ctx, Selection{IDs: ids})
	return len(ids), err
}

// secretsOf returns the rows of a thread that have secrets, their ids, and the ids of deleted rows
// that are still in the file.
func (s *Store) secretsOf(data []byte, session string) (rows []Row, ids []string) {
	gone, seen := forgottenIn(data), map[string]bool{}
	for raw := range bytes.Lines(data) {
		l, ok := parseLine(raw)
		if !ok || l.forget != nil || l.row.SessionID != session {
			continue
		}
		id, clean := l.row.ID(), l.row.clean(s.options.Redact)
		if seen[id] || clean.Title == l.row.Title && clean.Text == l.row.Text {
			continue
		}
		seen[id], ids = true, append(ids, id)
		if !gone[id] {
			rows = append(rows, l.row)
		}
	}
	return rows, ids
}
