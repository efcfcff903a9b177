package index

import (
	"database/sql"
	"errors"
	"fmt"
	"os"

	"appserver/rollout"
)

// errInUse is why a file may still have what was taken out.
var errInUse = errors.New("a server has it open: what was taken out may be in the file until that server ends")

// Forget takes what an index knows of rollouts out, and leaves nothing of it in the file: the
// next list that looks at them reads them anew. Where there is no file it makes none. Servers
// may have it open.
func Forget(path string, store *rollout.Store, rollouts []string) error {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	db, err := try(path)
	if err == nil {
		err = errors.Join(erase(db.write, placesOf(store, rollouts)), db.close())
	}
	if err != nil {
		return fmt.Errorf("the index %s: %w", path, err)
	}
	return nil
}

func placesOf(store *rollout.Store, rollouts []string) (places []place) {
	for _, path := range rollouts {
		if root, name, ok := store.Place(path); ok {
			places = append(places, place{root, name})
		}
	}
	return places
}

// eraseTimeout is how long the writes of servers are waited for, in milliseconds.
const eraseTimeout = 30_000

// erase removes rows, and writes the file anew: pages keep what was in them before rows moved
// or went, also where SQLite is told to overwrite what it deletes. FTS5 keeps terms that it
// knows to be gone, unless it is told not to.
func erase(db *sql.DB, places []place) error {
	if _, err := db.Exec(fmt.Sprintf("PRAGMA busy_timeout = %d", eraseTimeout)); err != nil {
		return err
	}
	err := within(db, func(tx *sql.Tx) error {
		return errors.Join(secure(tx, 1), remove(tx, places), secure(tx, 0))
	})
	if err == nil {
		_, err = db.Exec("VACUUM")
	}
	if err != nil {
		return err
	}
	var busy, written, moved int
	if err := db.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &written, &moved); err != nil {
		return err
	}
	if busy != 0 {
		return errInUse
	}
	return nil
}

// secure turns that on or off; the file remembers it.
func secure(tx *sql.Tx, on int) error {
	_, err := tx.Exec("INSERT INTO found(found, rank) VALUES ('secure-delete', ?)", on)
	return err
}
