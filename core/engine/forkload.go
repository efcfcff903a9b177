package engine

import (
	"errors"
	"io"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
)

// forkReader builds a fork from the lines of its origin.
type forkReader struct {
	*reader
	meta  protocol.SessionMeta
	first protocol.RolloutLine
	// before is the ordinal of the first line that the fork does not have. whole is set if it has all lines.
	before int64
	whole  bool
	// inMemory keeps all payloads in memory, because an ephemeral fork has no file to read them from again.
	inMemory bool
	// ended is set after the last line of the fork. ordinals are those of the lines up to it.
	ended    bool
	ordinals []int64
}

// Begin starts with an empty fork.
func (r *forkReader) Begin(text *rollout.LineReader) rollout.LineHandler {
	if r.inMemory {
		r.Loading = core.BeginFork(&r.first, r.id, r.settings, nil)
	} else {
		r.lineReader = text
		r.Loading = core.BeginFork(&r.first, r.id, r.settings, text)
	}
	return r.apply
}

// Continue starts with a snapshot of the origin, if the fork has all of its lines.
func (r *forkReader) Continue(text *rollout.LineReader, snapshot []byte) (rollout.LineHandler, bool) {
	if !r.whole || r.inMemory {
		return nil, false
	}
	loading, ok := core.ContinueFork(r.meta, r.settings, text, snapshot)
	if !ok {
		return nil, false
	}
	r.Loading, r.ordinals = loading, make([]int64, loading.Lines())
	for n := range r.ordinals {
		r.ordinals[n] = int64(n)
	}
	return r.apply, true
}

// Snapshot returns an error, because the snapshot would be that of the origin.
func (*forkReader) Snapshot(io.Writer) error { return errors.ErrUnsupported }

func (r *forkReader) apply(line *protocol.RolloutLine) {
	if r.ended = r.ended || *line.Ordinal >= r.before; !r.ended {
		r.ordinals = append(r.ordinals, *line.Ordinal)
		r.Apply(line)
	}
}

// seed returns the lines with which the log of a fork begins.
func (a *actor) seed(b *branch) *rollout.Seed {
	lines := []protocol.RolloutLine{b.first}
	return &rollout.Seed{First: a.redacted(lines)[0], From: b.lineReader, Ordinals: b.ordinals,
		Choose: a.redactedSeed()}
}

// redactedSeed selects the lines of a fork, and removes secrets from them.
func (a *actor) redactedSeed() rollout.Projection {
	r := a.config().Redactor
	return func(line protocol.RolloutLine) (protocol.RolloutLine, bool) {
		if !core.ForkHas(&line) {
			return line, false
		}
		if r != nil {
			line = r.Line(line)
		}
		return line, true
	}
}
