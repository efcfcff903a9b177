package rollout

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
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
	own, others, err := s.splitFiles(id)
	reader := headReader{store: s}
	for _, path := range others {
		if err != nil {
			break
		}
		var leans bool
		if leans, err = reader.dependsOn(path, own); leans {
			return &InUseError{id, threadID(path)}
		}
	}
	return err
}

// passing is an error that may pass, nil for others: what could not be read now may lean on what
// is deleted.
func transientOnly(err error) error {
	if IsTransient(err) {
		return err
	}
	return nil
}

// filesOf are the ids of a thread's files, and the paths of all other threads'. What cannot be
// read for good has none.
func (s *Store) splitFiles(id string) (own, others []string, unread error) {
	for _, root := range Roots() {
		for path, err := range s.walk(walk{root: root}) {
			switch {
			case err != nil:
				unread = firstError(unread, transientOnly(err))
			case threadID(path) == id:
				own = append(own, fileID(path))
			default:
				others = append(others, filepath.Join(s.home, root, path))
			}
		}
	}
	return own, others, unread
}

// users are the threads that others go on from, each with one that does; where ctx has ended
// they are not all.
func (s *Store) dependents(ctx context.Context) (map[string]string, error) {
	threads, origins := map[string]string{}, map[string]string{}
	reader := headReader{store: s}
	for _, root := range Roots() {
		for path, err := range s.walk(walk{root: root}) {
			if ctx.Err() != nil {
				break
			}
			var id string
			if err == nil {
				threads[fileID(path)] = threadID(path)
				id, err = reader.originOf(filepath.Join(s.home, root, path))
			}
			if err = transientOnly(err); err != nil {
				return nil, err
			}
			if id != "" {
				origins[fileID(path)] = id
			}
		}
	}
	users := map[string]string{}
	for file, origin := range origins {
		if used, by := threads[origin], threads[file]; used != by {
			users[used] = by
		}
	}
	return users, nil
}

// originOf is the id of the file in which a rollout's first line says that its history begins,
// "" where that is its own.
func (r *headReader) originOf(path string) (string, error) {
	line, whole, err := r.firstLine(path)
	if err != nil || whole && !bytes.Contains(line, []byte("history_base")) && !bytes.Contains(line, []byte("forked_from_ordinal_exclusive")) {
		return "", err
	}
	found, err := r.readOwn(path)
	return found.origin.id, err
}

// leansOn tells whether a rollout's first line says that its history begins in one of the
// files with these ids. A file that cannot be read for good leans on nothing.
func (r *headReader) dependsOn(path string, ids []string) (bool, error) {
	line, whole, err := r.firstLine(path)
	names := func(id string) bool { return bytes.Contains(line, []byte(id)) }
	if err != nil || whole && !slices.ContainsFunc(ids, names) {
		return false, transientOnly(err)
	}
	found, err := r.readOwn(path)
	return err == nil && slices.Contains(ids, found.origin.id), transientOnly(err)
}

// firstLine is that of a file, as far as it is in the head; whole is set where it is all of it.
func (r *headReader) firstLine(path string) (line []byte, whole bool, err error) {
	file, info, err := r.store.open(path, 0)
	if err != nil {
		return nil, false, err
	}
	data, err := r.fill(file, min(info.Size(), headSize))
	if err = firstError(err, file.Close()); err != nil {
		return nil, false, diskError("read", path, err)
	}
	line, _, whole = bytes.Cut(data, []byte("\n"))
	return line, whole, nil
}

// Delete removes the rollouts of a thread, archived ones too, with their backups, durably
// and as the thread's one writer. The backup goes last: a crash leaves one that nobody reads.
func (s *Store) Delete(id string) error {
	if err := s.CheckDelete(id); err != nil {
		return err
	}
	return s.Remove(id)
}

// Remove is Delete for those who know, as an index does, that no other thread goes on from
// this one.
func (s *Store) Remove(id string) error {
	if !isThreadID(id) {
		return &NotFoundError{id}
	}
	lock, err := s.lock(id)
	if err != nil {
		return err
	}
	s.removeSnapshotCache(id)
	return firstError(s.deleteAll(id), diskError("delete", id, lock.release()))
}

// deleteAll deletes the newest file first, and fails where there is none. What cannot be read
// may have others.
func (s *Store) deleteAll(id string) error {
	var unread error = &NotFoundError{id}
	var gone []string
	for _, root := range Roots() {
		for name, err := range s.walk(walk{root: root}) {
			switch {
			case err != nil:
				unread = err
			case threadID(name) == id:
				path := s.absPath(root, name)
				if err := s.deleteFile(path); err != nil {
					return diskError("delete", path, err)
				}
				gone = append(gone, path)
				if missing := new(NotFoundError); errors.As(unread, &missing) {
					unread = nil
				}
			}
		}
	}
	for _, path := range gone {
		if err := s.deleteMoveLeftovers(path); err != nil {
			return diskError("delete", path, err)
		}
	}
	return unread
}

// deleteTrail takes what a move that was killed left of a rollout where that led from or to.
func (s *Store) deleteMoveLeftovers(path string) error {
	m, err := s.completedMove(path)
	if err != nil {
		return nil // it was never moved
	}
	for _, suffix := range []string{temporarySuffix, backupSuffix} {
		if err := s.disk.Remove(m.from + suffix); err != nil && !isNotExist(err) {
			return err
		}
	}
	if err := s.disk.SyncDir(filepath.Dir(m.from)); !isNotExist(err) {
		return err
	}
	return nil
}

// deleteFile also takes what a rewrite that was killed left of the thread.
func (s *Store) deleteFile(path string) error {
	if err := s.disk.Remove(path + temporarySuffix); err != nil && !isNotExist(err) {
		return err
	}
	if err := s.disk.Remove(path); err != nil {
		return err
	}
	err := s.disk.SyncDir(filepath.Dir(path))
	if gone := s.disk.Remove(path + backupSuffix); gone == nil {
		err = firstError(err, s.disk.SyncDir(filepath.Dir(path)))
	} else if !isNotExist(gone) {
		err = firstError(err, gone)
	}
	return err
}
