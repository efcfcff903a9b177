package shared

import (
	"context"
	"maps"
	"slices"
	"time"

	"appserver/rollout/fleet"
)

// releaseTime is the time limit of a release after an operation that failed. The time of the operation may
// have passed.
const releaseTime = 5 * time.Second

// release ends the ownership of a thread after an operation that failed, so that other nodes may take it.
func (t *Threads) release(own fleet.Own) error {
	ctx, cancel := context.WithTimeout(t.base, releaseTime)
	defer cancel()
	return t.Driver.Release(ctx, own)
}

// setUnfinished records whether this node owns a thread that it could not load, with a turn that may be under
// way. It stays the owner, because the database shows no interrupted turn of a thread without an owner.
func (t *Threads) setUnfinished(id string, isUnfinished bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if isUnfinished {
		t.unfinished[id] = true
	} else {
		delete(t.unfinished, id)
	}
}

// unfinishedThreads returns the threads to load again.
func (t *Threads) unfinishedThreads() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.unfinished))
}
