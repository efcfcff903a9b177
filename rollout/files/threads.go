// Package files stores threads as rollouts on the disk of one machine, with an index of them.
package files

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/store"
)

// Index lists and searches the rollouts without reading them.
type Index interface {
	// Ready reports whether the index has all rollouts. Sweep starts to read the others, in the background.
	Ready() bool
	Sweep()
	// List returns rollout.Store.List. It returns false if the rollouts must be read.
	List(q rollout.Query) (rollout.Page, bool)
	// Search returns the threads that contain a text. It waits briefly for an index that is being
	// built, and at most until ctx ends.
	Search(ctx context.Context, q rollout.Query) (rollout.Hits, error)
	// CheckDelete does the same as rollout.Store.CheckDelete for an existing thread. It returns
	// known false if the rollouts must be read.
	CheckDelete(id string) (known bool, err error)
	// Skipped returns the unreadable files, as in rollout.Page, since the last call.
	Skipped() []error
	// Note reports a write to a rollout. It does not wait.
	Note(path string)
	// Diagnose returns the state of the index. It does not wait.
	Diagnose() protocol.IndexDiagnostics
}

// Threads implements store.Threads.
type Threads struct {
	store  *rollout.Store
	index  Index
	report func(error)
}

// New returns the threads of a store. The index may be nil: lists read rollouts then, and searches are
// rejected. The function report gets errors that fail no operation.
func New(s *rollout.Store, index Index, report func(error)) *Threads {
	return &Threads{s, index, report}
}

var _ store.Threads = (*Threads)(nil)

// Begin returns the journal of a new thread.
func (t *Threads) Begin(id string, at time.Time, seed *rollout.Seed) (store.Journal, error) {
	begin := func() (*rollout.Log, error) { return t.store.Create(id, at) }
	if seed != nil {
		begin = func() (*rollout.Log, error) { return t.store.CreateFrom(id, at, seed) }
	}
	log, err := begin()
	if err != nil {
		return nil, err
	}
	return &journal{log, id, t.index}, nil
}

// Open opens a thread for writing.
func (t *Threads) Open(at store.Ref, to rollout.Loader) (store.Journal, *rollout.Contents, error) {
	place, err := t.Where(at)
	switch {
	case err != nil:
		return nil, nil, err
	case place.Archived:
		return nil, nil, &store.ArchivedError{ID: at.ID}
	}
	log, contents, err := t.store.OpenTo(place.Path, to)
	if err != nil {
		return nil, nil, err
	}
	return &journal{log, at.ID, t.index}, contents, nil
}

// Load reads a thread without its lock. If the thread is archived or unarchived meanwhile, it is read at
// its new place.
func (t *Threads) Load(at store.Ref, to rollout.Loader) (*rollout.Contents, *rollout.LineReader, error) {
	place, err := t.Where(at)
	if err != nil {
		return nil, nil, err
	}
	contents, text, err := t.store.Load(place.Path, to)
	if at.Path != "" || err == nil && contents.Backup.Err == nil {
		return contents, text, err
	}
	moved, findErr := t.store.Find(at.ID)
	if findErr != nil || moved == place.Path {
		return contents, text, err
	}
	if err == nil {
		_ = text.Close()
	}
	return t.store.Load(moved, to)
}

// Where returns the path of a thread: the newest one below sessions, or else the newest archived one.
func (t *Threads) Where(at store.Ref) (place store.Place, err error) {
	at.Path = rollout.PlainPath(at.Path)
	if at.Path == "" {
		at.Path, err = t.store.Find(at.ID)
	}
	return store.Place{Ref: at, Archived: err == nil && t.store.IsArchived(at.Path)}, err
}

// Check returns the error with which an operation would fail.
func (t *Threads) Check(at store.Ref, op store.Op) error {
	switch op {
	case store.OpArchive:
		return t.onPath(at, t.store.CheckArchive)
	case store.OpRestore:
		return t.onPath(at, t.store.CheckBackup)
	case store.OpDelete:
		return t.checkDelete(at.ID)
	}
	locked, err := t.store.Locked(at.ID)
	if locked {
		return &rollout.LockedError{ID: at.ID}
	}
	return err
}

func (t *Threads) onPath(at store.Ref, do func(path string) error) error {
	place, err := t.Where(at)
	if err != nil {
		return err
	}
	return do(place.Path)
}

func (t *Threads) checkDelete(id string) error {
	if t.index != nil {
		if known, err := t.index.CheckDelete(id); known {
			return err
		}
	}
	return t.store.CheckDelete(id)
}

// Archive moves a rollout to the archive.
func (t *Threads) Archive(at store.Ref) error {
	return t.onPath(at, func(path string) error {
		_, err := t.store.Archive(path)
		return err
	})
}

// Unarchive moves a rollout out of the archive.
func (t *Threads) Unarchive(at store.Ref) (place store.Place, err error) {
	if at.Path == "" {
		at.Path, err = t.store.FindArchived(at.ID)
	}
	if err == nil {
		at.Path, err = t.store.Unarchive(at.Path)
	}
	return store.Place{Ref: at}, err
}

// Delete deletes all files of a thread.
func (t *Threads) Delete(id string) error {
	if err := t.checkDelete(id); err != nil {
		return err
	}
	return t.store.Remove(id)
}

// Rename adds a name to the index of names, which all programs of the home share.
func (t *Threads) Rename(id, name string, at time.Time) error {
	return t.store.AppendName(id, name, at)
}

// Name returns the name of a thread.
func (t *Threads) Name(id string) (name string, at time.Time, err error) { return t.store.NameOf(id) }

// List returns a page from the index, or from the files if the index does not have it. Lists of all threads with the
// unlisted ones are read from the files.
func (t *Threads) List(q rollout.Query) (page rollout.Page, err error) {
	q.Cwds = slices.Clone(q.Cwds)
	for i, cwd := range q.Cwds {
		q.Cwds[i] = filepath.Clean(cwd)
	}
	listed := false
	indexed := t.index != nil && (!q.Unlisted || q.Parent != "" || q.Ancestor != "")
	late := indexed && readsFewFiles(q) && !t.index.Ready()
	if indexed && !late {
		page, listed = t.index.List(q)
	}
	if !listed {
		if page, err = t.store.List(q); err != nil {
			return page, err
		}
	}
	if t.index != nil {
		page.Skipped = append(page.Skipped, t.index.Skipped()...)
	}
	names := t.names()
	for i := range page.Heads {
		page.Heads[i].Name = names[page.Heads[i].ID]
	}
	return page, nil
}

// Listed starts to read the rollouts that the index does not have.
func (t *Threads) Listed() {
	if t.index != nil && !t.index.Ready() {
		t.index.Sweep()
	}
}

// readsFewFiles reports whether a page needs its own files mostly. A sweep beside it would delay it.
func readsFewFiles(q rollout.Query) bool {
	return q.Key() == rollout.SortCreated && q.Limit > 0 && q.Search == "" && len(q.Cwds)+len(q.Providers) == 0 &&
		q.Parent == "" && q.Ancestor == ""
}

// Search searches the index.
func (t *Threads) Search(ctx context.Context, q rollout.Query) (rollout.Hits, error) {
	if t.index == nil {
		return rollout.Hits{}, rollout.ErrNoIndex
	}
	found, err := t.index.Search(ctx, q)
	if err != nil {
		return found, err
	}
	names := t.names()
	for i := range found.Hits {
		found.Hits[i].Name = names[found.Hits[i].ID]
	}
	return found, nil
}

// names returns the names of the threads by id. An index of names that cannot be read is reported.
func (t *Threads) names() map[string]string {
	names, err := t.store.Names()
	if err != nil {
		t.report(err)
	}
	return names
}

// Retain calls do for each thread that exceeds a limit.
func (t *Threads) Retain(ctx context.Context, r rollout.Retention, now time.Time,
	do func(rollout.Candidate) error) rollout.RetentionResult {
	return t.store.Retain(ctx, r, now, do)
}

// Retire archives or deletes a thread that Retain has found.
func (t *Threads) Retire(_ rollout.Retention, c rollout.Candidate) error { return t.store.Retire(c) }

// HasFiles returns true.
func (t *Threads) HasFiles() bool { return true }

// CompressOld calls do for each thread with old files.
func (t *Threads) CompressOld(ctx context.Context,
	do func(rollout.Compressible) (rollout.CompressedThread, error)) (rollout.Compression, error) {
	return t.store.CompressOld(ctx, time.Now(), do)
}

// CompressThread compresses files of a thread.
func (t *Threads) CompressThread(c rollout.Compressible) (rollout.CompressedThread, error) {
	return t.store.CompressThread(c)
}

// Tidy completes moves to and from the archive, and removes temporary files.
func (t *Threads) Tidy() error {
	return errors.Join(t.store.FinishMoves(), t.store.RemoveLeftovers())
}

// Diagnose returns the state of the index.
func (t *Threads) Diagnose() protocol.IndexDiagnostics {
	if t.index == nil {
		return protocol.IndexDiagnostics{State: protocol.IndexOff}
	}
	return t.index.Diagnose()
}
