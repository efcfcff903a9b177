package core

import (
	"encoding/base64"

	"appserver/protocol"
)

// cursorText is a cursor as clients get it: they do not look into it.
func cursorText(cursor any) string {
	raw, _ := protocol.Marshal(cursor) // text and numbers always encode
	return base64.RawURLEncoding.EncodeToString(raw)
}

// readCursor reads one back.
func readCursor[C any](text string) (c C, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = protocol.Unmarshal(raw, &c)
	}
	return c, err == nil
}

// errCursor refuses a cursor with the reference implementation's code; what names the kind
// of cursor begins as its words do.
func errCursor(what, cursor string) *protocol.Error {
	return &protocol.Error{
		Code:    protocol.CodeInvalidRequest,
		Message: "invalid " + what + ": " + cursor + " (use one of a page of the same thread)",
		Data:    &protocol.ErrorData{Kind: protocol.KindInvalidParams, Field: "cursor"},
	}
}
