package rollout

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strings"
)

// position is where a page ended.
type position struct {
	Key SortKey `json:"k"`
	// Path is relative to the root, with slashes.
	Path string `json:"p"`
	// Updated is in Unix nanoseconds; 0 where the key is created_at.
	Updated int64 `json:"u,omitempty"`
}

func (p position) encode() string {
	b, err := json.Marshal(p)
	if err != nil {
		panic("rollout: a position is always JSON: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// decodeCursor is the zero position for "".
func decodeCursor(cursor string, key SortKey) (position, error) {
	var p position
	if cursor == "" {
		return p, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil || p.Key != key || p.Path == "" {
		return position{}, &CursorError{cursor}
	}
	return p, nil
}

// before orders positions of the same key.
func (p position) before(q position) bool {
	if p.Updated != q.Updated {
		return p.Updated < q.Updated
	}
	return strings.Compare(p.Path, q.Path) < 0
}

func (p position) in(root string) string { return filepath.Join(root, filepath.FromSlash(p.Path)) }
