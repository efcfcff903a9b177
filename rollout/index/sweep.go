package index

import (
	"errors"
	"time"

	"appserver/protocol"
	"appserver/rollout/database"
)

const (
	// A batch of a sweep is so many files, or so many bytes of messages.
	batchFiles = 256
	batchText  = 4 << 20

	// progressEvery is how often a long sweep tells how far it is.
	progressEvery = 500 * time.Millisecond
)

var errClosing = errors.New("index: closing")

// sweepLocked looks at every file, away from the caller.
func (ix *Index) sweepLocked() {
	if ix.sweeping != nil || ix.closing.Load() || time.Since(ix.failed) < retryAfter {
		return
	}
	done := make(chan struct{})
	ix.sweeping = done
	if !ix.complete {
		ix.health.reach(0, 0)
		ix.health.enter(protocol.IndexBuilding)
	}
	ix.work.Go(func() {
		folders, err := ix.sweep()
		ix.announce()
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
			ix.health.enter(protocol.IndexReady)
		}
	})
}

func (ix *Index) sweep() (map[place]folder, error) {
	db, err := ix.opened()
	if err != nil {
		return nil, err
	}
	s := survey{store: ix.options.Store, skip: ix.skip}
	if s.knows, s.old, err = atOnce(db.Read); err != nil {
		return nil, err
	}
	if err := s.run(); err != nil {
		return nil, err
	}
	if err := removeAll(db.Write, s.gone); err != nil {
		return nil, err
	}
	return s.seen, ix.readAll(db, s.changed)
}

// readAll reads files in batches, so that a crash loses one of them at most, and no other
// server waits long.
func (ix *Index) readAll(db *database.DB, files []file) error {
	r := reader{store: ix.options.Store, stop: &ix.closing}
	told := progress{tell: ix.watch, total: len(files), last: time.Now()}
	var batch []entry
	text := 0
	for done, f := range files {
		ix.health.reach(done, len(files))
		for more := true; more; {
			e := r.read(f.place, f.known, f.info)
			ix.skipUnread(&e)
			if ix.closing.Load() {
				return errClosing
			}
			more = e.size != unread && e.size < f.info.Size()
			batch, text = append(batch, e), text+e.bytes()
			f.known = e.known
			if !more && text < batchText && len(batch) < batchFiles {
				continue
			}
			if err := write(db.Write, batch); err != nil {
				return err
			}
			batch, text = batch[:0], 0
		}
		told.at(done)
	}
	err := write(db.Write, batch)
	told.end()
	return err
}

func (e *entry) bytes() (n int) {
	for _, m := range e.messages {
		n += len(m.Text)
	}
	return n
}

// progress tells how far a long reading is.
type progress struct {
	tell  func(Progress)
	total int
	last  time.Time
	told  bool
}

func (p *progress) at(done int) {
	if p.tell == nil || time.Since(p.last) < progressEvery {
		return
	}
	p.last, p.told = time.Now(), true
	p.tell(Progress{done, p.total})
}

func (p *progress) end() {
	if p.told {
		p.tell(Progress{p.total, p.total})
	}
}
