package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite" // registers the driver
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// busyTimeout is how long another process's write is waited for, in milliseconds.
	busyTimeout = 2000
	// eraseTimeout is how long that is for Erase, in milliseconds.
	eraseTimeout = 30_000
	// maxReaders is how many read at once.
	maxReaders = 2
	// AsideSuffix is behind the name of a file that could not be used.
	DamagedSuffix = ".damaged"
)

var (
	// errForeign is what a file is told by that is of another version, or another program's.
	errForeign = errors.New("the file is no database of this version")
	// ErrInUse is why a file may still have what was taken out.
	ErrInUse = errors.New("a server has it open: what was taken out may be in the file until that server ends")
)

// Kind tells the files of one use from those of others, and how one begins.
type Kind struct {
	// Application is SQLite's application_id, Version its user_version.
	Application, Version int
	// Tables is the SQL that makes the tables of an empty file.
	Tables string
}

// DB is an open file: one connection that writes, and some that read.
type DB struct {
	Write, Read *sql.DB
	// File is what the path led to when it was opened.
	File fs.FileInfo
}

// Close may be called once.
func (d *DB) Close() error { return errors.Join(d.Read.Close(), d.Write.Close()) }

// Open opens the file, and makes what is missing in it. A file that cannot be used is
// moved aside, once; why is the error beside the database.
func Open(path string, kind Kind) (db *DB, damage, err error) {
	db, err = OpenInPlace(path, kind)
	if err == nil || !IsUnusable(err) {
		return db, nil, err
	}
	damage = err
	if err := MoveAside(path); err != nil {
		return nil, damage, err
	}
	db, err = OpenInPlace(path, kind)
	return db, damage, err
}

// Try opens the file, and moves nothing aside.
func OpenInPlace(path string, kind Kind) (*DB, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := createPrivate(path); err != nil {
		return nil, err
	}
	source := (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: pragmas()}).String()
	d := &DB{}
	var err error
	if d.Write, err = sql.Open("sqlite", source); err != nil {
		return nil, err
	}
	if d.Read, err = sql.Open("sqlite", source); err != nil {
		return nil, err
	}
	d.Write.SetMaxOpenConns(1)
	d.Read.SetMaxOpenConns(maxReaders)
	err = retryBusy(func() error { return kind.prepare(d.Write) })
	if err == nil {
		d.File, err = os.Stat(path)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// whileBusy tries something again for as long as another process's write is waited for. SQLite
// does not wait itself where two that open a new file both give it a log.
func retryBusy(do func() error) error {
	for until := time.Now().Add(busyTimeout * time.Millisecond); ; time.Sleep(5 * time.Millisecond) {
		if err := do(); !IsBusy(err) || time.Now().After(until) {
			return err
		}
	}
}

// private makes the file, if need be, so that nobody else can read it: SQLite itself
// leaves that to the umask. It is not opened where it is there: closing it would end the
// locks of a database that is open.
func createPrivate(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file", path)
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
func (k Kind) prepare(db *sql.DB) error {
	return InTransaction(db, func(tx *sql.Tx) error {
		var application, version, count int
		err := errors.Join(
			tx.QueryRow("PRAGMA application_id").Scan(&application),
			tx.QueryRow("PRAGMA user_version").Scan(&version),
			tx.QueryRow("SELECT count(*) FROM sqlite_master").Scan(&count))
		switch {
		case err != nil:
			return err
		case application == k.Application && version == k.Version:
			return nil
		case application != 0 || version != 0 || count != 0:
			return errForeign
		}
		_, err = tx.Exec(k.Tables + fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d;", k.Application, k.Version))
		return err
	})
}

// Within does something in one transaction: all of it, or nothing.
func InTransaction(db *sql.DB, do func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Erase removes rows, and writes the file anew: pages keep what was in them before rows moved
// or went, also where SQLite is told to overwrite what it deletes. Other processes may have the
// file open; ErrInUse tells that one of them keeps what was removed from leaving the disk.
func Erase(db *sql.DB, remove func(tx *sql.Tx) error) error {
	if err := setBusyTimeout(db, eraseTimeout); err != nil {
		return err
	}
	defer func() { _ = setBusyTimeout(db, busyTimeout) }()
	if err := InTransaction(db, remove); err != nil {
		return err
	}
	if _, err := db.Exec("VACUUM"); err != nil {
		return err
	}
	var busy, written, moved int
	if err := db.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &written, &moved); err != nil {
		return err
	}
	if busy != 0 {
		return ErrInUse
	}
	return nil
}

// patience sets how long the connection that writes waits for others, in milliseconds.
func setBusyTimeout(db *sql.DB, ms int) error {
	_, err := db.Exec(fmt.Sprintf("PRAGMA busy_timeout = %d", ms))
	return err
}

// Unusable tells whether an error is about the file's content, so that another file
// would help.
func IsUnusable(err error) bool {
	return errors.Is(err, errForeign) || IsDamaged(err) || sqliteCode(err) == sqlite3.SQLITE_ERROR // where a table is not there
}

// Damaged tells whether an error is about the file's content, whatever was asked of it.
func IsDamaged(err error) bool {
	return sqliteCode(err) == sqlite3.SQLITE_CORRUPT || sqliteCode(err) == sqlite3.SQLITE_NOTADB
}

// Busy tells whether another process had the file locked for too long.
func IsBusy(err error) bool { return sqliteCode(err) == sqlite3.SQLITE_BUSY }

// code is that of SQLite, 0 where an error is not its.
func sqliteCode(err error) int {
	var failed *sqlite.Error
	if !errors.As(err, &failed) {
		return sqlite3.SQLITE_OK
	}
	return failed.Code() & 0xff
}

// Aside takes a file that cannot be used out of the way; one that was moved before gives
// way to it. What belongs to it goes.
func MoveAside(path string) error {
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	err := os.Rename(path, path+DamagedSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
