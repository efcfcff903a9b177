package shared

import (
	"context"
	"errors"
	"time"

	"appserver/rollout"
	"appserver/rollout/fleet"
)

var errWritten = errors.New("it was written to meanwhile")

// retainPage is the number of threads that Retain reads at a time.
const retainPage = 100

// limitAge is the configuration key of the limit. The number of bytes is not limited.
const limitAge = "history.maxAge"

// Retain calls do for each thread that is older than the limit, the oldest first.
func (t *Threads) Retain(ctx context.Context, r rollout.Retention, now time.Time,
	do func(rollout.Candidate) error) (done rollout.RetentionResult) {
	if r.MaxAge <= 0 {
		return done
	}
	for _, archived := range []bool{false, true} {
		if archived && !r.Delete {
			break
		}
		t.retainIn(ctx, rollout.Query{Limit: retainPage, SortKey: rollout.SortUpdated, Ascending: true,
			Archived: archived}, now.Add(-r.MaxAge), &done, do)
	}
	return done
}

func (t *Threads) retainIn(ctx context.Context, q rollout.Query, before time.Time, done *rollout.RetentionResult,
	do func(rollout.Candidate) error) {
	for ctx.Err() == nil {
		page, err := t.Driver.List(ctx, q)
		if err != nil {
			done.Unread = append(done.Unread, err.Error())
			return
		}
		for _, h := range page.Heads {
			if !h.UpdatedAt.Before(before) {
				return
			}
			c := rollout.Candidate{ID: h.ID, Archived: q.Archived, WrittenAt: h.UpdatedAt, Limit: limitAge}
			if err := do(c); err != nil {
				c.Kept = err.Error()
				done.Kept = append(done.Kept, c)
				continue
			}
			done.Gone = append(done.Gone, c)
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			return
		}
	}
}

// Retire archives a thread, or deletes it.
func (t *Threads) Retire(r rollout.Retention, c rollout.Candidate) error {
	return t.owned(c.ID, func(ctx context.Context, own fleet.Own) error {
		place, err := t.Driver.Find(ctx, c.ID)
		switch {
		case err != nil:
			return err
		case place.UpdatedAt.After(c.WrittenAt):
			return errWritten
		case r.Delete:
			return t.Driver.Delete(ctx, own)
		}
		return errors.Join(t.Driver.Move(ctx, own, true), t.Driver.Release(ctx, own))
	})
}
