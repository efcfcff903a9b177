package engine

import (
	"errors"
	"io"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/store"
)

// loaded is a thread from its rollout. It reads evicted lines again. It is used and closed by one
// goroutine.
type loaded struct {
	*core.Thread
	contents   *rollout.Contents
	lineReader *rollout.LineReader
	log        *zap.Logger
}

// checkRead returns its arguments, or the error of an evicted line that could not be read.
func (l *loaded) checkRead(v any, err error) (any, error) {
	if unread := l.lineReader.Err(); unread != nil {
		return nil, unread
	}
	return v, err
}

func (l *loaded) close() {
	if err := l.lineReader.Close(); err != nil {
		l.log.Warn("closing the rollout failed", zap.String("path", l.contents.Path), zap.Error(err))
	}
}

// reader builds a thread from the lines of a rollout.
type reader struct {
	id       string
	settings core.Settings
	*core.Loading
	lineReader *rollout.LineReader
}

// Begin starts with an empty thread.
func (r *reader) Begin(text *rollout.LineReader) rollout.LineHandler {
	r.lineReader = text
	r.Loading = core.BeginLoad(r.id, r.settings, text)
	return r.Apply
}

// Continue starts with the snapshot of an earlier reader.
func (r *reader) Continue(text *rollout.LineReader, snapshot []byte) (rollout.LineHandler, bool) {
	loading, ok := core.ContinueLoad(r.settings, text, snapshot)
	if ok {
		r.Loading = loading
	}
	return r.Apply, ok
}

// readerBefore reads the lines before a lost one, which the disk may still contain. With whole it uses no snapshot.
type readerBefore struct {
	*reader
	lost  int64
	whole bool
}

// Begin starts with an empty thread.
func (r readerBefore) Begin(text *rollout.LineReader) rollout.LineHandler {
	return r.before(r.reader.Begin(text))
}

// Continue starts with the snapshot of an earlier reader.
func (r readerBefore) Continue(text *rollout.LineReader, snapshot []byte) (rollout.LineHandler, bool) {
	if r.whole {
		return nil, false
	}
	take, ok := r.reader.Continue(text, snapshot)
	return r.before(take), ok
}

// Snapshot returns an error, because the thread lacks the lost lines.
func (readerBefore) Snapshot(io.Writer) error { return errors.ErrUnsupported }

func (r readerBefore) before(take rollout.LineHandler) rollout.LineHandler {
	gone := false
	return func(line *protocol.RolloutLine) {
		if gone = gone || *line.Ordinal >= r.lost; !gone {
			take(line)
		}
	}
}

// loadStored loads a thread without opening it for writing.
func (e *Engine) loadStored(id string) (*loaded, error) { return e.loadFrom(store.Ref{ID: id}) }

func (e *Engine) loadFrom(at store.Ref) (*loaded, error) {
	r := &reader{id: at.ID, settings: e.parts.Defaults.Settings()}
	contents, text, err := e.parts.Threads.Load(at, r)
	if err != nil {
		return nil, err
	}
	return &loaded{r.Thread(e.options(at.ID, contents)), contents, text, e.parts.Log}, nil
}

// loadContext is loadStored with an error if the backup is unreadable. A client that only reads
// would take the shorter list of items for the complete one.
func (e *Engine) loadContext(id string) (*loaded, error) {
	l, err := e.loadStored(id)
	if err == nil && l.contents.Backup.Err != nil {
		l.close()
		return nil, l.contents.Backup.Err
	}
	return l, err
}
