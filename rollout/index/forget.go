package index

import (
	"database/sql"
	"errors"
	"fmt"
	"os"

	"appserver/platform/database"
	"appserver/rollout"
)

// Forget erases the rows of rollouts from the file. The next list reads these rollouts again.
// A missing file is not created. Other servers may have the file open.
func Forget(path string, store *rollout.Store, rollouts []string) error {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	db, err := database.OpenInPlace(path, kind())
	if err == nil {
		err = errors.Join(erase(db.Write, locationsOf(store, rollouts)), db.Close())
	}
	if err != nil {
		return fmt.Errorf("forget rollouts in the index %s: %w", path, err)
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

// erase removes rows. FTS5 keeps deleted terms unless secure-delete is on.
func erase(db *sql.DB, locations []location) error {
	return database.Erase(db, func(tx *sql.Tx) error {
		return errors.Join(setSecureDelete(tx, 1), remove(tx, locations), setSecureDelete(tx, 0))
	})
}

// setSecureDelete sets the option secure-delete, which FTS5 stores in the file.
func setSecureDelete(tx *sql.Tx, on int) error {
	_, err := tx.Exec("INSERT INTO found(found, rank) VALUES ('secure-delete', ?)", on)
	return err
}
