package rollout

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
)

// InUseError reports that the history of thread By depends on a rollout of thread ID. Forks of
// the reference implementation have such dependencies.
type InUseError struct{ ID, By string }

// Error begins with the message of the reference implementation.
func (e *InUseError) Error() string {
	return "cannot delete thread " + e.ID + ": forked history still references it: that of thread " + e.By
}

// CheckDelete returns the error with which Delete would refuse the thread, or nil. It changes
// nothing.
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

// transientOnly returns err if it is transient, or nil. A file that is unreadable for the
// moment may depend on the file to delete.
func transientOnly(err error) error {
	if IsTransient(err) {
		return err
	}
	return nil
}

// splitFiles returns the file ids of a thread, and the paths of all other threads. Folders
// that are permanently unreadable are skipped.
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

// dependents maps each thread that others depend on to one of those others. If ctx ends, the
// map is incomplete.
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

// originOf returns the id of the file in which a rollout's history begins, or "" for the
// rollout itself.
func (r *headReader) originOf(path string) (string, error) {
	line, whole, err := r.firstLine(path)
	if err != nil ||
		whole && !bytes.Contains(line, []byte("history_base")) &&
			!bytes.Contains(line, []byte("forked_from_ordinal_exclusive")) {
		return "", err
	}
	found, err := r.readOwn(path)
	return found.origin.id, err
}

// dependsOn reports whether a rollout's history begins in one of the files. A permanently
// unreadable file depends on nothing.
func (r *headReader) dependsOn(path string, ids []string) (bool, error) {
	line, whole, err := r.firstLine(path)
	names := func(id string) bool { return bytes.Contains(line, []byte(id)) }
	if err != nil || whole && !slices.ContainsFunc(ids, names) {
		return false, transientOnly(err)
	}
	found, err := r.readOwn(path)
	return err == nil && slices.Contains(ids, found.origin.id), transientOnly(err)
}

// firstLine returns the first line of a file as far as it is in the head. whole reports
// whether that is the entire line.
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

// Delete removes all rollouts of a thread with their backups, including archived ones. It is
// durable and holds the writer lock. Backups are removed last, because a backup without a
// rollout is never read.
func (s *Store) Delete(id string) error {
	if err := s.CheckDelete(id); err != nil {
		return err
	}
	return s.Remove(id)
}

// Remove deletes a thread without a search for dependents. The caller must know that no other
// thread depends on this one.
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

// deleteAll deletes the files of a thread, the newest first. It returns a *NotFoundError if
// there are none, or the error of a folder that could not be read.
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

// deleteMoveLeftovers removes files that an interrupted move left at the other path of a
// rollout.
func (s *Store) deleteMoveLeftovers(path string) error {
	m, err := s.completedMove(path)
	if err != nil {
		return nil // the rollout cannot have been moved
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

// deleteFile removes a rollout, its temporary file and its backup.
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
