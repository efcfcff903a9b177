package rollout

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"
)

// Retention says which threads are to go, the oldest first. The zero Retention lets none go.
type Retention struct {
	// MaxAge is how long a thread stays after it was last written; 0 is for good.
	MaxAge time.Duration
	// MaxBytes bounds the rollouts and their backups; 0 does not.
	MaxBytes int64
	// Delete deletes threads, archived ones too. Otherwise those that are not archived go to
	// the archive, and MaxBytes bounds them alone: what they take is taken in the archive.
	Delete bool
}

// Bounds is false where nothing is to go.
func (r Retention) IsLimited() bool { return r.MaxAge > 0 || r.MaxBytes > 0 }

// rest is how long ago a thread must have been written to go, whatever it takes.
const minRetentionAge = 24 * time.Hour

// The bounds that a thread passes, by the keys of the configuration.
const (
	limitAge   = "history.maxAge"
	limitBytes = "history.maxBytes"
)

// Resting is a thread that is to go.
type Candidate struct {
	ID string `json:"threadId"`
	// Path is that of its newest rollout, one that is not archived before all others.
	Path     string `json:"path"`
	Archived bool   `json:"archived"`
	// Bytes are those of all its rollouts and their backups.
	Bytes     int64     `json:"bytes"`
	WrittenAt time.Time `json:"writtenAt"`
	// Because is the key of the bound that it passes.
	Limit string `json:"because"`
	// Kept is why it stays nonetheless, "" where it goes.
	Kept string `json:"kept,omitempty"`

	files  []candidateFile
	delete bool
}

// lying is a rollout as it was found; bytes are those of its backup too.
type candidateFile struct {
	path        string
	size, bytes int64
	modTime     time.Time
}

// Retained is what Retain has done, or would do.
type RetentionResult struct {
	Gone []Candidate `json:"gone"`
	Kept []Candidate `json:"kept"`
	// Threads, Bytes and ArchivedBytes are what is there afterwards, the archive included.
	Threads       int   `json:"threads"`
	Bytes         int64 `json:"bytes"`
	ArchivedBytes int64 `json:"archivedBytes"`
	// Over is how many bytes all of it has more than MaxBytes.
	Over int64 `json:"over"`
	// Unread are files and folders that could not be looked at. They stay.
	Unread []string `json:"unread"`
}

var (
	errWritten = errors.New("it was written to meanwhile")
	errNoLine  = errors.New("no line of it can be read")
)

// Retain lets threads go by calling do, the oldest first; without do it only tells. An error
// of do keeps the thread, and the next one is looked at. What cannot be read is not deleted,
// nor is what a fork of the reference implementation goes on from. Each thread goes by
// itself, so that whatever ends this leaves the others where they were; the end of ctx ends it.
func (s *Store) Retain(ctx context.Context, r Retention, now time.Time, do func(Candidate) error) RetentionResult {
	run := &retention{ctx: ctx, store: s, heads: headReader{store: s}, Retention: r, now: now, do: do, done: RetentionResult{Gone: []Candidate{}, Kept: []Candidate{}, Unread: []string{}}}
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

// retaining is a Retain under way.
type retention struct {
	Retention
	ctx   context.Context
	store *Store
	heads headReader
	now   time.Time
	do    func(Candidate) error
	done  RetentionResult
	// users are the threads that go on from a thread, once they were looked for.
	dependents map[string]string
}

// stock is all threads, the one that was written first first.
func (r *retention) candidates() []Candidate {
	byID := map[string]*Candidate{}
	unread := func(err error) { r.done.Unread = append(r.done.Unread, err.Error()) }
	for _, root := range Roots() {
		for path, err := range r.store.walk(walk{root: root, onUnnamed: unread}) {
			if r.ctx.Err() != nil {
				return nil
			}
			if err == nil {
				err = r.addFile(byID, filepath.Join(r.store.home, root, path))
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
	slices.SortFunc(all, func(a, b Candidate) int { return cmp.Or(a.WrittenAt.Compare(b.WrittenAt), cmp.Compare(a.ID, b.ID)) })
	return all
}

// find adds a rollout to its thread.
func (r *retention) addFile(byID map[string]*Candidate, path string) error {
	info, err := r.store.disk.Lstat(path)
	if err != nil {
		return diskError("look at", path, err)
	}
	bytes := info.Size()
	if backup, err := r.store.disk.Lstat(path + backupSuffix); err == nil {
		bytes += backup.Size()
	}
	id, archived := threadID(path), r.store.IsArchived(path)
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

// look lets a thread go if it is to, and is false where none behind it is.
func (r *retention) process(t *Candidate) bool {
	if t.Archived && !r.Delete {
		return true
	}
	if t.Limit = r.exceededLimit(t); t.Limit == "" {
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

func (r *retention) exceededLimit(t *Candidate) string {
	counted := r.done.Bytes
	if !r.Delete {
		counted -= r.done.ArchivedBytes
	}
	age := r.now.Sub(t.WrittenAt)
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

// check refuses what must not be deleted, and what could not be moved.
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
		if r.dependents, err = r.store.dependents(r.ctx); err != nil {
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

// readable refuses what is no file and, where it would be deleted, what has no line in its
// head.
func (r *retention) checkReadable(t *Candidate, path string) error {
	info, err := r.store.disk.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errMoved
	}
	if err != nil || !r.Delete {
		return diskError(t.op(), path, err)
	}
	found, err := r.heads.read(path)
	if err == nil && !found.lines {
		err = errNoLine
	}
	return diskError(t.op(), path, err)
}

// Retire lets a thread go that Retain gave, durably and as its one writer. One that was
// written to since then stays.
func (s *Store) Retire(t Candidate) error {
	lock, err := s.lock(t.ID)
	if err != nil {
		return err
	}
	return firstError(s.retire(t), diskError(t.op(), t.Path, lock.release()))
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
			err = errWritten
		}
		if err != nil {
			return diskError(t.op(), f.path, err)
		}
	}
	if !t.delete {
		return s.archiveFound(t)
	}
	s.removeSnapshotCache(t.ID)
	for _, f := range t.files {
		if err := s.deleteFile(f.path); err != nil {
			return diskError(t.op(), f.path, err)
		}
	}
	return nil
}

// archiveFound does not look through the archive for a thread that has one file, which is not
// there: where many threads go, that would be done for each.
func (s *Store) archiveFound(t Candidate) error {
	m, err := s.archiveMove(t.Path)
	if err != nil {
		return err
	}
	if _, err := s.disk.Lstat(m.to); len(t.files) == 1 && isNotExist(err) {
		return m.run()
	}
	moves, err := s.threadMoves(t.Path, sessionsDir, s.archiveMove)
	if err != nil {
		return err
	}
	slices.Reverse(moves)
	return runMoves(moves)
}
