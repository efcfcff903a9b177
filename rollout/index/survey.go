package index

import (
	"database/sql"
	"errors"
	"io/fs"
	"path"
	"time"

	"appserver/rollout"
)

// settled is how long a folder must have been left alone for its time to tell whether it
// has changed since: some file systems count in seconds.
const settled = 2 * time.Second

// folder is what is remembered of a folder.
type folder struct {
	modTime time.Time
	// settled is set where a folder with the same time has the same names.
	settled bool
	folders []string
}

// file is a file that is to be read.
type file struct {
	place
	info  fs.FileInfo
	known known
}

// survey finds out which files are new, have changed or are gone.
type survey struct {
	store *rollout.Store
	// knows is what the index knows of the files of a folder, by their paths.
	knows func(at place) (map[string]known, error)
	// old is what is remembered; a folder that has not changed is not read again.
	old, seen map[place]folder
	changed   []file
	gone      []place
	// skip is told why a list passes over something.
	skip func(error)
}

func (s *survey) run() error {
	s.seen = map[place]folder{}
	for _, root := range rollout.Roots() {
		if err := s.visit(place{root, ""}); err != nil {
			return err
		}
	}
	for at := range s.old {
		if _, ok := s.seen[at]; !ok {
			if err := s.lose(at); err != nil {
				return err
			}
		}
	}
	return nil
}

// visit looks at a folder and those in it. A folder of somebody else's hides only itself.
func (s *survey) visit(at place) error {
	now, err := s.look(at)
	if errors.Is(err, fs.ErrPermission) {
		s.skip(err)
		return s.lose(at)
	}
	if err != nil {
		return err
	}
	s.seen[at] = now
	for _, name := range now.folders {
		if err := s.visit(place{at.root, path.Join(at.path, name)}); err != nil {
			return err
		}
	}
	return nil
}

func (s *survey) look(at place) (folder, error) {
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
	for _, strange := range f.Skipped {
		s.skip(strange)
	}
	return folder{f.ModTime, began.Sub(f.ModTime) > settled && !f.ModTime.IsZero(), f.Folders}, err
}

// compare compares the files of a folder with what is known of them.
func (s *survey) compare(at place, names []string) error {
	known, err := s.knows(at)
	if err != nil {
		return err
	}
	for _, name := range names {
		p := place{at.root, path.Join(at.path, name)}
		if !s.check(p, known[p.path]) {
			s.skip(s.store.SkipReason(p.root, p.path))
		}
		delete(known, p.path)
	}
	s.loseAll(at.root, known)
	return nil
}

// check looks whether a file has changed. It is false where there is nothing in it, as far
// as that can be told.
func (s *survey) check(p place, k known) bool {
	info, err := s.store.Stat(p.root, p.path)
	if err == nil && stateOf(info) != k.state {
		s.changed = append(s.changed, file{p, info, k})
	}
	if err != nil && k != (known{}) && !rollout.IsTransient(err) {
		s.gone = append(s.gone, p)
	}
	return err == nil && info.Size() > 0
}

func (s *survey) lose(at place) error {
	known, err := s.knows(at)
	s.loseAll(at.root, known)
	return err
}

func (s *survey) loseAll(root string, known map[string]known) {
	for path := range known {
		s.gone = append(s.gone, place{root, path})
	}
}

const knownColumns = "root, rollout_path, inode, size, last_event_at, offset, begin_size, begin_sum"

// knownFiles are the files that a query for knownColumns gives.
func knownFiles(db *sql.DB, query string, args ...any) (map[place]known, error) {
	rows, err := db.Query("SELECT "+knownColumns+" FROM sessions "+query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	files := map[place]known{}
	for rows.Next() {
		var p place
		var k known
		if err := rows.Scan(&p.root, &p.path, &k.inode, &k.size, &k.modTime, &k.offset, &k.beginSize, &k.beginSum); err != nil {
			return nil, err
		}
		files[p] = k
	}
	return files, rows.Err()
}

// byFolder asks the index for each folder.
func byFolder(db *sql.DB) func(at place) (map[string]known, error) {
	return func(at place) (map[string]known, error) {
		files, err := knownFiles(db, "WHERE root = ? AND folder = ?", at.root, at.path)
		paths := map[string]known{}
		for p, k := range files {
			paths[p.path] = k
		}
		return paths, err
	}
}

// atOnce asks the index for all folders at once.
func atOnce(db *sql.DB) (func(at place) (map[string]known, error), map[place]folder, error) {
	files, err := knownFiles(db, "")
	folders, old := map[place]map[string]known{}, map[place]folder{}
	for p, k := range files {
		at := place{p.root, p.folder()}
		if folders[at] == nil {
			folders[at], old[at] = map[string]known{}, folder{}
		}
		folders[at][p.path] = k
	}
	return func(at place) (map[string]known, error) { return folders[at], nil }, old, err
}
