package protocol

import "encoding/json"

// LineTurnWaiting is the type of a line with a StoredWait. The reference implementation skips it.
const LineTurnWaiting = "turn_waiting"

// StoredWait is the payload of a turn_waiting line. It states that the turn waits for the answer of a client
// about a call, and that nothing else of the turn is under way. Without a CallID it states that this is no
// longer so.
type StoredWait struct {
	TurnID string `json:"turn_id"`
	CallID string `json:"call_id,omitempty"`
	// AskedAt is the time of the request in Unix milliseconds.
	AskedAt int64 `json:"asked_at,omitempty"`
	// Uncaptured is set if the checkpoint of the turn was not made yet. No call has changed files then.
	Uncaptured bool `json:"uncaptured,omitempty"`
	// Denied is the result of the command inside the sandbox if the request is whether it may run outside.
	Denied *StoredDenial `json:"denied,omitempty"`
	// OutputSchema is the schema of the turn's final message.
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
}

// StoredDenial is the result of a command that the sandbox denied an action.
type StoredDenial struct {
	Output     string `json:"output"`
	ExitCode   *int   `json:"exit_code,omitempty"`
	Failure    string `json:"failure,omitempty"`
	TimedOut   bool   `json:"timed_out,omitempty"`
	DurationMs int64  `json:"duration_ms"`
}
