package memory

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"appserver/platform/database"
)

// CodeFile is a file of a repository, in pieces.
type CodeFile struct {
	// Path is relative to the repository.
	Path string
	// Hash identifies the contents. The caller of PutCode computes it.
	Hash   string
	Chunks []Chunk
}

// Chunk is a piece of a file.
type Chunk struct {
	// Title is the place: path, lines, and the declaration. It is unique within a file.
	Title string
	Text  string
}

// PutCode replaces the stored pieces of files, all or none. A file without pieces is stored as empty.
// Code is in the database only: after its loss the files are indexed again.
func (s *Store) PutCode(ctx context.Context, repo string, files []CodeFile) error {
	err := s.change(ctx, func(tx *sql.Tx) error {
		key, err := repoKey(tx, map[string]int64{}, repo)
		if err != nil {
			return err
		}
		stems := map[string]bool{}
		for _, f := range files {
			if err := s.putFile(tx, repo, key, f, stems); err != nil {
				return err
			}
		}
		return keepTerms(tx, stems)
	})
	if err == nil {
		s.embeds.want()
	}
	return err
}

func (s *Store) putFile(tx *sql.Tx, repo string, key int64, f CodeFile, stems map[string]bool) error {
	if err := dropFile(tx, key, f.Path); err != nil {
		return err
	}
	result, err := tx.Exec("INSERT INTO files (repo, path, hash) VALUES (?, ?, ?)", key, f.Path, f.Hash)
	if err != nil {
		return err
	}
	file, err := result.LastInsertId()
	if err != nil {
		return err
	}
	var rows []Row
	for _, c := range f.Chunks {
		row := Row{RepoKey: repo, TS: s.options.Now().UnixMilli(), Kind: Code, Title: c.Title, Text: c.Text}
		if row = row.clean(s.options.Redact); row.Text != "" {
			rows = append(rows, row)
		}
	}
	return insert(tx, rows, file, stems)
}

// DropCode deletes files that do not exist any more.
func (s *Store) DropCode(ctx context.Context, repo string, paths []string) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		key, err := repoKey(tx, map[string]int64{}, repo)
		for _, path := range paths {
			if err == nil {
				err = dropFile(tx, key, path)
			}
		}
		return err
	})
}

func dropFile(tx *sql.Tx, repo int64, path string) error {
	var file int64
	err := tx.QueryRow("SELECT key FROM files WHERE repo = ? AND path = ?", repo, path).Scan(&file)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		err = removeWhere(tx, "file = ?", file)
	}
	if err == nil {
		_, err = tx.Exec("DELETE FROM files WHERE key = ?", file)
	}
	return err
}

// CodeFiles returns the hashes of the stored files of a repository, by path.
func (s *Store) CodeFiles(ctx context.Context, repo string) (map[string]string, error) {
	db, err := s.ready(ctx, false)
	if err != nil || db == nil {
		return map[string]string{}, err
	}
	rows, err := db.Read.QueryContext(ctx,
		"SELECT path, hash FROM files WHERE repo = (SELECT key FROM repos WHERE name = ?)", repo)
	if err != nil {
		s.spoiled(db, err)
		return nil, fmt.Errorf("memory: files: %w", err)
	}
	defer func() { _ = rows.Close() }()
	files := map[string]string{}
	for rows.Next() {
		var path, hash string
		if err := rows.Scan(&path, &hash); err != nil {
			return nil, err
		}
		files[path] = hash
	}
	return files, rows.Err()
}

// change changes the database in one transaction.
func (s *Store) change(ctx context.Context, do func(tx *sql.Tx) error) error {
	db, err := s.ready(ctx, true)
	if err != nil {
		return err
	}
	if err := database.InTransaction(db.Write, do); err != nil {
		s.spoiled(db, err)
		return fmt.Errorf("memory: write: %w", err)
	}
	return nil
}
