package home

import (
	"io/fs"
	"os"
	"path/filepath"

	"appserver/platform/disk"
)

var (
	errOutside = disk.Cause{Text: "it is not below sessions or archived_sessions", Next: "move it there first"}
	errUndated = disk.Cause{
		Text: "its name does not begin with rollout-YYYY-MM-DDThh-mm-ss",
		Next: "rename it in that form",
	}
)

// ArchivePath returns the path of a rollout below sessions after it is archived.
func (h *Home) ArchivePath(path string) (string, error) {
	switch {
	case ThreadID(path) == "":
		return "", &NameError{path}
	case !h.isBelow(Sessions, path):
		return "", disk.Wrap("archive", path, errOutside)
	}
	return filepath.Join(h.dir, Archived, filepath.Base(path)), nil
}

// UnarchivePath returns the path of an archived rollout after it is unarchived.
func (h *Home) UnarchivePath(path string) (string, error) {
	at, dated := TimeOf(path)
	switch {
	case ThreadID(path) == "":
		return "", &NameError{path}
	case !h.IsArchived(path):
		return "", disk.Wrap("unarchive", path, errOutside)
	case !dated:
		return "", disk.Wrap("unarchive", path, errUndated)
	}
	return filepath.Join(h.dayDir(at), filepath.Base(path)), nil
}

// FormerPath returns the path from which a rollout would have been moved to its present one.
func (h *Home) FormerPath(path string) (string, error) {
	if h.IsArchived(path) {
		return h.UnarchivePath(path)
	}
	return h.ArchivePath(path)
}

// BackupPath returns the path of a rollout's backup. Programs without backups move the rollout
// alone, so the backup may still be at the rollout's former path.
func (h *Home) BackupPath(path string) string {
	beside := path + BackupSuffix
	if _, err := h.disk.Lstat(beside); !disk.IsNotExist(err) {
		return beside
	}
	former, err := h.FormerPath(path)
	if err != nil {
		return beside
	}
	if _, err := h.disk.Lstat(former + BackupSuffix); err != nil {
		return beside
	}
	return former + BackupSuffix
}

// OpenFilled opens a rollout, or its backup if the rollout is empty.
func (h *Home) OpenFilled(path string) (disk.File, fs.FileInfo, error) {
	file, info, err := disk.Open(h.disk, path, os.O_RDONLY)
	if err != nil || info.Size() > 0 {
		return file, info, err
	}
	backup, backupInfo, err := disk.Open(h.disk, h.BackupPath(path), os.O_RDONLY)
	if err != nil {
		return file, info, nil
	}
	return backup, backupInfo, file.Close()
}

// IsEmptied reports whether a rollout is empty and its backup is not.
func (h *Home) IsEmptied(path string) bool {
	info, err := h.disk.Stat(path)
	if err != nil || info.Size() > 0 || !info.Mode().IsRegular() {
		return false
	}
	info, err = h.disk.Stat(h.BackupPath(path))
	return err == nil && info.Size() > 0
}
