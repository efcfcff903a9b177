package mcp

import (
	"bytes"
	"context"
)

// listChanged is the notification that the list of tools has changed.
const listChanged = "notifications/tools/list_changed"

type listChangedKey struct{}

// withListChanged returns a context for requests whose responses can have notifications of changed lists. The library
// passes notifications on later than responses, so that a result could reach the model before the tools that the call
// added.
func withListChanged(ctx context.Context, changed func()) context.Context {
	return context.WithValue(ctx, listChangedKey{}, changed)
}

// noticeListChanged calls the function of withListChanged if a message is such a notification.
func noticeListChanged(ctx context.Context, message []byte) {
	changed, ok := ctx.Value(listChangedKey{}).(func())
	if ok && bytes.Contains(message, []byte(listChanged)) {
		changed()
	}
}
