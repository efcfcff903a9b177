package engine

import (
	"slices"

	"appserver/protocol"
)

// concernsAll are the notifications that lists of threads live on. Every client has them,
// as those of the reference implementation do; what is said in a thread is for those who
// follow it.
func concernsAll(method string) bool {
	switch method {
	case "thread/started", "thread/status/changed", "thread/name/updated", "thread/archived",
		"thread/unarchived", "thread/deleted":
		return true
	}
	return false
}

// audience are the connections that are told, those who follow the thread first.
func (a *actor) audience(n protocol.Notification) []uint64 {
	if a.engine.Clients == nil || !concernsAll(n.NotificationMethod()) {
		return a.subscribers
	}
	all := slices.Clone(a.subscribers)
	for _, conn := range a.engine.Clients() {
		if !slices.Contains(all, conn) {
			all = append(all, conn)
		}
	}
	return all
}
