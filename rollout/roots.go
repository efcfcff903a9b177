package rollout

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Roots returns the names of the folders in home that hold rollouts: first sessions, then the
// archive.
func Roots() []string { return []string{sessionsDir, archivedDir} }

// Folder is the content of a folder of rollouts.
type Folder struct {
	// ModTime changes when a name in the folder does. It is the zero time if the folder does
	// not exist.
	ModTime time.Time
	// Files holds the names of rollouts, and Folders the names of folders.
	Files, Folders []string
	// Skipped holds an error for each file that may be a rollout but has no thread id in its
	// name.
	Skipped []error
}

// Folder reads a folder of a root. dir has slashes, and "" is the root.
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

// Stat describes a file or folder of a root. It follows links.
func (s *Store) Stat(root, rel string) (fs.FileInfo, error) {
	return s.disk.Stat(s.absPath(root, rel))
}

// RelPath returns the root of a path and the path below it. It returns false for paths outside
// of the roots.
func (s *Store) RelPath(path string) (root, rel string, ok bool) {
	for _, root := range Roots() {
		if s.isBelow(root, path) {
			rel, err := filepath.Rel(filepath.Join(s.home, root), path)
			return root, filepath.ToSlash(rel), err == nil
		}
	}
	return "", "", false
}

// ListedHead returns the head of a rollout, and whether List includes it. The error explains
// why that is unknown.
func (s *Store) ListedHead(root, rel string) (h Head, listed bool, err error) {
	reader := headReader{store: s}
	return reader.readListed(s.absPath(root, rel))
}

// SkipReason returns the error with which List skips a file of a root. It returns nil if List
// does not skip the file, or if the file does not exist.
func (s *Store) SkipReason(root, rel string) error {
	path := s.absPath(root, rel)
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

// OpenRead opens a rollout for reading.
func (s *Store) OpenRead(root, rel string) (File, fs.FileInfo, error) {
	return s.open(s.absPath(root, rel), os.O_RDONLY)
}

// AbsPath returns the absolute path of a file of a root.
func (s *Store) AbsPath(root, rel string) string { return s.absPath(root, rel) }

func (s *Store) absPath(root, rel string) string {
	return filepath.Join(s.home, root, filepath.FromSlash(rel))
}
