package store

import (
	"errors"
	"fmt"
	"io"

	"appserver/protocol"
	"appserver/rollout"
)

// Copied is the result of Copy, in lines.
type Copied struct {
	// Lines is the number of lines of the thread. New is the number of lines that were copied.
	Lines, New int
}

// Copy copies a thread of a list of a store to another store, with its name. If a part of the lines is there
// already, the rest is appended. If all lines are there, the thread is not changed, because it may have got
// another name there. If other lines are there, the error is an *OtherLinesError. Forks of the reference
// implementation get the lines of their origins.
func Copy(from, to Threads, head rollout.Head, archived bool) (done Copied, err error) {
	c := copying{to: to, head: head}
	if err := c.open(); err != nil {
		return done, err
	}
	if c.archived {
		return done, nil // it was copied whole before it was archived
	}
	_, text, err := from.Load(Ref{ID: head.ID, Path: head.Path}, &c)
	if err == nil {
		err = errors.Join(c.flush(), text.Close())
	}
	if c.journal != nil {
		err = errors.Join(err, c.journal.Close())
	}
	done = Copied{c.lines, max(0, c.lines-len(c.there))}
	if err == nil && head.Name != "" && done.New > 0 {
		err = to.Rename(head.ID, head.Name, head.UpdatedAt)
	}
	if err == nil && archived && done.New > 0 {
		err = to.Archive(Ref{ID: head.ID})
	}
	return done, err
}

// OtherLinesError reports that the target of a copy has other lines of the thread.
type OtherLinesError struct {
	ID string
	// Line is the first line that differs, from 1.
	Line int
}

// Error includes the next action.
func (e *OtherLinesError) Error() string {
	return fmt.Sprintf("thread %s exists there with another line %d: delete one of the two threads", e.ID, e.Line)
}

// copyBytes is the size of payloads that are copied at a time.
const copyBytes = 4 << 20

// copying is a Loader that appends lines to another store.
type copying struct {
	to      Threads
	head    rollout.Head
	journal Journal
	// there are the lines that the target has. archived is set if the target has archived the thread.
	there    rollout.LineList
	archived bool
	lines    int
	batch    []protocol.RolloutLine
	bytes    int
	err      error
}

// open opens the thread in the target.
func (c *copying) open() (err error) {
	place, err := c.to.Where(Ref{ID: c.head.ID})
	var missing *rollout.NotFoundError
	switch {
	case errors.As(err, &missing):
		c.journal, err = c.to.Begin(c.head.ID, c.head.CreatedAt, nil)
	case err == nil && place.Archived:
		c.archived = true
	case err == nil:
		c.journal, _, err = c.to.Open(place.Ref, &c.there)
	}
	return err
}

// Begin starts with the first line.
func (c *copying) Begin(*rollout.LineReader) rollout.LineHandler {
	return func(line *protocol.RolloutLine) {
		if c.err == nil && line.Type != protocol.LineContextBackup {
			c.add(rollout.WithoutOrigin(*line))
		}
	}
}

func (c *copying) add(line protocol.RolloutLine) {
	c.lines++
	if c.lines <= len(c.there) {
		if there := c.there[c.lines-1]; there.Type != line.Type || string(there.Payload) != string(line.Payload) {
			c.err = &OtherLinesError{c.head.ID, c.lines}
		}
		return
	}
	c.batch, c.bytes = append(c.batch, line), c.bytes+len(line.Payload)
	if c.bytes >= copyBytes {
		c.err = c.flush()
	}
}

// flush appends the batch. The last call makes all lines durable.
func (c *copying) flush() error {
	if c.err == nil && c.journal != nil {
		c.err = c.journal.Append(c.batch, true)
	}
	c.batch, c.bytes = nil, 0
	return c.err
}

// Continue returns false, because all lines are copied.
func (*copying) Continue(*rollout.LineReader, []byte) (rollout.LineHandler, bool) {
	return nil, false
}

// Snapshot returns an error.
func (*copying) Snapshot(io.Writer) error { return errors.ErrUnsupported }
