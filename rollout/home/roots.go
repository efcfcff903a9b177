package home

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"appserver/platform/disk"
)

// Roots returns the names of the folders in home that hold rollouts: first sessions, then the
// archive.
func Roots() []string { return []string{Sessions, Archived} }

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
func (h *Home) Folder(root, dir string) (Folder, error) {
	full := h.AbsPath(root, dir)
	var f Folder
	info, err := h.disk.Stat(full)
	if disk.IsNotExist(err) {
		return f, nil
	}
	if err != nil {
		return f, disk.Wrap("list", full, err)
	}
	f.ModTime = info.ModTime()
	entries, err := h.disk.ReadDir(full)
	if err != nil {
		return f, disk.Wrap("list", full, err)
	}
	for _, e := range entries {
		switch {
		case e.IsDir():
			f.Folders = append(f.Folders, e.Name())
		case ThreadID(e.Name()) != "":
			f.Files = append(f.Files, e.Name())
		case strings.HasSuffix(e.Name(), nameSuffix):
			f.Skipped = append(f.Skipped, &NameError{filepath.Join(full, e.Name())})
		}
	}
	return f, nil
}

// Stat describes a file or folder of a root. It follows links.
func (h *Home) Stat(root, rel string) (fs.FileInfo, error) {
	return h.disk.Stat(h.AbsPath(root, rel))
}

// RelPath returns the root of a path and the path below it. It returns false for paths outside
// of the roots.
func (h *Home) RelPath(path string) (root, rel string, ok bool) {
	for _, root := range Roots() {
		if h.isBelow(root, path) {
			rel, err := filepath.Rel(filepath.Join(h.dir, root), path)
			return root, filepath.ToSlash(rel), err == nil
		}
	}
	return "", "", false
}

// OpenRead opens a rollout for reading.
func (h *Home) OpenRead(root, rel string) (disk.File, fs.FileInfo, error) {
	return disk.Open(h.disk, h.AbsPath(root, rel), os.O_RDONLY)
}

// AbsPath returns the absolute path of a file of a root.
func (h *Home) AbsPath(root, rel string) string {
	return filepath.Join(h.dir, root, filepath.FromSlash(rel))
}

// IsArchived reports whether a path is below archived_sessions.
func (h *Home) IsArchived(path string) bool { return h.isBelow(Archived, path) }

func (h *Home) isBelow(root, path string) bool {
	return strings.HasPrefix(filepath.Clean(path), filepath.Join(h.dir, root)+string(filepath.Separator))
}
