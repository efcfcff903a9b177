package engine

import (
	"errors"
	"io"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
)

// loaded is a thread as its rollout has it, which it reads again where it must. Whoever has
// it lets it go in the same goroutine.
type loaded struct {
	*core.Thread
	contents   *rollout.Contents
	lineReader *rollout.LineReader
	log        *zap.Logger
}

// checkRead is what was made of the thread, unless some of it could not be read.
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

// reader makes a thread of the lines that it is given.
type reader struct {
	id       string
	settings core.Settings
	*core.Loading
	lineReader *rollout.LineReader
}

// Begin begins with nothing.
func (r *reader) Begin(text *rollout.LineReader) rollout.LineHandler {
	r.lineReader = text
	r.Loading = core.BeginLoad(r.id, r.settings, text)
	return r.Apply
}

// Continue begins with what an earlier reader made of the lines so far.
func (r *reader) Continue(text *rollout.LineReader, snapshot io.Reader) (rollout.LineHandler, bool) {
	loading, ok := core.ContinueLoad(r.settings, text, snapshot)
	if ok {
		r.Loading = loading
	}
	return r.Apply, ok
}

// readerBefore takes the lines up to one that was lost, which the disk may show for a while.
type readerBefore struct {
	*reader
	lost int64
}

// Begin begins with nothing.
func (r readerBefore) Begin(text *rollout.LineReader) rollout.LineHandler {
	return r.before(r.reader.Begin(text))
}

// Continue begins with what an earlier reader made of lines that are on the disk for long.
func (r readerBefore) Continue(text *rollout.LineReader, snapshot io.Reader) (rollout.LineHandler, bool) {
	take, ok := r.reader.Continue(text, snapshot)
	return r.before(take), ok
}

// Snapshot is none.
func (readerBefore) Snapshot(io.Writer) error { return errors.ErrUnsupported }

func (r readerBefore) before(take rollout.LineHandler) rollout.LineHandler {
	gone := false
	return func(line *protocol.RolloutLine) {
		if gone = gone || *line.Ordinal >= r.lost; !gone {
			take(line)
		}
	}
}

// loadStored is a thread as its rollout has it, without its lock.
func (e *Engine) loadStored(id string) (*loaded, error) {
	path, err := e.parts.Store.Find(id)
	if err != nil {
		return nil, err
	}
	l, err := e.loadFrom(id, path)
	if err == nil && l.contents.Backup.Err == nil {
		return l, nil
	}
	if moved, findErr := e.parts.Store.Find(id); findErr == nil && moved != path { // it was archived, or came back, meanwhile
		if err == nil {
			l.close()
		}
		return e.loadFrom(id, moved)
	}
	return l, err
}

func (e *Engine) loadFrom(id, path string) (*loaded, error) {
	r := &reader{id: id, settings: e.parts.Setup.Defaults()}
	contents, text, err := e.parts.Store.Load(path, r)
	if err != nil {
		return nil, err
	}
	return &loaded{r.Thread(e.options(id, path, contents)), contents, text, e.parts.Log}, nil
}

// loadContext is the same for those who want all items of the context. Who resumes a
// thread without its backup is warned; whoever only looks would take the list for that of
// the whole thread.
func (e *Engine) loadContext(id string) (*loaded, error) {
	l, err := e.loadStored(id)
	if err == nil && l.contents.Backup.Err != nil {
		l.close()
		return nil, l.contents.Backup.Err
	}
	return l, err
}
