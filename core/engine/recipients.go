package engine

import (
	"slices"

	"appserver/protocol"
)

// isGlobal reports whether every client gets a notification, as in the reference implementation.
// Lists of threads depend on these. All other notifications go to subscribers.
func isGlobal(method string) bool {
	switch method {
	case "thread/started", "thread/status/changed", "thread/name/updated", "thread/archived",
		"thread/unarchived", "thread/deleted":
		return true
	}
	return false
}

// recipients returns the connections that get a notification, subscribers first.
func (a *actor) recipients(n protocol.Notification) []uint64 {
	if a.engine.parts.Audience == nil || !isGlobal(n.NotificationMethod()) {
		return a.subscribers
	}
	all := slices.Clone(a.subscribers)
	for _, conn := range a.engine.parts.Audience() {
		if !slices.Contains(all, conn) {
			all = append(all, conn)
		}
	}
	return all
}
