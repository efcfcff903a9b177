package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite" // registers the driver
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// application and version tell our files from those of others, and of others of ours.
	application = 0x61707369
	version     = 2

	// busyTimeout is how long another server's write is waited for, in milliseconds.
	busyTimeout = 2000

	// asideSuffix is behind the name of a file that could not be used.
	asideSuffix = ".damaged"
)

// tables are the tables of an index. Times are Unix nanoseconds, offsets and sizes
// bytes. messages.session is sessions.key: two files may have one thread's id. parent is the
// thread that has spawned this one, origin the id of the file that this one goes on from,
// metadata what a client has told of the repository last, as JSON.
const tables = `
CREATE TABLE sessions (
	key INTEGER PRIMARY KEY,
	root TEXT NOT NULL, folder TEXT NOT NULL, rollout_path TEXT NOT NULL,
	inode INTEGER NOT NULL, size INTEGER NOT NULL, last_event_at INTEGER NOT NULL,
	offset INTEGER NOT NULL, begin_size INTEGER NOT NULL, begin_sum INTEGER NOT NULL,
	listed INTEGER NOT NULL, id TEXT NOT NULL, started_at INTEGER NOT NULL,
	cwd TEXT NOT NULL, model_provider TEXT NOT NULL, source TEXT NOT NULL,
	cli_version TEXT NOT NULL, originator TEXT NOT NULL, git_branch TEXT, git_commit TEXT,
	title TEXT NOT NULL, preview TEXT NOT NULL, folded TEXT NOT NULL, head TEXT NOT NULL,
	parent TEXT, origin TEXT, metadata TEXT,
	UNIQUE (root, rollout_path)
);
CREATE INDEX sessions_created ON sessions (root, rollout_path) WHERE listed;
CREATE INDEX sessions_updated ON sessions (root, last_event_at, rollout_path) WHERE listed;
CREATE INDEX sessions_recent ON sessions (last_event_at);
CREATE INDEX sessions_unlisted ON sessions (last_event_at) WHERE NOT listed;
CREATE INDEX sessions_folder ON sessions (root, folder);
CREATE INDEX sessions_thread ON sessions (root, id, rollout_path);
CREATE INDEX sessions_parent ON sessions (parent) WHERE parent IS NOT NULL;
CREATE INDEX sessions_origin ON sessions (origin) WHERE origin IS NOT NULL;
CREATE TABLE messages (
	number INTEGER PRIMARY KEY AUTOINCREMENT,
	session INTEGER NOT NULL, offset INTEGER NOT NULL,
	role TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, tool_name TEXT NOT NULL,
	UNIQUE (session, offset)
);
CREATE VIRTUAL TABLE found USING fts5(text, content='messages', content_rowid='number', tokenize='trigram', detail='none');
CREATE VIRTUAL TABLE titled USING fts5(folded, content='sessions', content_rowid='key', tokenize='trigram', detail='none');
`

// errForeign is what a file is told by that is an index of another version, or none.
var errForeign = errors.New("index: the file is not an index of this version")

// database is an open index: one connection that writes, and some that read.
type database struct {
	write, read *sql.DB
	// file is what the path led to when it was opened.
	file fs.FileInfo
}

func (d *database) close() error { return errors.Join(d.read.Close(), d.write.Close()) }

// maxReaders is how many searches and lists read at once.
const maxReaders = 2

// open opens the file, and makes what is missing in it. A file that cannot be used is
// moved aside, once.
func open(path string) (*database, error) {
	db, err := try(path)
	if err == nil || !unusable(err) {
		return db, err
	}
	if err := aside(path); err != nil {
		return nil, err
	}
	return try(path)
}

func try(path string) (*database, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := private(path); err != nil {
		return nil, err
	}
	source := (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: pragmas()}).String()
	d := &database{}
	var err error
	if d.write, err = sql.Open("sqlite", source); err != nil {
		return nil, err
	}
	if d.read, err = sql.Open("sqlite", source); err != nil {
		return nil, err
	}
	d.write.SetMaxOpenConns(1)
	d.read.SetMaxOpenConns(maxReaders)
	err = prepare(d.write)
	if err == nil {
		d.file, err = os.Stat(path)
	}
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// private makes the file, if need be, so that nobody else can read it: SQLite itself
// leaves that to the umask. It is not opened where it is there: closing it would end the
// locks of a database that is open.
func private(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("index: %s is no regular file", path)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

func pragmas() string {
	return url.Values{
		"_txlock": {"immediate"},
		"_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeout), "journal_mode(WAL)", "synchronous(NORMAL)", "cache_size(-8192)"},
	}.Encode()
}

// prepare checks whose file it is; an empty one becomes ours.
func prepare(db *sql.DB) error {
	tx, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var app, version_, count int
	err = errors.Join(
		tx.QueryRow("PRAGMA application_id").Scan(&app),
		tx.QueryRow("PRAGMA user_version").Scan(&version_),
		tx.QueryRow("SELECT count(*) FROM sqlite_master").Scan(&count))
	switch {
	case err != nil:
		return err
	case app == application && version_ == version:
		return nil
	case app != 0 || version_ != 0 || count != 0:
		return errForeign
	}
	if _, err := tx.Exec(tables + fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d;", application, version)); err != nil {
		return err
	}
	return tx.Commit()
}

// unusable tells whether an error is about the file's content, so that another file
// would help.
func unusable(err error) bool {
	return errors.Is(err, errForeign) || damaged(err) || code(err) == sqlite3.SQLITE_ERROR // where a table is not there
}

// damaged tells whether an error is about the file's content, whatever was asked of it.
func damaged(err error) bool {
	return code(err) == sqlite3.SQLITE_CORRUPT || code(err) == sqlite3.SQLITE_NOTADB
}

// code is that of SQLite, 0 where an error is not its.
func code(err error) int {
	var failed *sqlite.Error
	if !errors.As(err, &failed) {
		return sqlite3.SQLITE_OK
	}
	return failed.Code() & 0xff
}

// aside takes a file that cannot be used out of the way; one that was moved before gives
// way to it. What belongs to it goes.
func aside(path string) error {
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	err := os.Rename(path, path+asideSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
