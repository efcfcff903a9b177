package shared

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/fleet"
	"appserver/rollout/line"
	"appserver/rollout/listing"
	"appserver/rollout/store"
)

// journal is a thread that this node owns, with its copy.
type journal struct {
	threads *Threads
	id      string
	own     fleet.Own
	// next is the ordinal of the next line in the database.
	next int64
	head *listing.Collector
	// copy is the log of the copy. It is nil before the first line of a new thread is in the copy.
	copy *rollout.Log
	// missed are the last lines of the database that the copy lacks, because the disk is full.
	missed []protocol.RolloutLine
	// created is set if this journal has created the thread.
	begun, created bool
	// seed has the first lines of a new thread. It is nil once the copy has them.
	seed *rollout.Seed
	// valid ends when the lease is lost, in which the thread was taken. It is nil before. The mutex of
	// threads protects it.
	valid context.Context
	// lost is the error after which the journal cannot be used.
	lost   error
	closed bool
	// isReported is set if the last append did not reach the copy.
	isReported bool
}

// Begin returns the journal of a new thread.
func (t *Threads) Begin(id string, at time.Time, seed *rollout.Seed) (store.Journal, error) {
	j := &journal{threads: t, id: id, seed: seed, begun: true}
	j.head = listing.NewCollector(rollout.Head{ID: id, CreatedAt: at, UpdatedAt: at}, false, false)
	if err := t.enter(j); err != nil {
		return nil, err
	}
	return j, nil
}

// Open makes this node the owner of a thread, and loads the thread.
func (t *Threads) Open(at store.Ref, to rollout.Loader) (store.Journal, *rollout.Contents, error) {
	j := &journal{threads: t, id: at.ID}
	if err := t.enter(j); err != nil {
		return nil, nil, err
	}
	contents, err := j.load(to)
	if err != nil {
		t.leave(j)
		return nil, nil, t.takeError(at.ID, err)
	}
	t.filler.add(j.own, newLines{from: j.next, end: j.next})
	return j, contents, nil
}

func (j *journal) load(to rollout.Loader) (contents *rollout.Contents, err error) {
	t := j.threads
	ctx, cancel := t.call()
	defer cancel()
	node, valid, err := t.lease.await(ctx)
	if err != nil {
		return nil, err
	}
	t.bind(j, valid)
	if j.own, err = t.Driver.Take(ctx, j.id, node); err != nil {
		t.setUnfinished(j.id, false)
		return nil, err
	}
	contents, isRunning, err := j.loadOwned(ctx, to)
	t.setUnfinished(j.id, err != nil && isRunning)
	if err != nil && !isRunning {
		err = errors.Join(err, t.release(j.own))
	}
	return contents, err
}

// loadOwned reads the head and the lines. Before the thread was taken, another node could change both.
// isRunning is set if a turn may be under way.
func (j *journal) loadOwned(ctx context.Context, to rollout.Loader) (
	contents *rollout.Contents, isRunning bool, err error,
) {
	place, err := j.threads.Driver.Find(ctx, j.id)
	if err != nil {
		return nil, true, err
	}
	if place.Archived {
		return nil, false, &store.ArchivedError{ID: j.id}
	}
	j.next, j.head = j.own.Next, listing.NewCollector(place.Head.Head, place.Listed, place.Running)
	if contents, err = j.openCopy(ctx, to); err != nil {
		return nil, place.Running, err
	}
	return describe(contents, place), place.Running, nil
}

// openCopy opens the copy with all lines of the database.
func (j *journal) openCopy(ctx context.Context, to rollout.Loader) (contents *rollout.Contents, err error) {
	copies := j.threads.copies
	err = copies.load(ctx, j.edition(), func(path string) (*rollout.Contents, *rollout.LineReader, io.Closer, error) {
		log, found, err := copies.files.OpenTo(path, to)
		if j.copy, contents = log, found; err != nil {
			return nil, nil, nil, err
		}
		return found, log.LineReader(), log, nil
	})
	copies.setWritten(j.id, err == nil)
	return contents, err
}

func (j *journal) edition() edition { return edition{j.id, j.own.Generation, j.next} }

// describe adds the facts of the database to the contents of a copy.
func describe(c *rollout.Contents, place fleet.Place) *rollout.Contents {
	c.Path, c.Began, c.ModTime = "", place.CreatedAt, place.UpdatedAt
	return c
}

// Load reads a thread without owning it. While a journal writes the thread, the journal keeps the copy up
// to date, and Load waits for it.
func (t *Threads) Load(at store.Ref, to rollout.Loader) (
	contents *rollout.Contents, text *rollout.LineReader, err error,
) {
	place, err := t.find(at.ID)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := t.callOf(at.ID)
	defer cancel()
	e := edition{at.ID, place.Generation, place.Next}
	err = t.copies.load(ctx, e, func(path string) (*rollout.Contents, *rollout.LineReader, io.Closer, error) {
		contents, text, err = t.copies.files.Load(path, to)
		return contents, text, text, err
	})
	if err != nil {
		return nil, nil, err
	}
	return describe(contents, place), text, nil
}

// Append appends lines to the database, and then to the copy. It does not wait longer than the lease is
// valid.
func (j *journal) Append(lines []protocol.RolloutLine, _ bool) error {
	if j.checkLease(); j.lost != nil || len(lines) == 0 {
		return j.lost
	}
	texts, err := encode(lines)
	if err != nil {
		return err
	}
	ctx, cancel := j.threads.callOf(j.id)
	defer cancel()
	before := *j.head
	if j.begun && !j.created {
		err = j.create(ctx, lines, texts)
	} else {
		err = j.write(ctx, lines, texts)
	}
	if err == nil {
		j.reportOnce(j.keep(ctx, lines))
		return nil
	}
	if j.checkLease(); j.lost != nil {
		return j.lost
	}
	if isLost(err) {
		j.lost = &store.LostError{ID: j.id, Err: err}
		return j.lost
	}
	*j.head = before
	var seed *seedError
	if errors.As(err, &seed) {
		return seed.error
	}
	return threadError(j.id, err)
}

// encode returns lines as they are stored.
func encode(lines []protocol.RolloutLine) ([][]byte, error) {
	encoded, err := line.Encode(lines)
	return bytes.Split(bytes.TrimSuffix(encoded, []byte("\n")), []byte("\n")), err
}

// write appends lines to the thread in the database.
func (j *journal) write(ctx context.Context, lines []protocol.RolloutLine, texts [][]byte) error {
	for _, l := range lines {
		j.head.Add(l)
	}
	head := j.fleetHead()
	if err := j.threads.Driver.Append(ctx, j.own, j.next, texts, &head); err != nil {
		return err
	}
	from := j.next
	j.next += int64(len(lines))
	j.threads.filler.add(j.own, newLines{from: from, end: j.next, messages: messagesIn(lines, from)})
	return nil
}

// isLost reports whether the journal cannot be used after an error of an append. If the database has other
// lines than the copy, or no lines of the thread, it has lost them in a failover.
func isLost(err error) bool {
	var order *fleet.OrderError
	return errors.Is(err, fleet.ErrFenced) || errors.Is(err, fleet.ErrInDoubt) || errors.Is(err, fleet.ErrNotFound) ||
		errors.As(err, &order)
}

// reportOnce reports that appends do not reach the copy, once until they do again.
func (j *journal) reportOnce(err error) {
	if err != nil && !j.isReported {
		j.threads.Report(err)
	}
	j.isReported = err != nil
}

func (j *journal) fleetHead() fleet.Head {
	head, listed := j.head.Head()
	return fleet.Head{Head: head, Listed: listed, Running: j.head.Running()}
}

// keep appends lines to the copy, and begins that of a new thread. After an error, the next call appends
// the lines as well. The log of the copy stays open, because the thread reads its lines again from it.
func (j *journal) keep(ctx context.Context, lines []protocol.RolloutLine) error {
	j.missed = append(j.missed, lines...)
	err := j.keepMissed()
	if err != nil && (j.copy == nil || j.copy.LineReader() == nil || j.copy.LineReader().Lines() == 0) {
		err = j.keepAnew(ctx, err) // no line was read from this copy
	}
	if err == nil {
		j.missed, j.seed = nil, nil
	}
	return err
}

func (j *journal) keepMissed() (err error) {
	copies := j.threads.copies
	defer copies.lock(j.id)()
	if j.copy == nil {
		if j.copy, err = j.createCopy(); err != nil {
			return err
		}
		copies.setWritten(j.id, true)
	}
	return j.copy.Append(j.missed, false)
}

// createCopy returns the log of the copy of a new thread. Its first append copies the seed.
func (j *journal) createCopy() (*rollout.Log, error) {
	files, at := j.threads.copies.files, j.edition().time()
	if j.seed == nil {
		return files.Create(j.id, at)
	}
	return files.CreateFrom(j.id, at, j.seed)
}

// keepAnew fetches a copy that could not be begun. A file may be in its place.
func (j *journal) keepAnew(ctx context.Context, cause error) error {
	if j.copy != nil {
		_ = j.copy.Close()
		j.threads.copies.setWritten(j.id, false)
	}
	if _, err := j.openCopy(ctx, &rollout.LineList{}); err != nil {
		return errors.Join(cause, err)
	}
	return nil
}

// checkLease records that the lease is lost.
func (j *journal) checkLease() {
	select {
	case <-j.Lost():
		j.lost = &store.LostError{ID: j.id, Err: errLease}
	default:
	}
}

var errLease = errors.New("this node could not renew its lease in time, so another node may write the thread")

// Lost returns a channel that is closed when the lease is lost. It compares the clock, because a
// node that continues after a suspension can serve a request before its timers.
func (j *journal) Lost() <-chan struct{} {
	j.threads.lease.loseInTime()
	if j.valid == nil {
		return nil
	}
	return j.valid.Done()
}

// Close adds the last messages to the search, and ends the ownership.
func (j *journal) Close() error {
	return j.end(func(ctx context.Context, own fleet.Own) error {
		j.threads.filler.flush(ctx, j.id)
		j.threads.filler.drop(j.id)
		return j.threads.Driver.Release(ctx, own)
	})
}

// CloseRewritten closes the journal. Other programs do not read the database, so nothing is rewritten.
func (j *journal) CloseRewritten(rollout.Projection) error { return j.Close() }

// Discard deletes the thread if it began with this journal.
func (j *journal) Discard() error {
	if !j.created {
		return j.Close()
	}
	return j.end(func(ctx context.Context, own fleet.Own) error {
		j.threads.filler.drop(j.id)
		j.threads.removeCopy(j.edition())
		return j.threads.Driver.Delete(ctx, own)
	})
}

func (j *journal) end(do func(ctx context.Context, own fleet.Own) error) (err error) {
	if j.closed {
		return nil
	}
	j.closed = true
	defer j.threads.leave(j)
	if j.copy != nil {
		j.threads.copies.setWritten(j.id, false)
		err = j.copy.Close()
	}
	if j.checkLease(); j.lost != nil || j.begun && !j.created {
		return err
	}
	ctx, cancel := j.threads.callOf(j.id)
	defer cancel()
	return errors.Join(err, do(ctx, j.own))
}

// LineReader reads the lines of the copy.
func (j *journal) LineReader() *rollout.LineReader {
	if j.copy == nil {
		return nil
	}
	return j.copy.LineReader()
}

// SetIdle sets whether the file of the copy may be closed. It stays open if the copy lacks lines: a load would
// append them.
func (j *journal) SetIdle(idle bool) {
	if j.copy != nil {
		j.copy.SetIdle(idle && len(j.missed) == 0)
	}
}

// Resume opens the file of the copy again. A load may have its lock for a moment.
func (j *journal) Resume() error {
	if j.lost != nil || j.copy == nil {
		return j.lost
	}
	for ended := time.Now().Add(copyWait); ; time.Sleep(copyPause) {
		err := j.resumeCopy()
		var locked *rollout.LockedError
		if !errors.As(err, &locked) || time.Now().After(ended) {
			return err
		}
	}
}

func (j *journal) resumeCopy() error {
	defer j.threads.copies.lock(j.id)()
	return j.copy.Resume()
}

// Ref returns the id of the thread.
func (j *journal) Ref() store.Ref { return store.Ref{ID: j.id} }

// IsAt returns false, because the thread has no file.
func (j *journal) IsAt(string) bool { return false }
