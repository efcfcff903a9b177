package rollout

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"appserver/protocol"
)

// ExistsError refuses a thread that is there already.
type ExistsError struct{ ID, Path string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("there is a thread %s already: %s", e.ID, e.Path)
}

// Import makes a thread of the lines of a rollout, which begin with session_meta, and gives
// its path. Another thread's id is not taken, archived or not (*ExistsError). Nothing is
// left of an import that fails.
func (s *Store) Import(lines []protocol.RolloutLine) (path string, err error) {
	id, at, err := metaOf(lines)
	if err != nil {
		return "", err
	}
	there, err := s.Find(id)
	switch notFound := (*NotFoundError)(nil); {
	case err == nil:
		return "", &ExistsError{id, there}
	case !errors.As(err, &notFound) && !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	log, err := s.Create(id, at)
	if err != nil {
		return "", err
	}
	if err := log.Append(withoutOrigin(lines), true); err != nil {
		return "", firstError(err, log.Discard())
	}
	_ = log.Close() // all is on the disk
	return log.Path(), nil
}

// whole are lines that may have been read with those that they go on from: their first one does
// not say any more that they go on from others.
func withoutOrigin(lines []protocol.RolloutLine) []protocol.RolloutLine {
	o := originIn(lines[0].Payload)
	var members map[string]json.RawMessage
	if o.id == "" || o.end == 0 || lines[0].Ordinal == nil || *lines[0].Ordinal != 0 || protocol.Unmarshal(lines[0].Payload, &members) != nil {
		return lines
	}
	delete(members, "history_base")
	delete(members, "forked_from_ordinal_exclusive")
	payload, err := json.Marshal(members)
	if err != nil {
		return lines // members of an object always encode
	}
	lines = slices.Clone(lines)
	lines[0].Payload = payload
	return lines
}

// headOf is what the first line says of the thread.
func metaOf(lines []protocol.RolloutLine) (id string, at time.Time, err error) {
	var meta protocol.SessionMeta
	if len(lines) == 0 || lines[0].Type != protocol.LineSessionMeta {
		return "", at, errors.New("this is no rollout: its first line is not session_meta")
	}
	if err := protocol.Unmarshal(lines[0].Payload, &meta); err != nil {
		return "", at, fmt.Errorf("this is no rollout: its session_meta cannot be read: %w", err)
	}
	for _, text := range []string{meta.Timestamp, lines[0].Timestamp} {
		if at, err = time.Parse(time.RFC3339, text); err == nil {
			return meta.ID, at, nil
		}
	}
	return meta.ID, time.Now(), nil
}
