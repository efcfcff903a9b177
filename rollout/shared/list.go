package shared

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"appserver/rollout"
	"appserver/rollout/fleet"
)

// List returns a page of the threads of the fleet.
func (t *Threads) List(q rollout.Query) (page rollout.Page, err error) {
	q.Cwds = slices.Clone(q.Cwds)
	for i, cwd := range q.Cwds {
		q.Cwds[i] = filepath.Clean(cwd)
	}
	ctx, cancel := t.call()
	defer cancel()
	found, err := t.Driver.List(ctx, q)
	for _, h := range found.Heads {
		page.Heads = append(page.Heads, listed(h))
	}
	page.NextCursor, page.BackCursor = found.NextCursor, found.BackCursor
	return page, databaseError(err)
}

// Search returns the threads of the fleet that contain a text.
func (t *Threads) Search(ctx context.Context, q rollout.Query) (hits rollout.Hits, err error) {
	hits.Complete = t.filler.isIdle()
	ctx, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	found, err := t.Driver.Search(ctx, q)
	for _, h := range found.Hits {
		hits.Hits = append(hits.Hits, rollout.Hit{Head: listed(h.Head), Snippet: h.Snippet})
	}
	hits.NextCursor, hits.BackCursor = found.NextCursor, found.BackCursor
	return hits, databaseError(err)
}

func listed(h fleet.Head) rollout.Head {
	h.Head.Name, h.Head.Running = h.Name, h.Running
	return h.Head
}

// Name returns the name of a thread.
func (t *Threads) Name(id string) (name string, at time.Time, err error) {
	place, err := t.find(id)
	return place.Name, at, err
}
