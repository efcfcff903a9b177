package engine

import (
	"slices"

	"appserver/protocol"
)

// isGlobal are the notifications that lists of threads live on. Every client has them,
// as those of the reference implementation do; what is said in a thread is for those who
// follow it.
func isGlobal(method string) bool {
	switch method {
	case "thread/started", "thread/status/changed", "thread/name/updated", "thread/archived",
		"thread/unarchived", "thread/deleted":
		return true
	}
	return false
}

// recipients are the connections that are told, those who follow the thread first.
func (a *actor) recipients(n protocol.Notification) []uint64 {
	if a.engine.parts.Clients == nil || !isGlobal(n.NotificationMethod()) {
		return a.subscribers
	}
	all := slices.Clone(a.subscribers)
	for _, conn := range a.engine.parts.Clients() {
		if !slices.Contains(all, conn) {
			all = append(all, conn)
		}
	}
	return all
}
