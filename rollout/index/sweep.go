package index

import (
	"errors"
	"time"

	"appserver/platform/database"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/listing"
)

const (
	// Limits of a batch: number of files, and bytes of messages.
	batchFiles = 256
	batchText  = 4 << 20

	// progressEvery is the interval of progress reports.
	progressEvery = 500 * time.Millisecond
)

var errClosing = errors.New("index: closing")

// sweepLocked starts a sweep over all files, unless one is running.
func (ix *Index) sweepLocked() {
	if ix.sweeping != nil || ix.closing.Load() || time.Since(ix.failed) < retryAfter {
		return
	}
	done := make(chan struct{})
	ix.sweeping = done
	if !ix.complete {
		ix.health.setProgress(0, 0)
		ix.health.setState(protocol.IndexBuilding)
	}
	ix.work.Go(func() {
		folders, err := ix.sweep()
		ix.notifySkipped()
		ix.mu.Lock()
		defer ix.mu.Unlock()
		close(done)
		ix.sweeping = nil
		switch {
		case errors.Is(err, errClosing):
		case err != nil:
			ix.failLocked(err)
		case ix.db != nil:
			ix.folders, ix.complete, ix.swept = folders, true, time.Now()
			ix.countLocked()
			ix.health.setState(protocol.IndexReady)
		}
	})
}

func (ix *Index) sweep() (map[location]folder, error) {
	db, err := ix.openDB()
	if err != nil {
		return nil, err
	}
	s := folderScan{store: ix.options.Store, skip: ix.skip}
	if s.indexed, s.old, err = indexedAtOnce(db.Read); err != nil {
		return nil, err
	}
	if err := s.scan(); err != nil {
		return nil, err
	}
	if err := removeAll(db.Write, s.gone); err != nil {
		return nil, err
	}
	refused, err := ix.readAll(db, s.changed)
	for _, p := range refused { // the next list looks at their folders again
		delete(s.seen, location{p.root, p.folder()})
	}
	return s.seen, err
}

// readAll reads files in batches. So a crash loses at most one batch, and other servers wait
// only briefly. It returns the files whose entries were not stored.
func (ix *Index) readAll(db *database.DB, files []file) (refused []location, err error) {
	r := fileReader{store: ix.options.Store, stop: &ix.closing}
	reported := progress{report: ix.onProgress, total: len(files), last: time.Now()}
	var batch []entry
	text := 0
	for done, f := range files {
		ix.health.setProgress(done, len(files))
		for more := true; more; {
			e := r.read(f.location, f.indexed, f.info)
			ix.reportUnread(&e)
			if ix.closing.Load() {
				return nil, errClosing
			}
			more = e.size != sizeUnread && e.size < f.info.Size()
			batch, text = append(batch, e), text+e.bytes()
			f.indexed = e.indexedState
			if !more && text < batchText && len(batch) < batchFiles {
				continue
			}
			now, err := write(db.Write, batch)
			if err != nil {
				return nil, err
			}
			refused, batch, text = append(refused, now...), batch[:0], 0
		}
		reported.update(done)
	}
	now, err := write(db.Write, batch)
	reported.finish()
	return append(refused, now...), err
}

// entry is the result of reading a file.
type entry struct {
	location
	// known is the state of the row before the reading. An entry is not stored if the row has another one by then.
	known indexedState
	// previous is the state from which the reading continued, or the zero value for a full
	// reading.
	previous indexedState
	indexedState
	listed   bool
	head     rollout.Head
	messages []message
	// latest is the state from the lines of this reading.
	latest listing.Latest
}

func (e *entry) bytes() (n int) {
	for _, m := range e.messages {
		n += len(m.Text)
	}
	return n
}

// progress reports the progress of a long reading.
type progress struct {
	report  func(Progress)
	total   int
	last    time.Time
	started bool
}

func (p *progress) update(done int) {
	if p.report == nil || time.Since(p.last) < progressEvery {
		return
	}
	p.last, p.started = time.Now(), true
	p.report(Progress{done, p.total})
}

func (p *progress) finish() {
	if p.started {
		p.report(Progress{p.total, p.total})
	}
}
