package database_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"appserver/platform/database"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func notes(version int) database.Kind {
	return database.Kind{Application: 7, Version: version, Tables: "CREATE TABLE notes (text TEXT);"}
}

func write(t *testing.T, db *database.DB, text string) {
	t.Helper()
	_, err := db.Write.Exec("INSERT INTO notes VALUES (?)", text)
	require.NoError(t, err)
}

func count(t *testing.T, db *database.DB) (n int) {
	t.Helper()
	require.NoError(t, db.Read.QueryRow("SELECT count(*) FROM notes").Scan(&n))
	return n
}

func TestAFileIsPrivateAndKeepsItsContent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a folder", "notes.sqlite")
	for n := range 2 {
		db, damage, err := database.Open(path, notes(1))
		require.NoError(t, err)
		require.NoError(t, damage)
		require.Equal(t, n, count(t, db))
		write(t, db, "one")
		files, err := filepath.Glob(path + "*")
		require.NoError(t, err)
		require.Len(t, files, 3)
		for _, file := range files {
			info, err := os.Stat(file)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), file)
		}
		require.NoError(t, db.Close())
	}
}

func TestAFileThatCannotBeUsedIsMovedAside(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"garbage": func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("garbage ", 1024)), 0o600))
		},
		"another version": func(t *testing.T, path string) {
			db, err := database.OpenInPlace(path, notes(2))
			require.NoError(t, err)
			require.NoError(t, db.Close())
		},
		"another program's": func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", "file:"+path)
			require.NoError(t, err)
			_, err = db.Exec("CREATE TABLE theirs (x)")
			require.NoError(t, err)
			require.NoError(t, db.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "notes.sqlite")
			spoil(t, path)
			_, err := database.OpenInPlace(path, notes(1))
			require.True(t, database.IsUnusable(err), "%v", err)
			db, damage, err := database.Open(path, notes(1))
			require.NoError(t, err)
			require.Error(t, damage)
			require.Zero(t, count(t, db))
			require.NoError(t, db.Close())
			require.FileExists(t, path+database.DamagedSuffix)
		})
	}
}

func TestAPathThatIsNoFileIsRejected(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.sqlite")
	require.NoError(t, os.Symlink("/etc/hostname", path))
	_, _, err := database.Open(path, notes(1))
	require.ErrorContains(t, err, path+" is not a regular file")
	require.NoFileExists(t, path+database.DamagedSuffix)
}

func TestErasedTextIsInNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.sqlite")
	db, _, err := database.Open(path, notes(1))
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	write(t, db, strings.Repeat("to be forgotten", 100))
	write(t, db, "to stay")
	require.NoError(t, database.Erase(db.Write, func(tx *sql.Tx) error {
		_, err := tx.Exec("DELETE FROM notes WHERE text <> 'to stay'")
		return err
	}))
	require.Equal(t, 1, count(t, db))
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		require.NoError(t, err)
		require.NotContains(t, string(data), "forgotten")
	}
}

func TestManyOpenANewFileAtOnce(t *testing.T) {
	for n := range 20 {
		path := filepath.Join(t.TempDir(), "notes.sqlite")
		failed := make([]error, 4)
		var opening sync.WaitGroup
		for i := range failed {
			opening.Go(func() {
				db, damage, err := database.Open(path, notes(1))
				if failed[i] = errors.Join(damage, err); err == nil {
					failed[i] = errors.Join(failed[i], db.Close())
				}
			})
		}
		opening.Wait()
		require.NoError(t, errors.Join(failed...), "file %d", n)
	}
}

func TestAFileOfAnEarlierVersionIsUpgraded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.sqlite")
	db, err := database.OpenInPlace(path, notes(1))
	require.NoError(t, err)
	write(t, db, "one")
	require.NoError(t, db.Close())

	newer := notes(3)
	newer.Upgrades = map[int]string{
		1: "ALTER TABLE notes ADD COLUMN size INTEGER;",
		2: "UPDATE notes SET size = length(text);",
	}
	for range 2 {
		db, damage, err := database.Open(path, newer)
		require.NoError(t, err)
		require.NoError(t, damage)
		var size int
		require.NoError(t, db.Read.QueryRow("SELECT size FROM notes").Scan(&size))
		require.Equal(t, 3, size)
		require.NoError(t, db.Close())
	}
}

// TestAnUpgradeThatFailsChangesNothing has no second upgrade, or one that is no SQL.
func TestAnUpgradeThatFailsChangesNothing(t *testing.T) {
	for name, second := range map[string]string{"missing": "", "wrong": "no SQL;"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "notes.sqlite")
			db, err := database.OpenInPlace(path, notes(1))
			require.NoError(t, err)
			write(t, db, "one")
			require.NoError(t, db.Close())

			newer := notes(3)
			newer.Upgrades = map[int]string{1: "DELETE FROM notes;", 2: second}
			_, err = database.OpenInPlace(path, newer)
			require.True(t, database.IsUnusable(err), "%v", err)
			db, err = database.OpenInPlace(path, notes(1))
			require.NoError(t, err)
			require.Equal(t, 1, count(t, db))
			require.NoError(t, db.Close())
		})
	}
}

func TestARepeatedQuerySeesTheLastWrite(t *testing.T) {
	db, _, err := database.Open(filepath.Join(t.TempDir(), "notes.sqlite"), notes(1))
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	for n := range 50 { // more texts than stay prepared
		write(t, db, "one")
		for _, text := range []string{"SELECT count(*) FROM notes", fmt.Sprintf("SELECT count(*) FROM notes LIMIT %d", n+1)} {
			require.Equal(t, n+1, queryInt(t, db, text), text)
		}
	}
	_, err = db.Prepared.QueryContext(t.Context(), "SELECT nothing")
	require.Error(t, err)
}

func queryInt(t *testing.T, db *database.DB, text string) (n int) {
	t.Helper()
	rows, err := db.Prepared.QueryContext(t.Context(), text)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	require.True(t, rows.Next())
	require.NoError(t, rows.Scan(&n))
	return n
}
