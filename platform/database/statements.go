package database

import (
	"context"
	"database/sql"
	"sync"
)

// maxStatements is the number of statements that stay prepared. Each takes some 10 KB a connection.
const maxStatements = 32

// Statements runs queries and keeps their statements prepared, by their text. It is safe for concurrent use.
type Statements struct {
	db *sql.DB

	mu       sync.Mutex
	prepared map[string]*sql.Stmt
}

// QueryContext calls sql.DB.QueryContext.
func (s *Statements) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	statement, err := s.prepare(ctx, text)
	if err != nil || statement == nil {
		return s.db.QueryContext(ctx, text, args...)
	}
	return statement.QueryContext(ctx, args...)
}

// prepare returns the prepared statement of a text, or nil if there are enough others.
func (s *Statements) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.prepared[text]; known != nil || len(s.prepared) == maxStatements {
		return known, nil
	}
	statement, err := s.db.PrepareContext(ctx, text)
	if err == nil {
		s.prepared[text] = statement
	}
	return statement, err
}
