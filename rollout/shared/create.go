package shared

import (
	"context"
	"errors"

	"appserver/protocol"
	"appserver/rollout/fleet"
)

// create creates the thread in the database with the lines of its seed, a few of which are in memory at a time, and
// the given ones. The search reads the messages from the database.
func (j *journal) create(ctx context.Context, lines []protocol.RolloutLine, texts [][]byte) error {
	node, valid, err := j.threads.lease.await(ctx)
	if err != nil {
		return err
	}
	j.threads.bind(j, valid)
	limit := j.threads.Timeout
	if j.seed != nil {
		limit *= wholeTime
	}
	ctx, cancel := j.threads.callWithin(j.id, limit)
	defer cancel()
	j.own, err = j.threads.Driver.Create(ctx, j.id, node, j.content(lines, texts))
	if err != nil {
		return err
	}
	j.created, j.next = true, j.own.Next
	j.threads.filler.add(j.own, newLines{from: j.next, end: j.next})
	return nil
}

// seedError reports that a line of the seed cannot be read.
type seedError struct{ error }

var errStopped = errors.New("no more lines are needed")

// content returns the lines of the seed and the given ones, and the head of these lines.
func (j *journal) content(lines []protocol.RolloutLine, texts [][]byte) fleet.Content {
	c := fleet.ContentOf(fleet.Head{}, texts...)
	if j.seed != nil {
		c.Size += j.seed.Size()
	}
	begun := *j.head
	c.Head = j.fleetHead
	c.Lines = func(yield func([]byte, error) bool) {
		*j.head = begun
		err := j.eachLine(lines, texts, func(l protocol.RolloutLine, text []byte) error {
			j.head.Add(l)
			if !yield(text, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, &seedError{err})
		}
	}
	return c
}

// eachLine calls do with the lines of the seed and the given ones, until it returns an error.
func (j *journal) eachLine(lines []protocol.RolloutLine, texts [][]byte,
	do func(l protocol.RolloutLine, text []byte) error) (err error) {
	if j.seed != nil {
		err = j.seed.Each(func(_ int, l protocol.RolloutLine, text []byte) error { return do(l, text) })
	}
	for n := 0; n < len(lines) && err == nil; n++ {
		err = do(lines[n], texts[n])
	}
	return err
}
