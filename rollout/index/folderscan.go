package index

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"time"

	"appserver/rollout"
	"appserver/rollout/home"
)

// settleTime is the minimum age of a folder's modification time. A younger folder may change
// again without a new time, because some file systems have a resolution of one second.
const settleTime = 2 * time.Second

// folder is the state of a folder at its last reading.
type folder struct {
	modTime time.Time
	// settled is set if an equal modification time guarantees equal names.
	settled bool
	folders []location
}

// file is a file to read.
type file struct {
	location
	info    fs.FileInfo
	indexed indexedState
}

// folderScan finds new, changed and removed files.
type folderScan struct {
	store *rollout.Store
	// indexed returns the indexed files of a folder, by path.
	indexed func(at location) (map[string]indexedState, error)
	// old has the folders of the last scan, and seen the ones of this scan. Unchanged folders are not
	// read again.
	old, seen map[location]folder
	// within limits the folders that are looked at. Other ones stay as they were.
	within  scope
	changed []file
	gone    []location
	// skip is called with the error of everything that lists omit.
	skip func(error)
}

func (s *folderScan) scan() error {
	s.seen = make(map[location]folder, len(s.old))
	for _, root := range home.Roots() {
		if err := s.visit(location{root, ""}); err != nil {
			return err
		}
	}
	for at, was := range s.old {
		if _, ok := s.seen[at]; ok {
			continue
		}
		if !s.within.has(at) {
			s.seen[at] = was
		} else if err := s.markFolderGone(at); err != nil {
			return err
		}
	}
	return nil
}

// scope is a part of the folders: those of a root with paths from since on. The zero scope is all folders.
type scope struct{ root, since string }

// scopeOf returns the folders that can change a page. A page by creation, newest first, depends on its own files
// and on newer ones, which can belong to the same threads.
func scopeOf(q rollout.Query, rows []row) scope {
	full := q.Limit > 0 && len(rows) > q.Limit
	if !full || q.Key() != rollout.SortCreated || q.Ascending || q.Ancestor != "" {
		return scope{}
	}
	last := rows[len(rows)-1]
	return scope{last.root, last.path}
}

// has reports whether a folder can have files of the scope.
func (s scope) has(at location) bool {
	if s == (scope{}) {
		return true
	}
	n := min(len(at.path), len(s.since))
	return at.root == s.root && at.path[:n] >= s.since[:n]
}

// covers reports whether a scope has all folders of another one.
func (s scope) covers(other scope) bool {
	return s == (scope{}) || s.root == other.root && s.since <= other.since
}

// visit scans a folder and its subfolders. A folder without permission hides only itself.
func (s *folderScan) visit(at location) error {
	if !s.within.has(at) {
		return nil
	}
	now, err := s.readFolder(at)
	if errors.Is(err, fs.ErrPermission) {
		s.skip(err)
		return s.markFolderGone(at)
	}
	if err != nil {
		return err
	}
	s.seen[at] = now
	for _, below := range now.folders {
		if err := s.visit(below); err != nil {
			return err
		}
	}
	return nil
}

func (s *folderScan) readFolder(at location) (folder, error) {
	if old, ok := s.old[at]; ok && old.settled {
		info, err := s.store.Stat(at.root, at.path)
		if err == nil && info.ModTime().Equal(old.modTime) {
			return old, nil
		}
	}
	began := time.Now()
	f, err := s.store.Folder(at.root, at.path)
	if err == nil {
		err = s.compare(at, f.Files)
	}
	for _, skipped := range f.Skipped {
		s.skip(skipped)
	}
	now := folder{modTime: f.ModTime, settled: began.Sub(f.ModTime) > settleTime && !f.ModTime.IsZero()}
	for _, name := range f.Folders {
		now.folders = append(now.folders, location{at.root, path.Join(at.path, name)})
	}
	return now, err
}

// compare compares the files of a folder with the index.
func (s *folderScan) compare(at location, names []string) error {
	known, err := s.indexed(at)
	if err != nil {
		return err
	}
	for _, name := range names {
		p := location{at.root, path.Join(at.path, name)}
		if !s.checkFile(p, known[p.path]) {
			s.skip(s.store.SkipReason(p.root, p.path))
		}
		delete(known, p.path)
	}
	s.markGone(at.root, known)
	return nil
}

// checkFile checks whether a file has changed. It returns false if the file cannot be listed: it
// is empty, or cannot be examined. If a file has lost its content and has no backup, its row stays
// as it is and is listed: the index is all that is left of the thread.
func (s *folderScan) checkFile(p location, k indexedState) bool {
	info, err := s.store.Stat(p.root, p.path)
	if err == nil && s.hasLostContent(p, k, info) {
		return true
	}
	if err == nil && fileStateOf(info) != k.fileState {
		s.changed = append(s.changed, file{p, info, k})
	}
	if err != nil && k != (indexedState{}) && !rollout.IsTransient(err) {
		s.gone = append(s.gone, p)
	}
	return err == nil && info.Size() > 0
}

// hasLostContent reports whether a file that had lines is empty and cannot be restored.
func (s *folderScan) hasLostContent(p location, k indexedState, info fs.FileInfo) bool {
	return info.Size() == 0 && k.offset > 0 && s.store.SkipReason(p.root, p.path) != nil
}

func (s *folderScan) markFolderGone(at location) error {
	known, err := s.indexed(at)
	s.markGone(at.root, known)
	return err
}

func (s *folderScan) markGone(root string, known map[string]indexedState) {
	for path := range known {
		s.gone = append(s.gone, location{root, path})
	}
}

const knownColumns = "root, rollout_path, inode, size, last_event_at, offset, begin_size, begin_sum"

// knownFiles returns the files that a query for knownColumns selects.
func knownFiles(db querier, query string, args ...any) (map[location]indexedState, error) {
	rows, err := db.QueryContext(context.Background(), "SELECT "+knownColumns+" FROM sessions "+query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	files := map[location]indexedState{}
	for rows.Next() {
		var p location
		var k indexedState
		if err := rows.Scan(&p.root, &p.path, &k.inode, &k.size, &k.modTime, &k.offset, &k.beginSize,
			&k.beginSum); err != nil {
			return nil, err
		}
		files[p] = k
	}
	return files, rows.Err()
}

// knownFile returns the state of a file in the index, or the zero value.
func knownFile(db querier, p location) (indexedState, error) {
	files, err := knownFiles(db, "WHERE root = ? AND rollout_path = ?", p.root, p.path)
	return files[p], err
}

// indexedByFolder queries the index for each folder.
func indexedByFolder(db querier) func(at location) (map[string]indexedState, error) {
	return func(at location) (map[string]indexedState, error) {
		files, err := knownFiles(db, "WHERE root = ? AND folder = ?", at.root, at.path)
		paths := map[string]indexedState{}
		for p, k := range files {
			paths[p.path] = k
		}
		return paths, err
	}
}

// indexedAtOnce queries the index once for all folders.
func indexedAtOnce(db querier) (func(at location) (map[string]indexedState, error), map[location]folder, error) {
	files, err := knownFiles(db, "")
	folders, old := map[location]map[string]indexedState{}, map[location]folder{}
	for p, k := range files {
		at := location{p.root, p.folder()}
		if folders[at] == nil {
			folders[at], old[at] = map[string]indexedState{}, folder{}
		}
		folders[at][p.path] = k
	}
	return func(at location) (map[string]indexedState, error) { return folders[at], nil }, old, err
}
