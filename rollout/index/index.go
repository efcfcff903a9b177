package index

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"appserver/platform/database"
	"appserver/protocol"
	"appserver/rollout"
)

const (
	// sweepEvery is the age of the last sweep after which a list starts another one.
	sweepEvery = 15 * time.Second
	// retryAfter is the pause after the index could not be opened or was locked by another
	// program.
	retryAfter = 5 * time.Second
	// searchWait is the time that a search waits for an index that is being built.
	searchWait = 2 * time.Second
)

// Options configures an Index.
type Options struct {
	Store *rollout.Store
	// Path is the path of the database.
	Path string
	// Report is called with each error. The index then continues without the file or with a
	// new one.
	Report func(err error)
}

// Progress counts the files of a long reading. At the end, Done equals Total.
type Progress struct{ Done, Total int }

// Index is an index of the rollouts of a store. It is safe for concurrent use.
type Index struct {
	options Options
	// searching holds a token while a search reads. A search may read all messages, so only
	// one runs, and one connection stays free for lists.
	searching  chan struct{}
	onProgress func(p Progress)
	onSkipped  func()
	closing    atomic.Bool
	work       sync.WaitGroup // running sweeps

	health health

	changedMu sync.Mutex
	changed   map[location]bool

	skippedMu sync.Mutex
	skipped   []error
	reported  map[string]bool // every message that was ever in skipped

	mu sync.Mutex
	// db is nil while the file is not open.
	db *database.DB
	// folders holds the folders as last read. complete is set after a whole sweep.
	folders  map[location]folder
	complete bool
	// applied counts the files that were read or removed from the index.
	applied int
	// sweeping is closed at the end of the running sweep. It is nil if none runs.
	sweeping chan struct{}
	swept    time.Time
	failed   time.Time
}

// New returns an index. The file is opened at its first use.
func New(o Options) *Index {
	return &Index{
		options:   o,
		searching: make(chan struct{}, 1),
		changed:   map[location]bool{},
		reported:  map[string]bool{},
	}
}

// Watch sets callbacks. progress is called during a long reading and at its end. skipped is
// called after a sweep with new results for Skipped. Call Watch once, before other methods.
func (ix *Index) Watch(progress func(p Progress), skipped func()) {
	ix.onProgress, ix.onSkipped = progress, skipped
}

// Skipped returns the errors of files and folders that may belong to threads but are in no
// list. It returns each error once.
func (ix *Index) Skipped() []error {
	ix.skippedMu.Lock()
	defer ix.skippedMu.Unlock()
	skipped := ix.skipped
	ix.skipped = nil
	return skipped
}

// skip records an error for Skipped. nil is ignored.
func (ix *Index) skip(err error) {
	if err == nil {
		return
	}
	ix.skippedMu.Lock()
	defer ix.skippedMu.Unlock()
	if message := err.Error(); !ix.reported[message] {
		ix.reported[message] = true
		ix.skipped = append(ix.skipped, err)
	}
}

// notifySkipped calls the callback if Skipped has new errors.
func (ix *Index) notifySkipped() {
	ix.skippedMu.Lock()
	some := len(ix.skipped) > 0
	ix.skippedMu.Unlock()
	if some && ix.onSkipped != nil {
		ix.onSkipped()
	}
}

// Note records that this process wrote a rollout. It does not access the disk.
func (ix *Index) Note(path string) {
	root, name, ok := ix.options.Store.RelPath(path)
	if !ok {
		return
	}
	ix.changedMu.Lock()
	ix.changed[location{root, name}] = true
	ix.changedMu.Unlock()
}

// drainChanged returns the files recorded since the last call.
func (ix *Index) drainChanged() []location {
	ix.changedMu.Lock()
	defer ix.changedMu.Unlock()
	noted := make([]location, 0, len(ix.changed))
	for p := range ix.changed {
		noted = append(noted, p)
	}
	clear(ix.changed)
	return noted
}

// Close ends a running sweep and closes the database. If the sweep still runs when ctx ends,
// the database stays open, which does no harm to the file.
func (ix *Index) Close(ctx context.Context) error {
	ix.closing.Store(true)
	ended := make(chan struct{})
	go func() {
		ix.work.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		return ctx.Err()
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.closeLocked()
}

func (ix *Index) closeLocked() error {
	db := ix.db
	ix.db, ix.complete, ix.folders = nil, false, nil
	ix.health.setState(protocol.IndexClosed)
	if db == nil {
		return nil
	}
	return db.Close()
}

// Ready reports whether the index has all files, so that List need not start a sweep.
func (ix *Index) Ready() bool {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.db != nil && ix.complete
}

// Sweep starts a sweep in the background unless one is running.
func (ix *Index) Sweep() {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.sweepLocked()
}

// updateLocked updates the index. It returns false if the caller has to read the files.
func (ix *Index) updateLocked() bool {
	return ix.usableLocked() && ix.refreshedLocked(scope{})
}

// usableLocked returns false if the index is not complete. A sweep completes it.
func (ix *Index) usableLocked() bool {
	if time.Since(ix.failed) < retryAfter {
		return false
	}
	ix.closeIfMovedLocked()
	if ix.db == nil || !ix.complete {
		ix.sweepLocked()
		return false
	}
	return true
}

// refreshedLocked updates a part of a usable index. It returns false if the caller has to read the files.
func (ix *Index) refreshedLocked(within scope) bool {
	err := ix.refreshLocked(within)
	if errors.Is(err, errTooMuch) {
		ix.complete = false
		ix.sweepLocked()
		return false
	}
	if err != nil {
		ix.failLocked(err)
		return false
	}
	ix.health.setState(protocol.IndexReady)
	if time.Since(ix.swept) > sweepEvery {
		ix.sweepLocked()
	}
	return true
}

// closeIfMovedLocked closes a database whose file was removed or replaced.
func (ix *Index) closeIfMovedLocked() {
	if ix.db == nil || ix.sweeping != nil { // the sweep uses it
		return
	}
	info, err := os.Stat(ix.options.Path)
	if err != nil || !os.SameFile(info, ix.db.File) {
		ix.reportLocked(ix.closeLocked())
	}
}

// openDB returns the database and opens it if needed. Only one goroutine calls it at a time.
func (ix *Index) openDB() (*database.DB, error) {
	ix.mu.Lock()
	db := ix.db
	ix.mu.Unlock()
	if db != nil {
		return db, nil
	}
	db, _, err := database.Open(ix.options.Path, kind())
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if err != nil {
		ix.failed = time.Now()
		return nil, err
	}
	ix.db = db
	return db, nil
}

// failLocked reports an error and moves an unusable file aside. The next list creates another
// one.
func (ix *Index) failLocked(err error) {
	ix.reportLocked(err)
	defer ix.health.setFailed(err)
	if database.IsBusy(err) { // each attempt waits for the lock
		ix.failed = time.Now()
	}
	if database.IsUnusable(err) && ix.db != nil {
		ix.reportLocked(ix.closeLocked())
		ix.reportLocked(database.MoveAside(ix.options.Path))
	}
}

func (ix *Index) reportLocked(err error) {
	if err != nil && ix.options.Report != nil {
		ix.options.Report(err)
	}
}
