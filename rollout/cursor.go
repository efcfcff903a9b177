package rollout

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strings"

	"appserver/protocol"
)

// Position is a place in a list that is ordered by Key.
type Position struct {
	Key SortKey `json:"k"`
	// Path is relative to the root, with slashes.
	Path string `json:"p"`
	// Updated is in Unix nanoseconds; 0 where the key is created_at.
	Updated int64 `json:"u,omitempty"`
	// Here is set where the page begins with what stands there, not behind it.
	Inclusive bool `json:"h,omitempty"`
}

// Begin is where the page of a query begins: the zero Position without a cursor, a
// *CursorError where that is not one of such a list.
func (q Query) Start() (Position, error) { return decodeCursor(q.Cursor, q.Key()) }

// Key is the query's SortKey, or that of the zero one.
func (q Query) Key() SortKey {
	if q.SortKey == "" {
		return SortCreated
	}
	return q.SortKey
}

// Cursor leads to the page that begins at the position.
func (p Position) Cursor() string {
	b, err := json.Marshal(p)
	if err != nil {
		panic("rollout: a position is always JSON: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// decodeCursor is the zero position for "".
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

// Back leads, in the other direction, to the page that begins at the position.
func (p Position) BackCursor() string {
	p.Inclusive = true
	return p.Cursor()
}

// reaches tells whether a list that begins at p has q.
func (p Position) precedes(q Position, ascending bool) bool {
	switch {
	case p.Path == "":
		return true
	case !p.before(q) && !q.before(p):
		return p.Inclusive
	}
	return p.before(q) == ascending
}
