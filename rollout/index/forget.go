package index

import (
	"database/sql"
	"errors"
	"fmt"
	"os"

	"appserver/rollout"
	"appserver/rollout/database"
)

// Forget takes what an index knows of rollouts out, and leaves nothing of it in the file: the
// next list that looks at them reads them anew. Where there is no file it makes none. Servers
// may have it open.
func Forget(path string, store *rollout.Store, rollouts []string) error {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	db, err := database.OpenInPlace(path, kind())
	if err == nil {
		err = errors.Join(erase(db.Write, locationsOf(store, rollouts)), db.Close())
	}
	if err != nil {
		return fmt.Errorf("the index %s: %w", path, err)
	}
	return nil
}

func locationsOf(store *rollout.Store, rollouts []string) (locations []location) {
	for _, path := range rollouts {
		if root, name, ok := store.RelPath(path); ok {
			locations = append(locations, location{root, name})
		}
	}
	return locations
}

// erase removes rows. FTS5 keeps terms that it knows to be gone, unless it is told not to.
func erase(db *sql.DB, locations []location) error {
	return database.Erase(db, func(tx *sql.Tx) error {
		return errors.Join(setSecureDelete(tx, 1), remove(tx, locations), setSecureDelete(tx, 0))
	})
}

// secure turns that on or off; the file remembers it.
func setSecureDelete(tx *sql.Tx, on int) error {
	_, err := tx.Exec("INSERT INTO found(found, rank) VALUES ('secure-delete', ?)", on)
	return err
}
