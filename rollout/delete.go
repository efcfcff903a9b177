package rollout

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"

	"github.com/tidwall/gjson"
)

// InUseError tells that another thread's rollout goes on where this one's ends, as forks of
// the reference implementation do.
type InUseError struct{ ID, By string }

// Error begins as the reference implementation's does.
func (e *InUseError) Error() string {
	return "cannot delete thread " + e.ID + ": forked history still references it, that of thread " + e.By
}

// CheckDelete is the error, if any, with which Delete would refuse a thread before it does
// anything.
func (s *Store) CheckDelete(id string) error {
	if _, err := s.Find(id); err != nil {
		return err
	}
	if by := s.users(context.Background())[id]; by != "" {
		return &InUseError{id, by}
	}
	return nil
}

// users are the threads that others go on from, each with one that does; where ctx has ended
// they are not all.
func (s *Store) users(ctx context.Context) map[string]string {
	users := map[string]string{}
	reader := headReader{store: s}
	for _, root := range Roots() {
		for path, err := range s.walk(walk{root: root}) {
			if ctx.Err() != nil {
				return users
			}
			if err != nil {
				continue
			}
			for _, used := range reader.origins(filepath.Join(s.home, root, path)) {
				if id := threadID(path); id != used {
					users[used] = id
				}
			}
		}
	}
	return users
}

// origins are the threads that a rollout's first line says its history begins in. A file
// that cannot be read has none.
func (r *headReader) origins(path string) (ids []string) {
	file, info, err := r.store.open(path, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	data, err := r.fill(file, min(info.Size(), headSize))
	line, _, _ := bytes.Cut(data, []byte("\n"))
	if err != nil {
		return nil
	}
	meta := gjson.GetManyBytes(line, "payload.forked_from_id", "payload.forked_from_ordinal_exclusive", "payload.history_base.thread_id")
	if meta[1].Exists() {
		ids = append(ids, meta[0].Str)
	}
	return append(ids, meta[2].Str)
}

// Delete removes the rollouts of a thread, archived ones too, with their backups, durably
// and as the thread's one writer. The backup goes last: a crash leaves one that nobody reads.
func (s *Store) Delete(id string) error {
	if err := s.CheckDelete(id); err != nil {
		return err
	}
	lock, err := s.lock(id)
	if err != nil {
		return err
	}
	s.forget(id)
	return first(s.deleteAll(id), diskError("delete", id, lock.release()))
}

func (s *Store) deleteAll(id string) error {
	for {
		path, err := s.Find(id)
		if missing := new(NotFoundError); errors.As(err, &missing) {
			return nil
		}
		if err == nil {
			err = diskError("delete", path, s.deleteFile(path))
		}
		if err != nil {
			return err
		}
	}
}

// deleteFile also takes what a rewrite that was killed left of the thread.
func (s *Store) deleteFile(path string) error {
	if err := s.disk.Remove(path + temporarySuffix); err != nil && !absent(err) {
		return err
	}
	if err := s.disk.Remove(path); err != nil {
		return err
	}
	err := s.disk.SyncDir(filepath.Dir(path))
	if gone := s.disk.Remove(path + backupSuffix); gone == nil {
		err = first(err, s.disk.SyncDir(filepath.Dir(path)))
	} else if !absent(gone) {
		err = first(err, gone)
	}
	return err
}
