package history

import (
	"appserver/core/pure/lineref"
	"appserver/protocol"
)

const (
	// maxOrdinal bounds ordinals and revisions to integers that every reader of JSON knows exactly.
	maxOrdinal = 1 << 53
	// maxTokens bounds counts of tokens, so that they fit an int32.
	maxTokens = 1<<31 - 1
)

// Line is a line of the rollout that is applied.
type Line struct {
	protocol.RolloutLine
	Ordinal int64
	// TurnID is the turn to which items of the line belong.
	TurnID string
	// Source reads the line again, or is nil. Number is its number there.
	Source *lineref.Source
	Number int32
}

// ref returns a reference to the payload of the line, or to a part of it.
func (l *Line) ref(part int, raw []byte) lineref.Ref {
	return lineref.Ref{Raw: raw, Source: l.Source, Line: l.Number, Part: int32(part)}
}

// at returns the time of the line in Unix milliseconds. A line without a readable time has the time
// of the zero time.Time.
func (l *Line) at() int64 {
	return protocol.ParseTimestamp(l.Timestamp).UnixMilli()
}
