package rollout

import (
	"os"
	"slices"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// maxOrigins limits the length of a chain of origins.
const maxOrigins = 64

// origin is the file in which a rollout's history begins. Forks and reverted threads of the
// reference implementation have one.
type origin struct {
	// id is the file id.
	id string
	// end is the ordinal after the last inherited line.
	end int64
	// endOffset is the offset after that line in bytes, or 0 if unknown.
	endOffset int64
}

// originOf returns the origin in the first line of a rollout. The zero value means that the
// rollout has all of its lines.
func originOf(line *protocol.RolloutLine) (o origin) {
	if line.Type != protocol.LineSessionMeta {
		return o
	}
	return originIn(line.Payload)
}

// originIn returns the origin in the payload of a session_meta.
func originIn(payload []byte) (o origin) {
	meta := gjson.GetManyBytes(
		payload,
		"history_base.thread_id",
		"history_base.end_ordinal_exclusive",
		"forked_from_id",
		"forked_from_ordinal_exclusive",
		"history_base.end_byte_offset",
	)
	if meta[1].Type == gjson.Number {
		return origin{meta[0].Str, meta[1].Int(), meta[4].Int()}
	}
	if meta[3].Type == gjson.Number {
		return origin{meta[2].Str, meta[3].Int(), 0}
	}
	return o
}

// includes reports whether an ordinal of the origin is inherited. A negative ordinal is
// unknown and is not.
func (o origin) includes(ordinal int64) bool { return ordinal >= 0 && ordinal < o.end }

// includesLine reports whether a line of the origin is inherited.
func (o origin) includesLine(line *protocol.RolloutLine) bool {
	return line.Type != protocol.LineSessionMeta && *line.Ordinal > 0 && *line.Ordinal < o.end
}

// findOrigin returns the path of an origin at the given depth of the chain.
func (s *Store) findOrigin(id string, depth int) (string, error) {
	if depth >= maxOrigins {
		return "", &NotFoundError{id}
	}
	return s.findFile(id)
}

// afterOrigin returns a handler that inserts the inherited lines after the first line. The
// first line replaces the first line of the origin. An unreadable origin is reported as
// damage. With a shortage of file descriptors, the whole load fails instead.
func (l *loading) afterOrigin(
	handle func(*protocol.RolloutLine, linePosition),
	depth int,
) func(*protocol.RolloutLine, linePosition) {
	begun := false
	return func(line *protocol.RolloutLine, at linePosition) {
		o := origin{}
		if !begun {
			o, begun = originOf(line), true
		}
		if o.id == "" {
			handle(line, at)
			return
		}
		l.dependent = true
		line.Ordinal = new(int64(0))
		handle(line, at)
		err := l.loadOrigin(o, handle, depth)
		switch {
		case IsShortage(err):
			l.shortage = err
		case err != nil:
			l.Damage = append(l.Damage, Damage{Line: 1, Reason: "the history before it cannot be read: " + err.Error()})
		}
	}
}

func (l *loading) loadOrigin(o origin, handle func(*protocol.RolloutLine, linePosition), depth int) error {
	path, err := l.store.findOrigin(o.id, depth)
	if err != nil {
		return err
	}
	file, _, err := l.store.open(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	before, err := l.store.loadingOf(path, l.lines, l.lines.addFile(file, path, true))
	if err != nil {
		return err
	}
	before.handle = before.afterOrigin(func(line *protocol.RolloutLine, at linePosition) {
		if o.includesLine(line) {
			handle(line, at)
		}
	}, depth+1)
	return firstError(before.run(), before.shortage)
}

// Segment is the inherited part of a file, from its start.
type Segment struct {
	Path string
	// End is the end of the segment, in bytes.
	End int64
}

// History returns the segments that precede a rollout's own lines, oldest first. It stops at a
// file that cannot be found or whose end is unknown. The error explains why.
func (s *Store) History(path string) (segments []Segment, err error) {
	reader := headReader{store: s}
	for range maxOrigins {
		var found headScan
		if found, err = reader.readOwn(path); err != nil || found.origin.endOffset == 0 {
			break
		}
		if path, err = s.findFile(found.origin.id); err != nil {
			break
		}
		segments = append(segments, Segment{path, found.origin.endOffset})
	}
	slices.Reverse(segments)
	return segments, err
}
