package engine

import (
	"fmt"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/rollout"
	"appserver/rollout/store"
)

// storedThread is a thread that is read from its rollout, and not opened for writing. It reads evicted lines again. It
// is used and closed by one goroutine.
type storedThread struct {
	*core.Thread
	contents   *rollout.Contents
	lineReader *rollout.LineReader
	log        *zap.Logger
}

// checkRead returns its arguments, or the error of an evicted line that could not be read.
func (l *storedThread) checkRead(v any, err error) (any, error) {
	if unread := l.lineReader.Err(); unread != nil {
		return nil, unread
	}
	return v, err
}

func (l *storedThread) close() {
	if err := l.lineReader.Close(); err != nil {
		l.log.Warn("closing the rollout failed", zap.String("path", l.contents.Path), zap.Error(err))
	}
}

// loader loads the thread that a request reads: loadStored, or a function with more conditions.
type loader func(id string) (*storedThread, error)

// loadStored loads a thread without opening it for writing.
func (e *Engine) loadStored(id string) (*storedThread, error) { return e.loadFrom(store.Ref{ID: id}) }

// loadFrom does the same as loadStored, from a place of the rollout.
func (e *Engine) loadFrom(at store.Ref) (*storedThread, error) {
	builder := e.builder(at.ID)
	contents, lineReader, err := e.parts.Threads.Load(at, builder)
	if err != nil {
		return nil, err
	}
	return &storedThread{builder.loading.Thread(e.storedOptions(at.ID, contents)), contents, lineReader, e.parts.Log}, nil
}

// loadContext does the same as loadStored, but fails if the backup is unreadable. A client that
// only reads would take the shorter list of items for the complete one.
func (e *Engine) loadContext(id string) (*storedThread, error) {
	l, err := e.loadStored(id)
	if err == nil && l.contents.Backup.Err != nil {
		l.close()
		return nil, l.contents.Backup.Err
	}
	return l, err
}

// stepStored returns the result of an input on a stored thread that is not changed.
func (e *Engine) stepStored(id string, in core.Input, load loader) (any, error) {
	t, err := load(id)
	if err != nil {
		return nil, err
	}
	defer t.close()
	for _, m := range t.Step(e.stamp(), in).Messages {
		switch m := m.(type) {
		case core.Reply:
			return t.checkRead(m.Result, nil)
		case core.Refusal:
			return nil, m.Err
		}
	}
	return nil, fmt.Errorf("%T has no answer", in)
}
