package rollout

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"appserver/platform/disk"
	"appserver/rollout/home"
	"appserver/rollout/zst"
)

// RemoveLeftovers removes temporary files of interrupted writes, and compressed forms of files whose plain forms have
// all of their content. Only a thread's writer
// creates them, so without a writer they are orphans. Their age is not checked, because a
// temporary file may be a hard link to an old file. The error joins all failures; the other
// files are still removed.
func (s *Store) RemoveLeftovers() error {
	errs := []error{s.disk.RemoveSpace()}
	for _, root := range home.Roots() {
		errs = append(errs, s.removeLeftovers(s.Path(root)))
	}
	return errors.Join(errs...)
}

func (s *Store) removeLeftovers(dir string) error {
	entries, err := s.disk.FS.ReadDir(dir) // with both forms
	if disk.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return disk.Wrap("list", dir, err)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	var errs []error
	plain := map[string]bool{}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		plain[path] = true
		if e.IsDir() {
			errs = append(errs, s.removeLeftovers(path))
			continue
		}
		rollout, temporary := strings.CutSuffix(zst.Plain(path), disk.TempSuffix)
		id := home.ThreadID(strings.TrimSuffix(rollout, home.BackupSuffix))
		switch {
		case id == "":
		case temporary:
			errs = append(errs, s.ifUnlocked(id, path, func() error { return s.removeIfExists(path) }))
		case path != rollout && plain[rollout]: // the names are sorted
			errs = append(errs, s.ifUnlocked(id, path, func() error { return s.disk.Settle(path) }))
		}
	}
	return errors.Join(errs...)
}

func (s *Store) removeIfExists(path string) error {
	if err := s.disk.Remove(path); !disk.IsNotExist(err) {
		return err
	}
	return nil
}

// ifUnlocked calls do under the writer lock of a thread, unless the thread has a writer.
func (s *Store) ifUnlocked(id, path string, do func() error) error {
	lock, err := s.Lock(id)
	if held := new(home.LockedError); errors.As(err, &held) {
		return nil // its writer may be using it
	}
	if err != nil {
		return err
	}
	return cmp.Or(disk.Wrap("remove", path, do()), disk.Wrap("unlock", path, lock.Release()))
}
