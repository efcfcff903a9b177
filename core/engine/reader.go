package engine

import (
	"errors"
	"io"
	"math"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
)

// reader builds a thread from the lines of a rollout: its own, or those of the origin of a fork. It implements
// rollout.Loader.
type reader struct {
	id string
	// settings are for values that the lines do not have.
	settings core.Settings
	// until is the ordinal of the first line that the thread does not have.
	until int64
	// fork is the beginning of a fork, or nil.
	fork *forkStart
	// inMemory keeps all payloads in memory, because an ephemeral fork has no file to read them from again.
	inMemory bool
	// fromStart ignores snapshots of earlier readers. leavesSnapshot is set if others may continue from this one.
	fromStart, leavesSnapshot bool

	loading *core.Loading
	// lineReader reads evicted lines again.
	lineReader *rollout.LineReader
}

// forkStart is the beginning of a fork.
type forkStart struct {
	meta  protocol.SessionMeta
	first protocol.RolloutLine
	// ordinals are those of the lines of the origin that were read.
	ordinals []int64
}

// reader returns a reader of a whole rollout.
func (e *Engine) reader(id string) *reader {
	return &reader{id: id, settings: e.parts.Defaults.Settings(), until: math.MaxInt64, leavesSnapshot: true}
}

// readerUntil returns a reader of the lines before one, which the rollout may still have.
func readerUntil(ordinal int64, id string, settings core.Settings) *reader {
	return &reader{id: id, settings: settings, until: ordinal}
}

// Begin starts with an empty thread.
func (r *reader) Begin(text *rollout.LineReader) rollout.LineHandler {
	switch {
	case r.fork == nil:
		r.loading, r.lineReader = core.BeginLoad(r.id, r.settings, text), text
	case r.inMemory:
		r.loading = core.BeginFork(&r.fork.first, r.id, r.settings, nil)
	default:
		r.loading, r.lineReader = core.BeginFork(&r.fork.first, r.id, r.settings, text), text
	}
	return r.handler()
}

// Continue starts with the snapshot of an earlier reader, unless that has read a line that the thread does not have.
func (r *reader) Continue(text *rollout.LineReader, snapshot []byte) (rollout.LineHandler, bool) {
	switch {
	case r.fromStart:
		return nil, false
	case r.fork != nil:
		return r.continueFork(text, snapshot)
	}
	loading, ok := core.ContinueLoad(r.settings, text, snapshot)
	if !ok || loading.Next() > r.until {
		return nil, false
	}
	r.loading = loading
	return r.handler(), true
}

// continueFork starts with the snapshot of the whole origin.
func (r *reader) continueFork(text *rollout.LineReader, snapshot []byte) (rollout.LineHandler, bool) {
	loading, ok := core.ContinueFork(r.fork.meta, r.settings, text, snapshot)
	if !ok {
		return nil, false
	}
	r.loading, r.fork.ordinals = loading, make([]int64, loading.Lines())
	for n := range r.fork.ordinals {
		r.fork.ordinals[n] = int64(n)
	}
	return r.handler(), true
}

// handler applies the lines of the thread.
func (r *reader) handler() rollout.LineHandler {
	if r.fork == nil && r.until == math.MaxInt64 {
		return r.loading.Apply
	}
	ended, apply := false, r.loading.Apply
	return func(line *protocol.RolloutLine) {
		if ended = ended || *line.Ordinal >= r.until; ended {
			return
		}
		if r.fork != nil {
			r.fork.ordinals = append(r.fork.ordinals, *line.Ordinal)
		}
		apply(line)
	}
}

// Snapshot writes the state of the thread, if it is that of the whole rollout.
func (r *reader) Snapshot(to io.Writer) error {
	if !r.leavesSnapshot {
		return errors.ErrUnsupported
	}
	return r.loading.Snapshot(to)
}
