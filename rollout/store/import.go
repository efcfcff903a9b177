package store

import (
	"errors"
	"io/fs"
	"slices"

	"appserver/protocol"
	"appserver/rollout"
)

// Import creates a thread from the lines of a rollout and returns its id. The first line must be
// session_meta. If a thread with the id exists, archived or not, the error is a *rollout.ExistsError. A
// failed import leaves nothing behind, unless the store cannot be reached any more.
func Import(to Threads, lines []protocol.RolloutLine) (id string, err error) {
	id, at, err := rollout.Start(lines)
	if err != nil {
		return "", err
	}
	place, err := to.Where(Ref{ID: id})
	var missing *rollout.NotFoundError
	switch {
	case err == nil:
		return "", &rollout.ExistsError{ID: id, Path: place.Path}
	case !errors.As(err, &missing) && !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	journal, err := to.Begin(id, at, nil)
	if err != nil {
		return "", err
	}
	own := slices.Clone(lines)
	own[0] = rollout.WithoutOrigin(lines[0])
	if err := journal.Append(own, true); err != nil {
		return "", errors.Join(err, journal.Discard())
	}
	_ = journal.Close() // the lines are durable
	return id, nil
}
