package index

import (
	"database/sql"
	"errors"

	"appserver/rollout"
	"appserver/rollout/home"
)

// CheckDelete returns a *rollout.InUseError if another thread depends on this one, like
// Store.CheckDelete. It returns false if the index cannot decide and the caller has to read
// the files.
func (ix *Index) CheckDelete(id string) (known bool, err error) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if !ix.updateLocked() {
		return false, nil
	}
	by, err := dependentOf(ix.db.Read, id)
	var unknown bool
	if err == nil && by == "" { // the origin of an unreadable file is unknown
		err = ix.db.Read.QueryRow("SELECT EXISTS (SELECT 1 FROM sessions WHERE NOT listed AND size = ?)", sizeUnread).
			Scan(&unknown)
	}
	if err != nil {
		ix.failLocked(err)
		return false, nil
	}
	if by != "" {
		return true, &rollout.InUseError{ID: id, By: by}
	}
	return !unknown, nil
}

// dependentOf returns a thread that depends on a file of the thread, or "".
func dependentOf(db *sql.DB, id string) (by string, err error) {
	files := []string{}
	for _, root := range home.Roots() {
		known, err := knownFiles(db, "WHERE root = ? AND id = ?", root, id)
		if err != nil {
			return "", err
		}
		for p := range known {
			files = append(files, home.FileID(p.path))
		}
	}
	err = db.QueryRow("SELECT id FROM sessions WHERE origin IN (SELECT value FROM json_each(?)) AND id <> ? ORDER BY root, rollout_path LIMIT 1", asJSON(files), id).
		Scan(&by)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return by, err
}
