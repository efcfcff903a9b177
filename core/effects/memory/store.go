package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"appserver/platform/database"
	"appserver/platform/disk"
	"appserver/rollout/home"
)

const (
	linesFile    = "memory.jsonl"
	databaseFile = "memory.sqlite"

	// retryAfter is the pause after a failed attempt to open the database.
	retryAfter = 5 * time.Second
)

// ErrClosed is the error of a closed store.
var ErrClosed = errors.New("memory: the store is closed")

// Options configure a store.
type Options struct {
	// Home is the folder of the files.
	Home string
	// Disk is the file system of the file of lines. Nil is the real one.
	Disk disk.FS
	// Redact removes secrets from titles and texts before they are written. Nil removes none.
	Redact func(text string) string
	// Embedder computes vectors of texts. If it is nil, searches are by words alone.
	Embedder Embedder
	// QueryTimeout is the maximum time that a search waits for the vector of its text. 0 means 800
	// ms.
	QueryTimeout time.Duration
	// Warn receives each warning for users once: a database that was rebuilt, an embedder that fails.
	Warn func(message string)
	// Now is the clock. Nil means the real one.
	Now func() time.Time

	// minSimilar is the minimum similarity of another word to a word of a question. Benchmarks
	// compare values.
	minSimilar float64
}

// Store stores rows, and finds them. Several goroutines and processes can use one home.
type Store struct {
	options Options
	lines   home.LineFile
	embeds  *embedding
	lexicon lexicon

	mu     sync.Mutex
	closed bool
	// db is nil while the file is not open.
	db *database.DB
	// seen is the state of the file of lines when db had all of it, or nil if unknown.
	seen   fs.FileInfo
	failed time.Time
	last   error

	warning sync.Mutex
	warned  map[string]bool
}

// Open returns a store. It opens no file: the first call that needs one does.
func Open(o Options) *Store {
	if o.Disk == nil {
		o.Disk = disk.OS()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.QueryTimeout <= 0 {
		o.QueryTimeout = queryTimeout
	}
	s := &Store{options: o, lines: home.New(o.Disk, o.Home, nil).LineFile(linesFile), warned: map[string]bool{}}
	if o.Embedder != nil {
		s.embeds = newEmbedding(s, o.Embedder)
	}
	return s
}

func (s *Store) databasePath() string { return filepath.Join(s.options.Home, databaseFile) }

// Append stores rows. After it returns nil, they are durable and have no secrets. After an error none
// is stored. It does not store rows of code. Searches by words find a row at once. Vectors follow in
// the background.
func (s *Store) Append(ctx context.Context, rows []Row) error {
	clean := make([]Row, 0, len(rows))
	for _, r := range rows {
		if r = r.clean(s.options.Redact); r.Kind == Code || r.Kind == "" || r.Text == "" || r.RepoKey == "" {
			return fmt.Errorf("memory: a row of kind %q with %d bytes of text for repository %q cannot be appended: it needs another kind than code, a text and a repository", r.Kind, len(r.Text), r.RepoKey)
		}
		clean = append(clean, r)
	}
	data, err := format(clean)
	if err != nil || len(data) == 0 {
		return err
	}
	if err := s.append(ctx, data); err != nil {
		return err
	}
	s.embeds.want()
	return nil
}

func (s *Store) append(ctx context.Context, data []byte) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	lock, err := s.lines.Lock(disk.Exclusive)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	return s.lines.Append(data)
}

func (s *Store) usable(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	return ctx.Err()
}

// Close ends the work in the background. The store must not be used afterwards.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.embeds.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shutLocked()
}

func (s *Store) shutLocked() error {
	db := s.db
	s.db, s.seen = nil, nil
	s.embeds.dropMatrices()
	if db == nil {
		return nil
	}
	return db.Close()
}

// ready returns the database with all rows of the file of lines. It returns nil, and creates no file,
// if there are no rows.
func (s *Store) ready(ctx context.Context, make bool) (*database.DB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readyLocked(ctx, make)
}

func (s *Store) readyLocked(ctx context.Context, make bool) (*database.DB, error) {
	db, err := s.freshLocked(ctx, make)
	if err == nil || !database.IsUnusable(err) || s.db == nil {
		return db, err
	}
	s.asideLocked(err)
	return s.freshLocked(ctx, make)
}

func (s *Store) freshLocked(ctx context.Context, make bool) (*database.DB, error) {
	if s.closed {
		return nil, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !make && s.nothing() {
		return nil, s.shutLocked()
	}
	if err := s.openLocked(); err != nil {
		return nil, err
	}
	return s.db, s.syncLocked()
}

// nothing reports whether neither file exists.
func (s *Store) nothing() bool {
	_, lines := s.lines.Stat()
	_, db := os.Lstat(s.databasePath())
	return errors.Is(lines, fs.ErrNotExist) && errors.Is(db, fs.ErrNotExist)
}

// openLocked opens the database. If its file was removed, it closes the open one first.
func (s *Store) openLocked() error {
	if s.db != nil {
		info, err := os.Stat(s.databasePath())
		if err == nil && os.SameFile(info, s.db.File) {
			return nil
		}
		_ = s.shutLocked()
	}
	if s.options.Now().Sub(s.failed) < retryAfter && s.last != nil {
		return s.last
	}
	db, damage, err := database.Open(s.databasePath(), kind())
	if damage != nil {
		s.warnRebuilt(damage)
	}
	if err != nil {
		err = fmt.Errorf("the memory database %s: %w", s.databasePath(), err)
		s.failed, s.last = s.options.Now(), err
		return err
	}
	s.db, s.last = db, nil
	return nil
}

// asideLocked renames an unusable database.
func (s *Store) asideLocked(why error) {
	s.warnRebuilt(why)
	_ = s.shutLocked()
	if err := database.MoveAside(s.databasePath()); err != nil {
		s.last = err
	}
}

func (s *Store) warnRebuilt(why error) {
	s.warn("the memory database " + s.databasePath() + " could not be used (" + why.Error() + "): it was moved to " +
		databaseFile + database.DamagedSuffix + " and is made anew from " + linesFile)
}

func (s *Store) warn(message string) { s.warnOnce(message, message) }

// warnOnce sends each warning once.
func (s *Store) warnOnce(thing, message string) {
	s.warning.Lock()
	warned := s.warned[thing]
	s.warned[thing] = true
	s.warning.Unlock()
	if !warned && s.options.Warn != nil {
		s.options.Warn(message)
	}
}

// spoiled moves a damaged database aside, so that the next call creates another one. It returns false
// if the error has another reason.
func (s *Store) spoiled(db *database.DB, err error) bool {
	if db == nil || !database.IsDamaged(err) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.db == db {
		s.asideLocked(err)
	}
	return true
}
