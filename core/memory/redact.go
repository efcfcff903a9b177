package memory

import (
	"bytes"
	"context"
)

// Redact takes secrets out of what is remembered of a thread, and tells how many memories had
// some. They have other ids then; the rest stays. Without write it only tells, and makes no
// file.
//
// What is without secrets is kept before the other is forgotten: a crash between leaves both, and
// another call forgets the one that has them. Lines that are none stay as they are.
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

// secretsOf are the rows of a thread that have secrets, and the ids of these and of those that
// were forgotten, but are in the file still.
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
