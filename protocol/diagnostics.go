package protocol

// ServerDiagnosticsParams asks how the server is.
type ServerDiagnosticsParams struct{}

// ServerDiagnosticsResponse is the state of the server. The server replies at once, even under load,
// and opens no file for it. Version is the version of this program. ProtocolLevel is the version of
// the reference implementation whose protocol it speaks. StartedAt is in Unix seconds. Connections are
// the clients that have initialized. Goroutines counts those of the whole program: a number that only
// grows indicates a leak. Fleet is null unless the threads are in a database.
type ServerDiagnosticsResponse struct {
	Version       string                  `json:"version"`
	ProtocolLevel string                  `json:"protocolLevel"`
	Pid           int                     `json:"pid"`
	StartedAt     int64                   `json:"startedAt"`
	UptimeMs      int64                   `json:"uptimeMs"`
	CodexHome     string                  `json:"codexHome"`
	Threads       ThreadDiagnostics       `json:"threads"`
	Connections   []ConnectionDiagnostics `json:"connections"`
	Memory        MemoryDiagnostics       `json:"memory"`
	Goroutines    int                     `json:"goroutines"`
	Index         IndexDiagnostics        `json:"index"`
	Sandbox       SandboxDiagnostics      `json:"sandbox"`
	Fleet         *FleetDiagnostics       `json:"fleet"`
}

// ThreadDiagnostics counts the loaded threads, and those with an active turn.
type ThreadDiagnostics struct {
	Loaded  int `json:"loaded"`
	InTurns int `json:"inTurns"`
}

// ConnectionDiagnostics is a client: its name, its pending requests, this one included, and its unread
// output. While the client is congested, turns of its threads wait for it.
type ConnectionDiagnostics struct {
	ClientName  string `json:"clientName"`
	Unanswered  int    `json:"unanswered"`
	QueuedBytes int    `json:"queuedBytes"`
	Congested   bool   `json:"congested"`
}

// MemoryDiagnostics is in bytes. ResidentBytes is the resident memory of the process, or null if the
// system does not report it. HeapBytes is the heap, with garbage that is not collected yet. LiveBytes
// is the part that was in use at the last collection.
type MemoryDiagnostics struct {
	ResidentBytes *int64 `json:"residentBytes"`
	HeapBytes     int64  `json:"heapBytes"`
	LiveBytes     int64  `json:"liveBytes"`
}

// IndexDiagnostics is the state of the index over rollouts. The index is closed until the first list
// or search. Lists read the rollouts while it is built or unavailable. Path is null if it is off.
// Sessions is the number of rollouts when it was last complete, or null if it never was. Progress is
// null unless the index is being built. Reason is the last error since it was complete, or null.
type IndexDiagnostics struct {
	State    string         `json:"state" oneof:"off closed building ready unavailable"`
	Path     *string        `json:"path"`
	Sessions *int64         `json:"sessions"`
	Progress *IndexProgress `json:"progress"`
	Reason   *string        `json:"reason"`
}

// The states of an index.
const (
	IndexOff         = "off"
	IndexClosed      = "closed"
	IndexBuilding    = "building"
	IndexReady       = "ready"
	IndexUnavailable = "unavailable"
)

// IndexProgress counts the rollouts that are read for the index.
type IndexProgress struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

// SandboxDiagnostics reports whether the kernel confines commands to the sandbox policy of their
// thread. Reason is the reason if not, and null otherwise.
type SandboxDiagnostics struct {
	Enforced bool    `json:"enforced"`
	Reason   *string `json:"reason"`
}

// FleetDiagnostics is the state of a server that shares a database with others. Node is its name.
// Address is the URL that other servers dial, and Encrypted reports whether links to it use TLS; both
// are null without a port. LeaseLeftMs is the time until the server stops writing unless it renews its
// lease. LostLeases counts the leases that it could not keep, and FailedRenewals the attempts to renew one
// that failed. OwnedThreads are the threads that it
// writes. Nodes are all servers with a valid lease, at most as old as a lease. SyncStandby reports
// whether the database has synchronous standbys. The other members count since the start: Appends and
// FailedAppends to threads, FencedWrites that the database rejected because another server owned the
// thread, and Forwarded messages to and from other servers. AppendMeanMs and AppendP99Ms are the times of
// appends until their lines are durable; 99 percent took at most AppendP99Ms, which is an estimate. They are
// 0 without appends. Links are open now.
type FleetDiagnostics struct {
	Node           string      `json:"node"`
	Address        *string     `json:"address"`
	Encrypted      *bool       `json:"encrypted"`
	LeaseLeftMs    int64       `json:"leaseLeftMs"`
	LostLeases     int64       `json:"lostLeases"`
	FailedRenewals int64       `json:"failedRenewals"`
	OwnedThreads   int         `json:"ownedThreads"`
	Nodes          []FleetNode `json:"nodes"`
	SyncStandby    bool        `json:"syncStandby"`
	Appends        int64       `json:"appends"`
	FailedAppends  int64       `json:"failedAppends"`
	AppendMeanMs   float64     `json:"appendMeanMs"`
	AppendP99Ms    float64     `json:"appendP99Ms"`
	FencedWrites   int64       `json:"fencedWrites"`
	Links          int64       `json:"links"`
	Forwarded      int64       `json:"forwarded"`
}

// FleetNode is a server of a fleet. Address is null if other servers cannot connect to it.
type FleetNode struct {
	Node    string  `json:"node"`
	Address *string `json:"address"`
}
