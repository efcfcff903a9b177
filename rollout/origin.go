package rollout

import (
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

// has tells whether a line of that file is part of the history; one without an ordinal, which
// is below 0, is not.
func (o origin) has(ordinal int64) bool { return ordinal >= 0 && ordinal < o.end }

// originOf is what a rollout of the reference implementation goes on from; its zero value, where
// it has all of its lines.
func originOf(c *Contents) (o origin) {
	if len(c.Lines) == 0 || c.Lines[0].Type != protocol.LineSessionMeta {
		return o
	}
	return originIn(c.Lines[0].Payload)
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

// joinOrigin puts the lines that a rollout goes on from before its own, behind its first
// line, which takes the place of theirs. What cannot be read is damage.
func (s *Store) joinOrigin(c *Contents, depth int) {
	o := originOf(c)
	if o.id == "" {
		return
	}
	before, err := s.readOrigin(o.id, depth)
	if err != nil {
		c.Damage = append(c.Damage, Damage{Line: 1, Reason: "the history before it cannot be read: " + err.Error()})
		return
	}
	own := c.Lines[0]
	own.Ordinal = new(int64(0))
	lines := []protocol.RolloutLine{own}
	for _, line := range before.Lines {
		if line.Type != protocol.LineSessionMeta && *line.Ordinal > 0 && *line.Ordinal < o.end {
			lines = append(lines, line)
		}
	}
	c.Lines = append(lines, c.Lines[1:]...)
}

func (s *Store) readOrigin(id string, depth int) (*Contents, error) {
	if depth >= maxOrigins {
		return nil, &NotFoundError{id}
	}
	path, err := s.findFile(id)
	if err != nil {
		return nil, err
	}
	return s.readJoined(path, depth+1)
}

// Piece is the begin of a file that another one goes on from.
type Piece struct {
	Path string
	// End is where it ends, in bytes.
	End int64
}

// History are the pieces of other files that come before a rollout's own lines, the oldest
// first, as far as they can be found and the files tell where they end.
func (s *Store) History(path string) (pieces []Piece) {
	reader := headReader{store: s}
	for range maxOrigins {
		found, err := reader.readOwn(path)
		if err != nil || found.origin.endOffset == 0 {
			break
		}
		if path, err = s.findFile(found.origin.id); err != nil {
			break
		}
		pieces = append(pieces, Piece{path, found.origin.endOffset})
	}
	slices.Reverse(pieces)
	return pieces
}
