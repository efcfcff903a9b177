package rollout

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"appserver/platform/disk"
	"appserver/rollout/home"
)

// Retention selects threads to archive or delete, the oldest first. The zero value selects
// none.
type Retention struct {
	// MaxAge is the time since the last write after which a thread is selected, or 0.
	MaxAge time.Duration
	// MaxBytes is the limit for rollouts and backups in bytes, or 0.
	MaxBytes int64
	// Delete deletes threads, including archived ones. Otherwise threads are archived, and
	// MaxBytes limits the threads that are not archived, because archiving frees no space.
	Delete bool
}

// IsLimited reports whether any limit is set.
func (r Retention) IsLimited() bool { return r.MaxAge > 0 || r.MaxBytes > 0 }

// ExceededLimit returns the configuration key of the limit that a thread exceeds, or "". remaining has the size of all
// threads that remain.
func (r Retention) ExceededLimit(t *Candidate, remaining *RetentionResult, now time.Time) string {
	counted := remaining.Bytes
	if !r.Delete {
		counted -= remaining.ArchivedBytes
	}
	age := now.Sub(t.WrittenAt)
	switch {
	case age < minRetentionAge:
		return ""
	case r.MaxAge > 0 && age > r.MaxAge:
		return limitAge
	case r.MaxBytes > 0 && counted > r.MaxBytes:
		return limitBytes
	}
	return ""
}

// minRetentionAge is the minimum time since the last write. It holds for every limit.
const minRetentionAge = 24 * time.Hour

// Configuration keys of the limits.
const (
	limitAge   = "history.maxAge"
	limitBytes = "history.maxBytes"
)

// Candidate is a thread that exceeds a limit.
type Candidate struct {
	ID string `json:"threadId"`
	// Path is the path of the newest rollout that is not archived, or else of the newest one.
	Path     string `json:"path"`
	Archived bool   `json:"archived"`
	// Bytes is the size of all rollouts of the thread and their backups.
	Bytes     int64     `json:"bytes"`
	WrittenAt time.Time `json:"writtenAt"`
	// Limit is the configuration key of the exceeded limit.
	Limit string `json:"because"`
	// Kept is the reason why the thread was kept, or "".
	Kept string `json:"kept,omitempty"`

	files  []candidateFile
	delete bool
}

// candidateFile is a rollout as it was found. bytes includes the backup.
type candidateFile struct {
	path        string
	size, bytes int64
	modTime     time.Time
}

// RetentionResult is the result of Retain.
type RetentionResult struct {
	Gone []Candidate `json:"gone"`
	Kept []Candidate `json:"kept"`
	// Threads, Bytes and ArchivedBytes describe what remains, including the archive.
	Threads       int   `json:"threads"`
	Bytes         int64 `json:"bytes"`
	ArchivedBytes int64 `json:"archivedBytes"`
	// Over is the number of bytes above MaxBytes that remain.
	Over int64 `json:"over"`
	// Unread lists errors of files and folders that could not be read. They are kept.
	Unread []string `json:"unread"`
}

// ErrWritten is the error of Retire for a thread that was written to since Retain.
var ErrWritten = errors.New("it was written to meanwhile")

// Retain calls do for each thread that exceeds a limit, the oldest first. Without do it only
// reports. After an error of do, the thread is kept and the next one is processed.
//
// An unreadable file is never deleted, nor is the origin of a fork. Each thread is processed
// on its own, so an interruption leaves the others unchanged. Retain stops when ctx ends.
func (s *Store) Retain(ctx context.Context, r Retention, now time.Time, do func(Candidate) error) RetentionResult {
	run := &retention{
		ctx:       ctx,
		store:     s,
		Retention: r,
		now:       now,
		do:        do,
		done:      RetentionResult{Gone: []Candidate{}, Kept: []Candidate{}, Unread: []string{}},
	}
	all := run.candidates()
	for i := range all {
		if ctx.Err() != nil || !run.process(&all[i]) {
			break
		}
	}
	if run.MaxBytes > 0 {
		run.done.Over = max(0, run.done.Bytes-run.MaxBytes)
	}
	return run.done
}

// retention is the state of a Retain call.
type retention struct {
	Retention
	ctx   context.Context
	store *Store
	now   time.Time
	do    func(Candidate) error
	done  RetentionResult
	// dependents maps threads to threads that depend on them. It is nil before the first use.
	dependents map[string]string
}

// candidates returns all threads, ordered by their last write.
func (r *retention) candidates() []Candidate {
	byID := map[string]*Candidate{}
	unread := func(err error) { r.done.Unread = append(r.done.Unread, err.Error()) }
	for _, root := range home.Roots() {
		for path, err := range r.store.Walk(home.Walk{Root: root, OnUnnamed: unread}) {
			if r.ctx.Err() != nil {
				return nil
			}
			if err == nil {
				err = r.addFile(byID, r.store.AbsPath(root, path))
			}
			if err != nil {
				unread(err)
			}
		}
	}
	all := make([]Candidate, 0, len(byID))
	for _, t := range byID {
		t.delete = r.Delete
		all = append(all, *t)
		r.done.Threads++
	}
	slices.SortFunc(
		all,
		func(a, b Candidate) int { return cmp.Or(a.WrittenAt.Compare(b.WrittenAt), cmp.Compare(a.ID, b.ID)) },
	)
	return all
}

// addFile adds a rollout to its thread.
func (r *retention) addFile(byID map[string]*Candidate, path string) error {
	info, err := r.store.disk.Lstat(path)
	if err != nil {
		return disk.Wrap("look at", path, err)
	}
	bytes := info.Size()
	if backup, err := r.store.disk.Lstat(path + home.BackupSuffix); err == nil {
		bytes += backup.Size()
	}
	id, archived := home.ThreadID(path), r.store.IsArchived(path)
	t := byID[id]
	if t == nil {
		t = &Candidate{ID: id, Path: path, Archived: archived}
		byID[id] = t
	}
	t.Bytes += bytes
	t.files = append(t.files, candidateFile{path, info.Size(), bytes, info.ModTime()})
	if info.ModTime().After(t.WrittenAt) {
		t.WrittenAt = info.ModTime()
	}
	r.done.Bytes += bytes
	if archived {
		r.done.ArchivedBytes += bytes
	}
	return nil
}

// process applies the retention to a thread. It returns false if neither this thread nor any
// newer one exceeds a limit.
func (r *retention) process(t *Candidate) bool {
	if t.Archived && !r.Delete {
		return true
	}
	if t.Limit = r.ExceededLimit(t, &r.done, r.now); t.Limit == "" {
		return false
	}
	err := r.check(t)
	if err == nil && r.do != nil {
		err = r.do(*t)
	}
	if err != nil {
		t.Kept = err.Error()
		r.done.Kept = append(r.done.Kept, *t)
		return true
	}
	r.count(t)
	return true
}

func (r *retention) count(t *Candidate) {
	r.done.Gone = append(r.done.Gone, *t)
	if r.Delete {
		r.done.Threads--
		r.done.Bytes -= t.Bytes
	}
	for _, f := range t.files {
		switch {
		case r.Delete && r.store.IsArchived(f.path):
			r.done.ArchivedBytes -= f.bytes
		case !r.Delete && !r.store.IsArchived(f.path):
			r.done.ArchivedBytes += f.bytes
		}
	}
}

// check returns an error if the thread must not be deleted or cannot be moved.
func (r *retention) check(t *Candidate) error {
	if !r.Delete && len(t.files) > 1 {
		return r.store.CheckArchive(t.Path)
	}
	for _, f := range t.files {
		if err := r.checkReadable(t, f.path); err != nil {
			return err
		}
	}
	if !r.Delete {
		return nil
	}
	if r.dependents == nil {
		var err error
		if r.dependents, err = r.store.Dependents(r.ctx); err != nil {
			return err
		}
	}
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if by := r.dependents[t.ID]; by != "" {
		return &InUseError{t.ID, by}
	}
	return nil
}

// checkReadable returns an error for a file that is not regular. Before a deletion, the head
// must also have a sound line.
func (r *retention) checkReadable(t *Candidate, path string) error {
	info, err := r.store.disk.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errMoved
	}
	if err != nil || !r.Delete {
		return disk.Wrap(t.op(), path, err)
	}
	return disk.Wrap(t.op(), path, r.store.CheckSound(path))
}

// Retire archives or deletes a candidate, durably and under its writer lock. A thread that was
// written to since Retain is kept.
func (s *Store) Retire(t Candidate) error {
	lock, err := s.Lock(t.ID)
	if err != nil {
		return err
	}
	return cmp.Or(s.retire(t), disk.Wrap(t.op(), t.Path, lock.Release()))
}

func (t *Candidate) op() string {
	if t.delete {
		return "delete"
	}
	return "archive"
}

func (s *Store) retire(t Candidate) error {
	for _, f := range t.files {
		info, err := s.disk.Lstat(f.path)
		if err == nil && (info.Size() != f.size || !info.ModTime().Equal(f.modTime)) {
			err = ErrWritten
		}
		if err != nil {
			return disk.Wrap(t.op(), f.path, err)
		}
	}
	if !t.delete {
		return s.archiveFound(t)
	}
	s.RemoveSnapshotCache(t.ID)
	for _, f := range t.files {
		if err := s.deleteFile(f.path); err != nil {
			return disk.Wrap(t.op(), f.path, err)
		}
	}
	return nil
}

// archiveFound archives a candidate. For a thread with one file it does not search the
// archive, which would be slow for many threads.
func (s *Store) archiveFound(t Candidate) error {
	m, err := s.archiveMove(t.Path)
	if err != nil {
		return err
	}
	if _, err := s.disk.Lstat(m.to); len(t.files) == 1 && disk.IsNotExist(err) {
		return m.run()
	}
	moves, err := s.threadMoves(t.Path, home.Sessions, s.archiveMove)
	if err != nil {
		return err
	}
	slices.Reverse(moves)
	return runMoves(moves)
}
