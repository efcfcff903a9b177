package view

import (
	"encoding/base64"

	"appserver/protocol"
)

// The lists that an entryCursor can be of.
const (
	turnsList       = "turns"
	itemsList       = "items"
	checkpointsList = "checkpoints"
)

// entryCursor names an entry of a list.
type entryCursor struct {
	Thread string `json:"t"`
	List   string `json:"k"`
	// Position is the ordinal of an item's line.
	Position int64  `json:"p,omitempty"`
	ID       string `json:"i"`
	// Inclusive is set if the page begins with the entry. Otherwise it begins after it.
	Inclusive bool `json:"b,omitempty"`
}

// readEntry reads a cursor of one of the thread's lists.
func (t *Thread) readEntry(text, list string) (c entryCursor, ok bool) {
	c, ok = decodeCursor[entryCursor](text)
	return c, ok && c.Thread == t.ID && c.List == list
}

// encodeCursor returns a cursor as clients get it.
func encodeCursor(cursor any) string {
	raw, _ := protocol.Marshal(cursor) // texts and numbers always encode
	return base64.RawURLEncoding.EncodeToString(raw)
}

func decodeCursor[C any](text string) (c C, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = protocol.Unmarshal(raw, &c)
	}
	return c, err == nil
}

// errCursor rejects a cursor with the code of the reference implementation. Its message begins with
// the words of the reference implementation; name is the name of the cursor in them.
func errCursor(name, cursor string) *protocol.Error {
	return &protocol.Error{
		Code:    protocol.CodeInvalidRequest,
		Message: "invalid " + name + ": " + cursor + " (use one of a page of the same thread)",
		Data:    &protocol.ErrorData{Kind: protocol.KindInvalidParams, Field: "cursor"},
	}
}
