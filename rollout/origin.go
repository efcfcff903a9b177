package rollout

import (
	"os"
	"slices"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// maxOrigins bounds how many rollouts one goes on from, each from the next.
const maxOrigins = 64

// origin is where a rollout's first line says that its history begins.
type origin struct {
	// id is that of the file.
	id string
	// end is the ordinal behind the last line.
	end int64
	// endOffset is where that line ends, in bytes; 0 where it is not told.
	endOffset int64
}

// originOf is what a rollout of the reference implementation goes on from, by its first line; its
// zero value, where the rollout has all of its lines.
func originOf(line *protocol.RolloutLine) (o origin) {
	if line.Type != protocol.LineSessionMeta {
		return o
	}
	return originIn(line.Payload)
}

// originIn is what a session_meta says of it.
func originIn(payload []byte) (o origin) {
	meta := gjson.GetManyBytes(payload,
		"history_base.thread_id", "history_base.end_ordinal_exclusive", "forked_from_id", "forked_from_ordinal_exclusive", "history_base.end_byte_offset")
	if meta[1].Type == gjson.Number {
		return origin{meta[0].Str, meta[1].Int(), meta[4].Int()}
	}
	if meta[3].Type == gjson.Number {
		return origin{meta[2].Str, meta[3].Int(), 0}
	}
	return o
}

// reaches tells whether the ordinal of a line in that file is below its end; one that the line
// does not tell, which is below 0, is not.
func (o origin) includes(ordinal int64) bool { return ordinal >= 0 && ordinal < o.end }

// has tells whether a line of the origin is one that the rollout goes on from.
func (o origin) includesLine(line *protocol.RolloutLine) bool {
	return line.Type != protocol.LineSessionMeta && *line.Ordinal > 0 && *line.Ordinal < o.end
}

// findOrigin is the path of the file that others, as many as the depth is, go on from.
func (s *Store) findOrigin(id string, depth int) (string, error) {
	if depth >= maxOrigins {
		return "", &NotFoundError{id}
	}
	return s.findFile(id)
}

// afterOrigin gives take the lines that the rollout goes on from behind its first one,
// which takes the place of theirs. What cannot be read is damage, unless it is for want of open
// files: then nothing is loaded.
func (l *loading) afterOrigin(take func(*protocol.RolloutLine, linePosition), depth int) func(*protocol.RolloutLine, linePosition) {
	begun := false
	return func(line *protocol.RolloutLine, at linePosition) {
		o := origin{}
		if !begun {
			o, begun = originOf(line), true
		}
		if o.id == "" {
			take(line, at)
			return
		}
		l.dependent = true
		line.Ordinal = new(int64(0))
		take(line, at)
		err := l.loadOrigin(o, take, depth)
		switch {
		case IsShortage(err):
			l.shortage = err
		case err != nil:
			l.Damage = append(l.Damage, Damage{Line: 1, Reason: "the history before it cannot be read: " + err.Error()})
		}
	}
}

func (l *loading) loadOrigin(o origin, take func(*protocol.RolloutLine, linePosition), depth int) error {
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
			take(line, at)
		}
	}, depth+1)
	return firstError(before.run(), before.shortage)
}

// Piece is the begin of a file that another one goes on from.
type Segment struct {
	Path string
	// End is where it ends, in bytes.
	End int64
}

// History are the pieces of other files that come before a rollout's own lines, the oldest
// first, as far as they can be found and the files tell where they end. The error tells why there
// are no more.
func (s *Store) History(path string) (pieces []Segment, err error) {
	reader := headReader{store: s}
	for range maxOrigins {
		var found headScan
		if found, err = reader.readOwn(path); err != nil || found.origin.endOffset == 0 {
			break
		}
		if path, err = s.findFile(found.origin.id); err != nil {
			break
		}
		pieces = append(pieces, Segment{path, found.origin.endOffset})
	}
	slices.Reverse(pieces)
	return pieces, err
}
