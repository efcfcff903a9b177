package listing

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strings"

	"appserver/protocol"
)

// Position is a position in a list that is sorted by Key.
type Position struct {
	Key SortKey `json:"k"`
	// Path is relative to the root and has slashes.
	Path string `json:"p"`
	// Updated is the time of the last update in Unix nanoseconds, or 0 if the key is
	// created_at.
	Updated int64 `json:"u,omitempty"`
	// Inclusive is set if the page includes the row at the position.
	Inclusive bool `json:"h,omitempty"`
}

// Start returns the position of the query's cursor, or the zero Position without a cursor. An
// invalid cursor is a *CursorError.
func (q Query) Start() (Position, error) { return decodeCursor(q.Cursor, q.Key()) }

// Key returns the query's SortKey, or SortCreated if it is empty.
func (q Query) Key() SortKey {
	if q.SortKey == "" {
		return SortCreated
	}
	return q.SortKey
}

// Cursor returns the cursor of the page after the position.
func (p Position) Cursor() string {
	b, err := json.Marshal(p)
	if err != nil {
		panic("rollout: a position is always JSON: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// decodeCursor decodes a cursor. "" is the zero Position.
func decodeCursor(cursor string, key SortKey) (Position, error) {
	var p Position
	if cursor == "" {
		return p, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		err = protocol.Unmarshal(b, &p)
	}
	if err != nil || p.Key != key || p.Path == "" {
		return Position{}, &CursorError{cursor}
	}
	return p, nil
}

// before orders positions of the same key.
func (p Position) before(q Position) bool {
	if p.Updated != q.Updated {
		return p.Updated < q.Updated
	}
	return strings.Compare(p.Path, q.Path) < 0
}

func (p Position) in(root string) string { return filepath.Join(root, filepath.FromSlash(p.Path)) }

// BackCursor returns the cursor of the page that begins at the position and continues in the
// other direction.
func (p Position) BackCursor() string {
	p.Inclusive = true
	return p.Cursor()
}

// precedes reports whether q belongs to a page that begins at p.
func (p Position) precedes(q Position, ascending bool) bool {
	switch {
	case p.Path == "":
		return true
	case !p.before(q) && !q.before(p):
		return p.Inclusive
	}
	return p.before(q) == ascending
}

// CursorError reports a cursor that no list returned, or one of another SortKey.
type CursorError struct{ Cursor string }

// Error includes the cursor.
func (e *CursorError) Error() string {
	return "invalid cursor: " + e.Cursor + " (use one that a list with the same sort key returned)"
}
