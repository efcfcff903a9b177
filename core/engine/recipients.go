package engine

import "appserver/protocol"

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

// notify sends a notification to its recipients, subscribers first.
func (a *actor) notify(n protocol.Notification) {
	for _, conn := range a.subscribers {
		a.engine.parts.Outbox.Notify(conn, n)
	}
	if others := a.engine.parts.Clients.NotifyOthers; others != nil && isGlobal(n.NotificationMethod()) {
		others(a.subscribers, n)
	}
}
