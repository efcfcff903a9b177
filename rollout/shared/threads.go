package shared

import (
	"context"
	"errors"
	"sync"
	"time"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/fleet"
	"appserver/rollout/store"
)

// Options are the options of a store.
type Options struct {
	Driver fleet.Driver
	Node   fleet.Node
	// Copies is the folder of the local copies.
	Copies string
	// Disk is the file system of the copies, or nil for that of the operating system.
	Disk rollout.FS
	// Timeout bounds each call of the database.
	Timeout time.Duration
	// Report gets errors that fail no operation.
	Report func(error)
	// SnapshotVersion is rollout.Store.SnapshotVersion of the copies.
	SnapshotVersion string
}

// Threads implements store.Threads with a database.
type Threads struct {
	Options
	lease *lease
	// ttl is the time to live of leases.
	ttl    time.Duration
	copies *copies
	filler *filler
	// base ends with Close.
	base   context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu sync.Mutex
	// open are the threads that this process writes.
	open map[string]*journal
	// unfinished are the threads of setUnfinished.
	unfinished map[string]bool
	// nodes are the nodes with a valid lease, as WatchInterrupted has read them last.
	nodes []fleet.Node
}

var _ store.Threads = (*Threads)(nil)

// Open joins the fleet and returns its threads.
func Open(ctx context.Context, o Options) (*Threads, error) {
	copies := newCopies(o)
	presence := newPresence(copies.files)
	if err := presence.endKilled(ctx, o.Driver); err != nil {
		return nil, err
	}
	lease, ttl, err := newLease(ctx, o, presence)
	if err != nil {
		return nil, err
	}
	t := &Threads{Options: o, lease: lease, ttl: ttl, copies: copies, open: map[string]*journal{},
		unfinished: map[string]bool{}}
	t.base, t.cancel = context.WithCancel(context.Background())
	t.filler = newFiller(t)
	t.work.Go(func() { t.lease.keep(t.base, ttl) })
	t.work.Go(t.filler.run)
	t.work.Go(t.keepClean)
	return t, nil
}

// Close leaves the fleet. All journals must be closed before.
func (t *Threads) Close() error {
	t.cancel()
	t.work.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), t.Timeout)
	defer cancel()
	return t.lease.leave(ctx)
}

// call returns the context of a call of the database.
func (t *Threads) call() (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.base, t.Timeout)
}

// callOf returns the context of a call about a thread. If this process writes the thread, the call ends when
// the lease is lost: the goroutine of the thread waits for the call, and must end its commands then.
func (t *Threads) callOf(id string) (context.Context, context.CancelFunc) {
	return t.callWithin(id, t.Timeout)
}

// callWithin does the same as callOf, with a time limit.
func (t *Threads) callWithin(id string, limit time.Duration) (context.Context, context.CancelFunc) {
	t.mu.Lock()
	j := t.open[id]
	if j == nil || j.valid == nil {
		t.mu.Unlock()
		return context.WithTimeout(t.base, limit)
	}
	ctx, cancel := context.WithTimeout(j.valid, limit)
	t.mu.Unlock()
	stop := context.AfterFunc(t.base, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// leaseError returns a *store.LostError if a call about a thread has failed because the lease is lost.
func leaseError(ctx context.Context, id string, err error) error {
	if err == nil || !errors.Is(context.Cause(ctx), errLease) {
		return err
	}
	return &store.LostError{ID: id, Err: errLease}
}

// Where returns the place of a thread. It has no path.
func (t *Threads) Where(at store.Ref) (store.Place, error) {
	found, err := t.find(at.ID)
	return store.Place{Ref: store.Ref{ID: at.ID}, Archived: found.Archived}, err
}

func (t *Threads) find(id string) (fleet.Place, error) {
	ctx, cancel := t.callOf(id)
	defer cancel()
	place, err := t.Driver.Find(ctx, id)
	return place, threadError(id, leaseError(ctx, id, err))
}

// Owner returns the other node that writes a thread, or the zero value, and the working directory of the
// thread.
func (t *Threads) Owner(ctx context.Context, id string) (owner fleet.Node, cwd string, err error) {
	ctx, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	place, err := t.Driver.Find(ctx, id)
	if err != nil {
		return owner, "", threadError(id, err)
	}
	if place.Owner != t.Node.ID {
		owner = fleet.Node{ID: place.Owner, Address: place.Address}
	}
	return owner, place.Meta.Cwd, nil
}

// Nodes returns the nodes of the fleet.
func (t *Threads) Nodes(ctx context.Context) ([]fleet.Node, error) {
	ctx, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	nodes, err := t.Driver.Nodes(ctx)
	return nodes, databaseError(err)
}

// threadError converts an error of the driver.
func threadError(id string, err error) error {
	if errors.Is(err, fleet.ErrNotFound) {
		return &rollout.NotFoundError{ID: id}
	}
	return databaseError(err)
}

// takeError converts an error of Driver.Take.
func (t *Threads) takeError(id string, err error) error {
	var owned *fleet.OwnedError
	if errors.As(err, &owned) {
		return t.ownedBy(id, fleet.Node{ID: owned.Node, Address: owned.Address})
	}
	return threadError(id, err)
}

// ownedBy returns the error of a thread that another node writes. It has the address of the node only if
// this one connects to others.
func (t *Threads) ownedBy(id string, n fleet.Node) error {
	if t.Node.Address == "" {
		n.Address = ""
	}
	return &store.OwnedError{ID: id, Node: n.ID, Address: n.Address}
}

// databaseError marks an error as one of the database, unless the store has an error for it.
func databaseError(err error) error {
	var archived *store.ArchivedError
	var cursor *rollout.CursorError
	var unavailable *store.UnavailableError
	if err == nil || errors.As(err, &archived) || errors.As(err, &cursor) || errors.As(err, &unavailable) ||
		errors.Is(err, rollout.ErrWritten) {
		return err
	}
	return &store.UnavailableError{Err: err}
}

// Check returns the error with which an operation would fail.
func (t *Threads) Check(at store.Ref, op store.Op) error {
	if op == store.OpRestore { // a database keeps excluded items, so there is no backup
		return nil
	}
	place, err := t.find(at.ID)
	if err != nil {
		return err
	}
	if op == store.OpWrite && t.opened(at.ID) != nil {
		return &rollout.LockedError{ID: at.ID}
	}
	if place.Owner != "" && place.Owner != t.Node.ID {
		return t.ownedBy(at.ID, fleet.Node{ID: place.Owner, Address: place.Address})
	}
	return nil
}

func (t *Threads) opened(id string) *journal {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open[id]
}

// owned runs an operation as the owner of a thread that is not open.
func (t *Threads) owned(id string, do func(ctx context.Context, own fleet.Own) error) error {
	ctx, cancel := t.call()
	defer cancel()
	return t.ownedFor(ctx, id, do)
}

func (t *Threads) ownedFor(ctx context.Context, id string, do func(ctx context.Context, own fleet.Own) error) error {
	j := &journal{threads: t, id: id}
	if err := t.enter(j); err != nil {
		return err
	}
	defer t.leave(j)
	node, _, err := t.lease.await(ctx)
	if err != nil {
		return threadError(id, err)
	}
	own, err := t.Driver.Take(ctx, id, node)
	if err != nil {
		return t.takeError(id, err)
	}
	if err = do(ctx, own); err != nil {
		_ = t.release(own)
	}
	return threadError(id, err)
}

// enter reserves a thread for a journal. Within this process a thread has one journal.
func (t *Threads) enter(j *journal) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open[j.id] != nil {
		return &rollout.LockedError{ID: j.id}
	}
	t.open[j.id] = j
	return nil
}

// bind makes the calls about the thread of a journal end with a lease.
func (t *Threads) bind(j *journal, valid context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	j.valid = valid
}

func (t *Threads) leave(j *journal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open[j.id] == j {
		delete(t.open, j.id)
	}
}

// Archive archives a thread.
func (t *Threads) Archive(at store.Ref) error { return t.move(at.ID, true) }

// Unarchive returns a thread from the archive.
func (t *Threads) Unarchive(at store.Ref) (store.Place, error) {
	place, err := t.Where(at)
	var missing *rollout.NotFoundError
	if errors.As(err, &missing) || err == nil && !place.Archived {
		err = &rollout.NotArchivedError{ID: at.ID}
	}
	if err == nil {
		err = t.move(at.ID, false)
	}
	place.Archived = false
	return place, err
}

func (t *Threads) move(id string, archived bool) error {
	return t.owned(id, func(ctx context.Context, own fleet.Own) error {
		return errors.Join(t.Driver.Move(ctx, own, archived), t.Driver.Release(ctx, own))
	})
}

// Delete deletes a thread and its copy. No thread depends on another one.
func (t *Threads) Delete(id string) error {
	return t.owned(id, t.delete)
}

func (t *Threads) delete(ctx context.Context, own fleet.Own) error {
	if err := t.Driver.Delete(ctx, own); err != nil {
		return err
	}
	t.removeCopy(edition{id: own.ID, generation: own.Generation})
	return nil
}

// removeCopy removes the copies of a thread.
func (t *Threads) removeCopy(e edition) {
	defer t.copies.lock(e.id)()
	if err := t.copies.remove(e); err != nil {
		t.Report(err)
	}
}

// Rename sets the name of a thread. The database does not keep the time.
func (t *Threads) Rename(id, name string, _ time.Time) error {
	ctx, cancel := t.callOf(id)
	defer cancel()
	return threadError(id, leaseError(ctx, id, t.Driver.Rename(ctx, id, name)))
}

// Listed does nothing: a list leaves no work.
func (t *Threads) Listed() {}

// Tidy does nothing: the database completes or undoes what a killed writer began.
func (t *Threads) Tidy() error { return nil }

// Diagnose returns the state of the search.
func (t *Threads) Diagnose() protocol.IndexDiagnostics {
	if t.filler.isIdle() {
		return protocol.IndexDiagnostics{State: protocol.IndexReady}
	}
	return protocol.IndexDiagnostics{State: protocol.IndexBuilding}
}
