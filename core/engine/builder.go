package engine

import (
	"errors"
	"io"
	"math"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
)

// threadBuilder builds a thread from the lines of a rollout: its own, or those of the origin of a fork. It implements
// rollout.Loader.
type threadBuilder struct {
	id string
	// settings are for values that the lines do not have.
	settings core.Settings
	// until is the ordinal of the first line that the thread does not have.
	until int64
	// fork is the beginning of a fork, or nil.
	fork *forkStart
	// inMemory keeps all payloads in memory, because an ephemeral fork has no file to read them from again.
	inMemory bool
	// fromStart ignores snapshots of earlier builders. leavesSnapshot is set if others may continue from this one.
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

// builder returns the builder of a thread from its whole rollout.
func (e *Engine) builder(id string) *threadBuilder {
	return &threadBuilder{id: id, settings: e.parts.Defaults.Settings(), until: math.MaxInt64, leavesSnapshot: true}
}

// builderUntil returns the builder of a thread from the lines before one, which the rollout may still have.
func builderUntil(ordinal int64, id string, settings core.Settings) *threadBuilder {
	return &threadBuilder{id: id, settings: settings, until: ordinal}
}

// Begin starts with an empty thread. It sets the line reader, which Continue leaves as it is.
func (b *threadBuilder) Begin(lineReader *rollout.LineReader) rollout.LineHandler {
	switch {
	case b.fork == nil:
		b.loading, b.lineReader = core.BeginLoad(b.id, b.settings, lineReader), lineReader
	case b.inMemory:
		b.loading = core.BeginFork(&b.fork.first, b.id, b.settings, nil)
	default:
		b.loading, b.lineReader = core.BeginFork(&b.fork.first, b.id, b.settings, lineReader), lineReader
	}
	return b.handler()
}

// Continue starts with the snapshot of an earlier builder, unless that has read a line that the thread does not have.
func (b *threadBuilder) Continue(lineReader *rollout.LineReader, snapshot []byte) (rollout.LineHandler, bool) {
	switch {
	case b.fromStart:
		return nil, false
	case b.fork != nil:
		return b.continueFork(lineReader, snapshot)
	}
	loading, ok := core.ContinueLoad(b.settings, lineReader, snapshot)
	if !ok || loading.Next() > b.until {
		return nil, false
	}
	b.loading = loading
	return b.handler(), true
}

// continueFork starts with the snapshot of the whole origin.
func (b *threadBuilder) continueFork(lineReader *rollout.LineReader, snapshot []byte) (rollout.LineHandler, bool) {
	loading, ok := core.ContinueFork(b.fork.meta, b.settings, lineReader, snapshot)
	if !ok {
		return nil, false
	}
	b.loading, b.fork.ordinals = loading, make([]int64, loading.Lines())
	for n := range b.fork.ordinals {
		b.fork.ordinals[n] = int64(n)
	}
	return b.handler(), true
}

// handler applies the lines of the thread.
func (b *threadBuilder) handler() rollout.LineHandler {
	if b.fork == nil && b.until == math.MaxInt64 {
		return b.loading.Apply
	}
	ended, apply := false, b.loading.Apply
	return func(line *protocol.RolloutLine) {
		if ended = ended || *line.Ordinal >= b.until; ended {
			return
		}
		if b.fork != nil {
			b.fork.ordinals = append(b.fork.ordinals, *line.Ordinal)
		}
		apply(line)
	}
}

// Snapshot writes the state of the thread, if it is that of the whole rollout.
func (b *threadBuilder) Snapshot(to io.Writer) error {
	if !b.leavesSnapshot {
		return errors.ErrUnsupported
	}
	return b.loading.Snapshot(to)
}
