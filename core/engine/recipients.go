package engine

import "appserver/protocol"

// globalMethods returns the methods of the notifications that every client gets.
func globalMethods() map[string]bool {
	global := map[string]bool{}
	for _, n := range protocol.Notifications() {
		if n.Global {
			global[n.Method] = true
		}
	}
	return global
}

// notify sends a notification to its recipients, subscribers first.
func (a *actor) notify(n protocol.Notification) {
	for _, conn := range a.subscribers {
		a.engine.parts.Outbox.Notify(conn, n)
	}
	if others := a.engine.parts.Clients.NotifyOthers; others != nil && a.engine.globalNotices[n.NotificationMethod()] {
		others(a.subscribers, n)
	}
}

// notifyTo sends notifications about an unloaded thread to its former subscribers.
func (a *actor) notifyTo(subscribers []uint64, list ...protocol.Notification) {
	a.subscribers = subscribers
	for _, n := range list {
		a.notify(n)
	}
	a.subscribers = nil
}
