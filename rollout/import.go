package rollout

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"appserver/protocol"
	"appserver/rollout/home"
	"appserver/rollout/line"
)

// ExistsError reports that the thread exists already.
type ExistsError struct{ ID, Path string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("thread %s exists already: %s", e.ID, e.Path)
}

// Import creates a thread from the lines of a rollout and returns its path. The first line
// must be session_meta. If a thread with the id exists, archived or not, the error is an
// *ExistsError. A failed import leaves nothing behind.
func (s *Store) Import(lines []protocol.RolloutLine) (path string, err error) {
	id, at, err := metaOf(lines)
	if err != nil {
		return "", err
	}
	there, err := s.Find(id)
	switch notFound := (*home.NotFoundError)(nil); {
	case err == nil:
		return "", &ExistsError{id, there}
	case !errors.As(err, &notFound) && !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	log, err := s.Create(id, at)
	if err != nil {
		return "", err
	}
	if err := log.Append(append([]protocol.RolloutLine{WithoutOrigin(lines[0])}, lines[1:]...), true); err != nil {
		return "", cmp.Or(err, log.Discard())
	}
	_ = log.Close() // Append has synced it
	return log.Path(), nil
}

// WithoutOrigin returns the first line of a loaded thread as a session_meta that names no origin. The
// lines of the origin are loaded as well, so they must not be read twice. Other lines are returned
// unchanged.
func WithoutOrigin(first protocol.RolloutLine) protocol.RolloutLine {
	if first.Type != protocol.LineSessionMeta {
		return first
	}
	o := line.OriginIn(first.Payload)
	var members map[string]json.RawMessage
	if o.ID == "" || o.End == 0 || first.Ordinal == nil || *first.Ordinal != 0 ||
		protocol.Unmarshal(first.Payload, &members) != nil {
		return first
	}
	delete(members, "history_base")
	delete(members, "forked_from_ordinal_exclusive")
	payload, err := json.Marshal(members)
	if err == nil { // the members of an object always encode
		first.Payload = payload
	}
	return first
}

// metaOf returns the id and the start time of the thread from the first line.
func metaOf(lines []protocol.RolloutLine) (id string, at time.Time, err error) {
	var meta protocol.SessionMeta
	if len(lines) == 0 || lines[0].Type != protocol.LineSessionMeta {
		return "", at, errors.New("not a rollout: the first line is not session_meta")
	}
	if err := protocol.Unmarshal(lines[0].Payload, &meta); err != nil {
		return "", at, fmt.Errorf("not a rollout: session_meta cannot be read: %w", err)
	}
	for _, text := range []string{meta.Timestamp, lines[0].Timestamp} {
		if at, err = time.Parse(time.RFC3339, text); err == nil {
			return meta.ID, at, nil
		}
	}
	return meta.ID, time.Now(), nil
}
