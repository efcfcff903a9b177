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
	// busyTimeout is the time to wait for a write of another process, in milliseconds.
	busyTimeout = 2000
	// eraseTimeout is the busy timeout during Erase, in milliseconds.
	eraseTimeout = 30_000
	// maxReaders is the number of connections for reading.
	maxReaders = 2
	// DamagedSuffix is the suffix of a file that was moved aside.
	DamagedSuffix = ".damaged"
)

var (
	// errForeign reports a file of another version or another program.
	errForeign = errors.New("the file is not a database of this program and version")
	// ErrInUse reports that another process prevents the truncation of the write-ahead log,
	// which may still contain erased data.
	ErrInUse = errors.New("a server has the file open: erased data may stay in it until that server ends")
)

// Kind identifies the files of one use, and creates their tables.
type Kind struct {
	// Application is SQLite's application_id, and Version its user_version.
	Application, Version int
	// Tables is the SQL that creates the tables in an empty file.
	Tables string
	// Upgrades has the SQL that turns a file of an earlier version into one of the next version. A file of a
	// version without an upgrade is unusable.
	Upgrades map[int]string
}

// DB is an open file with one connection for writing and several for reading.
type DB struct {
	Write, Read *sql.DB
	// Prepared reads as Read does. It is for queries that are repeated.
	Prepared *Statements
	// File describes the file at the time of opening. It reveals if the path leads to another
	// file later.
	File fs.FileInfo
}

// Close closes all connections. Call it once.
func (d *DB) Close() error { return errors.Join(d.Read.Close(), d.Write.Close()) }

// Open opens the file and creates it if it is missing. A file that cannot be used is moved
// aside, and damage is the reason.
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

// OpenInPlace opens or creates the file. It never moves a file aside.
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
	d.Prepared = &Statements{db: d.Read, prepared: map[string]*sql.Stmt{}}
	err = retryBusy(func() error { return kind.prepare(d.Write) })
	if err == nil {
		d.File, err = os.Stat(path)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// retryBusy repeats an operation while another process is writing, for at most busyTimeout.
// SQLite itself does not wait if two processes switch a new file to WAL mode.
func retryBusy(do func() error) error {
	for until := time.Now().Add(busyTimeout * time.Millisecond); ; time.Sleep(5 * time.Millisecond) {
		if err := do(); !IsBusy(err) || time.Now().After(until) {
			return err
		}
	}
}

// createPrivate creates a missing file with mode 0600, because SQLite would use the umask. It
// does not open an existing file: closing that would release the POSIX locks of an open
// database.
func createPrivate(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
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
		"_pragma": {
			fmt.Sprintf("busy_timeout(%d)", busyTimeout),
			"journal_mode(WAL)",
			"synchronous(NORMAL)",
			"cache_size(-8192)",
		},
	}.Encode()
}

// prepare checks that the file is of this kind, and sets up an empty file.
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
		case application == k.Application && k.Upgrades[version] != "":
			return k.upgrade(tx, version)
		case application != 0 || version != 0 || count != 0:
			return errForeign
		}
		_, err = tx.Exec(
			k.Tables + fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d;", k.Application, k.Version),
		)
		return err
	})
}

// upgrade migrates a file to the current version, one version after the other.
func (k Kind) upgrade(tx *sql.Tx, version int) error {
	for ; version != k.Version; version++ {
		if k.Upgrades[version] == "" {
			return errForeign
		}
		if _, err := tx.Exec(k.Upgrades[version] + fmt.Sprintf("PRAGMA user_version=%d;", version+1)); err != nil {
			return err
		}
	}
	return nil
}

// InTransaction runs do in a transaction, which is committed if do returns nil.
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

// Erase removes rows and then rewrites the file with VACUUM. Pages keep deleted data even if
// SQLite is told to overwrite it. Other processes may have the file open. If one of them keeps
// erased data on the disk, the error is ErrInUse.
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

// setBusyTimeout sets the busy timeout of the connection for writing, in milliseconds.
func setBusyTimeout(db *sql.DB, ms int) error {
	_, err := db.Exec(fmt.Sprintf("PRAGMA busy_timeout = %d", ms))
	return err
}

// IsUnusable reports whether the file must be replaced.
func IsUnusable(err error) bool {
	return errors.Is(err, errForeign) || IsDamaged(err) || sqliteCode(err) == sqlite3.SQLITE_ERROR // a missing table
}

// IsDamaged reports whether the file is damaged, whatever the operation was.
func IsDamaged(err error) bool {
	return sqliteCode(err) == sqlite3.SQLITE_CORRUPT || sqliteCode(err) == sqlite3.SQLITE_NOTADB
}

// IsBusy reports whether another process held a lock for longer than the timeout.
func IsBusy(err error) bool { return sqliteCode(err) == sqlite3.SQLITE_BUSY }

// sqliteCode returns the primary result code of SQLite, or SQLITE_OK for other errors.
func sqliteCode(err error) int {
	var failed *sqlite.Error
	if !errors.As(err, &failed) {
		return sqlite3.SQLITE_OK
	}
	return failed.Code() & 0xff
}

// MoveAside renames a file that cannot be used, and replaces an earlier one of that name. It
// removes the files that SQLite keeps beside it.
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
