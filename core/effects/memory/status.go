package memory

import (
	"context"
	"fmt"
	"os"

	"appserver/platform/database"
)

// Status is the state of a store.
type Status struct {
	// Path is the path of the file of lines, Bytes its size. IndexBytes is the size of the database.
	Path              string
	Bytes, IndexBytes int64
	// Rows is the number of rows of each kind, Files the number of known files of code.
	Rows  map[string]int64
	Files int64
	// Repositories and Sessions are the numbers of those that have rows.
	Repositories, Sessions int64
	// Damaged is the number of unreadable lines.
	Damaged int64
	// Model is the embedding model, or "". Dimension is the length of its vectors, or 0 before the first
	// one. Embedded is the number of rows with a vector.
	Model     string
	Dimension int
	Embedded  int64
	// Error is the last error of the database or the embedder, or "" if both work.
	Error string
}

// Status returns the state of the store. It creates no file.
func (s *Store) Status(ctx context.Context) (Status, error) {
	st := Status{Path: s.lines.Path(), Rows: map[string]int64{}}
	s.embeds.tell(&st)
	db, err := s.ready(ctx, false)
	if info, err := s.lines.Stat(); err == nil {
		st.Bytes = info.Size()
	}
	if err != nil {
		st.Error = err.Error()
		return st, ctx.Err()
	}
	if db == nil {
		return st, nil
	}
	if err := st.count(ctx, db); err != nil {
		s.spoiled(db, err)
		return st, fmt.Errorf("memory: status: %w", err)
	}
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(s.databasePath() + suffix); err == nil {
			st.IndexBytes += info.Size()
		}
	}
	return st, nil
}

func (st *Status) count(ctx context.Context, db *database.DB) error {
	rows, err := db.Read.QueryContext(ctx, "SELECT kind, count(*) FROM rows GROUP BY kind")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var kind string
		var n int64
		if err := rows.Scan(&kind, &n); err != nil {
			return err
		}
		st.Rows[kind] = n
	}
	if err := rows.Err(); err != nil {
		return err
	}
	err = db.Read.QueryRowContext(ctx,
		"SELECT (SELECT count(*) FROM files), (SELECT count(DISTINCT repo) FROM rows), (SELECT count(DISTINCT session) FROM rows WHERE session != ''), damaged FROM source").
		Scan(&st.Files, &st.Repositories, &st.Sessions, &st.Damaged)
	if err == nil && st.Model != "" {
		err = db.Read.QueryRowContext(ctx,
			`SELECT (SELECT count(*) FROM rows WHERE hash IN (SELECT hash FROM vectors WHERE model = ?1)),
			coalesce((SELECT length(vector) / 4 FROM vectors WHERE model = ?1 ORDER BY number DESC LIMIT 1), 0)`,
			st.Model).Scan(&st.Embedded, &st.Dimension)
	}
	return err
}
