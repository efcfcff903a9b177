package rollout

import (
	"cmp"
	"errors"
	"path/filepath"
	"strings"

	"appserver/rollout/disk"
	"appserver/rollout/home"
)

// RemoveLeftovers removes temporary files of interrupted writes. Only a thread's writer
// creates them, so without a writer they are orphans. Their age is not checked, because a
// temporary file may be a hard link to an old file. The error joins all failures; the other
// files are still removed.
func (s *Store) RemoveLeftovers() error {
	var errs []error
	for _, root := range home.Roots() {
		errs = append(errs, s.removeLeftovers(s.Path(root)))
	}
	return errors.Join(errs...)
}

func (s *Store) removeLeftovers(dir string) error {
	entries, err := s.disk.ReadDir(dir)
	if disk.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return disk.Wrap("list", dir, err)
	}
	var errs []error
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() {
			errs = append(errs, s.removeLeftovers(path))
			continue
		}
		rollout, temporary := strings.CutSuffix(path, disk.TempSuffix)
		if id := home.ThreadID(rollout); temporary && id != "" {
			errs = append(errs, s.removeLeftover(id, path))
		}
	}
	return errors.Join(errs...)
}

func (s *Store) removeLeftover(id, path string) error {
	lock, err := s.Lock(id)
	if held := new(home.LockedError); errors.As(err, &held) {
		return nil // its writer may be using it
	}
	if err != nil {
		return err
	}
	if err = s.disk.Remove(path); disk.IsNotExist(err) {
		err = nil
	}
	return cmp.Or(disk.Wrap("remove", path, err), disk.Wrap("unlock", path, lock.Release()))
}
