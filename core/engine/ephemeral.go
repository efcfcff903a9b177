package engine

import (
	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/store"
)

// ephemeral is the journal of a thread without a rollout.
type ephemeral struct{}

func (ephemeral) Append([]protocol.RolloutLine, bool) error { return nil }

func (ephemeral) Close() error { return nil }

func (ephemeral) Discard() error { return nil }

func (ephemeral) LineReader() *rollout.LineReader { return nil }

func (ephemeral) CloseRewritten(rollout.Projection) error { return nil }

func (ephemeral) SetIdle(bool) {}

func (ephemeral) Resume() error { return nil }

func (ephemeral) Lost() <-chan struct{} { return nil }

func (ephemeral) Ref() store.Ref { return store.Ref{} }

func (ephemeral) IsAt(string) bool { return false }
