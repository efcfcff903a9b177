package protocol

// ServerDiagnosticsParams requests the state of the server.
type ServerDiagnosticsParams struct{}

// ServerDiagnosticsResponse is the state of the server. The server replies at once, even under
// load, and opens no file for it.
type ServerDiagnosticsResponse struct {
	// Version is the version of this program.
	Version string `json:"version"`
	// ProtocolLevel is the version of the reference implementation whose protocol the server
	// speaks.
	ProtocolLevel string `json:"protocolLevel"`
	Pid           int    `json:"pid"`
	// StartedAt is in Unix seconds.
	StartedAt int64 `json:"startedAt"`
	// UptimeMs is the time since the start, in milliseconds.
	UptimeMs  int64             `json:"uptimeMs"`
	CodexHome string            `json:"codexHome"`
	Threads   ThreadDiagnostics `json:"threads"`
	// Connections are the clients that have initialized.
	Connections []ConnectionDiagnostics `json:"connections"`
	Memory      MemoryDiagnostics       `json:"memory"`
	// Goroutines is the number of goroutines of the program. A number that only grows indicates a
	// leak.
	Goroutines int                `json:"goroutines"`
	Index      IndexDiagnostics   `json:"index"`
	Sandbox    SandboxDiagnostics `json:"sandbox"`
	// Fleet is null unless the threads are in a database.
	Fleet *FleetDiagnostics `json:"fleet"`
}

// ThreadDiagnostics has the numbers of loaded threads and of threads with an active turn.
type ThreadDiagnostics struct {
	Loaded  int `json:"loaded"`
	InTurns int `json:"inTurns"`
}

// ConnectionDiagnostics is the state of a client's connection.
type ConnectionDiagnostics struct {
	ClientName string `json:"clientName"`
	// Unanswered is the number of pending requests, including this one.
	Unanswered int `json:"unanswered"`
	// QueuedBytes is the size of the output that the client has not read.
	QueuedBytes int `json:"queuedBytes"`
	// Congested is set if the client reads too slowly. Turns of its threads wait for it.
	Congested bool `json:"congested"`
}

// MemoryDiagnostics is the memory usage of the process, in bytes.
type MemoryDiagnostics struct {
	// ResidentBytes is the resident memory of the process, or null if the system does not report
	// it.
	ResidentBytes *int64 `json:"residentBytes"`
	// HeapBytes is the size of the heap, with garbage that is not collected yet.
	HeapBytes int64 `json:"heapBytes"`
	// LiveBytes is the part of the heap that was in use at the last collection.
	LiveBytes int64 `json:"liveBytes"`
}

// IndexDiagnostics is the state of the index over rollouts. The index is closed until the first
// list or search. Lists read the rollouts while it is built or unavailable.
type IndexDiagnostics struct {
	State string `json:"state" oneof:"off closed building ready unavailable"`
	// Path is null if the index is off.
	Path *string `json:"path"`
	// Sessions is the number of rollouts when the index was last complete, or null if it never was.
	Sessions *int64 `json:"sessions"`
	// Progress is null unless the index is being built.
	Progress *IndexProgress `json:"progress"`
	// Reason is the last error since the index was complete, or null.
	Reason *string `json:"reason"`
}

// The states of an index.
const (
	IndexOff         = "off"
	IndexClosed      = "closed"
	IndexBuilding    = "building"
	IndexReady       = "ready"
	IndexUnavailable = "unavailable"
)

// IndexProgress has the number of indexed rollouts and of all rollouts.
type IndexProgress struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

// SandboxDiagnostics reports whether the kernel confines commands to the sandbox policy of their
// thread.
type SandboxDiagnostics struct {
	Enforced bool `json:"enforced"`
	// Reason is the reason if Enforced is false, and null otherwise.
	Reason *string `json:"reason"`
}

// FleetDiagnostics is the state of a server that shares a database with others. The numbers of
// appends, fenced writes, forwarded messages, leases and renewals count since the start.
type FleetDiagnostics struct {
	// Node is the name of the server.
	Node string `json:"node"`
	// Address is the URL that other servers dial, or null without a port.
	Address *string `json:"address"`
	// Encrypted reports whether links to the server use TLS. It is null without a port.
	Encrypted *bool `json:"encrypted"`
	// LeaseLeftMs is the time until the server stops writing unless it renews its lease.
	LeaseLeftMs int64 `json:"leaseLeftMs"`
	// LostLeases is the number of leases that the server could not keep.
	LostLeases int64 `json:"lostLeases"`
	// FailedRenewals is the number of failed attempts to renew a lease.
	FailedRenewals int64 `json:"failedRenewals"`
	// OwnedThreads is the number of threads that the server writes.
	OwnedThreads int `json:"ownedThreads"`
	// Nodes are all servers with a valid lease. The list is at most as old as a lease.
	Nodes []FleetNode `json:"nodes"`
	// SyncStandby reports whether the database has synchronous standbys.
	SyncStandby   bool  `json:"syncStandby"`
	Appends       int64 `json:"appends"`
	FailedAppends int64 `json:"failedAppends"`
	// AppendMeanMs is the mean time of an append until its lines are durable, or 0 without appends.
	AppendMeanMs float64 `json:"appendMeanMs"`
	// AppendP99Ms is an estimate of the time within which 99 percent of appends were durable, or 0
	// without appends.
	AppendP99Ms float64 `json:"appendP99Ms"`
	// FencedWrites is the number of writes that the database rejected because another server owned
	// the thread.
	FencedWrites int64 `json:"fencedWrites"`
	// Links is the number of open links.
	Links int64 `json:"links"`
	// Forwarded is the number of messages to and from other servers.
	Forwarded int64 `json:"forwarded"`
}

// FleetNode is a server of a fleet.
type FleetNode struct {
	Node string `json:"node"`
	// Address is null if other servers cannot connect to it.
	Address *string `json:"address"`
}
