package shared

import (
	"context"
	"errors"
	"time"

	"appserver/rollout"
	"appserver/rollout/fleet"
	"appserver/rollout/store"
)

// retainPage is the number of threads that Retain reads at a time.
const retainPage = 100

// Retain calls do for each thread that exceeds a limit, the oldest first, and those that are not archived
// before the archived ones. The size of a thread is that of its lines.
func (t *Threads) Retain(ctx context.Context, limits rollout.Retention, now time.Time,
	do func(rollout.Candidate) error) (done rollout.RetentionResult) {
	r := &retention{Retention: limits, ctx: ctx, driver: t.Driver, now: now, do: do}
	if !limits.IsLimited() {
		return done
	}
	for _, archived := range []bool{false, true} {
		if !archived || limits.Delete {
			r.run(archived)
		}
	}
	if limits.MaxBytes > 0 {
		r.done.Over = max(0, r.done.Bytes-limits.MaxBytes)
	}
	return r.done
}

// retention is the state of a Retain call.
type retention struct {
	rollout.Retention
	ctx    context.Context
	driver fleet.Driver
	now    time.Time
	do     func(rollout.Candidate) error
	done   rollout.RetentionResult
}

// measure reads the size of all threads. It returns false after an error.
func (r *retention) measure() bool {
	usage, err := r.driver.Usage(r.ctx)
	if err != nil {
		r.done.Unread = append(r.done.Unread, err.Error())
		return false
	}
	r.done.Threads, r.done.Bytes, r.done.ArchivedBytes = usage.Threads, usage.Bytes, usage.ArchivedBytes
	return true
}

// run processes the archived threads, or the other ones. It measures after it has read a page, because
// another node may have removed threads before the page was read.
func (r *retention) run(archived bool) {
	q := rollout.Query{Limit: retainPage, SortKey: rollout.SortUpdated, Ascending: true, Archived: archived,
		Unlisted: true}
	for more := true; more && r.ctx.Err() == nil; more = q.Cursor != "" {
		page, err := r.driver.List(r.ctx, q)
		if err == nil && !r.measure() {
			return
		}
		for _, h := range page.Heads {
			c := rollout.Candidate{ID: h.ID, Archived: archived, WrittenAt: h.UpdatedAt}
			if c.Limit = r.ExceededLimit(&c, &r.done, r.now); c.Limit == "" || r.ctx.Err() != nil {
				return
			}
			if !r.process(c) && !r.measure() {
				return
			}
		}
		if err != nil {
			r.done.Unread = append(r.done.Unread, err.Error())
			return
		}
		q.Cursor = page.NextCursor
	}
}

// process archives or deletes a thread, and counts it. It returns false if it could not.
func (r *retention) process(c rollout.Candidate) bool {
	place, err := r.driver.Find(r.ctx, c.ID)
	if err == nil {
		c.Bytes = place.Bytes
		err = r.do(c)
	}
	if err != nil {
		c.Kept = err.Error()
		r.done.Kept = append(r.done.Kept, c)
		return false
	}
	r.done.Gone = append(r.done.Gone, c)
	switch {
	case !r.Delete:
		r.done.ArchivedBytes += c.Bytes
		return true
	case c.Archived:
		r.done.ArchivedBytes -= c.Bytes
	}
	r.done.Bytes -= c.Bytes
	r.done.Threads--
	return true
}

// HasFiles returns false.
func (t *Threads) HasFiles() bool { return false }

// CompressOld returns store.ErrNoFiles.
func (t *Threads) CompressOld(context.Context,
	func(rollout.Compressible) (rollout.CompressedThread, error)) (rollout.Compression, error) {
	return rollout.Compression{}, store.ErrNoFiles
}

// CompressThread returns store.ErrNoFiles.
func (t *Threads) CompressThread(c rollout.Compressible) (rollout.CompressedThread, error) {
	return rollout.CompressedThread{ID: c.ID}, store.ErrNoFiles
}

// Retire archives a thread, or deletes it.
func (t *Threads) Retire(r rollout.Retention, c rollout.Candidate) error {
	return t.owned(c.ID, func(ctx context.Context, own fleet.Own) error {
		place, err := t.Driver.Find(ctx, c.ID)
		switch {
		case err != nil:
			return err
		case place.UpdatedAt.After(c.WrittenAt):
			return rollout.ErrWritten
		case r.Delete:
			return t.delete(ctx, own)
		}
		return errors.Join(t.Driver.Move(ctx, own, true), t.Driver.Release(ctx, own))
	})
}
