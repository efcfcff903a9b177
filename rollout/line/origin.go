package line

import (
	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// MaxOrigins limits the length of a chain of origins.
const MaxOrigins = 64

// Origin is the file in which a rollout's history begins. Forks and reverted threads of the
// reference implementation have one. The zero value means that the rollout has all of its
// lines.
type Origin struct {
	// ID is the file id.
	ID string
	// End is the ordinal after the last inherited line.
	End int64
	// EndOffset is the offset after that line in bytes, or 0 if unknown.
	EndOffset int64
}

// OriginOf returns the origin that the first line of a rollout names.
func OriginOf(first *protocol.RolloutLine) (o Origin) {
	if first.Type != protocol.LineSessionMeta {
		return o
	}
	return OriginIn(first.Payload)
}

// OriginIn returns the origin in the payload of a session_meta.
func OriginIn(payload []byte) (o Origin) {
	meta := gjson.GetManyBytes(
		payload,
		"history_base.thread_id",
		"history_base.end_ordinal_exclusive",
		"forked_from_id",
		"forked_from_ordinal_exclusive",
		"history_base.end_byte_offset",
	)
	if meta[1].Type == gjson.Number {
		return Origin{meta[0].Str, meta[1].Int(), meta[4].Int()}
	}
	if meta[3].Type == gjson.Number {
		return Origin{meta[2].Str, meta[3].Int(), 0}
	}
	return o
}

// Includes reports whether an ordinal of the origin is inherited. A negative ordinal is
// unknown and is not.
func (o Origin) Includes(ordinal int64) bool { return ordinal >= 0 && ordinal < o.End }

// IncludesLine reports whether a line of the origin is inherited.
func (o Origin) IncludesLine(line *protocol.RolloutLine) bool {
	return line.Type != protocol.LineSessionMeta && *line.Ordinal > 0 && *line.Ordinal < o.End
}
