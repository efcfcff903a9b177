package rollout

import (
	"errors"
	"path/filepath"
	"strings"
)

// RemoveLeftovers removes temporary files of interrupted writes. Only a thread's writer
// creates them, so without a writer they are orphans. Their age is not checked, because a
// temporary file may be a hard link to an old file. The error joins all failures; the other
// files are still removed.
func (s *Store) RemoveLeftovers() error {
	var errs []error
	for _, root := range Roots() {
		errs = append(errs, s.removeLeftovers(filepath.Join(s.home, root)))
	}
	return errors.Join(errs...)
}

func (s *Store) removeLeftovers(dir string) error {
	entries, err := s.disk.ReadDir(dir)
	if isNotExist(err) {
		return nil
	}
	if err != nil {
		return diskError("list", dir, err)
	}
	var errs []error
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() {
			errs = append(errs, s.removeLeftovers(path))
			continue
		}
		rollout, temporary := strings.CutSuffix(path, temporarySuffix)
		if id := threadID(rollout); temporary && id != "" {
			errs = append(errs, s.removeLeftover(id, path))
		}
	}
	return errors.Join(errs...)
}

func (s *Store) removeLeftover(id, path string) error {
	lock, err := s.lock(id)
	if held := new(LockedError); errors.As(err, &held) {
		return nil // its writer may be using it
	}
	if err != nil {
		return err
	}
	if err = s.disk.Remove(path); isNotExist(err) {
		err = nil
	}
	return firstError(diskError("remove", path, err), diskError("unlock", path, lock.release()))
}
