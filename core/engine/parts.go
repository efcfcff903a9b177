package engine

import (
	"encoding/json"
	"time"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout/store"
)

// Parts are the ports and settings of an engine. New gets all of them, and none changes afterwards.
type Parts struct {
	Threads  store.Threads
	Config   Configuration
	Defaults Defaults
	Model    Model
	Tools    Tools
	Patches  Patches
	// Worktrees may be nil. File changes are not tracked then.
	Worktrees *Worktrees
	// Servers may be nil. There are no MCP servers then.
	Servers *Servers
	// Memory may be nil. Nothing is stored for later threads then.
	Memory *Memory
	// Announce notifies the user's program, with its arguments, of a completed turn. It does not wait, and may be nil.
	Announce func(argv []string, thread string, e core.AnnounceTurn)
	// Image reads an image file and returns a data: URL. If confined is set, it reads only files
	// that confined commands can read.
	Image func(path string, confined bool) (url string, err error)
	// Tokens may be nil. A token is four bytes then.
	Tokens  Tokens
	Outbox  Outbox
	Clients Clients
	Log     *zap.Logger
	// NewID returns a UUIDv7. The default is that of google/uuid.
	NewID func() string
	// Version is the version of this program. Source is the kind of its clients in session_meta;
	// nil is vscode, which many clients list only.
	Version string
	Source  json.RawMessage
	// CompletedFloor is core.Options.CompletedFloor of every thread.
	CompletedFloor time.Duration
	// AnswerLead is the minimum time from the response to turn/start to the first output of the
	// model.
	AnswerLead time.Duration
	// Spread varies the delay before a retry. It may be nil.
	Spread func(time.Duration) time.Duration
}

// Clients describe the clients, by their connections. Each function except Originator may be nil.
type Clients struct {
	// Originator returns the name of a client.
	Originator func(conn uint64) string
	// WantsChanges reports whether a client keeps the list of context items and needs only its
	// changes. Nil means that no client does.
	WantsChanges func(conn uint64) bool
	// All returns the connections of clients. Nil means that there are none.
	All func() []uint64
	// NotifyOthers sends a notification about all threads to the clients that have not got it: those without one
	// of the connections in sent.
	NotifyOthers func(sent []uint64, n protocol.Notification)
	// Connected reports whether a connection is open. Call Engine.Disconnect after it becomes
	// false. Nil means that all connections are open.
	Connected func(conn uint64) bool
}
