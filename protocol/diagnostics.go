package protocol

// ServerDiagnosticsParams asks how the server is.
type ServerDiagnosticsParams struct{}

// ServerDiagnosticsResponse tells how the server is. It is answered at once, whatever else the
// server does, and opens nothing. Version is this program's, ProtocolLevel the version of the
// reference implementation whose protocol it speaks; StartedAt is in Unix seconds. Connections
// are those of clients that have initialized. Goroutines are those of the whole program: a number
// that only grows tells of a leak.
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
}

// ThreadDiagnostics counts the threads that are loaded, and those of them with a turn under
// way.
type ThreadDiagnostics struct {
	Loaded  int `json:"loaded"`
	InTurns int `json:"inTurns"`
}

// ConnectionDiagnostics is a client: by the name it gave itself, with its requests that have
// no answer yet, this one included, and what it has not read. While it is congested, turns of
// its threads wait for it.
type ConnectionDiagnostics struct {
	ClientName  string `json:"clientName"`
	Unanswered  int    `json:"unanswered"`
	QueuedBytes int    `json:"queuedBytes"`
	Congested   bool   `json:"congested"`
}

// MemoryDiagnostics is in bytes. ResidentBytes, what the process takes of the machine's
// memory, is null where the system does not tell; HeapBytes are in use by the server's own
// data, or wait to be collected. LiveBytes of them were still in use when they were collected last.
type MemoryDiagnostics struct {
	ResidentBytes *int64 `json:"residentBytes"`
	HeapBytes     int64  `json:"heapBytes"`
	LiveBytes     int64  `json:"liveBytes"`
}

// IndexDiagnostics tells of the index over rollouts. It is closed until the first list or
// search; while it is being built, or unavailable, lists read the rollouts. Path is null where
// it is off. Sessions is how many rollouts it knew when it was last complete, null where it never was.
// Progress is null unless it is being built; Reason is what went wrong last, null where nothing
// did since it was complete.
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

// SandboxDiagnostics tells whether the kernel confines commands to the sandbox policy of
// their thread; Reason is why not, null where it does.
type SandboxDiagnostics struct {
	Enforced bool    `json:"enforced"`
	Reason   *string `json:"reason"`
}
