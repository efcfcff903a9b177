package rollout

import (
	"errors"
	"path/filepath"
	"strings"
)

// RemoveLeftovers removes the temporary files that writers left which were killed. Each is
// made by the thread's one writer: where the thread has none, nobody will give it its name.
// How old it is does not count, since it may be a second name of a file that is. An error
// tells what stays; the rest is gone all the same.
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
		return nil // it is being written
	}
	if err != nil {
		return err
	}
	if err = s.disk.Remove(path); isNotExist(err) {
		err = nil
	}
	return firstError(diskError("remove", path, err), diskError("unlock", path, lock.release()))
}
