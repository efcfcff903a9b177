package rollout

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Roots are the folders below home that hold rollouts: those that are not archived,
// then those that are.
func Roots() []string { return []string{sessionsDir, archivedDir} }

// Folder is what a folder of rollouts holds.
type Folder struct {
	// ModTime changes when a name in the folder does; the zero time stands for a folder
	// that is not there.
	ModTime time.Time
	// Files are the names of rollouts, Folders those of folders.
	Files, Folders []string
	// Skipped are as Page.Skipped: files that may be rollouts and have no thread's name.
	Skipped []error
}

// Folder reads a folder of a root; dir has slashes, and "" is the root itself.
func (s *Store) Folder(root, dir string) (Folder, error) {
	full := s.absPath(root, dir)
	var f Folder
	info, err := s.disk.Stat(full)
	if isNotExist(err) {
		return f, nil
	}
	if err != nil {
		return f, diskError("list", full, err)
	}
	f.ModTime = info.ModTime()
	entries, err := s.disk.ReadDir(full)
	if err != nil {
		return f, diskError("list", full, err)
	}
	for _, e := range entries {
		switch {
		case e.IsDir():
			f.Folders = append(f.Folders, e.Name())
		case threadID(e.Name()) != "":
			f.Files = append(f.Files, e.Name())
		case strings.HasSuffix(e.Name(), nameSuffix):
			f.Skipped = append(f.Skipped, &NameError{filepath.Join(full, e.Name())})
		}
	}
	return f, nil
}

// Stat follows links to a file or folder of a root.
func (s *Store) Stat(root, place string) (fs.FileInfo, error) {
	return s.disk.Stat(s.absPath(root, place))
}

// Place is where below which root a path leads; ok is false for paths elsewhere.
func (s *Store) RelPath(path string) (root, place string, ok bool) {
	for _, root := range Roots() {
		if s.isBelow(root, path) {
			place, err := filepath.Rel(filepath.Join(s.home, root), path)
			return root, filepath.ToSlash(place), err == nil
		}
	}
	return "", "", false
}

// ListedHead is the head of a rollout; listed tells whether List shows it, and the error why that
// is not known.
func (s *Store) ListedHead(root, place string) (h Head, listed bool, err error) {
	reader := headReader{store: s}
	return reader.readListed(s.absPath(root, place))
}

// Unlistable is why List passes over a file of a root, as Page.Skipped tells it; nil where it
// does not, and of one that is gone.
func (s *Store) SkipReason(root, place string) error {
	path := s.absPath(root, place)
	if _, err := s.disk.Lstat(path); err != nil {
		return nil
	}
	file, info, err := s.open(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	if info.Size() == 0 && !s.isEmptied(path) {
		err = diskError("list", path, errEmpty)
	}
	return firstError(err, file.Close())
}

// OpenRead opens a rollout to read it.
func (s *Store) OpenRead(root, place string) (File, fs.FileInfo, error) {
	return s.open(s.absPath(root, place), os.O_RDONLY)
}

// PathOf is the path of a file of a root.
func (s *Store) AbsPath(root, place string) string { return s.absPath(root, place) }

func (s *Store) absPath(root, place string) string {
	return filepath.Join(s.home, root, filepath.FromSlash(place))
}
