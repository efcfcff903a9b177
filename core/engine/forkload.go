package engine

import (
	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
)

// seed returns the lines with which the log of a fork begins.
func (a *actor) seed(b *branch) *rollout.Seed {
	lines := []protocol.RolloutLine{b.builder.fork.first}
	return &rollout.Seed{First: a.redacted(lines)[0], From: b.builder.lineReader, Ordinals: b.builder.fork.ordinals,
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
