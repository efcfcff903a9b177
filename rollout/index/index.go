package index

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/database"
)

const (
	// sweepEvery is how old the last look at every file may be when a list is asked for.
	sweepEvery = 15 * time.Second
	// retryAfter is how long an index that could not be opened, or that another program
	// has locked, is left alone.
	retryAfter = 5 * time.Second
	// patience is how long a search waits for an index that is being built.
	searchWait = 2 * time.Second
)

// Options are what an index is made of.
type Options struct {
	Store *rollout.Store
	// Path is where the database is kept.
	Path string
	// Report is told what went wrong; the index goes on without the file, or with another.
	Report func(err error)
}

// Progress counts the files of a long reading. Done is Total at its end.
type Progress struct{ Done, Total int }

// Index knows what is in the rollouts of a store.
type Index struct {
	options Options
	// searching has a token while a search reads: a search may read all there is, and a list must
	// not wait for that, nor for those that wait for it. One connection is left to lists.
	searching  chan struct{}
	onProgress func(p Progress)
	onSkipped  func()
	closing    atomic.Bool
	work       sync.WaitGroup // sweeps

	health health

	changedMu sync.Mutex
	changed   map[location]bool

	skippedMu sync.Mutex
	skipped   []error
	reported  map[string]bool // what was ever in skipped

	mu sync.Mutex
	// db is nil while the file is not open.
	db *database.DB
	// folders are as they were last read; complete is set once every file was looked at.
	folders  map[location]folder
	complete bool
	// sweeping is closed at the end of the sweep that runs; nil while none does.
	sweeping chan struct{}
	swept    time.Time
	failed   time.Time
}

// New touches nothing: the file is opened when it is first needed.
func New(o Options) *Index {
	return &Index{options: o, searching: make(chan struct{}, 1), changed: map[location]bool{}, reported: map[string]bool{}}
}

// Watch has progress called while many files are read and at the end of that, and skipped
// at the end of a sweep that came across what Skipped gives. It is to be called before all
// others, once.
func (ix *Index) Watch(progress func(p Progress), skipped func()) {
	ix.onProgress, ix.onSkipped = progress, skipped
}

// Skipped are the errors, as those of Page.Skipped, that tell why files and folders which may
// be of threads are in no list, archived or not: what was come across since this was last
// asked, each once.
func (ix *Index) Skipped() []error {
	ix.skippedMu.Lock()
	defer ix.skippedMu.Unlock()
	skipped := ix.skipped
	ix.skipped = nil
	return skipped
}

// skip takes why something is in no list; nil for what is.
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

// announce tells that there are such.
func (ix *Index) notifySkipped() {
	ix.skippedMu.Lock()
	some := len(ix.skipped) > 0
	ix.skippedMu.Unlock()
	if some && ix.onSkipped != nil {
		ix.onSkipped()
	}
}

// Note tells that this process has written a rollout. It never waits for the disk.
func (ix *Index) Note(path string) {
	root, name, ok := ix.options.Store.RelPath(path)
	if !ok {
		return
	}
	ix.changedMu.Lock()
	ix.changed[location{root, name}] = true
	ix.changedMu.Unlock()
}

// takeNoted gives the files that were written since it was last called.
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

// Close ends what runs. The index is not to be used afterwards. A database that something
// still works with when ctx ends stays open: the next process takes it as it is.
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

// freshLocked brings the index up to date; it is false where the files have to be asked.
func (ix *Index) updateLocked() bool {
	if time.Since(ix.failed) < retryAfter {
		return false
	}
	ix.closeIfMovedLocked()
	if ix.db == nil || !ix.complete {
		ix.sweepLocked()
		return false
	}
	err := ix.refreshLocked()
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

// missLocked lets go of a file that was taken away.
func (ix *Index) closeIfMovedLocked() {
	if ix.db == nil || ix.sweeping != nil { // a sweep has it
		return
	}
	info, err := os.Stat(ix.options.Path)
	if err != nil || !os.SameFile(info, ix.db.File) {
		ix.reportLocked(ix.closeLocked())
	}
}

// opened is the database, which it opens if need be. Nobody else does at the same time.
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

// failLocked moves a file aside that cannot be used: the next list begins another.
func (ix *Index) failLocked(err error) {
	ix.reportLocked(err)
	defer ix.health.setFailed(err)
	if database.IsBusy(err) { // each try waits for the lock
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
