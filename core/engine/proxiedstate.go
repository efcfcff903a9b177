package engine

import (
	"sync"
	"time"

	"appserver/protocol"
)

// Proxied describes a request that another method serves, such as a slash command.
type Proxied struct {
	// InTurn allows the request while a turn is active.
	InTurn bool
	// TurnOf is the id of the thread if the response contains a turn, or empty. The thread must
	// be loaded.
	TurnOf string
	// Answer converts the result of the method to the response. The turn is set if TurnOf is:
	// the turn that the method started, or the active turn, or else a turn of the request's own.
	// Subscribers are notified of the start and the end of an own turn. It ends before the next
	// turn of the thread starts.
	Answer func(result any, turn protocol.Turn) any
}

// proxiedRequest is a pending proxied request. Its fields belong to the goroutine of its thread;
// without a thread, they belong to the goroutine that replies.
type proxiedRequest struct {
	Proxied
	to     protocol.Caller
	thread *actor
	// last is the id of the thread's last turn before the request.
	last string
	// recipients are the subscribers of the thread at the time of the request. An archived thread
	// has none, and they are still notified of the end of the own turn.
	recipients []uint64
	// own is the request's own turn, or nil. It ends at due.
	own *protocol.Turn
	due time.Time
}

// proxiedRequests are the proxied requests without a response.
type proxiedRequests struct {
	mu   sync.Mutex
	open map[protocol.Caller]*proxiedRequest
}

// ownTurn is a proxied request whose own turn has started and not ended. The timer ends it.
type ownTurn struct {
	request *proxiedRequest
	timer   *time.Timer
}
