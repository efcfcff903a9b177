package index

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"appserver/platform/database"
)

const (
	// maxRecent is the number of recently written files that are checked before each list. The
	// same number of unlisted files is checked.
	maxRecent = 64
	// maxFiles and maxBytes limit what is read while a list waits.
	maxFiles = 64
	maxBytes = 16 << 20
)

// errTooMuch reports that the changes exceed these limits.
var errTooMuch = errors.New("index: too much is new")

// refreshLocked updates the index with changed folders, files that this process wrote, and
// recently written files. A sweep checks all other files.
func (ix *Index) refreshLocked(within scope) error {
	s := folderScan{store: ix.options.Store, indexed: indexedByFolder(ix.db.Prepared), old: ix.folders, within: within,
		skip: ix.skip}
	err := s.scan()
	if err == nil {
		err = ix.checkFilesLocked(&s)
	}
	if err == nil {
		err = ix.applyLocked(&s)
	}
	if err == nil {
		ix.folders = s.seen
	}
	return err
}

// checkFilesLocked checks single files.
func (ix *Index) checkFilesLocked(s *folderScan) error {
	written := recentIn("sessions WHERE NOT listed")
	if s.within == (scope{}) {
		written += " OR " + recentIn("sessions")
	}
	files, err := knownFiles(ix.db.Prepared, "WHERE "+written)
	if err != nil {
		return err
	}
	for _, p := range ix.drainChanged() {
		if _, ok := files[p]; ok {
			continue
		}
		if files[p], err = knownFile(ix.db.Prepared, p); err != nil {
			return err
		}
	}
	for _, f := range s.changed { // these are checked already
		delete(files, f.location)
	}
	for _, p := range s.gone {
		delete(files, p)
	}
	for p, k := range files {
		s.checkFile(p, k)
	}
	return nil
}

// recentIn returns the condition that a file is among the maxRecent ones of a table that were written last.
func recentIn(table string) string {
	return fmt.Sprintf("key IN (SELECT key FROM %s ORDER BY last_event_at DESC LIMIT %d)", table, maxRecent)
}

// applyLocked reads changed files, or returns errTooMuch. Another server may write a row while its file is read here.
// Its reading can be older, so the file is checked again.
func (ix *Index) applyLocked(s *folderScan) error {
	for range maxRetries {
		refused, err := ix.applyOnceLocked(s)
		if err != nil || len(refused) == 0 {
			return err
		}
		s.changed, s.gone = nil, nil
		for _, p := range refused {
			known, err := knownFile(ix.db.Prepared, p)
			if err != nil {
				return err
			}
			s.checkFile(p, known)
		}
	}
	return errTooMuch
}

// applyOnceLocked reads the changed files, and returns those whose entries were not stored.
func (ix *Index) applyOnceLocked(s *folderScan) (refused []location, err error) {
	ix.applied += len(s.changed) + len(s.gone)
	var size int64
	for _, f := range s.changed {
		size += max(0, f.info.Size()-f.indexed.offset)
	}
	if len(s.changed) > maxFiles || size > maxBytes {
		return nil, errTooMuch
	}
	r := fileReader{store: ix.options.Store}
	entries := make([]entry, len(s.changed))
	for i, f := range s.changed {
		entries[i] = r.read(f.location, f.indexed, f.info)
		ix.reportUnread(&entries[i])
	}
	refused, err = write(ix.db.Write, entries)
	if err == nil {
		err = removeAll(ix.db.Write, s.gone)
	}
	if err == nil && s.countChanges() {
		ix.countLocked()
	}
	return refused, err
}

// countChanges reports whether the number of files has changed.
func (s *folderScan) countChanges() bool {
	return len(s.gone) > 0 || slices.ContainsFunc(s.changed, func(f file) bool { return f.indexed == indexedState{} })
}

// reportUnread reports a file that could not be read.
func (ix *Index) reportUnread(e *entry) {
	if e.size == sizeUnread {
		ix.skip(ix.options.Store.SkipReason(e.root, e.path))
	}
}

func removeAll(db *sql.DB, gone []location) error {
	if len(gone) == 0 {
		return nil
	}
	return database.InTransaction(db, func(tx *sql.Tx) error { return remove(tx, gone) })
}
