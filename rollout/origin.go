package rollout

import (
	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// maxOrigins bounds how many rollouts one goes on from, each from the next.
const maxOrigins = 64

// origin is where a rollout's first line says that its history begins.
type origin struct {
	id string
	// end is the ordinal behind the last line.
	end int64
}

// originOf is what a fork of the reference implementation goes on from; its zero value, where
// the rollout has all of its lines.
func originOf(c *Contents) (o origin) {
	if len(c.Lines) == 0 || c.Lines[0].Type != protocol.LineSessionMeta {
		return o
	}
	meta := gjson.GetManyBytes(c.Lines[0].Payload,
		"history_base.thread_id", "history_base.end_ordinal_exclusive", "forked_from_id", "forked_from_ordinal_exclusive")
	if meta[1].Type == gjson.Number {
		return origin{meta[0].Str, meta[1].Int()}
	}
	if meta[3].Type == gjson.Number {
		return origin{meta[2].Str, meta[3].Int()}
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
	path, err := s.Find(id)
	if err != nil {
		return nil, err
	}
	return s.readJoined(path, depth+1)
}
