package rollout

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"appserver/protocol"
	"appserver/rollout/home"
	"appserver/rollout/line"
)

// ExistsError reports that the thread exists already. Path is empty if it has no file.
type ExistsError struct{ ID, Path string }

// Error includes the path.
func (e *ExistsError) Error() string {
	return strings.TrimSuffix(fmt.Sprintf("thread %s exists already: %s", e.ID, e.Path), ": ")
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

// Start returns the id and the start time of the thread from the first line of a rollout, which must be
// session_meta.
func Start(lines []protocol.RolloutLine) (id string, at time.Time, err error) {
	var meta protocol.SessionMeta
	if len(lines) == 0 || lines[0].Type != protocol.LineSessionMeta {
		return "", at, errors.New("not a rollout: the first line is not session_meta")
	}
	if err := protocol.Unmarshal(lines[0].Payload, &meta); err != nil {
		return "", at, fmt.Errorf("not a rollout: session_meta cannot be read: %w", err)
	}
	if !home.IsThreadID(meta.ID) {
		return "", at, fmt.Errorf("not a rollout: the id %q in session_meta is not a UUID", meta.ID)
	}
	for _, text := range []string{meta.Timestamp, lines[0].Timestamp} {
		if at, err = time.Parse(time.RFC3339, text); err == nil {
			return meta.ID, at, nil
		}
	}
	return meta.ID, time.Now(), nil
}
