package protocol

// ContextApplyParams makes edits, one after the other, as one edit of the journal.
type ContextApplyParams struct {
	ContextRequest
	Edits []ContextOperation `json:"edits"`
	// When is "now", the default, or "turnEnd". With turnEnd, the edits wait in memory while a turn
	// is active.
	When *string `json:"when,omitempty" oneof:"now turnEnd"`
}

// The values of ContextApplyParams.When.
const (
	ApplyNow       = "now"
	ApplyAtTurnEnd = "turnEnd"
)

// ContextApplyResponse is the result of context/apply.
type ContextApplyResponse struct {
	Revision int64 `json:"revision"`
	// Edit is null if nothing changed, or if the edits wait.
	Edit *ContextEdit `json:"edit"`
	// Applied is false if the edits wait. A crash before the end of the turn loses them.
	Applied bool         `json:"applied"`
	Usage   ContextUsage `json:"usage"`
}
